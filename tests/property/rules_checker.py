"""A second checker of the rules R2 to R14, written from their text alone.

It knows nothing of Semel's code and works the other way round: the document becomes flat relations between things, and a
broken rule is a row of one of them. Requesters are not looked up but tried out: everyone who is named anywhere, and a
stranger. An answer is a set of (rule, what it is about): a step by its position, a status, or a key of the file.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, product
from typing import Any

STRANGER = "\0stranger"
Broken = set[tuple[str, object]]


def spread(value: Any) -> dict[str, Any]:
    """A plain value as the map it stands for."""
    return value if isinstance(value, dict) else {"*": value}


def as_list(value: Any) -> list[Any]:
    """One item as the list it stands for."""
    return value if isinstance(value, list) else [value]


def heard(values: dict[str, Any], requester: str) -> Any:
    """What a requester gets."""
    return values.get(requester, values.get("*"))


class Facts:
    """A document as relations."""

    def __init__(self, document: dict[str, Any]) -> None:
        self.document = document
        self.statuses = set(document["status_types"])
        self.terminal = set(document.get("terminal", []))
        self.outside = set(document.get("outside", []))
        self.steps = list(enumerate(document["steps"]))
        self.claims = [
            (position, requester, into, back_to)
            for position, step in self.steps
            for requester, (into, back_to) in sorted(spread(step.get("successful_claim_state", {})).items())
        ]
        self.successes = {
            (position, requester, status)
            for position, step in self.steps
            for requester, statuses in spread(step["successful_state"]).items()
            for status in as_list(statuses)
        }
        self.refusals = {
            (position, requester, status)
            for position, step in self.steps
            for requester, status in spread(step.get("refused_state", {})).items()
        }
        self.tries = set(chain.from_iterable(product([position], self.people(step)) for position, step in self.steps))

    @staticmethod
    def people(step: dict[str, Any]) -> set[str]:
        """Everyone a step tells apart, and somebody it has never heard of."""
        maps = (
            "successful_state",
            "successful_claim_state",
            "refused_state",
            "action",
            "validate",
            "success_after_effect",
        )
        return {STRANGER, *chain.from_iterable(spread(step.get(key, {})) for key in maps)} - {"*"}

    def may_take(self, position: int, requester: str) -> bool:
        """Whether a requester may take a step."""
        return heard(spread(self.document["steps"][position]["successful_state"]), requester) is not None

    def claims_of(self, position: int, requester: str) -> Any:
        """The claim of a requester, if there is one."""
        return heard(spread(self.document["steps"][position].get("successful_claim_state", {})), requester)

    def moves(self) -> Iterator[tuple[str, str]]:
        """Every move that can happen."""
        for position, _, into, back_to in self.claims:
            yield self.document["steps"][position]["status"], into
            yield into, back_to
        for position, requester in self.tries:
            if self.may_take(position, requester):
                step = self.document["steps"][position]
                claim = self.claims_of(position, requester)
                source = claim[0] if claim else step["status"]
                for target in as_list(heard(spread(step["successful_state"]), requester)):
                    yield source, target
                refused = heard(spread(step.get("refused_state", {})), requester)
                if refused is not None:
                    yield source, refused

    def recovery(self, position: int) -> str:
        """How a step recovers, said or not."""
        step = self.document["steps"][position]
        return step.get("recovery") or ("resume" if step.get("calls") else "revert")


def about_statuses(facts: Facts) -> Broken:
    """R2, R9 and R10."""
    named_by_steps = {(position, step["status"]) for position, step in facts.steps}
    named_by_steps |= {(position, end) for position, _, *ends in facts.claims for end in ends}
    named_by_steps |= {(position, status) for position, _, status in facts.successes | facts.refusals}
    named_by_file = {("initial", facts.document["initial"])}
    named_by_file |= {(key, status) for key in ("terminal", "outside") for status in facts.document.get(key, [])}
    broken: Broken = {("R2", what) for what, status in named_by_steps | named_by_file if status not in facts.statuses}
    broken |= {("R10", position) for position, step in facts.steps if step["status"] in facts.terminal}
    moves = set(facts.moves())
    stuck = {status for status in facts.statuses - facts.terminal if not any(a == status != b for a, b in moves)}
    lost = facts.statuses - reached(moves, {facts.document["initial"]} | facts.outside)
    if facts.document["initial"] not in facts.statuses:
        lost = set()
    return broken | {("R9", status) for status in (stuck | lost) - facts.outside}


def reached(moves: set[tuple[str, str]], start: set[str]) -> set[str]:
    """What grows until it grows no more."""
    grown = start | {target for source, target in moves if source in start}
    return grown if grown == start else reached(moves, grown)


def about_claims(facts: Facts) -> Broken:
    """R3 to R6, R12 and R13."""
    steps = facts.document["steps"]
    broken: Broken = {("R3", position) for position, _, into, back_to in facts.claims if into == back_to}
    broken |= {("R4", position) for position, _, into, _ in facts.claims if into == steps[position]["status"]}
    broken |= {
        ("R5", at)
        for at, _, into, _ in facts.claims
        for other, _, status in facts.successes
        if (at, into) == (other, status)
    }
    for earlier, later in product(range(len(facts.claims)), repeat=2):
        (first, _, into, back), (second, _, into_too, back_too) = facts.claims[earlier], facts.claims[later]
        is_first = all(into != claim[2] for claim in facts.claims[:earlier])
        if into == into_too and is_first and (back, facts.recovery(first)) != (back_too, facts.recovery(second)):
            broken.add(("R6", second))
    taken = {facts.document["initial"], *facts.terminal, *(step["status"] for step in steps)}
    taken |= {status for _, _, status in facts.successes | facts.refusals}
    broken |= {("R12", at) for at, _, into, back in facts.claims if into in taken or back != steps[at]["status"]}
    unclaimed = {at for at, who in facts.tries if facts.may_take(at, who) and facts.claims_of(at, who) is None}
    return broken | {("R13", position) for position in unclaimed if steps[position].get("calls")}


def about_names(facts: Facts) -> Broken:
    """R7 without an application, R14, and requesters that nobody hears."""
    broken: Broken = set()
    for position, step in facts.steps:
        before = facts.document["steps"][:position]
        if step.get("calls") and facts.recovery(position) == "revert":
            broken.add(("R7", position))
        if any(step["step_id"] == other["step_id"] for other in before):
            broken.add(("R14", position))
        if any((step["step_key"], step["status"]) == (other["step_key"], other["status"]) for other in before):
            broken.add(("R14", position))
        if any(not facts.may_take(position, requester) for requester in facts.people(step) - {STRANGER}):
            broken.add(("shape", position))
    return broken


def about_application(facts: Facts, application: Any) -> Broken:
    """R7, R8 and R11, for an application that has registered some names."""
    broken: Broken = set()
    for position, step in facts.steps:
        calls = step.get("calls", [])
        known = [application.calls[call] for call in calls if call in application.calls]
        named = {
            *((name, application.actions) for name in spread(step.get("action", {})).values()),
            *(
                (name, application.validators)
                for names in spread(step.get("validate", {})).values()
                for name in as_list(names)
            ),
            *(
                (name, application.effects)
                for n in spread(step.get("success_after_effect", {})).values()
                for name in as_list(n)
            ),
        }
        if any(name not in there for name, there in named):
            broken.add(("R8", position))
        if len(known) < len(calls) or not all(facts_of_call.has_probe for facts_of_call in known):
            broken.add(("R8", position))
        if facts.recovery(position) == "resume" and not all(facts_of_call.deduplicates for facts_of_call in known):
            broken.add(("R7", position))
    for position, requester in facts.tries:
        action = heard(spread(facts.document["steps"][position].get("action", {})), requester)
        bare = facts.may_take(position, requester) and facts.claims_of(position, requester) is None
        if bare and action in application.unrepeatable_actions:
            broken.add(("R11", position))
    return broken


def find_broken(document: dict[str, Any], application: Any) -> Broken:
    """Everything that is wrong with a document."""
    facts = Facts(document)
    return about_statuses(facts) | about_claims(facts) | about_names(facts) | about_application(facts, application)
