"""What a Semel was made with, and what boot found out about it."""

from __future__ import annotations

import logging
import os
import socket
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from semel.app.registry import Registry
from semel.asks import ClaimName
from semel.clock import SYSTEM, Clock
from semel.errors import error
from semel.performers.fresh import fresh_id
from semel.performers.opening import read_url
from semel.store.claims import Claims
from semel.store.declared import Declared, declare
from semel.store.dialects import Family, read_family
from semel.store.entity import Entity
from semel.store.ground import Ground
from semel.store.journal import Journal
from semel.store.keeping import Keeping
from semel.store.outbox import Outbox
from semel.store.reaping import Reaping
from semel.store.reflect import bind_table
from semel.store.schema import apply_schema, check_schema
from semel.store.server import check_server
from semel.store.tables import OwnTables
from semel.store.transitions import Moves
from semel.store.unknown import find_unknown_statuses

if TYPE_CHECKING:
    from sqlalchemy.engine import URL

    from semel.workflow.model import Workflow

logger = logging.getLogger("semel")

CONNECTIONS_LIMIT = 10
"""How many connections a process opens at most: small PostgreSQL servers allow 100, shared by a few processes."""

CONNECTIONS_MOST = 1000
"""More connections than this is a slip of the hand, not a machine."""

LEASE_SECONDS = 30.0
"""How long a claim lives without a heartbeat: a database failover takes about 20."""

LEASE_SECONDS_LEAST = 0.5
"""Shorter leases are taken over from processes that merely wait for the disk."""


@dataclass(frozen=True)
class Bound:
    """A table that boot has found and checked, with its statements and its workflow."""

    entity: Entity
    moves: Moves
    claims: Claims
    workflow: Workflow | None
    allow: frozenset[tuple[str, str]]


@dataclass
class Settings:
    """The arguments of a Semel."""

    url: URL
    tables: OwnTables
    connections_limit: int
    pooled: bool
    clock: Clock
    workflows: Any
    modules: Collection[str]
    lease_seconds: float

    def __post_init__(self) -> None:
        """Refuse what cannot be meant."""
        if read_family(self.url) == "sqlite" and self.tables.schema is not None:
            raise error(
                "SEMEL-APP-3", setting="schema", value=self.tables.schema, rule="SQLite has no schemas; use prefix"
            )
        if not 1 <= self.connections_limit <= CONNECTIONS_MOST:
            rule = f"it must be from 1 to {CONNECTIONS_MOST}"
            raise error("SEMEL-APP-3", setting="connections_limit", value=self.connections_limit, rule=rule)
        if not self.lease_seconds >= LEASE_SECONDS_LEAST:
            rule = f"it must be at least {LEASE_SECONDS_LEAST:g} s"
            raise error("SEMEL-APP-3", setting="lease_seconds", value=self.lease_seconds, rule=rule)


