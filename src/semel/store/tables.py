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

IDENTIFIER = re.compile(r"[a-z_][a-z0-9_]{0,39}\Z")
"""What a prefix or schema may look like: in small letters, as PostgreSQL folds the others unless they are quoted, and short
enough that every derived name stays below MariaDB's and PostgreSQL's 63."""

ROW_ID_CHARACTERS = 190
"""A row's id as text: 190 utf8mb4 characters fit into one index of old MariaDB row formats too."""

NAME_CHARACTERS = 100
"""Names of workflows, tables, steps and statuses: five of them and a row id fit into MariaDB's 3,072 bytes of one index."""

PARTS = ("core",)
"""The parts that exist, in the order in which they are made."""


@dataclass(frozen=True)
class OwnTables:
    """The tables of part *core*, under one prefix and schema."""

    prefix: str = "semel_"
    schema: str | None = None

    def __post_init__(self) -> None:
        """Refuse names that would have to be quoted: they end up in SQL that people paste."""
        for setting, value in (("prefix", self.prefix), ("schema", self.schema)):
            if value is not None and not IDENTIFIER.match(value):
                raise error(
                    "SEMEL-APP-3",
                    setting=setting,
                    value=value,
                    rule="it must be a plain SQL name of at most 40 small letters, digits and _",
                )

    @cached_property
    def metadata(self) -> sa.MetaData:
        """Hold the tables of this prefix apart from the user's."""
        return sa.MetaData(schema=self.schema)

    def named(self, name: str) -> str:
        """Answer how a table of ours is written in SQL."""
        return f"{self.schema}.{self.prefix}{name}" if self.schema else self.prefix + name

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
            _whole("ordinal", primary_key=True),
            _text("kind", length=16),
            _text("entity", nullable=True),
            _text("row_id", length=ROW_ID_CHARACTERS, nullable=True),
            _text("from_status", nullable=True),
            _text("to_status", nullable=True),
            _whole("version", nullable=True),
            _text("workflow", nullable=True),
            _text("step_key", nullable=True),
            _text("requester", nullable=True),
            _text("detail", length=None, nullable=True),
            _whole("at_us"),
        )

    @cached_property
    def claims(self) -> sa.Table:
        """What a row's claim is; kept after its finish, because it carries the pass."""
        return self._table(
            "claims",
            _text("workflow", primary_key=True),
            _text("entity", primary_key=True),
            _text("row_id", length=ROW_ID_CHARACTERS, primary_key=True),
            _text("step_key", primary_key=True),
            _text("status", primary_key=True),
            _whole("held"),
            _whole("fence"),
            _text("claim_status"),
            _text("back_to"),
            _text("requester"),
            _text("input", length=None, nullable=True),
            _text("recovery", length=16),
            _text("owner", nullable=True),
            _whole("lease_us"),
            _whole("beats"),
            _whole("resumes"),
            _whole("next_look_us"),
            _text("review", length=None, nullable=True),
            _text("request", length=64, nullable=True),
            _whole("pass_number"),
            _text("workflow_hash", length=64),
            _whole("claimed_us"),
        )

    @cached_property
    def outbox(self) -> sa.Table:
        """After-effects, recorded with their transition and delivered after its commit."""
        return self._table(
            "outbox",
            _text("effect_id", length=32, primary_key=True),
            _text("name"),
            _text("entity"),
            _text("row_id", length=ROW_ID_CHARACTERS),
            _text("workflow"),
            _whole("version"),
            _whole("ordinal"),
            _text("payload", length=None),
            _text("state", length=16),
            _text("owner", nullable=True),
            _whole("beats"),
            _whole("lease_us"),
            _whole("attempts"),
            _whole("next_look_us"),
            _text("problem", length=None, nullable=True),
            _whole("recorded_us"),
            _whole("delivered_us", nullable=True),
        )

    @cached_property
    def keepers(self) -> sa.Table:
        """The keepers that have run, each with its last look: one that stopped shows."""
        return self._table(
            "keepers",
            _text("keeper_id", length=64, primary_key=True),
            _text("duty", length=16, primary_key=True),
            _whole("started_us"),
            _whole("looked_us"),
            _whole("beats"),
            _whole("done"),
            _text("problem", length=None, nullable=True),
        )

    @cached_property
    def core(self) -> tuple[sa.Table, ...]:
        """All tables of the part, in the order in which they are made."""
        return (self.meta, self.journal, self.claims, self.outbox, self.keepers)


def _text(
    name: str, *, length: int | None = NAME_CHARACTERS, primary_key: bool = False, nullable: bool = False
) -> sa.Column[object]:
    kind = sa.Text() if length is None else sa.String(length)
    return sa.Column(name, kind, primary_key=primary_key, nullable=nullable)


def _whole(name: str, *, primary_key: bool = False, nullable: bool = False) -> sa.Column[object]:
    return sa.Column(name, sa.BigInteger, primary_key=primary_key, nullable=nullable, autoincrement=False)
