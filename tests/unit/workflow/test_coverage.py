"""Coverage: no claim without a keeper of the right kind."""

from __future__ import annotations

from typing import Any

from semel.errors import ConfigError
from semel.workflow.coverage import Cover, Uncovered, as_error, find_uncovered
from semel.workflow.load import load
from semel.workflow.model import Workflow
from tests.unit.workflow.examples import billing, changed, orders


def one(document: dict[str, Any]) -> Workflow:
    """The workflow of a document that is right."""
    (workflow,) = load(document).workflows
    return workflow


def kinds(document: dict[str, Any], *covers: Cover) -> list[str]:
    """The kinds of keeper that a workflow still lacks."""
    return [each.keeper for each in find_uncovered([one(document)], covers)]


def test_a_claim_without_a_janitor_names_workflow_status_module_and_line() -> None:
    """What boot needs to refuse, in values."""
    assert find_uncovered([one(billing())], []) == (
        Uncovered("billing", "closing", "billing", "janitor", 'once.janitor("billing")'),
    )


def test_a_cover_of_the_module_is_enough() -> None:
    """One line in the owning module covers all its claims; another module's line covers nothing of it."""
    assert kinds(billing(), Cover("billing")) == []
    assert kinds(billing(), Cover("shipping"), Cover(None)) == ["janitor"]


def test_each_recovery_needs_its_own_kind_of_keeper() -> None:
    """Revert needs a janitor, resume a resumer, review a person; open calls need a reconciler in any case."""
    owned = {**orders(), "owning_module": "shop"}
    assert kinds(changed(billing(), "steps", 1, "recovery", to="resume")) == ["resumer"]
    assert kinds(changed(billing(), "steps", 1, "recovery", to="review")) == []
    assert kinds(owned) == ["resumer", "reconciler"]
    assert kinds(changed(owned, "steps", 0, "recovery", to="review")) == ["reconciler"]
    assert kinds(owned, Cover("shop", frozenset({"resumer"}))) == ["reconciler"]


def test_a_workflow_without_a_module_belongs_to_the_application() -> None:
    """The application covers its own claims."""
    assert kinds(orders()) == []


def test_a_retired_step_still_needs_its_cover() -> None:
    """Rows may be in a claim that was taken before the step was retired."""
    assert kinds(changed(billing(), "steps", 1, "retired", to=True)) == ["janitor"]


def test_every_workflow_and_requester_is_looked_at() -> None:
    """A claim that only one requester takes counts, and each status is named once."""
    second = changed(
        {**billing(), "workflow": "audit"}, "steps", 1, "successful_claim_state", "cron", to=["closing", "approved"]
    )
    assert [(each.workflow, each.status) for each in find_uncovered([one(billing()), one(second)], [])] == [
        ("billing", "closing"),
        ("audit", "closing"),
    ]


def test_an_uncovered_claim_becomes_the_error_of_a_boot() -> None:
    """The golden text of a refused start: which claims, whose they are, and the line to add."""
    owned = {**orders(), "owning_module": "shop"}
    error = as_error(find_uncovered([one(billing()), one(owned)], []))
    assert isinstance(error, ConfigError)
    assert str(error) == (
        "SEMEL-FLOW-2: Rows could be stuck for ever, because nobody covers these claims:\n"
        "  billing: 'closing' has no janitor; the module 'billing' owes it.\n"
        "  orders: 'charging' has no resumer; the module 'shop' owes it.\n"
        "  orders: 'charging' has no reconciler; the module 'shop' owes it.\n"
        '  Add to the module that owes the cover: once.janitor("billing"), once.janitor("shop"), '
        "and name the module in modules=[…] so that it is imported."
    )
