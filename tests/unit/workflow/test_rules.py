"""Every rule, kept and broken."""

from __future__ import annotations

from typing import Any

import pytest

from semel.errors import ConfigError
from semel.workflow.load import load
from semel.workflow.rule import CallFacts
from semel.workflow.rules import RULES, Report, check
from tests.unit.workflow.examples import Application, billing, changed, orders, without

CLAIM = ("steps", 1, "successful_claim_state", "admin")
CLAIM_PATH = "$.steps[1].successful_claim_state.admin"


def with_step(document: dict[str, Any], **step: Any) -> dict[str, Any]:
    """A copy of a document with one more step."""
    return changed(document, "steps", to=[*document["steps"], step])


def shared(**second: Any) -> dict[str, Any]:
    """Billing with a second step that claims into `closing`, too."""
    pair = {"admin": ["closing", "approved"]}
    step = {"step_id": 30, "step_key": "close_early", "status": "approved", "successful_claim_state": pair}
    return with_step(billing(), **{**step, "successful_state": {"admin": "closed"}, **second})


def called(**first: Any) -> dict[str, Any]:
    """Orders with some keys of its step with calls replaced."""
    document = orders()
    document["steps"][0] |= first
    return document


# For each rule: a file that keeps it, one that breaks it, and every problem that must then be reported. What breaks R3, R4
# or R5 gives a claim status a second meaning, too, and so breaks R12; nothing can break those three alone.
BROKEN: dict[str, tuple[dict[str, Any], dict[str, Any], set[tuple[str, str]]]] = {
    "R1": (billing(), changed(billing(), *CLAIM, to=["closing"]), {("R1", CLAIM_PATH)}),
    "R2": (
        changed(billing(), "terminal", to=["closed"]),
        changed(billing(), "terminal", to=["closed", "clsed"]),
        {("R2", "$.terminal[1]")},
    ),
    "R3": (
        billing(),
        changed(billing(), *CLAIM, to=["closing", "closing"]),
        {("R3", CLAIM_PATH), ("R12", CLAIM_PATH)},
    ),
    "R4": (
        billing(),
        changed(without(billing(), "status_types", 2), *CLAIM, to=["approved", "draft"]),
        {("R4", CLAIM_PATH), ("R12", CLAIM_PATH)},
    ),
    "R5": (
        billing(),
        changed(without(billing(), "status_types", 2), *CLAIM, to=["closed", "approved"]),
        {("R5", CLAIM_PATH), ("R12", CLAIM_PATH)},
    ),
    "R6": (
        shared(),
        shared(recovery="review"),
        {("R6", "$.steps[2].successful_claim_state.admin")},
    ),
    "R7": (called(recovery="review"), called(recovery="revert"), {("R7", "$.steps[0].recovery")}),
    "R8": (
        billing(),
        changed(billing(), "steps", 1, "action", "cron", to="CloseBiling"),
        {("R8", "$.steps[1].action.cron")},
    ),
    "R9": (
        changed(billing(), "outside", to=["draft"]),
        changed(billing(), "status_types", to=["draft", "approved", "closing", "closed", "lost"]),
        {("R9", "$.status_types[4]")},
    ),
    "R10": (
        with_step(billing(), step_id=5, step_key="drop", status="draft", successful_state="closed"),
        with_step(billing(), step_id=5, step_key="reopen", status="closed", successful_state="draft"),
        {("R10", "$.steps[2].status")},
    ),
    "R11": (
        changed(billing(), "steps", 1, "successful_claim_state", to=["closing", "approved"]),
        billing(),
        {("R11", "$.steps[1].action.cron")},
    ),
    "R12": (billing(), changed(billing(), "terminal", to=["closed", "closing"]), {("R12", CLAIM_PATH)}),
    "R13": (
        orders(),
        called(successful_claim_state={"admin": ["charging", "pending"]}),
        {("R13", "$.steps[0].successful_claim_state")},
    ),
    "R14": (
        with_step(billing(), step_id=5, step_key="approve", status="approved", successful_state="closed"),
        with_step(billing(), step_id=20, step_key="drop", status="draft", successful_state="closed"),
        {("R14", "$.steps[2].step_id")},
    ),
}
# These break the rule as it is written, but through its other half.
ALSO_BROKEN: list[tuple[str, dict[str, Any], set[tuple[str, str]]]] = [
    ("R1", changed(billing(), *CLAIM, to=["closing", "approved", "closed"]), {("R1", CLAIM_PATH)}),
    ("R1", changed(billing(), *CLAIM, to=["closing", "nowhere", "closed"]), {("R1", CLAIM_PATH)}),
    ("R1", changed(billing(), *CLAIM, to="closing"), {("R1", CLAIM_PATH)}),
    ("R1", changed(billing(), *CLAIM, to={"into": "closing", "back_to": "approved"}), {("R1", CLAIM_PATH)}),
    ("R1", changed(billing(), *CLAIM, to=["closing", 7]), {("R1", CLAIM_PATH)}),
    ("R1", changed(billing(), *CLAIM[:-1], to="closing"), {("R1", "$.steps[1].successful_claim_state")}),
    ("R2", changed(billing(), "initial", to="daft"), {("R2", "$.initial")}),
    ("R2", changed(billing(), "outside", to=["old"]), {("R2", "$.outside[0]")}),
    ("R2", called(refused_state="no"), {("R2", "$.steps[0].refused_state"), ("R9", "$.status_types[3]")}),
    ("R2", called(successful_state=["paid", "pad"]), {("R2", "$.steps[0].successful_state[1]")}),
    (
        "R6",
        shared(status="draft", successful_claim_state={"admin": ["closing", "draft"]}),
        {("R6", "$.steps[2].successful_claim_state.admin")},
    ),
    ("R9", changed(billing(), "terminal", to=[]), {("R9", "$.status_types[3]")}),
    (
        "R12",
        changed(billing(), *CLAIM, to=["closing", "draft"]),
        {("R12", CLAIM_PATH)},
    ),
    (
        "R13",
        changed(without(orders(), "steps", 0, "successful_claim_state"), "outside", to=["charging"]),
        {("R13", "$.steps[0]")},
    ),
    (
        "R14",
        with_step(billing(), step_id=5, step_key="approve", status="draft", successful_state="closed"),
        {("R14", "$.steps[2].step_key")},
    ),
    (
        "shape",
        changed(billing(), "steps", 0, "action", to={"amdin": "CloseBilling"}),
        {("shape", "$.steps[0].action.amdin")},
    ),
    ("shape", called(calls=["stripe.charge", "stripe.charge"]), {("shape", "$.steps[0].calls[1]")}),
    (
        "shape",
        called(calls=["stripe.charge", {"provider": "bank.collect", "payload": "CollectPayload"}], recovery="review"),
        {("shape", "$.steps[0].calls")},
    ),
    ("shape", called(lease_seconds=19), {("shape", "$.steps[0].lease_seconds")}),
]


