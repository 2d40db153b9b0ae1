"""The stage of a scenario: one database with Semel's own tables and the user's, and the statements the product runs on it."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import sqlalchemy as sa

from semel.store.claims import Claims
from semel.store.entity import Entity, StatusCodec
from semel.store.ground import Ground
from semel.store.journal import Journal
from semel.store.keeping import Keeping
from semel.store.outbox import Outbox
from semel.store.scripts import INSTALLATION, write_scripts
from semel.store.tables import OwnTables
from semel.store.transitions import Moves
from semel.testing.prove.images import CLOCK_TABLE
from semel.workflow.load import load
from semel.workflow.model import Workflow
from semel.workflow.rules import check

LEASE_US = 30_000_000
"""The default lease, as in production."""


class FrozenGround(Ground):
    """The ground of a database whose clock stands still until the search moves it."""

    @cached_property
    def now(self) -> sa.ColumnElement[int]:
        """The database's clock, as an expression."""
        return sa.literal_column(f"(SELECT us FROM {CLOCK_TABLE})", sa.BigInteger)  # noqa: S608 - a name of our own


@dataclass(frozen=True)
class Owned:
    """A user's table as a shipped scenario has it."""

    name: str
    columns: str = ""
    """What it has beside id, status and version, as SQL."""

    @property
    def ddl(self) -> str:
        """How it is made."""
        more = f", {self.columns}" if self.columns else ""
        return (
            f"CREATE TABLE {self.name} (id INTEGER PRIMARY KEY, status TEXT NOT NULL,"
            f" version INTEGER NOT NULL DEFAULT 0{more}) STRICT"
        )

    def entity(self) -> Entity:
        """Make the entity that boot would find."""
        table = sa.table(
            self.name,
            sa.column("id", sa.BigInteger),
            sa.column("status", sa.String),
            sa.column("version", sa.BigInteger),
        )
        c: Any = table.c
        guards = {column.name: column for column in table.c}
        return Entity(self.name, "sqlite", table, c.id, c.status, c.version, int, StatusCodec(), guards)


class Stage:
    """What every actor of a scenario stands on."""

    def __init__(self, tables: tuple[Owned, ...], workflows: tuple[Mapping[str, Any], ...]) -> None:
        """Make the statements; nothing is opened."""
        self.tables = tables
        self.own = OwnTables()
        self.ground = FrozenGround("sqlite", self.own)
        self.journal = Journal(self.ground)
        self.outbox = Outbox(self.ground)
        self.keeping = Keeping(self.ground)
        self.entities = {each.name: each.entity() for each in tables}
        self.claims = {
            name: Claims(entity, self.ground, self.journal, self.outbox) for name, entity in self.entities.items()
        }
        self.moves = {name: Moves(entity, self.ground, self.journal) for name, entity in self.entities.items()}
        self.workflows = read_workflows(workflows)

    def workflow_of(self, entity: str) -> Workflow:
        """Answer the workflow of a table."""
        return next(each for each in self.workflows if each.table == entity)

    def build(self, connection: sqlite3.Connection) -> None:
        """Create every table."""
        for script in write_scripts("sqlite", self.own):
            for statement in script.statements:
                connection.execute(statement)
        forget_installation(connection, self.own)
        for table in self.tables:
            connection.execute(table.ddl)


def forget_installation(connection: sqlite3.Connection, own: OwnTables) -> None:
    """The installation id is drawn at random; two searches of one scenario begin alike."""
    connection.execute(f"UPDATE {own.meta.name} SET value = ? WHERE name = ?", ("0" * 32, INSTALLATION))  # noqa: S608 - our own name


def read_workflows(sources: tuple[Mapping[str, Any], ...]) -> tuple[Workflow, ...]:
    """Read the workflows of a scenario, as boot would."""
    report = check(load(list(sources)))
    if not report.ok:
        raise report.as_error()
    return report.workflows
