"""Proving one scenario, or killing one mutant."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from semel.testing.prove.budgets import Budgets
from semel.testing.prove.cast import Cast
from semel.testing.prove.life import drawing_ids
from semel.testing.prove.minimise import shorten
from semel.testing.prove.scenario import Scenario
from semel.testing.prove.search import Search, Tally
from semel.testing.prove.story import Story, Teller


@dataclass(frozen=True)
class Proof:
    """What a search came to."""

    scenario: str
    actors: tuple[str, ...]
    tally: Tally
    complete: bool
    story: Story | None
    never_seen: tuple[str, ...]

    @property
    def is_proven(self) -> bool:
        """Whether everything was explored, everything was seen, and nothing was wrong."""
        return self.complete and self.story is None and not self.never_seen


def prove(
    scenario: Scenario, budgets: Budgets | None = None, progress: Callable[[Tally], None] | None = None, **options: Any
) -> Proof:
    """Explore a scenario."""
    with drawing_ids():
        cast = Cast(scenario)
        search = Search(cast, scenario.budgets if budgets is None else budgets, progress=progress, **options)
        try:
            violation = search.run()
            story = None
            if violation is not None:
                violation = shorten(search, violation)
                story = Teller(cast).tell(violation.invariant, violation.words, violation.path, violation.aftermath)
        finally:
            cast.positions.bury()
    missing = [each for each in scenario.sometimes if each not in search.tally.seen]
    names = tuple(each.name for each in cast.actors)
    return Proof(scenario.name, names, search.tally, search.is_complete, story, tuple(missing))
