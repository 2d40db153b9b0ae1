"""Random workflows: the rules agree with a second checker, and nothing that is written can break the reading."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from semel.workflow.coverage import Cover, find_uncovered
from semel.workflow.draw import draw
from semel.workflow.load import load
from semel.workflow.problem import Problem
from semel.workflow.rule import CallFacts
from semel.workflow.rules import check
from tests.property.rules_checker import find_broken
from tests.unit.workflow.examples import Application, billing, changed, orders

STATUSES = ["new", "busy", "held", "done", "gone"]
REQUESTERS = ["admin", "cron", "*"]
# Few names, so that they meet; the last status is often not among status_types.
status = st.sampled_from(STATUSES)
APPLICATION = Application(
    actions=frozenset({"Act", "Once"}),
    unrepeatable_actions=frozenset({"Once"}),
    validators=frozenset({"Check"}),
    effects=frozenset({"Tell"}),
    calls={
        "pay.good": CallFacts(has_probe=True, deduplicates=True),
        "pay.plain": CallFacts(has_probe=True, deduplicates=False),
        "pay.blind": CallFacts(has_probe=False, deduplicates=True),
    },
)

# Enough that taking away any one rule is noticed; and a slow machine is no reason to fail.
thorough = settings(max_examples=400, deadline=None)


def for_requesters(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """A plain value, or a map from some requesters."""
    return values | st.dictionaries(st.sampled_from(REQUESTERS), values, min_size=1, max_size=3)


def one_or_some(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """One item, or a list of a few."""
    return values | st.lists(values, min_size=1, max_size=2, unique=True)


steps = st.fixed_dictionaries(
    {
        "step_id": st.integers(0, 9),
        "step_key": st.sampled_from(["go", "pay", "end", "open"]),
        "status": status,
        "successful_state": for_requesters(one_or_some(status)),
    },
    optional={
        "successful_claim_state": for_requesters(st.lists(status, min_size=2, max_size=2)),
        "refused_state": for_requesters(status),
        "action": for_requesters(st.sampled_from(["Act", "Once", "Once", "Missing"])),
        "validate": for_requesters(one_or_some(st.sampled_from(["Check", "Check", "Missing"]))),
        "success_after_effect": for_requesters(one_or_some(st.sampled_from(["Tell", "Tell", "Missing"]))),
        "calls": st.lists(
            st.sampled_from(["pay.good", "pay.good", "pay.plain", "pay.blind", "pay.none"]), max_size=2, unique=True
        ),
        "recovery": st.sampled_from(["revert", "resume", "review"]),
        "retired": st.booleans(),
    },
)
documents = st.fixed_dictionaries(
    {
        "workflow": st.just("random"),
        "entity_table": st.just("things"),
        "status_types": st.lists(status, min_size=1, max_size=5, unique=True) | st.just(STATUSES),
        "initial": st.just("new") | status,
        "terminal": st.lists(status, max_size=2, unique=True),
        "steps": st.lists(steps, max_size=5),
    },
    optional={"outside": st.lists(status, max_size=2, unique=True), "owning_module": st.just("random")},
)


@st.composite
def right_documents(draw: Any) -> dict[str, Any]:
    """A workflow that keeps every rule: a chain of statuses, each step with or without a claim and calls."""
    length = draw(st.integers(1, 4))
    chain = [f"status{number}" for number in range(length + 1)]
    extra: list[str] = []
    made = []
    for number, (source, target) in enumerate(pairwise(chain)):
        takers = draw(st.sampled_from(["*", "admin"]))
        step = {"step_id": number, "step_key": draw(st.sampled_from(["go", "pay"])), "status": source}
        step["successful_state"] = {takers: draw(st.sampled_from([target, [target], [target, source]]))}
        if draw(st.booleans()):
            extra.append(f"claimed{number}")
            step["successful_claim_state"] = draw(st.sampled_from([[extra[-1], source], {takers: [extra[-1], source]}]))
            step["calls"] = draw(st.sampled_from([[], ["pay.good"]]))
            step["action"] = draw(st.sampled_from(["Act", {takers: "Once"}]))
            step["recovery"] = draw(st.sampled_from(["resume", "review"]))
        if draw(st.booleans()):
            step["validate"] = "Check"
            step["success_after_effect"] = {takers: ["Tell"]}
        made.append(step)
    head = {"workflow": "random", "owning_module": "random", "entity_table": "things", "initial": chain[0]}
    return {
        **head,
        "status_types": draw(st.permutations(chain + extra)),
        "terminal": [chain[-1]],
        "steps": draw(st.permutations(made)),
    }


@st.composite
def bruised_documents(draw: Any) -> dict[str, Any]:
    """A right workflow with one status somewhere, or one list of statuses, replaced by another."""
    document = draw(right_documents())
    any_status = st.sampled_from([*document["status_types"], "elsewhere"])
    key = draw(
        st.sampled_from(["initial", "terminal", "outside", "status", "successful_state", "refused_state", "claim"])
    )
    if key == "initial":
        return {**document, key: draw(any_status)}
    if key in ("terminal", "outside"):
        return {**document, key: draw(st.lists(any_status, max_size=2, unique=True))}
    position = draw(st.integers(0, len(document["steps"]) - 1))
    if key == "claim":
        return changed(document, "steps", position, "successful_claim_state", to=[draw(any_status), draw(any_status)])
    return changed(document, "steps", position, key, to=draw(any_status))


texts = st.text(max_size=8) | st.sampled_from(["", " ", "closing", "$", "\ud800", "\0"])
junk = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=12,
)


def subject_of(problem: Problem, document: dict[str, Any]) -> tuple[str, object]:
    """What a problem is about, in the second checker's words."""
    if found := re.match(r"\$\.steps\[(\d+)\]", problem.path):
        return problem.rule, int(found[1])
    if found := re.match(r"\$\.status_types\[(\d+)\]", problem.path):
        return problem.rule, document["status_types"][int(found[1])]
    return problem.rule, problem.path.removeprefix("$.").partition("[")[0]


