"""What a keeper is: a duty with a name, that looks, does a bounded amount of work, and says how it went."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from semel.asks import Asking, ClaimName

SWEEP_LIMIT = 100
"""How much one look takes on: a look stays short, and what is left is due at the next."""

MEMORY_LIMIT = 10_000
"""How many claims a keeper remembers between its looks; more than this were never stranded one by one."""


@dataclass
class Report:
    """How one look went."""

    found: int = 0
    done: int = 0
    problems: list[str] = field(default_factory=list)


class Duty(Protocol):
    """One keeper's duty."""

    name: str

    def look(self) -> Asking[Report]:
        """Look once, and do what is due."""


@dataclass(frozen=True)
class _Seen:
    fence: int
    beats: int
    tick: float


class Looks:
    """The memory of a keeper: slow is not dead, so a claim is stranded only when two looks a lease apart saw the same beat.

    The lease is measured on this keeper's own monotonic clock. After a failover every lease in the database is over at
    once, but nobody has been seen twice yet.
    """

    def __init__(self) -> None:
        """Remember nothing yet."""
        self._seen: dict[ClaimName, _Seen] = {}

    def is_stranded(self, name: ClaimName, fence: int, beats: int, *, seconds: float, now: float) -> bool:
        """Answer whether this is the second look at the same heartbeat, at least so many seconds after the first."""
        before = self._seen.get(name)
        if before is None or (before.fence, before.beats) != (fence, beats):
            if len(self._seen) < MEMORY_LIMIT:
                self._seen[name] = _Seen(fence, beats, now)
            return False
        return now - before.tick >= seconds

    def forget(self, name: ClaimName) -> None:
        """Forget a claim that was dealt with."""
        self._seen.pop(name, None)

    def keep_only(self, names: set[ClaimName]) -> None:
        """Forget claims that are no longer due: somebody answers for them again."""
        for name in self._seen.keys() - names:
            del self._seen[name]
