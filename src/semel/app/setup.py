"""What a Semel was made with, and what boot found out about it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from semel.clock import SYSTEM, Clock
from semel.errors import error
from semel.performers.opening import read_url
from semel.store.declared import Declared, declare
from semel.store.dialects import Family, read_family
from semel.store.ground import Ground
from semel.store.journal import Journal
from semel.store.reflect import bind_table
from semel.store.schema import apply_schema, check_schema
from semel.store.server import check_server
from semel.store.tables import OwnTables
from semel.store.transitions import Moves

if TYPE_CHECKING:
    from sqlalchemy.engine import URL

CONNECTIONS_LIMIT = 10
"""How many connections a process opens at most: small PostgreSQL servers allow 100, shared by a few processes."""

CONNECTIONS_MOST = 1000
"""More connections than this is a slip of the hand, not a machine."""


@dataclass
class Setup:
    """The arguments of a Semel, the tables declared on it, and those that boot has bound."""

    url: URL
    tables: OwnTables
    connections_limit: int
    pooled: bool
    clock: Clock
    declared: list[Declared] = field(default_factory=list)
    bound: dict[int, Moves] = field(default_factory=dict)
    booted: bool = False

    def __post_init__(self) -> None:
        """Build what every statement stands on."""
        self.family: Family = read_family(self.url)
        if self.family == "sqlite" and self.tables.schema is not None:
            raise error(
                "SEMEL-APP-3", setting="schema", value=self.tables.schema, rule="SQLite has no schemas; use prefix"
            )
        if not 1 <= self.connections_limit <= CONNECTIONS_MOST:
            rule = f"it must be from 1 to {CONNECTIONS_MOST}"
            raise error("SEMEL-APP-3", setting="connections_limit", value=self.connections_limit, rule=rule)
        self.ground = Ground(self.family, self.tables, self.clock.offset_table)
        self.journal = Journal(self.ground)

    def declare(self, given: Any, **names: Any) -> Declared:
        """Remember a table for boot."""
        declared = declare(given, **names)
        self.declared.append(declared)
        return declared

    def moves_of(self, declared: Declared) -> Moves | None:
        """Answer the statements of a table, or None before boot has bound it."""
        return self.bound.get(id(declared))

    def look(self, connection: sa.Connection) -> None:
        """Check server and schema, and bind every declared table that is not bound yet."""
        check_server(connection, self.family)
        check_schema(connection, self.tables)
        inspector = sa.inspect(connection)
        for declared in self.declared:
            if id(declared) not in self.bound:
                self.bound[id(declared)] = Moves(
                    bind_table(declared, inspector, self.family), self.ground, self.journal
                )

    def create(self, connection: sa.Connection) -> None:
        """Create Semel's own tables where they are missing."""
        check_server(connection, self.family)
        apply_schema(connection, self.family, self.tables)


def read_setup(
    url: str,
    *,
    is_async: bool,
    prefix: str,
    schema: str | None,
    connections_limit: int,
    pooled: bool,
    clock: Clock | None,
) -> Setup:
    """Read the arguments of a Semel."""
    return Setup(
        read_url(url, is_async=is_async), OwnTables(prefix, schema), connections_limit, pooled, clock or SYSTEM
    )
