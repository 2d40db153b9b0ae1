"""The deeds: what an actor does to the world outside its own head, as values that the explorer carries out.

A deed is the smallest thing that can be recorded and answered again. Those of one transaction are carried out together,
because no other writer can come between them; everything else is a boundary of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Query:
    """One statement on a connection. `wants`: its "rows", its "count", or "all": rows, names, count and last rowid."""

    connection: int
    name: str
    text: str
    bound: tuple[object, ...]
    wants: str

    @property
    def writes(self) -> bool:
        """Whether a lost answer leaves it unknown what the database did."""
        return not self.text.startswith(("SELECT", "PRAGMA"))


@dataclass(frozen=True, slots=True)
class Begin:
    """Begin a transaction that may write."""

    connection: int


@dataclass(frozen=True, slots=True)
class Commit:
    """Commit it."""

    connection: int


@dataclass(frozen=True, slots=True)
class Rollback:
    """Roll it back."""

    connection: int


@dataclass(frozen=True, slots=True)
class Reach:
    """Reach the outside world: it does what is asked once for each key, and repeats its answer."""

    name: str
    key: str
    intent: str
    heard_of_loss: bool = False


@dataclass(frozen=True, slots=True)
class Hand:
    """Hand an after-effect to its handler."""

    effect_id: str
    name: str
    entity: str
    row_id: str


@dataclass(frozen=True, slots=True)
class Stand:
    """Begin to act under a claim: time passes, and a heart beats beside."""

    step_key: str
    row_id: str


Deed: TypeAlias = Query | Begin | Commit | Rollback | Reach | Hand | Stand


@dataclass(frozen=True, slots=True)
class Raised:
    """An answer that is an error: its type's name, its words, and the database's code for it."""

    kind: str
    words: str
    code: int | None = None


@dataclass(frozen=True, slots=True)
class Beaten:
    """What a heartbeat heard: the claims that are still held, with their fences. It answers no deed."""

    held: frozenset[tuple[object, int]]


LOST = Raised("OperationalError", "disk I/O error: the answer was lost on purpose", 10)
"""The answer that never came. SQLite's code 10 is the one that says so little."""

UNANSWERED = Raised("TimeoutError", "no answer came, on purpose")
"""What whoever reaches outside hears instead of an answer."""
