"""The shipped scenarios, with as many faults as a test run has time for; `make prove` has the rest."""

from __future__ import annotations

import pytest

from semel.testing.prove.budgets import Budgets
from semel.testing.prove.proving import prove
from semel.testing.prove.scenario import Scenario
from semel.testing.prove.shipped import SCENARIOS

SMALL = Budgets(crashes=1, unknown=1, clock=0, late=0)


@pytest.mark.parametrize("kind", SCENARIOS, ids=lambda kind: kind.__name__)
def test_a_shipped_scenario_holds_with_a_crash_and_a_lost_answer(kind: type[Scenario]) -> None:
    """Everything with one crash and one unknown outcome was explored, and nothing was wrong."""
    proof = prove(kind(), SMALL)
    assert proof.story is None, proof.story.text()
    assert proof.complete
    assert not proof.never_seen


def test_a_takeover_of_a_holder_that_is_only_slow_is_survived() -> None:
    """With a jump of the clock the keepers take claims from the living, and everything still holds."""
    (kind,) = [each for each in SCENARIOS if each.__name__ == "TwoVersions"]
    proof = prove(kind(), Budgets(crashes=1, unknown=0, clock=1, late=0))
    assert proof.is_proven
    assert {"a takeover", "a fenced zombie"} <= proof.tally.seen
