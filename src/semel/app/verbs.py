"""A verb: what was called, read and checked, and the protocol that does it. Both composition roots perform the same ones."""

from __future__ import annotations

import enum
import json
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from semel.app.setup import Bound
from semel.asks import Asking
from semel.errors import error
from semel.outcomes import Missed, Moved, Outcome
from semel.performers.steps import write_json
from semel.protocols.advance import advance
from semel.protocols.alone import advance_joined
from semel.protocols.errand import HIDDEN, Errand
from semel.protocols.transition import IDS_LIMIT, move_many, move_many_joined, move_one, move_one_joined
from semel.store.entity import Entity, Id
from semel.store.tables import NAME_CHARACTERS
from semel.store.transitions import Move
from semel.workflow.model import EVERYONE, Step

Answer = TypeVar("Answer")

GUARDS_LIMIT = 50
"""How many source statuses, guards, or values of one guard a call may name: each is a parameter of its statement."""


@dataclass(frozen=True)
class Verb(Generic[Answer]):
    """One call, in its two forms."""

    name: str
    own: Callable[[], Asking[Answer]]
    joined: Callable[[], Asking[Answer]]
    rows: Collection[Id]


@dataclass(frozen=True)
class Words:
    """What a transition was called with, beside the ids."""

    source: Any
    to: Any
    by: str | None
    where: Mapping[str, Any] | None
    guards: Mapping[str, Any]

    def plan(self, bound: Bound) -> Move:
        """Check every word against the bound table."""
        moves = bound.moves
        guards = {**(self.where or {}), **self.guards}
        refuse_too_many("guards", guards)
        for name, value in guards.items():
            moves.entity.guard_column(name)
            if isinstance(value, list | tuple | set | frozenset):
                refuse_too_many(f"values of the guard {name}", value)
        if self.by is not None and not 0 < len(self.by) <= NAME_CHARACTERS:
            raise error("SEMEL-ROW-6", by=self.by[:NAME_CHARACTERS], limit=NAME_CHARACTERS)
        sources, target = self.read_sources(moves.entity), moves.entity.read_status(self.to)
        for source in sources:
            refuse_undeclared(bound, source, target)
        return moves.plan(sources, target, guards, self.by)

    def read_sources(self, entity: Entity) -> list[str]:
        """Read one source status, or several."""
        several = isinstance(self.source, Collection) and not isinstance(self.source, str | enum.Enum)
        given = self.source if several else (self.source,)
        refuse_too_many("source statuses", given)
        sources = list(dict.fromkeys(entity.read_status(each) for each in given))
        return sources or [entity.read_status("")]  # none is as wrong as an empty one, and reads the same


def refuse_too_many(what: str, given: Collection[Any]) -> None:
    """Refuse a call whose statement would grow without bound."""
    if len(given) > GUARDS_LIMIT:
        raise error("SEMEL-ROW-5", count=len(given), what=what, limit=GUARDS_LIMIT, remedy="Name fewer of them.")


def refuse_undeclared(bound: Bound, source: str, target: str) -> None:
    """A bare transition obeys the workflow too: it never touches a claim, and never leaves a terminal status."""
    workflow = bound.workflow
    if workflow is None or workflow.allows(source, target):
        return
    # What allow= cannot do is not recommended.
    if {source, target} & workflow.claim_statuses:
        raise error("SEMEL-FLOW-8", source=source, target=target, workflow=workflow.name)
    if source in workflow.terminal:
        raise error("SEMEL-FLOW-9", source=source, workflow=workflow.name)
    if (source, target) in bound.allow:
        return
    raise error("SEMEL-FLOW-7", source=source, target=target, workflow=workflow.name)


def transition_one(bound: Bound, row: Any, words: Words) -> Verb[Moved | Missed]:
    """Read the call that moves one row."""
    move, found = words.plan(bound), bound.entity.read_id(row)
    return Verb("transition", lambda: move_one(move, found), lambda: move_one_joined(move, found), (found,))


def transition_several(bound: Bound, rows: Iterable[Any], words: Words) -> Verb[dict[Any, Moved | Missed]]:
    """Read the call that moves many rows, within the bound of one transaction."""
    found = list(dict.fromkeys(bound.entity.read_id(each) for each in rows))
    if len(found) > IDS_LIMIT:
        remedy = "Call it for one part after the other: each call is one transaction."
        raise error("SEMEL-ROW-5", count=len(found), what="ids", limit=IDS_LIMIT, remedy=remedy)
    move = words.plan(bound)
    return Verb("transition_many", lambda: move_many(move, found), lambda: move_many_joined(move, found), found)


def advance_one(bound: Bound, row: Any, call: StepCall) -> Verb[Outcome]:
    """Read the call that takes a step."""
    workflow = bound.workflow
    if workflow is None:
        raise error("SEMEL-APP-7", table=bound.entity.name, step=call.key)
    if call.key not in {step.key for step in workflow.steps}:
        raise error(
            "SEMEL-FLOW-6",
            workflow=workflow.name,
            step=call.key,
            known=", ".join(sorted({step.key for step in workflow.steps})),
        )
    if call.by is not None and not 0 < len(call.by) <= NAME_CHARACTERS:
        raise error("SEMEL-ROW-6", by=call.by[:NAME_CHARACTERS], limit=NAME_CHARACTERS)
    requester = call.by or EVERYONE
    steps = {
        step.status: step
        for step in workflow.steps
        if step.key == call.key and not step.retired and step.may_be_taken_by(requester)
    }
    found = bound.entity.read_id(row)
    text = None if call.input is None else write_json(hide_secrets(call.input, steps.values()), "the input")
    errand = Errand(
        claims=bound.claims,
        workflow=workflow,
        row=found,
        key=call.key,
        requester=requester,
        input_text=text,
        input=None if call.input is None else json.loads(write_json(call.input, "the input")),
        owner=call.owner,
        lease_us=int(call.lease_seconds * 1_000_000),
        steps=steps,
    )
    return Verb("advance", lambda: advance(errand), lambda: advance_joined(errand), (found,))


def hide_secrets(given: Any, steps: Iterable[Step]) -> Any:
    """Answer the input as it is stored: of a secret only that there was one."""
    secrets = {key for step in steps for key in step.secret_input}
    if not secrets or not isinstance(given, Mapping):
        return given
    return {key: {HIDDEN: True} if key in secrets else value for key, value in given.items()}


@dataclass(frozen=True)
class StepCall:
    """What `advance` was called with, beside the id, and who would hold the claim."""

    key: str
    by: str | None
    input: Any
    owner: str
    lease_seconds: float
