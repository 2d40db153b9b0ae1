"""Minimising: the same violation with fewer changes from one actor to another."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

from semel.testing.prove.moves import ACTORS_FROM, DEAD, Label, State
from semel.testing.prove.search import Search, Violation

PASSES_LIMIT = 8
"""How often a whole story is gone through again after it became shorter."""


def shorten(search: Search, violation: Violation) -> Violation:
    """Move every step next to the step before it of the same actor, wherever the same violation still shows."""
    best = violation
    for _ in range(PASSES_LIMIT):
        better = _pass(search, best)
        if better is None:
            return best
        best = better
    return best


def _pass(search: Search, violation: Violation) -> Violation | None:
    labels = [label for label, _ in violation.path[1:]]
    cost = count_switches(labels)
    for late in range(len(labels) - 1, 0, -1):
        for early in range(late):
            changed = [*labels[:early], labels[late], *labels[early:late], *labels[late + 1 :]]
            if count_switches(changed) < cost:
                found = follow(search, changed, is_alike)
                if found is not None and found.invariant == violation.invariant:
                    return found
    return None


def count_switches(labels: list[Label]) -> int:
    """Count how often the story goes from one actor to another."""
    actors = [who for kind, who, _ in labels if kind != "crash"]
    return sum(1 for earlier, later in itertools.pairwise(actors) if earlier != later)


def is_alike(label: Label, wanted: Label) -> bool:
    """Whether two events are the same thing done by the same actor; a jump also goes to the same moment."""
    return label[:2] == wanted[:2] and (label[0] != "jump" or label[2] == wanted[2])


def follow(search: Search, wanted: Sequence[Any], is_wanted: Callable[[Label, Any], bool]) -> Violation | None:
    """Go a path of events; answer the violation it leads to. None: an event cannot happen there, or nothing is wrong."""
    state = search.moves.start(search.budgets.left)
    path: list[tuple[Label, State]] = [(("start", DEAD, 0), state)]
    for each in wanted:
        event = next((event for event in search.moves.after(state) if is_wanted(event.label, each)), None)
        if event is None:
            return None
        path.append((event.label, event.after))
        state = event.after
        if event.landing is not None and event.landing.problem is not None:
            return Violation(*event.landing.problem, tuple(path))
    positions = search.cast.positions.all
    if any(at != DEAD and positions[at].deed is not None for at in state[ACTORS_FROM:]):
        return None
    search.cast.endings.forget()
    found = search.judge_end(state)
    return None if found is None else Violation(found.invariant, found.words, tuple(path), found.aftermath)
