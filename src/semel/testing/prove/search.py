"""The search: every order of every boundary, with every fault the budgets allow; the fewest faults first, then the shortest.

Theory of operation
- A state is a handful of small numbers: the database, the outside world, commits still under way, whose transaction is
  open, the faults left, and where every actor is. Equal states are entered once.
- Layer f holds the histories with f faults. Within it states are entered in the order of their length, so the first
  violation found has the fewest faults and, among those, the fewest steps.
- A crash leaves an actor where it is for ever: what it would do next, its `finally` blocks included, is not done.
- An unknown outcome is the answer of a COMMIT (or of a write alone) lost on the way: done, not done, or done later.
"""

from __future__ import annotations

import time
from array import array
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from semel.testing.prove.budgets import Budgets
from semel.testing.prove.cast import Cast
from semel.testing.prove.deeds import Deed, Query
from semel.testing.prove.endings import Found
from semel.testing.prove.moves import ACTORS_FROM, DEAD, Label, Moves, State

PROGRESS_EVERY = 4096
"""How many states are explored between two words about progress."""


@dataclass
class Tally:
    """What a search counts."""

    states: int = 0
    transitions: int = 0
    carried: int = 0
    endings: int = 0
    schedules: int = 0
    seconds: float = 0.0
    processor_seconds: float = 0.0
    seen: set[str] = field(default_factory=set)
    boundaries: dict[tuple[int, str], set[str]] = field(default_factory=dict)
    """Where somebody came by, and what befell them there: (actor, boundary) → faults."""
    longest: dict[int, int] = field(default_factory=dict)
    """How many boundaries each actor passes in the history in which they pass most."""


@dataclass(frozen=True)
class Violation:
    """An invariant that does not hold, and how that came about."""

    invariant: str
    words: str
    path: tuple[tuple[Label, State], ...]
    aftermath: tuple[str, ...] = ()


class Search:
    """Explores one scenario."""

    def __init__(
        self,
        cast: Cast,
        budgets: Budgets,
        *,
        prunes: bool = True,
        progress: Callable[[Tally], None] | None = None,
    ) -> None:
        """Enter the first state."""
        self.cast = cast
        self.budgets = budgets
        self.prunes = prunes
        self.progress = progress
        self.moves = Moves(cast)
        self.tally = Tally()
        self.violation: Violation | None = None
        self._states: list[State] = []
        self._parents = array("q")
        self._labels: list[Label] = []
        self._ways: list[int] = []
        self._numbers: dict[State, int] = {}
        self._befell: set[tuple[str, int]] = set()
        self._layers: list[dict[int, list[int]]] = [{} for _ in range(budgets.total + 1)]
        self._enter(self.moves.start(budgets.left), -1, ("start", DEAD, 0), 0, 1)

    def run(self) -> Violation | None:
        """Explore until nothing is left, or something is wrong."""
        began, worked = time.perf_counter(), time.process_time()
        for number, depth in self._in_order():
            self.violation = self._explore(number, depth)
            if self.violation is not None:
                break
        self.tally.seconds = time.perf_counter() - began
        self.tally.processor_seconds = time.process_time() - worked
        self.tally.states = len(self._states)
        self.tally.carried = self.cast.carrier.carried
        self._note_what_befell()
        return self.violation

    def _in_order(self) -> Iterator[tuple[int, int]]:
        """Go through the states that were entered: the fewest faults first, then the shortest histories."""
        for layer in self._layers:
            depth = 0
            while layer:
                for number in layer.pop(depth, ()):
                    yield number, depth
                depth += 1

    @property
    def is_complete(self) -> bool:
        """Whether nothing was left unexplored."""
        return self.violation is None and not any(self._layers)

    def _explore(self, number: int, depth: int) -> Violation | None:
        state = self._states[number]
        ways = self._ways[number]
        is_over = True
        tally = self.tally
        for event in self.moves.after(state):
            tally.transitions += 1
            kind = event.label[0]
            if kind != "arrive":
                is_over = False  # a commit that is under way may also never arrive
            self._befell.add((kind, event.label[2]))
            self._enter(event.after, number, event.label, depth + 1, ways)
            landing = event.landing
            if landing is not None and landing.problem is not None:
                path = (*self.path(number), (event.label, event.after))
                return Violation(*landing.problem, path)
        if self.progress is not None and number % PROGRESS_EVERY == 0:
            tally.states = len(self._states)
            self.progress(tally)
        return self._end(number, state) if is_over else None

    def _enter(self, state: State, parent: int, label: Label, depth: int, ways: int) -> None:
        if self.prunes:
            known = self._numbers.get(state)
            if known is not None:
                self._ways[known] += ways
                return
            self._numbers[state] = len(self._states)
        number = len(self._states)
        self._states.append(state)
        self._parents.append(parent)
        self._labels.append(label)
        self._ways.append(ways)
        faults = self.budgets.total - sum(state[5])
        self._layers[faults].setdefault(depth, []).append(number)

    def _note_what_befell(self) -> None:
        tally, positions = self.tally, self.cast.positions.all
        tally.seen = set(self.cast.carrier.seen)
        for kind, at in self._befell:
            if kind in {"jump", "beat", "commits", "vanishes"}:
                continue
            position = positions[at]
            boundary = (position.actor.number, name_boundary(position.deed))
            tally.boundaries.setdefault(boundary, set()).add(kind)
        if any(kind in {"arrive", "commits"} for kind, _ in self._befell):
            tally.seen.add("a late arrival")
        tally.longest = count_boundaries(self.cast, {at for kind, at in self._befell if kind == "step"})
        if all("crash" in kinds for kinds in tally.boundaries.values()):
            tally.seen.add("a crash at every boundary")

    def _end(self, number: int, state: State) -> Violation | None:
        self.tally.endings += 1
        self.tally.schedules += self._ways[number]
        found = self.judge_end(state)
        return None if found is None else Violation(found.invariant, found.words, self.path(number), found.aftermath)

    def judge_end(self, state: State) -> Found | None:
        """Judge a state in which everybody has ended."""
        positions = self.cast.positions.all
        outcomes = tuple(None if at == DEAD else positions[at].outcome for at in state[ACTORS_FROM:])
        late = tuple(positions[at] for at in state[2])
        image = self.cast.images.all[state[0]]
        return self.cast.endings.judge(image, state[1], late, outcomes, is_calm=state[5] == self.budgets.left)

    def path(self, number: int) -> tuple[tuple[Label, State], ...]:
        """Answer how a state was come to, from the beginning."""
        steps = []
        while number >= 0:
            steps.append((self._labels[number], self._states[number]))
            number = self._parents[number]
        return tuple(reversed(steps))


def name_boundary(deed: Deed | None) -> str:
    """Name a boundary by what is asked there."""
    return deed.name if isinstance(deed, Query) else type(deed).__name__


def count_boundaries(cast: Cast, stepped: set[int]) -> dict[int, int]:
    """Count the boundaries each actor passes at most."""
    longest = dict.fromkeys(range(len(cast.actors)), 0)
    passed: dict[int, int] = {}
    for position in cast.positions.all:  # parents come before their children
        before = passed[position.parent.number] if position.parent is not None else 0
        passed[position.number] = before + (position.number in stepped)
        if position.actor.number in longest:
            longest[position.actor.number] = max(longest[position.actor.number], passed[position.number])
    return longest
