"""What the prover refuses, because it could not be honest about it."""

from __future__ import annotations

import itertools
from typing import Any, ClassVar

import pytest

from semel.testing.prove.budgets import Budgets
from semel.testing.prove.carrying import Forbidden
from semel.testing.prove.deeds import Query
from semel.testing.prove.life import Deeds
from semel.testing.prove.positions import NondeterminismError
from semel.testing.prove.proving import prove
from semel.testing.prove.scenario import actor
from semel.testing.prove.shipped.shop import pay
from tests.unit.testing.prove.small import OneClaim

drawn = itertools.count()


class RandomKey(OneClaim):
    """An action that does something else each time it is run."""

    actions: ClassVar[Any] = {"Charge": lambda step: step.reach("stripe.charge", key=f"random-{next(drawn)}")}


def test_an_action_that_depends_on_chance_is_refused() -> None:
    """The same observations led to another ask, so nothing can be proven, and the error says what was asked."""
    with pytest.raises(NondeterminismError, match="customer saw the same twice"):
        prove(RandomKey(), Budgets(1, 0, 0, 0))


class JournalReader(OneClaim):
    """An actor that reads the journal by the row."""

    @actor()
    def reader(self, once: Any) -> Deeds:
        """Read what moved."""
        text = "SELECT kind FROM semel_journal WHERE row_id = ?"
        yield from once.life.do(Query(1, "read_journal", text, ("1",), wants="rows"))


def test_reading_the_journal_by_the_row_is_refused() -> None:
    """The journal is hashed as a set, which is only sound if it is asked by operation id."""
    with pytest.raises(Forbidden, match="read_journal"):
        prove(JournalReader(), Budgets(0, 0, 0, 0))


class Swallowing(OneClaim):
    """A caller that does something in `finally`, and never dies in the eyes of its own code."""

    @actor()
    def customer(self, once: Any) -> Deeds:
        """Pay, and tidy up."""
        try:
            return (yield from pay(once, tries=1))
        finally:
            yield from once.life.do(Query(9, "tidy up", "UPDATE orders SET status = 'tidied'", (), wants="count"))


def test_a_crash_runs_no_finally_block() -> None:
    """What is in `finally` is done by whoever lives, and by nobody who died: the dead row stays as it was."""
    story = prove(Swallowing(), Budgets(1, 0, 0, 0)).story
    assert story is not None
    tidied = [line for line in story.lines if "tidied" in line.change]
    assert tidied, "alive, it is done"
    assert not any(line.is_fault for line in story.lines)