def registry_for(code: str) -> Application:
    """The application a case is checked with: in R11's, closing must not run twice."""
    return Application(unrepeatable_actions={"CloseBilling"} if code == "R11" else frozenset())


def found(report: Report) -> set[tuple[str, str]]:
    """What a report says, without its sentences."""
    return {(problem.rule, problem.path) for problem in report.problems}


@pytest.mark.parametrize("code", BROKEN)
def test_a_file_that_keeps_a_rule_has_no_problem(code: str) -> None:
    """No rule reports what is allowed."""
    keeps, _, _ = BROKEN[code]
    report = check(load(keeps), registry_for(code))
    assert found(report) == set()
    assert report.ok
    assert len(report.workflows) == 1


@pytest.mark.parametrize("code", BROKEN)
def test_a_file_that_breaks_a_rule_is_told_so(code: str) -> None:
    """Each rule alone is reported with its code, its file, its path, and a sentence that ends."""
    _, breaks, expected = BROKEN[code]
    report = check(load(breaks), registry_for(code))
    assert found(report) == expected
    assert code in {rule for rule, _ in expected}
    assert not report.ok
    assert report.workflows == ()
    assert all(problem.file and problem.message.endswith((".", "?")) for problem in report.problems)


@pytest.mark.parametrize(("code", "breaks", "expected"), ALSO_BROKEN)
def test_the_other_halves_of_the_rules_are_told_too(
    code: str, breaks: dict[str, Any], expected: set[tuple[str, str]]
) -> None:
    """A rule that speaks of several things reports each of them."""
    assert found(check(load(breaks), Application())) == expected
    assert code in {rule for rule, _ in expected}


