"""What a verb answers. Losing a race is one of these values, never an exception."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal


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