@thorough
@given(documents | bruised_documents())
def test_two_checkers_agree_about_random_workflows(document: dict[str, Any]) -> None:
    """Whatever is declared, the rules and a checker written from their text alone report the same things."""
    report = check(load(document), APPLICATION)
    assert {subject_of(problem, document) for problem in report.problems} == find_broken(document, APPLICATION)
    assert len(report.workflows) == report.ok


@thorough
@given(
    documents, st.lists(status | st.integers() | st.none(), max_size=4) | status | st.integers() | st.none(), st.data()
)
def test_a_claim_that_is_no_pair_is_always_r1(document: dict[str, Any], claim: Any, data: st.DataObject) -> None:
    """However a claim is malformed, it is R1 at its own path, and no other rule stumbles over it."""
    if not document["steps"] or (
        isinstance(claim, list) and len(claim) == 2 and all(isinstance(end, str) for end in claim)
    ):
        return
    position = data.draw(st.integers(0, len(document["steps"]) - 1))
    report = check(
        load(changed(document, "steps", position, "successful_claim_state", to={"admin": claim})), APPLICATION
    )
    malformed = [problem.path for problem in report.problems if problem.rule == "R1"]
    assert malformed == [f"$.steps[{position}].successful_claim_state.admin"]


@thorough
@given(right_documents())
def test_a_workflow_without_problems_strands_nobody(document: dict[str, Any]) -> None:
    """What keeps the rules passes them, can be covered and drawn, and lets nobody into a claim or out of terminal."""
    report = check(load(document), APPLICATION)
    assert report.problems == ()
    (workflow,) = report.workflows
    assert find_uncovered([workflow], [Cover("random")]) == ()
    assert all(draw(workflow, form) for form in ("svg", "mermaid", "text"))
    for claimed in workflow.claim_statuses:
        assert not any(
            workflow.allows(claimed, other) or workflow.allows(other, claimed) for other in workflow.statuses
        )
    for ended in workflow.terminal:
        assert not any(workflow.allows(ended, other) for other in workflow.statuses)


@thorough
@given(junk)
def test_junk_is_a_problem_and_never_an_error(document: Any) -> None:
    """Whatever JSON holds, the answer is a list of problems, each with a path and a sentence that can be printed."""
    report = check(load([document if isinstance(document, dict) else {"workflow": document}]), APPLICATION)
    assert report.problems
    assert all(problem.path.startswith("$") for problem in report.problems)
    assert json.dumps(report.as_json()).encode()
    assert str(report.as_error()).encode()


@thorough
@given(st.sampled_from(["billing", "orders"]), junk, st.data())
def test_junk_in_one_place_is_a_problem_and_never_an_error(name: str, value: Any, data: st.DataObject) -> None:
    """Any value of a good file may be replaced by anything."""
    document = {"billing": billing, "orders": orders}[name]()
    place: list[Any] = []
    here: Any = document
    while isinstance(here, dict | list) and here and (not place or data.draw(st.booleans())):
        place.append(data.draw(st.sampled_from(sorted(here) if isinstance(here, dict) else list(range(len(here))))))
        here = here[place[-1]]
    report = check(load(changed(document, *place, to=value)), APPLICATION)
    for problem in report.problems:
        assert str(problem).encode()
        assert problem.path.startswith("$")


@thorough
@given(
    st.binary(max_size=200) | st.text(max_size=200).map(lambda text: text.encode(errors="replace")),
    st.sampled_from(["json", "toml"]),
)
def test_bytes_are_a_problem_and_never_an_error(tmp_path_factory: Any, content: bytes, ending: str) -> None:
    """Whatever lies in a file, loading it answers."""
    path = tmp_path_factory.getbasetemp() / f"fuzz.{ending}"
    path.write_bytes(content)
    assert check(load(path)).problems
