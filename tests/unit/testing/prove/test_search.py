"""The search saves work in three ways, and none of them may change what it finds."""

from __future__ import annotations

import pytest

from semel.testing.prove.budgets import Budgets
from semel.testing.prove.cast import Cast
from semel.testing.prove.life import drawing_ids
from semel.testing.prove.proving import prove
from semel.testing.prove.scenario import Scenario
from semel.testing.prove.search import Search
from tests.unit.testing.prove.small import OneClaim, TwoMovers

BUDGETS = (Budgets(0, 0, 0, 0), Budgets(1, 0, 0, 0), Budgets(0, 1, 0, 1), Budgets(1, 1, 0, 0))


def find_ends(kind: type[Scenario], budgets: Budgets, *, prunes: bool) -> tuple[set[object], Search]:
    """Answer every end that a search comes to: the database, the outside world, and what everybody was told."""
    with drawing_ids():
        search = Search(Cast(kind()), budgets, prunes=prunes)
        ends = set()
        judge_end = search.judge_end

        def note_end(state: tuple[object, ...]) -> object:
            images, positions = search.cast.images.all, search.cast.positions.all
            told = tuple(None if at == -1 else repr(positions[at].outcome) for at in state[6:])
            content = images[state[0]].content
            rows = tuple(
                tuple(sorted(map(repr, content[name])) if name == "semel_journal" else map(repr, content[name]))
                for name in content
                if name != "semel_journal"
            )
            ends.add((rows, search.cast.worlds.all[state[1]], told))
            return judge_end(state)

        search.judge_end = note_end
        search.run()
        search.cast.end()
    return ends, search


@pytest.mark.parametrize("kind", [TwoMovers, OneClaim])
@pytest.mark.parametrize("budgets", BUDGETS, ids=lambda budgets: str(budgets.left))
def test_pruning_equal_states_loses_no_end(kind: type[Scenario], budgets: Budgets) -> None:
    """With and without pruning the same ends are come to; and what is counted as schedules is what would have been walked."""
    pruned, with_pruning = find_ends(kind, budgets, prunes=True)
    all_ends, without = find_ends(kind, budgets, prunes=False)
    assert pruned == all_ends
    assert with_pruning.tally.schedules == without.tally.endings
    assert with_pruning.tally.states <= without.tally.states


def test_remembering_steps_changes_nothing() -> None:
    """A search that carries every step out anew comes to the same states and transitions."""
    budgets = Budgets(1, 1, 1, 0)
    counted = []
    for remembers in (True, False):
        with drawing_ids():
            search = Search(Cast(OneClaim(), remembers=remembers), budgets)
            assert search.run() is None
            search.cast.end()
        tally = search.tally
        counted.append((tally.states, tally.transitions, tally.schedules, sorted(tally.seen)))
    assert counted[0] == counted[1]


def test_the_first_violation_has_the_fewest_faults() -> None:
    """Without a janitor one crash is enough, and the story has no other fault."""

    class NoJanitor(OneClaim):
        keepers = ()

    story = prove(NoJanitor(), Budgets(2, 1, 1, 1)).story
    assert story is not None
    assert story.invariant == "nothing is stranded"
    assert [line.what for line in story.lines if line.is_fault] == ["dies"]


def test_equal_searches_are_equal() -> None:
    """Two searches of one scenario count the same: nothing in them depends on time or chance."""
    first, second = (prove(OneClaim(), Budgets(1, 1, 1, 1)) for _ in range(2))
    assert (first.tally.states, first.tally.transitions) == (second.tally.states, second.tally.transitions)
    assert first.tally.boundaries == second.tally.boundaries


def test_each_boundary_is_counted() -> None:
    """The tool itself counts how many boundaries an actor passes in the history in which it passes most."""
    assert prove(TwoMovers(), Budgets(0, 0, 0, 0)).tally.longest == {0: 1, 1: 1}, "a transition is one transaction"
    tally = prove(OneClaim(), Budgets(0, 0, 0, 0)).tally
    assert tally.longest[0] >= 3, "the claim, the action, and the finish"
