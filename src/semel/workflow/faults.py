"""The sentence for each fault of a shape: what is wrong, and how to mend it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from semel.workflow.problem import show, suggest
from semel.workflow.shape import CallShape

# The kinds of fault whose sentence speaks of JSON, not of Python. Any other kind keeps its own sentence.
EXPECTED: Mapping[str, str] = {
    "bool_type": "it must be true or false",
    "dict_type": "it must be an object",
    "float_type": "it must be a number",
    "int_type": "it must be a whole number",
    "list_type": "it must be a list",
    "model_type": "it must be an object",
    "string_type": "it must be text",
    "string_too_short": "it must not be empty",
}


def tell_fault(model: type[BaseModel], fault: Mapping[str, Any]) -> str:
    """Write the sentence for one fault that pydantic found in a part."""
    place = fault["loc"]
    if place and place[0] == "calls" and len(place) > 2:  # noqa: PLR2004 - ("calls", position, key) is inside a call
        model, place = CallShape, place[2:]
    fields = read_fields(model)
    key = str(place[0]) if place else ""
    if fault["type"] == "extra_forbidden":
        return f"{show(key)} is not a known key.{suggest(key, fields) or ' Known keys: ' + ', '.join(fields) + '.'}"
    meant = f" {key}: {fields[key].description}" if key in fields else ""
    if fault["type"] == "missing":
        return f"the key {key!r} is missing; add it.{meant}"
    expected = EXPECTED.get(fault["type"]) or fault["msg"].removeprefix("Value error, ").replace(
        " after validation", ""
    )
    return f"{expected}; found {show(fault['input'])}.{meant}"


def read_fields(model: type[BaseModel]) -> dict[str, FieldInfo]:
    """Read the fields of a model by the keys that a file uses for them."""
    return {field.alias or name: field for name, field in model.model_fields.items()}
