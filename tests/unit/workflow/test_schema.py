"""The JSON Schema agrees with what is read."""

from __future__ import annotations

import json
import tomllib
from typing import Any

import jsonschema
import pytest

from semel.workflow.load import load
from semel.workflow.schema import json_schema
from tests.unit.workflow.examples import BILLING_TEXT, INVOICES_TOML, ORDERS_TEXT, billing, changed, without


def is_valid(document: Any) -> bool:
    """Whether an editor would accept a document."""
    return jsonschema.Draft202012Validator(json_schema()).is_valid(document)


def test_the_schema_is_one() -> None:
    """Editors can read it: it follows its own dialect, and can be written as JSON."""
    jsonschema.Draft202012Validator.check_schema(json_schema())
    assert json.loads(json.dumps(json_schema())) == json_schema()


@pytest.mark.parametrize("document", [json.loads(BILLING_TEXT), json.loads(ORDERS_TEXT), tomllib.loads(INVOICES_TOML)])
def test_the_examples_follow_the_schema(document: dict[str, Any]) -> None:
    """What loads is accepted, in every form a value may have."""
    assert is_valid(document)
    assert load(document).problems == ()


@pytest.mark.parametrize(
    "document",
    [
        [],
        without(billing(), "workflow"),
        {**billing(), "colour": "blue"},
        changed(billing(), "steps", 0, "actoin", to="A"),
        changed(billing(), "steps", 1, "successful_claim_state", "admin", to=["closing"]),
        changed(billing(), "steps", 1, "successful_claim_state", to="closing"),
        changed(billing(), "steps", 1, "recovery", to="retry"),
        changed(billing(), "steps", 1, "lease_seconds", to=0),
        changed(billing(), "steps", 1, "successful_state", to={}),
        changed(billing(), "steps", 1, "calls", to=[{"payload": "A"}]),
        changed(billing(), "status_types", to=["draft", "draft"]),
    ],
)
def test_what_cannot_be_read_does_not_follow_the_schema(document: Any) -> None:
    """An editor underlines what the check would refuse."""
    assert not is_valid(document)
    (declared,) = load(document).declared or [None]
    assert declared is None or not declared.whole


def test_every_key_is_described() -> None:
    """Hovering over any key in an editor says what it is for."""
    schema = json_schema()
    for part in (schema, *schema["$defs"].values()):
        assert part["description"]
        for key, described in part["properties"].items():
            assert described.get("description"), key