def test_every_rule_has_a_case() -> None:
    """A rule that is added without a case is noticed."""
    assert [rule.code for rule in RULES if rule.code != "shape"] == list(BROKEN)
    assert all(rule.title.endswith(".") and rule.why.endswith(".") for rule in RULES)


def test_all_problems_are_reported_at_once() -> None:
    """Mending one problem does not bring up the next."""
    document = changed(billing(), *CLAIM, to=["closing"])
    document["initial"] = "daft"
    document["steps"][0]["step_key"] = "close"
    document["steps"][0]["status"] = "approved"
    document["colour"] = "blue"
    assert found(check(load(document))) == {
        ("R1", CLAIM_PATH),
        ("R2", "$.initial"),
        ("R9", "$.status_types[0]"),
        ("R14", "$.steps[1].step_key"),
        ("shape", "$.colour"),
    }


def test_without_an_application_two_rules_are_listed_as_not_checked() -> None:
    """R8 and R11 do not fail where nobody can know, and the report says that they were left out."""
    report = check(load(changed(billing(), "steps", 1, "action", to="NoSuchAction")))
    assert report.ok
    assert report.not_checked == ("R8", "R11")
    assert check(load(billing()), Application()).not_checked == ()


@pytest.mark.parametrize(
    ("change", "path"),
    [
        ({"action": "Charge"}, "$.steps[0].action"),
        ({"validate": ["Nobody"]}, "$.steps[0].validate[0]"),
        ({"validate": {"*": "Nobody"}}, '$.steps[0].validate["*"]'),
        ({"success_after_effect": "Nothing"}, "$.steps[0].success_after_effect"),
        ({"calls": ["stripe.chrge"]}, "$.steps[0].calls[0]"),
        ({"calls": ["stripe.blind"]}, "$.steps[0].calls[0]"),
        ({"calls": [{"provider": "stripe.charge", "payload": "Nothing"}]}, "$.steps[0].calls[0].payload"),
    ],
)
def test_everything_that_is_named_must_be_registered(change: dict[str, Any], path: str) -> None:
    """R8 speaks of actions, validators, effects, calls, probes and payload functions alike."""
    application = Application()
    application = Application(
        calls={**application.calls, "stripe.blind": CallFacts(has_probe=False, deduplicates=True)},
    )
    assert found(check(load(called(**change)), application)) == {("R8", path)}


def test_a_provider_that_cannot_deduplicate_allows_only_review() -> None:
    """R7 also reads what the provider says of itself, and the default recovery counts like a written one."""
    document = without(called(calls=["bank.collect"]), "steps", 0, "recovery")
    assert found(check(load(document), Application())) == {("R7", "$.steps[0]")}
    assert found(check(load(called(calls=["bank.collect"])), Application())) == {("R7", "$.steps[0].recovery")}
    assert check(load(called(calls=["bank.collect"], recovery="review")), Application()).ok


def test_a_lease_is_compared_with_the_longest_call() -> None:
    """Twice the longest call is enough, and the application's default counts where the step says nothing."""
    assert check(load(called(lease_seconds=20)), Application()).ok
    assert found(check(load(orders()), Application(lease_seconds=19.0))) == {("shape", "$.steps[0]")}
    assert check(load(called(calls=["bank.collect"], recovery="review")), Application(lease_seconds=0.1)).ok


def test_a_claim_for_some_does_not_cover_the_others() -> None:
    """R11 and R13 look at everyone who may take the step, named or not."""
    only_admin = {"successful_claim_state": {"admin": ["charging", "pending"]}}
    assert check(load(called(**only_admin, successful_state={"admin": "paid"})), Application()).ok
    both = called(**only_admin, successful_state={"admin": "paid", "cron": "paid"})
    assert found(check(load(both), Application())) == {("R13", "$.steps[0].successful_claim_state")}
    everyone = {"admin": ["charging", "pending"], "*": ["charging", "pending"]}
    assert check(load(called(successful_claim_state=everyone)), Application()).ok


@pytest.mark.parametrize(
    ("successes", "claims", "said"),
    [
        ("paid", {}, "every requester takes it without a claim"),
        ("paid", {"admin": ["charging", "pending"]}, "every other requester takes it without a claim"),
        ({"admin": "paid", "cron": "paid"}, {"admin": ["charging", "pending"]}, "'cron' takes it without a claim"),
    ],
)
def test_a_missing_claim_says_whose(successes: Any, claims: Any, said: str) -> None:
    """The sentence names the requester, or says that it is everyone, or everyone else."""
    report = check(load(called(successful_state=successes, successful_claim_state=claims)))
    assert [said in problem.message for problem in report.problems if problem.rule == "R13"] == [True]


