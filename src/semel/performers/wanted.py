"""What a verb can join, and the errors for what it cannot."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from semel.errors import SemelError, error
from semel.performers.checks import name_of
from semel.store.dialects import Family


@dataclass(frozen=True)
class Wanted:
    """What a verb can join: handles of this database, of this colour."""

    family: Family
    verb: str

    def refuse(self, on: Any, kinds: str) -> SemelError:
        """Make the error for what is not a handle, or not one of this colour."""
        return error("SEMEL-ON-1", given=name_of(on), verbs=self.verb, known=kinds)

    def check_family(self, on: Any, found: Family) -> None:
        """Refuse a handle of another database."""
        if found != self.family:
            raise error("SEMEL-ON-3", given=name_of(on), found=found, expected=self.family)
