"""A mutant: the product with one thing broken on purpose, to see that the scenarios notice."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any

from semel.testing.prove.budgets import Budgets
from semel.testing.prove.scenario import Scenario


@dataclass(frozen=True)
class Change:
    """One attribute that is something else."""

    owner: Any
    name: str
    instead: Any


@dataclass(frozen=True)
class Mutant:
    """One named change, the protocol it breaks, and the scenario that should notice."""

    name: str
    protocol: str
    scenario: type[Scenario]
    changes: tuple[Change, ...] = ()
    budgets: Budgets = field(default_factory=Budgets)
    tier: int = 1
    equivalent_because: str | None = None
    """Why nothing can notice; then a pair of it must die."""

    @contextmanager
    def applied(self) -> Iterator[None]:
        """Break the product in this process, and mend it afterwards."""
        with ExitStack() as stack:
            for change in self.changes:
                stack.enter_context(replaced(change))
            yield


def replaced(change: Change) -> AbstractContextManager[None]:
    """Put something else in an attribute's place for a while."""

    @contextmanager
    def replace() -> Iterator[None]:
        before = change.owner.__dict__[change.name]
        setattr(change.owner, change.name, change.instead)
        try:
            yield
        finally:
            setattr(change.owner, change.name, before)

    return replace()
