"""The guide to workflow files says what the code says."""

from __future__ import annotations

import pytest

from semel.workflow.rule import Rule
from semel.workflow.rules import RULES
from semel.workflow.shape import StepShape, WorkflowShape
from tools.project import ROOT

GUIDE = (ROOT / "docs" / "guides" / "workflow-files.md").read_text(encoding="utf-8")
NUMBERED = [rule for rule in RULES if rule.code != "shape"]
KEYS = [field.alias or name for shape in (WorkflowShape, StepShape) for name, field in shape.model_fields.items()]


@pytest.mark.parametrize("rule", NUMBERED, ids=lambda rule: rule.code)
def test_the_guide_has_a_line_for_each_rule(rule: Rule) -> None:
    """A rule stands in the guide as it stands in the code, with its reason."""
    assert f"| {rule.code} | {rule.title} | {rule.why} |\n" in GUIDE


@pytest.mark.parametrize("key", KEYS)
def test_the_guide_has_a_line_for_each_key(key: str) -> None:
    """Every key that a file may have is explained in a table of the guide."""
    assert f"\n| `{key}` |" in GUIDE
