"""Semel's own tables, as SQLAlchemy sees them when it builds statements.

What is created in a database is the reviewed SQL in `store/sql/`; a test holds the two against each other. No column is
named `key` (MariaDB), times are integer microseconds, and text that is compared is compared byte by byte.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

import sqlalchemy as sa

from semel.errors import error

IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,39}\Z")
"""What a prefix or schema may look like: short enough that every derived name stays below MariaDB's and PostgreSQL's 63."""

ROW_ID_CHARACTERS = 190
"""A row's id as text: 190 utf8mb4 characters fit into one index of old MariaDB row formats too."""

NAME_CHARACTERS = 190


@dataclass(frozen=True)
class OwnTables:
    """The tables of part *core*, under one prefix and schema."""

    prefix: str = "semel_"
    schema: str | None = None

    def __post_init__(self) -> None:
        """Refuse names that would have to be quoted: they end up in SQL that people paste."""
        for setting, value in (("prefix", self.prefix), ("schema", self.schema)):
            if value is not None and not IDENTIFIER.match(value):
                raise error("SEMEL-APP-3", setting=setting, value=value, rule="it must be a plain SQL name of at most 40 characters")

    @cached_property
    def metadata(self) -> sa.MetaData:
        """Hold the tables of this prefix apart from the user's."""
        return sa.MetaData(schema=self.schema)

    def _table(self, name: str, *columns: sa.Column[object]) -> sa.Table:
        return sa.Table(self.prefix + name, self.metadata, *columns)

    @cached_property
    def meta(self) -> sa.Table:
        """Facts about this installation: the version of each part, and the installation id."""
        return self._table("meta", _text("name", primary_key=True), _text("value", length=255))

    @cached_property
    def journal(self) -> sa.Table:
        """Who moved what, when, by which step and operation id. Unique by (operation_id, ordinal)."""
        return self._table(
            "journal",
            _text("operation_id", length=32, primary_key=True),
            sa.Column("ordinal", sa.Integer, primary_key=True, autoincrement=False),
            _text("kind", length=16),
            _text("entity"),
            _text("row_id", length=ROW_ID_CHARACTERS),
            _text("from_status"),
            _text("to_status"),
            sa.Column("version", sa.BigInteger),
            _text("workflow"),
            _text("step_key"),
            _text("requester"),
            sa.Column("detail", sa.Text),
            sa.Column("at_us", sa.BigInteger),
        )


def _text(name: str, *, length: int = NAME_CHARACTERS, primary_key: bool = False) -> sa.Column[object]:
    return sa.Column(name, sa.String(length), primary_key=primary_key)
