"""What every statement stands on: the family of the database, Semel's own tables there, and its clock."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import sqlalchemy as sa

from semel.store.dialects import Family, now_microseconds
from semel.store.statements import Statement
from semel.store.tables import OwnTables


@dataclass(frozen=True)
class Ground:
    """One database as Semel builds statements for it. Only tests name an offset table; it moves their time."""

    family: Family
    tables: OwnTables
    offset_table: str | None = None

    @cached_property
    def now(self) -> sa.ColumnElement[int]:
        """The database's clock, as an expression."""
        return now_microseconds(self.family, self.offset_table)

    @cached_property
    def read_clock(self) -> Statement:
        """Answer the database's clock."""
        return Statement("read_clock", sa.select(self.now.label("now_us")), writes=False)
