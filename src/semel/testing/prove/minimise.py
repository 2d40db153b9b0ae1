"""Minimising: the same violation with fewer changes from one actor to another."""

from __future__ import annotations

from typing import TYPE_CHECKING

from semel.testing.prove.moves import ACTORS_FROM, DEAD, Event, Label, State

if TYPE_CHECKING:
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
                found = replay(search, changed, violation)
                if found is not None:
                    return found
    return None


def count_switches(labels: list[Label]) -> int:
    """Count how often the story goes from one actor to another."""
    actors = [who for kind, who, _ in labels if kind != "crash"]
    return sum(1 for earlier, later in zip(actors, actors[1:], strict=False) if earlier != later)


def replay(search: Search, labels: list[Label], wanted: Violation) -> Violation | None:
    """Go a path of the same events in another order; None, if it does not lead to the same violation."""
    state = search.moves.start(search.budgets.left)
    path: list[tuple[Label, State]] = [(("start", DEAD, 0), state)]
    for number, label in enumerate(labels):
        event = _find(search, state, label)
        if event is None:
            return None
        path.append((event.label, event.after))
        state = event.after
        problem = event.landing.problem if event.landing is not None else None
        if problem is not None:
            is_last = number == len(labels) - 1
            return _same(wanted, problem[0], problem[1], path) if is_last or problem[0] == wanted.invariant else None
    return _judge_end(search, state, path, wanted)


def _find(search: Search, state: State, label: Label) -> Event | None:
    kind, who, at = label
    for event in search.moves.after(state):
        if (
            event.label[0] == kind
            and event.label[1] == who
            and (kind not in {"jump", "arrive"} or event.label[2] == at)
        ):
            return event
    return None


def _judge_end(search: Search, state: State, path: list[tuple[Label, State]], wanted: Violation) -> Violation | None:
    positions = search.cast.positions.all
    places = state[ACTORS_FROM:]
    if any(at != DEAD and positions[at].deed is not None for at in places):
        return None
    search.cast.endings.forget()
    found = search.judge_end(state)
    return None if found is None else _same(wanted, found.invariant, found.words, path, found.aftermath)


def _same(
    wanted: Violation, invariant: str, words: str, path: list[tuple[Label, State]], aftermath: tuple[str, ...] = ()
) -> Violation | None:
    if invariant != wanted.invariant:
        return None
    return type(wanted)(invariant, words, tuple(path), aftermath)
