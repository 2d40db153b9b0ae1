"""The questions that are asked of a workflow."""

from __future__ import annotations

from typing import Any

import pytest

from semel.workflow.load import load
from semel.workflow.model import ByRequester, Workflow
from tests.unit.workflow.examples import INVOICES_TOML, billing, changed, orders


def one(document: dict[str, Any]) -> Workflow:
    """The workflow of a document that is right."""
    (workflow,) = load(document).workflows
    return workflow


def moves(workflow: Workflow) -> set[tuple[str, str, str, str]]:
    """The edges of a workflow, as words."""
    return {(edge.source, edge.target, edge.kind, edge.step.key) for edge in workflow.edges()}


def test_a_step_is_chosen_by_key_status_and_requester() -> None:
    """All three must fit, and a requester that successful_state does not name gets nothing."""
    workflow = one(billing())
    close = workflow.steps[1]
    assert workflow.step_for("close", "approved", "admin") is close
    assert workflow.step_for("close", "approved", "cron") is close
    assert workflow.step_for("close", "approved", "customer") is None
    assert workflow.step_for("close", "approved", None) is None
    assert workflow.step_for("close", "draft", "admin") is None
    assert workflow.step_for("open", "approved", "admin") is None
    assert one(orders()).step_for("cancel", "pending", None) is not None


def test_a_retired_step_takes_nobody_in_and_is_still_found() -> None:
    """Keepers find the step of a claim row that was taken before it was retired."""
    workflow = one(changed(billing(), "steps", 1, "retired", to=True))
    assert workflow.step_for("close", "approved", "admin") is None
    assert workflow.step_at("close", "approved") is workflow.steps[1]
    assert workflow.claim_statuses == {"closing"}


def test_a_named_requester_comes_before_everyone() -> None:
    """`*` holds for whoever is not named."""
    values = ByRequester.from_mapping({"*": 1, "admin": 2})
    assert [values.of("admin"), values.of("cron"), values.of(None)] == [2, 1, 1]
    assert ByRequester.from_mapping({"admin": 2}).of("cron") is None
    assert values == ByRequester.from_mapping({"admin": 2, "*": 1})
    assert not ByRequester()


def test_a_requester_without_a_value_has_none() -> None:
    """A step that names nobody claims nothing, runs nothing and checks nothing."""
    cancel = one(orders()).steps[1]
    assert cancel.claim_for("a") is cancel.action_for("a") is cancel.refused_state_for("a") is None
    assert cancel.validators_for("a") == cancel.after_effects_for("a") == ()
    assert cancel.requesters == ("*",)
    assert not cancel.has_declared_calls


def test_every_declared_move_is_an_edge() -> None:
    """Claims, releases, successes and refusals are all there, each once, and a requester without a claim moves directly."""
    assert moves(one(billing())) == {
        ("draft", "approved", "step", "approve"),
        ("approved", "closing", "claim", "close"),
        ("closing", "approved", "release", "close"),
        ("closing", "closed", "step", "close"),
        ("approved", "closed", "step", "close"),
    }
    assert ("charging", "declined", "refused", "pay") in moves(one(orders()))
    assert len(one(orders()).edges()) == len(moves(one(orders())))


@pytest.mark.parametrize(
    ("source", "target", "allowed"),
    [
        ("draft", "approved", True),
        ("approved", "closed", True),
        ("approved", "closing", False),
        ("closing", "approved", False),
        ("closing", "closed", False),
        ("closed", "draft", False),
        ("closed", "imported", False),
        ("draft", "closed", False),
        ("draft", "draft", False),
        ("draft", "nowhere", False),
        ("nowhere", "draft", False),
        ("imported", "draft", True),
        ("draft", "imported", True),
        ("imported", "closing", False),
    ],
)
def test_a_bare_transition_obeys_the_workflow(source: str, target: str, *, allowed: bool) -> None:
    """Claim statuses, terminal sources, unknown statuses and undeclared moves are refused; outside statuses are free."""
    document = changed(billing(), "status_types", to=[*billing()["status_types"], "imported"])
    assert one({**document, "outside": ["imported"]}).allows(source, target) is allowed


def test_a_retired_step_allows_no_bare_transition() -> None:
    """Retired means no new entries, by whichever verb."""
    assert one(orders()).allows("pending", "cancelled")
    assert not one(changed(orders(), "steps", 1, "retired", to=True)).allows("pending", "cancelled")


def test_the_hash_is_that_of_the_meaning() -> None:
    """Layout, order, format, comments and written defaults do not change it; what is declared does."""
    same = billing()
    same["steps"].reverse()
    same["terminal"] = ["closed"]
    same["$schema"] = "elsewhere.json"
    same["status_column"] = "status"
    same["steps"][0]["recovery"] = "revert"
    same["steps"][0]["success_after_effect"] = {"admin": "SendInvoices"}
    assert one(same).hash == one(billing()).hash
    assert one(same) != one(orders())
    others = [
        changed(billing(), "steps", 1, "recovery", to="review"),
        changed(billing(), "steps", 1, "lease_seconds", to=31),
        changed(billing(), "steps", 1, "retired", to=True),
        changed(billing(), "steps", 1, "successful_state", "admin", to=["closed", "approved"]),
        changed(billing(), "owning_module", to="money"),
        changed(billing(), "initial", to="approved"),
    ]
    hashes = {one(document).hash for document in [billing(), *others]}
    assert len(hashes) == len(others) + 1
    assert all(len(each) == 32 for each in hashes)


def test_the_hash_is_the_same_in_every_process_and_release() -> None:
    """A claim row keeps it for years, so it is written down here."""
    assert one(billing()).hash == "6ddff44503a1c1e4a36a23f7b5c10f52"


def test_json_and_toml_of_one_meaning_are_equal(tmp_path: Any) -> None:
    """A file may be rewritten in the other format without a running claim noticing."""
    import tomllib

    (tmp_path / "a.toml").write_text(INVOICES_TOML)
    (from_toml,) = load(tmp_path).workflows
    from_dict = one(tomllib.loads(INVOICES_TOML))
    assert from_toml == from_dict
    assert from_toml.hash == from_dict.hash
