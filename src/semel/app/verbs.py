"""A verb: what was called, read and checked, and the protocol that does it. Both composition roots perform the same ones."""

from __future__ import annotations

import enum
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from semel.asks import Asking
from semel.errors import error
from semel.outcomes import Missed, Moved
from semel.protocols.transition import IDS_LIMIT, move_many, move_many_joined, move_one, move_one_joined
from semel.store.entity import Entity, Id
from semel.store.tables import NAME_CHARACTERS
from semel.store.transitions import Move, Moves

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

    def plan(self, moves: Moves) -> Move:
        """Check every word against the bound table."""
        guards = {**(self.where or {}), **self.guards}
        refuse_too_many("guards", guards)
        for name, value in guards.items():
            moves.entity.guard_column(name)
            if isinstance(value, list | tuple | set | frozenset):
                refuse_too_many(f"values of the guard {name}", value)
        if self.by is not None and not 0 < len(self.by) <= NAME_CHARACTERS:
            raise error("SEMEL-ROW-6", by=self.by[:NAME_CHARACTERS], limit=NAME_CHARACTERS)
        return moves.plan(self.read_sources(moves.entity), moves.entity.read_status(self.to), guards, self.by)

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


def transition_one(moves: Moves, row: Any, words: Words) -> Verb[Moved | Missed]:
    """Read the call that moves one row."""
    move, found = words.plan(moves), moves.entity.read_id(row)
    return Verb("transition", lambda: move_one(move, found), lambda: move_one_joined(move, found), (found,))


def transition_several(moves: Moves, rows: Iterable[Any], words: Words) -> Verb[dict[Any, Moved | Missed]]:
    """Read the call that moves many rows, within the bound of one transaction."""
    found = list(dict.fromkeys(moves.entity.read_id(each) for each in rows))
    if len(found) > IDS_LIMIT:
        remedy = "Call it for one part after the other: each call is one transaction."
        raise error("SEMEL-ROW-5", count=len(found), what="ids", limit=IDS_LIMIT, remedy=remedy)
    move = words.plan(moves)
    return Verb("transition_many", lambda: move_many(move, found), lambda: move_many_joined(move, found), found)
