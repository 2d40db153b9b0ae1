"""Every mutant is noticed, in a story somebody can read."""

from __future__ import annotations

import pytest

from semel.testing.prove.mutants import MUTANTS
from semel.testing.prove.mutants.mutant import Mutant
from semel.testing.prove.proving import kill

STEPS_LIMIT = 15


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_mutant_is_noticed(mutant: Mutant) -> None:
    """The broken protocol is told apart from the whole one, in at most fifteen faults and changes of actor."""
    killing = kill(mutant)
    story = killing.proof.story
    assert story is not None, f"{mutant.name} lives"
    assert story.steps <= STEPS_LIMIT
    assert any(line.matters for line in story.lines)


def test_a_mutant_is_mended_afterwards() -> None:
    """What was broken on purpose is whole again when the mutant is done with."""
    (mutant,) = [each for each in MUTANTS if each.name == "unconditional claim"]
    (change,) = mutant.changes
    before = getattr(change.owner, change.name)
    with mutant.applied():
        assert getattr(change.owner, change.name) is not before
    assert getattr(change.owner, change.name) is before
