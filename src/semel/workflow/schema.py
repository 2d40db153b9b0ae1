"""The JSON Schema of a workflow file, for editors and for `semel schema config`."""

from __future__ import annotations

from typing import Any

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def json_schema() -> dict[str, Any]:
    """Make the schema. A file that it accepts can be read; whether it is safe, the rules say."""
    from semel.workflow.shape import WorkflowShape

    made = WorkflowShape.model_json_schema(by_alias=True)
    return {"$schema": DIALECT, "title": "A Semel workflow", **drop_titles(made)}


def drop_titles(schema: dict[str, Any]) -> dict[str, Any]:
    """Leave out the titles, which only repeat the keys in other letters."""
    return {key: drop_titles_inside(value) for key, value in schema.items() if key != "title"}


def drop_titles_inside(value: Any) -> Any:
    """Leave them out of whatever a schema holds."""
    if isinstance(value, dict):
        return drop_titles(value)
    return [drop_titles_inside(item) for item in value] if isinstance(value, list) else value