def test_edges_of_claims_releases_and_refusals_count_as_ways() -> None:
    """R9 finds a status that only a claim or a refusal enters, and one that only a release leaves."""
    document = orders()
    document["terminal"] = ["paid", "cancelled"]
    document["steps"].append({"step_id": 3, "step_key": "again", "status": "declined", "successful_state": "pending"})
    assert check(load(document), Application()).ok


def test_statuses_of_other_code_are_skipped_and_lead_on() -> None:
    """R9 asks neither how an outside status is entered nor how it is left, and what a step makes of it is reached."""
    document = changed(billing(), "status_types", to=["draft", "approved", "closing", "closed", "imported", "checked"])
    document["outside"] = ["imported"]
    document["terminal"] = ["closed", "checked"]
    document["steps"].append({"step_id": 5, "step_key": "look", "status": "imported", "successful_state": "checked"})
    assert check(load(document)).ok


def test_a_step_that_stays_is_no_way_out() -> None:
    """R9 does not take a step from a status to itself for a way out."""
    document = changed(billing(), "status_types", to=["draft", "approved", "closing", "closed", "held"])
    document["steps"] += [
        {"step_id": 5, "step_key": "hold", "status": "draft", "successful_state": "held"},
        {"step_id": 6, "step_key": "touch", "status": "held", "successful_state": "held"},
    ]
    assert found(check(load(document))) == {("R9", "$.status_types[4]")}


def test_one_column_belongs_to_one_workflow() -> None:
    """Two files about one status column are reported, unless they name different columns or tables."""
    second = {**billing(), "workflow": "closing"}
    report = check(load([billing(), second]))
    assert [(problem.rule, problem.file, problem.path) for problem in report.problems] == [
        ("shape", "(dict 'closing')", "$.entity_table")
    ]
    assert check(load([billing(), {**second, "status_column": "audit_status"}])).ok
    assert found(check(load([billing(), {**billing(), "entity_table": "other"}]))) == {("shape", "$.workflow")}


def test_what_cannot_be_read_keeps_only_the_rules_silent_that_need_it() -> None:
    """One unreadable value is one problem, and the rest of the file is still checked."""
    assert found(check(load(changed(billing(), "status_types", to="draft")))) == {("shape", "$.status_types")}
    assert found(check(load(without(billing(), "initial")))) == {("shape", "$")}
    document = changed(changed(billing(), "terminal", to=[7]), "steps", 0, "step_id", to=20)
    assert found(check(load(document))) == {("shape", "$.terminal[0]"), ("R14", "$.steps[1].step_id")}
    assert found(check(load(changed(orders(), "steps", 0, "successful_claim_state", to=7)))) == {
        ("R1", "$.steps[0].successful_claim_state")
    }
    assert found(check(load(changed(shared(), "steps", 1, "recovery", to="revrt")))) == {
        ("shape", "$.steps[1].recovery")
    }


def test_a_report_becomes_the_error_of_a_boot() -> None:
    """The golden text of a refused start: what is wrong, where, and how to go on."""
    error = check(load(changed(billing(), "terminal", to=["closed", "clsed"]))).as_error()
    assert isinstance(error, ConfigError)
    assert str(error) == (
        "SEMEL-FLOW-1: The workflow files have problems (1):\n"
        "  (dict 'billing'): $.terminal[1]: R2: 'clsed' is not in status_types; add it there, or correct it. "
        "Did you mean 'closed'?\n"
        "  Mend them there, and check again with: semel check FILES…"
    )


def test_a_long_report_is_cut_in_the_error_and_whole_in_json() -> None:
    """A boot's error fits on a screen, and says how much it leaves out."""
    document = changed(billing(), "outside", to=[f"old{number}" for number in range(25)])
    report = check(load(document))
    assert str(report.as_error()).count("R2") == 20
    assert "… and 5 more" in str(report.as_error())
    made = report.as_json()
    assert made["ok"] is False
    assert made["not_checked"] == ["R8", "R11"]
    assert len(made["problems"]) == 25
    assert set(made["problems"][0]) == {"rule", "file", "path", "message"}
