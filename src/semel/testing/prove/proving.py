"""Proving one scenario, or killing one mutant."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from semel.testing.prove.budgets import Budgets
from semel.testing.prove.cast import Cast
from semel.testing.prove.life import drawing_ids
from semel.testing.prove.minimise import shorten
from semel.testing.prove.mutants.mutant import Mutant
from semel.testing.prove.scenario import Scenario
from semel.testing.prove.search import Search, Tally
from semel.testing.prove.story import Story, Teller


@dataclass(frozen=True)
class Proof:
    """What a search came to."""

    scenario: str
    actors: tuple[str, ...]
    budgets: Budgets
    tally: Tally
    complete: bool
    story: Story | None
    never_seen: tuple[str, ...]
    schedule: tuple[tuple[str, str, int], ...] = ()
    """The events of the story: what happened, to whom, at which moment."""

    @property
    def is_proven(self) -> bool:
        """Whether everything was explored, everything was seen, and nothing was wrong."""
        return self.complete and self.story is None and not self.never_seen


def prove(
    scenario: Scenario, budgets: Budgets | None = None, progress: Callable[[Tally], None] | None = None, **options: Any
) -> Proof:
    """Explore a scenario."""
    budgets = scenario.budgets if budgets is None else budgets
    story: Story | None = None
    schedule: tuple[tuple[str, str, int], ...] = ()
    with drawing_ids():
        cast = Cast(scenario)
        search = Search(cast, budgets, progress=progress, **options)
        try:
            violation = search.run()
            if violation is not None:
                violation = shorten(search, violation)
                story = Teller(cast).tell(violation.invariant, violation.words, violation.path, violation.aftermath)
                schedule = tuple(name_event(cast, label) for label, _ in violation.path[1:])
        finally:
            cast.end()
    names = tuple(each.name for each in cast.actors)
    missing = tuple(each for each in expected(scenario, budgets) if each not in search.tally.seen)
    return Proof(scenario.name, names, budgets, search.tally, search.is_complete, story, missing, schedule)


def expected(scenario: Scenario, budgets: Budgets) -> tuple[str, ...]:
    """Answer what must have been seen: of what the scenario names, what these budgets allow to happen."""
    allowed = {"a losing CAS": True, "a crash at every boundary": budgets.crashes}
    allowed |= {"a takeover": budgets.clock, "a fenced zombie": budgets.clock}
    allowed |= {"a late arrival": budgets.late and budgets.unknown}
    return tuple(each for each in scenario.sometimes if allowed[each])


def name_event(cast: Cast, label: tuple[str, int, int]) -> tuple[str, str, int]:
    """Name an event so that another search of the same scenario finds it."""
    kind, who, at = label
    return kind, "" if kind == "jump" else cast.actors[who].name, at if kind == "jump" else 0


def kill(mutant: Mutant, progress: Callable[[Tally], None] | None = None) -> Killing:
    """Break the product, and see whether the scenario notices."""
    with mutant.applied():
        return Killing(mutant, prove(mutant.scenario(), mutant.budgets, progress))


@dataclass(frozen=True)
class Killing:
    """What became of a mutant."""

    mutant: Mutant
    proof: Proof

    @property
    def is_killed(self) -> bool:
        """Whether a scenario noticed."""
        return self.proof.story is not None

    @property
    def is_well(self) -> bool:
        """Whether it died, or nobody could have noticed and it is said why."""
        return self.is_killed or self.mutant.equivalent_because is not None
