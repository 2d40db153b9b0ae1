"""The asks: frozen values by which a protocol says what it needs.

A protocol is a generator. It yields asks and is sent their answers; it never touches a database, a clock or a network
itself. A performer answers for real (sync, async), or kills, interleaves and forgets on purpose (prove).

Theory of operation
- `Fetch` and `Execute` outside `Together` are one autocommit statement each; inside it they share its transaction.
- A database error arrives in the protocol as a `StoreError` thrown at the ask that met it. Three kinds matter:
  `ConflictedError` (nothing was written, run it again), `OutcomeUnknownError` (the answer to a write or a COMMIT never came: it
  must be resolved by its operation id), and anything else (final).
- The performer has rolled back before it throws, so a protocol never sees a half-done transaction.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias, TypeVar

Params: TypeAlias = Mapping[str, object]
Row: TypeAlias = tuple[Any, ...]


class Statement(Protocol):
    """One SQL statement, built once. `writes` decides what a lost answer means."""

    @property
    def name(self) -> str:
        """The name, verb_noun with its guard, under which the statement is documented and counted."""

    @property
    def writes(self) -> bool:
        """Whether a lost answer leaves it unknown what the database did."""


@dataclass(frozen=True, slots=True)
class Fetch:
    """Run one statement and answer its rows, as a list of tuples."""

    statement: Statement
    params: Params


@dataclass(frozen=True, slots=True)
class Execute:
    """Run one statement and answer how many rows it matched: 0 or 1, or up to `rows_limit`."""

    statement: Statement
    params: Params
    rows_limit: int = 1


@dataclass(frozen=True, slots=True)
class Together:
    """Run the protocol that `begin` makes in one transaction, commit, and answer what it returned.

    `begin` is a function, because a transaction that is run again must start from the beginning.
    """

    begin: Callable[[], Asking[Any]]


@dataclass(frozen=True, slots=True)
class Now:
    """Answer the database's clock: microseconds since 1970, UTC."""


@dataclass(frozen=True, slots=True)
class Tick:
    """Answer the local monotonic clock, in seconds."""


@dataclass(frozen=True, slots=True)
class Fresh:
    """Answer a new id: 32 hexadecimal digits, unique, roughly ordered by time."""


@dataclass(frozen=True, slots=True)
class Wait:
    """Let this many seconds pass."""

    seconds: float


Ask: TypeAlias = Fetch | Execute | Together | Now | Tick | Fresh | Wait
Answer = TypeVar("Answer")
Asking: TypeAlias = Generator[Ask, Any, Answer]
"""A protocol on its way to an `Answer`."""