@dataclass
class Setup:
    """The settings, the tables declared so far, and those that boot has bound."""

    settings: Settings
    registry: Registry
    declared: list[tuple[Declared, frozenset[tuple[str, str]]]] = field(default_factory=list)
    bound: dict[int, Bound] = field(default_factory=dict)
    workflows: tuple[Workflow, ...] = ()
    booted: bool = False
    _owners: dict[int, str] = field(default_factory=dict)

    @cached_property
    def family(self) -> Family:
        """Which database this is."""
        return read_family(self.settings.url)

    @cached_property
    def ground(self) -> Ground:
        """What every statement stands on."""
        return Ground(self.family, self.settings.tables, self.settings.clock.offset_table)

    @cached_property
    def journal(self) -> Journal:
        """The journal's statements."""
        return Journal(self.ground)

    @cached_property
    def outbox(self) -> Outbox:
        """The outbox's statements."""
        return Outbox(self.ground)

    @cached_property
    def keeping(self) -> Keeping:
        """The keepers' statements."""
        return Keeping(self.ground)

    @cached_property
    def reaping(self) -> Reaping:
        """The reaper's statements."""
        return Reaping(self.ground)

    @property
    def owner(self) -> str:
        """Who holds the claims of this process: never two processes, and never the same after a fork."""
        pid = os.getpid()
        # setdefault is one step: of two threads that come here at once, both get the name that stays.
        return self._owners.get(pid) or self._owners.setdefault(pid, f"{socket.gethostname()[:40]}:{pid}:{fresh_id()}")

    def may_write_beside(self, on: Any) -> bool:
        """Whether boot may write its self-test now: beside a borrowed SQLite transaction it would wait for it."""
        return on is None or self.family != "sqlite"

    def declare(self, given: Any, *, allow: Collection[tuple[str, str]] = (), **names: Any) -> Declared:
        """Remember a table for boot."""
        declared = declare(given, **names)
        self.declared.append((declared, frozenset(allow)))
        return declared

    def bound_of(self, declared: Declared) -> Bound | None:
        """Answer a table that boot has bound, or None before."""
        return self.bound.get(id(declared))

    def bound_claimed(self, name: ClaimName) -> Bound | None:
        """Answer the bound table that a claim is on, as its own workflow moves it: others may move other columns of it."""
        for bound in self.bound.values():
            if bound.workflow is not None and (bound.workflow.name, bound.entity.name) == (name.workflow, name.entity):
                return bound
        return None

    def look(self, connection: sa.Connection) -> dict[int, Bound]:
        """Check server and schema, and bind every declared table; nothing is kept if anything is refused."""
        check_server(connection, self.family)
        check_schema(connection, self.settings.tables)
        return {id(declared): self.bind(declared, allow, connection) for declared, allow in self.declared}

    def look_at(self, declared: Declared, connection: sa.Connection) -> dict[int, Bound]:
        """Bind one table that was declared after boot."""
        allow = next(allow for each, allow in self.declared if each is declared)
        return {id(declared): self.bind(declared, allow, connection)}

    def bind(self, declared: Declared, allow: frozenset[tuple[str, str]], connection: sa.Connection) -> Bound:
        """Find a table in the database, make its statements, and see that it can hold its workflow."""
        entity = bind_table(declared, sa.inspect(connection), self.family)
        workflow = next((each for each in self.workflows if is_of(each, declared)), None)
        if workflow is not None:
            check_fit(workflow, declared, entity)
            warn_of_unknown(connection, workflow, entity)
        if declared.mapper is not None:
            self.registry.mappers[entity.name] = declared.mapper
        moves = Moves(entity, self.ground, self.journal)
        return Bound(entity, moves, Claims(entity, self.ground, self.journal, self.outbox), workflow, allow)

    def declare_tables_of(self, workflows: tuple[Workflow, ...]) -> None:
        """Declare the tables of workflows that the user gave no handle for: keepers need them all the same."""
        self.workflows = workflows
        for workflow in workflows:
            if not any(is_of(workflow, declared) for declared, _ in self.declared):
                names: dict[str, Any] = {
                    "status": workflow.status_column,
                    "version": workflow.version_column,
                    "id": workflow.id_column,
                }
                self.declare(workflow.table, **names, status_values=None)

    def create(self, connection: sa.Connection) -> None:
        """Create Semel's own tables where they are missing."""
        check_server(connection, self.family)
        apply_schema(connection, self.family, self.settings.tables)


def is_of(workflow: Workflow, declared: Declared) -> bool:
    """Whether a workflow is the one of a declared table's status column."""
    return workflow.table in (declared.name, declared.qualified) and workflow.status_column == declared.status


def check_fit(workflow: Workflow, declared: Declared, entity: Entity) -> None:
    """Refuse a table that does not fit its workflow."""
    if workflow.version_column != declared.version:
        raise error("SEMEL-FLOW-4", workflow=workflow.name, file=workflow.version_column, handle=declared.version)
    absent = list(find_absent(workflow, entity))
    if absent:
        column = f"{entity.name}.{entity.status.name}"
        raise error("SEMEL-FLOW-5", workflow=workflow.name, column=column, statuses=", ".join(absent))


def warn_of_unknown(connection: sa.Connection, workflow: Workflow, entity: Entity) -> None:
    """Say which statuses rows have that the workflow does not know: it will never take them on."""
    unknown = find_unknown_statuses(connection, entity, workflow.statuses)
    if unknown:
        logger.warning(
            "%s has rows in statuses that the workflow %s does not know: %s; see: semel stuck",
            entity.name,
            workflow.name,
            ", ".join(unknown),
        )


def find_absent(workflow: Workflow, entity: Entity) -> Iterator[str]:
    """Find the statuses of a workflow that its column cannot hold."""
    known = entity.known_statuses
    for status in workflow.statuses:
        if known is not None and status not in known:
            yield status


def read_setup(
    url: str,
    *,
    is_async: bool,
    prefix: str,
    schema: str | None,
    connections_limit: int,
    pooled: bool,
    clock: Clock | None,
    workflows: Any,
    modules: Collection[str],
    lease_seconds: float,
) -> Setup:
    """Read the arguments of a Semel."""
    found: URL = read_url(url, is_async=is_async)
    tables = OwnTables(prefix, schema)
    settings = Settings(found, tables, connections_limit, pooled, clock or SYSTEM, workflows, modules, lease_seconds)
    return Setup(settings, Registry(is_async, lease_seconds))
