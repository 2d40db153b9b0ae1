"""Coverage: every claim has a keeper of the right kind, or the application refuses to start."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from semel.errors import SemelError, error
from semel.workflow.model import Step, Workflow

Keeper: TypeAlias = Literal["janitor", "resumer", "reconciler"]

ALL_KEEPERS: frozenset[Keeper] = frozenset({"janitor", "resumer", "reconciler"})
"""What `once.janitor(module)` covers: it stands for the module's readiness, and the workers run every kind anyway."""


@dataclass(frozen=True, slots=True)
class Cover:
    """A module's word that its claims are looked after, and by which keepers. None is the application itself."""

    module: str | None
    keepers: frozenset[Keeper] = ALL_KEEPERS


@dataclass(frozen=True, slots=True)
class Uncovered:
    """A claim status in which a row could be stuck: which keeper it lacks, who owes it, and the line that adds it."""

    workflow: str
    status: str
    module: str
    keeper: Keeper
    line: str

    def __str__(self) -> str:
        """Write it as one sentence."""
        return f"{self.workflow}: {self.status!r} has no {self.keeper}; the module {self.module!r} owes it."


def find_uncovered(workflows: Iterable[Workflow], covers: Iterable[Cover]) -> tuple[Uncovered, ...]:
    """Find every claim that lacks a keeper. Workflows without an owning module are the application's, and covered."""
    covered = {(cover.module, keeper) for cover in covers for keeper in cover.keepers}
    return tuple(
        Uncovered(workflow.name, status, module, keeper, f'once.janitor("{module}")')
        for workflow in workflows
        if (module := workflow.owning_module) is not None
        for status, keeper in list_needed_keepers(workflow)
        if (module, keeper) not in covered
    )


def list_needed_keepers(workflow: Workflow) -> Iterator[tuple[str, Keeper]]:
    """List each claim status with each kind of keeper it needs. A retired step keeps its cover: rows may be in it."""
    needed: dict[tuple[str, Keeper], None] = {}
    for step in workflow.steps:
        for _, claim in step.claims:
            needed.update(((claim.into, keeper), None) for keeper in list_keepers_of(step))
    yield from needed


def list_keepers_of(step: Step) -> Iterator[Keeper]:
    """List the kinds of keeper that a claim of this step needs. None for review: that is a person's."""
    if step.recovery == "revert":
        yield "janitor"
    if step.recovery == "resume":
        yield "resumer"
    if step.calls:
        yield "reconciler"


def as_error(uncovered: Iterable[Uncovered]) -> SemelError:
    """Make the error with which an application refuses to start."""
    missing = tuple(uncovered)
    lines = ", ".join(dict.fromkeys(each.line for each in missing))
    return error("SEMEL-FLOW-2", claims="\n".join(f"  {each}" for each in missing), lines=lines)
