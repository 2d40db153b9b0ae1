"""What a verb can join, and the errors for what it cannot."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from semel.errors import SemelError, error
from semel.performers.conduct import explain
from semel.performers.quoting import name_of, quote
from semel.store.dialects import Family


@dataclass(frozen=True)
class Wanted:
    """What a verb can join: handles of this database, of this colour."""

    family: Family
    verb: str

    def refuse(self, on: Any, kinds: str) -> SemelError:
        """Make the error for what is not a handle, or not one of this colour."""
        return error("SEMEL-ON-1", given=name_of(on), verbs=self.verb, known=kinds)

    def check_family(self, given: str, found: str) -> None:
        """Refuse a handle of another database."""
        if found != self.family:
            raise error("SEMEL-ON-3", given=given, found=found, expected=self.family)


@contextmanager
def look_at(on: Any) -> Iterator[str]:
    """Answer how a handle is called; what fails while it is looked at becomes an error about the handle."""
    given = name_of(on)
    try:
        yield given
    except SemelError:
        raise
    except sa.exc.PendingRollbackError as problem:
        raise error("SEMEL-ON-5", given=given) from problem
    except sa.exc.DBAPIError as problem:
        raise explain(problem, writing=False) from problem  # it had to connect first, and could not
    except Exception as problem:
        raise error("SEMEL-ON-7", given=given, reason=quote(problem)) from problem
