"""Landings: what became of the database and of the actor in one step, and how that was judged."""

from __future__ import annotations

from dataclasses import dataclass

from semel.testing.prove.images import Image
from semel.testing.prove.positions import Position


@dataclass(slots=True, eq=False)
class Landing:
    """Where a step lands. `opened` is the private database of a transaction that is still open at a boundary."""

    image: Image
    position: Position
    opened: Image | None
    reached: tuple[tuple[str, str, str, str], ...]
    names: tuple[str, ...]
    wrote: bool
    missed: bool
    fenced: bool
    seen: frozenset[str] = frozenset()
    problem: tuple[str, str] | None = None
