"""What a keeper is: a duty with a name, that looks, does a bounded amount of work, and says how it went."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import dataclass, field
from typing import Protocol

from semel.asks import Asking, ClaimName
from semel.protocols.wording import tell_problem

SWEEP_LIMIT = 100
"""How much one look takes on: a look stays short, and what is left is due at the next."""

SIGHT_LIMIT = 10_000
"""How many claims one look sees and a keeper remembers: many times what it takes on, so that claims it can do nothing about
(a step that this version does not have, a pause that is not over) do not hide the others. It is one or two megabytes."""

PROBLEM_CHARACTERS = 300
"""How much of one problem is told: a line of a log."""


@dataclass
class Report:
    """How one look went."""

    found: int = 0
    done: int = 0
    problems: list[str] = field(default_factory=list)
    passed_over: Counter[str] = field(default_factory=Counter)
    """Why this process did nothing about claims that are due, and about how many."""

    def note(self, what: str, problem: BaseException) -> None:
        """Tell of a problem with one thing; the look goes on with the next."""
        self.problems.append(f"{what}: {tell_problem(problem, PROBLEM_CHARACTERS)}")

    @property
    def troubles(self) -> list[str]:
        """Everything that a person should know."""
        return [*self.problems, *(f"{count} claims: {why}" for why, count in sorted(self.passed_over.items()))]


def is_stopping() -> bool:
    """Whether the task of an async keeper is being cancelled. A handler that raises CancelledError by itself stops nobody."""
    try:
        task = asyncio.current_task()
    except RuntimeError:
        return False
    return task is not None and task.cancelling() > 0


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
        self._tried: dict[ClaimName, int] = {}
        self._tries = 0

    def is_stranded(self, name: ClaimName, fence: int, beats: int, *, seconds: float, now: float) -> bool:
        """Answer whether this is the second look at the same heartbeat, at least so many seconds after the first."""
        before = self._seen.get(name)
        if before is None or (before.fence, before.beats) != (fence, beats):
            if len(self._seen) < SIGHT_LIMIT:
                self._seen[name] = _Seen(fence, beats, now)
            return False
        return now - before.tick >= seconds

    def forget(self, name: ClaimName) -> None:
        """Forget a claim that was dealt with."""
        self._seen.pop(name, None)

    def keep_only(self, names: set[ClaimName]) -> None:
        """Forget claims that are no longer due: somebody answers for them again."""
        for memory in (self._seen, self._tried):
            for name in memory.keys() - names:
                del memory[name]

    def note_try(self, name: ClaimName) -> None:
        """Remember that a claim has had its turn: if it stays due, the others come first."""
        self._tries += 1
        self._tried[name] = self._tries

    def turn_of(self, name: ClaimName) -> int:
        """Answer when a claim's turn is: before all that were tried later, and first of all if it never was."""
        return self._tried.get(name, 0)
