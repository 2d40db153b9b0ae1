"""What a verb answers. Losing a race is one of these values, never an exception."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias


@dataclass(frozen=True, slots=True)
class Moved:
    """The transition happened, and nobody else's did.

    `fence` is the version the row has now; a later write that compares it cannot overwrite somebody else's move.
    `provisional` is true on a borrowed handle: the transition is yours only when your own commit has returned.
    """

    fence: int
    provisional: bool = field(default=False, kw_only=True)

    def __bool__(self) -> Literal[True]:
        """Answer true: `if moved:` reads as it should."""
        return True


@dataclass(frozen=True, slots=True)
class Missed:
    """The row was not in a source status, or a guard did not hold; nothing was written.

    `now` is the status the row has, read under a lock, or None when it could not be known for certain.
    """

    now: str | None

    def __bool__(self) -> Literal[False]:
        """Answer false: `if moved:` reads as it should."""
        return False


@dataclass(frozen=True, slots=True)
class Done:
    """The step is finished: `status` is where the row is now, `result` what the action returned."""

    status: str
    result: Any = None

    def __bool__(self) -> Literal[True]:
        """Answer true: `if done:` reads as it should."""
        return True


class _NotDone:
    """Every other answer of a step is false."""

    __slots__ = ()

    def __bool__(self) -> Literal[False]:
        """Answer false: `if done:` reads as it should."""
        return False


@dataclass(frozen=True, slots=True)
class Refused(_NotDone):
    """The provider said no, for good. `now` is where the row is."""

    reason: str
    now: str


@dataclass(frozen=True, slots=True)
class Rejected(_NotDone):
    """A validator or the action said no; nothing of the step was kept. An action returns it: `return Rejected("sold out")`."""

    reason: str

    def __post_init__(self) -> None:
        """Refuse a reason that is not text: it is shown, journaled, and sent to clients."""
        if not isinstance(self.reason, str):
            raise TypeError(f"Rejected takes a text as its reason, not {type(self.reason).__name__}")


@dataclass(frozen=True, slots=True)
class Busy(_NotDone):
    """Another operation is in progress on the row; nothing was written. `holder` is whose, or "lock".

    A lock without a claim is most likely your own open transaction: commit it first.
    """

    holder: str


@dataclass(frozen=True, slots=True)
class Pending(_NotDone):
    """There is no answer yet, and a keeper will finish it. `call` names the outside call that is open.

    With `call=None` the caller lost its claim, or a person has to look: what became of the step shows in the row.
    """

    call: str | None = None


@dataclass(frozen=True, slots=True)
class NotAllowed(_NotDone):
    """The requester may not take this step from where the row is. `now` is its status."""

    now: str


Outcome: TypeAlias = Done | Refused | Rejected | Busy | Pending | NotAllowed
"""What `advance` answers."""


@dataclass(frozen=True, slots=True)
class Finish:
    """What an action returns to pick one of several successful states: `return Finish("sent")`."""

    status: str | None = None
    result: Any = None
