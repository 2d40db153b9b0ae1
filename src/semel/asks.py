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
    """Run one statement and answer its rows, as a list of tuples.

    `whole`, here and below: a caller that is cancelled meanwhile still waits for the answer, because what is written must be
    finished or undone.
    """

    statement: Statement
    params: Params
    whole: bool = False


@dataclass(frozen=True, slots=True)
class Execute:
    """Run one statement and answer how many rows it matched: 0 or 1, or up to `rows_limit`."""

    statement: Statement
    params: Params
    rows_limit: int = 1
    whole: bool = False


@dataclass(frozen=True, slots=True)
class Together:
    """Run the protocol that `begin` makes in one transaction, commit, and answer what it returned.

    `begin` is a function, because a transaction that is run again must start from the beginning. `within` is a transaction
    that an action left open; it is finished instead of a new one, and cannot be run again without the action.
    """

    begin: Callable[[], Asking[Any]]
    within: Open | None = None
    whole: bool = False


class Open(Protocol):
    """A transaction that is open because a user's action writes in it. Only performers look inside."""


@dataclass(frozen=True, slots=True)
class OpenFinish:
    """Open a transaction for an action to write in, run `begin` in it first, and answer (Open, what it returned)."""

    begin: Callable[[], Asking[Any]]


@dataclass(frozen=True, slots=True)
class Drop:
    """Roll back what an action left open."""

    open: Open


@dataclass(frozen=True, slots=True)
class StepFacts:
    """What an action is told: on which row, on whose behalf, with what. `fence` is None without a claim."""

    workflow: str
    step_key: str
    status: str
    requester: str
    entity: str
    row: object
    input: object
    fence: int | None
    values: Mapping[str, object]
    attempt: int


@dataclass(frozen=True, slots=True)
class Act:
    """Ask the validators, then run the action, and answer how it left: `Acted`.

    `fence` is the protocol that must be the first of the finishing transaction; `opened` is that transaction where it is
    open already. `claim` names the claim whose heartbeat goes on beside the action.
    """

    facts: StepFacts
    action: str | None
    validators: tuple[str, ...]
    fence: Callable[[], Asking[None]] | None = None
    opened: Open | None = None
    claim: ClaimName | None = None
    lease_us: int = 0


@dataclass(frozen=True, slots=True)
class Recorded:
    """An after-effect that an action asked for."""

    name: str
    payload: str


@dataclass(frozen=True, slots=True)
class Acted:
    """How an action left. `problem` is what it raised; `open` is its transaction, if it wrote; `lost`: its claim is gone."""

    value: object = None
    problem: BaseException | None = None
    open: Open | None = None
    effects: tuple[Recorded, ...] = ()
    lost: bool = False


@dataclass(frozen=True, slots=True)
class ClaimName:
    """Which claim: one per workflow, table, row, step key and status."""

    workflow: str
    entity: str
    row_id: str
    step_key: str
    status: str


@dataclass(frozen=True, slots=True)
class Deliver:
    """Run the handler of an after-effect, and answer what it raised, or None."""

    effect_id: str
    name: str
    entity: str
    row_id: str
    payload: str
    attempt: int


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


Ask: TypeAlias = Fetch | Execute | Together | OpenFinish | Drop | Act | Deliver | Now | Tick | Fresh | Wait
Answer = TypeVar("Answer")
Asking: TypeAlias = Generator[Ask, Any, Answer]
"""A protocol on its way to an `Answer`."""
