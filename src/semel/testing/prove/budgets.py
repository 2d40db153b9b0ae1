"""Budgets: how much may go wrong in one history."""

from __future__ import annotations

from dataclasses import astuple, dataclass


@dataclass(frozen=True)
class Budgets:
    """How many of each fault one history may hold."""

    crashes: int = 2
    unknown: int = 1
    clock: int = 1
    late: int = 1

    @property
    def left(self) -> tuple[int, int, int, int]:
        """What a history starts with."""
        crashes, unknown, clock, late = astuple(self)
        return crashes, unknown, clock, late

    @property
    def total(self) -> int:
        """How many faults one history may hold in all."""
        return sum(self.left)
