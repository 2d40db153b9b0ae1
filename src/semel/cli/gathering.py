"""Gather the facts that the doctor judges: what boot would refuse, and what the verbs' own connections find."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from semel.asks import Asking
from semel.cli.findings import Facts, File
from semel.cli.target import Target, refuse_missing_file
from semel.clock import MICROSECONDS, Clock
from semel.errors import SemelError
from semel.performers.opening import open_async, open_sync
from semel.protocols.examine import Clocked, Examined, examine
from semel.store.meta import Meta
from semel.store.schema import check_schema, read_versions
from semel.store.server import check_server
from semel.store.settings import Settings, is_behind_pooler

if TYPE_CHECKING:
    import sqlalchemy as sa

    from semel.app.setup import Setup


@dataclass(frozen=True, slots=True)
class Seen:
    """What one look over SQLAlchemy's connection has shown, as boot looks."""

    server: SemelError | None
    schema: SemelError | None
    versions: Mapping[str, int]
    behind_pooler: bool


def gather(target: Target) -> Facts:
    """Answer every fact; an error of Semel, if the database cannot be reached."""
    refuse_missing_file(target.setup)
    seen = target.look(lambda connection: look_as_boot(connection, target.setup))
    examined = ask_own_connections(target)
    ahead, unsure = compare_clocks(examined.clock, target.setup.clock)
    return Facts(
        family=target.setup.family,
        settings=examined.settings,
        server=seen.server,
        schema=seen.schema,
        counting=examined.counting,
        versions=seen.versions,
        ahead_seconds=ahead,
        unsure_seconds=unsure,
        behind_pooler=seen.behind_pooler,
        is_pooled=target.setup.pooled if target.is_app else None,
        file=find_file(target.setup),
    )


def look_as_boot(connection: sa.Connection, setup: Setup) -> Seen:
    """Ask what boot asks, and keep what it would refuse."""
    server: SemelError | None = None
    schema: SemelError | None = None
    versions: Mapping[str, int] = {}
    try:
        check_server(connection, setup.family)
    except SemelError as problem:
        server = problem
    try:
        check_schema(connection, setup.tables)
        versions = read_versions(connection, setup.tables)
    except SemelError as problem:
        schema = problem
    behind = setup.family == "postgresql" and is_behind_pooler(connection)
    return Seen(server, schema, versions, behind)


def ask_own_connections(target: Target) -> Examined:
    """Ask over the wire that the verbs of this app use."""
    setup = target.setup
    asking = examine(Settings(setup.ground), Meta(setup.ground), setup.url.drivername)
    if target.is_async:
        return asyncio.run(_ask_async(setup, asking))
    performer = open_sync(setup.url, setup.clock, setup.ground.read_clock, connections_limit=1, pooled=setup.pooled)
    try:
        return performer.perform(asking)
    finally:
        performer.close()


async def _ask_async(setup: Setup, asking: Asking[Examined]) -> Examined:
    performer = open_async(setup.url, setup.clock, setup.ground.read_clock, connections_limit=1, pooled=setup.pooled)
    try:
        return await performer.perform(asking)
    finally:
        performer.close()


def compare_clocks(clocked: Clocked, clock: Clock) -> tuple[float, float]:
    """Answer by how many seconds the database's clock is ahead of the local one, and how sure that is.

    The database read its clock somewhere between the two local readings; the middle is the best guess.
    """
    local = (clocked.before + clocked.after) / 2 + (time.time() - clock.tick())
    return clocked.database_us / MICROSECONDS - local, (clocked.after - clocked.before) / 2


def find_file(setup: Setup) -> File | None:
    """Look at SQLite's file. None: the database is another one, or its file is named in another way."""
    name = setup.url.database or ""
    if setup.family != "sqlite" or name.startswith("file:"):
        return None
    folder = Path(name).absolute().parent
    return File(name, is_writable=os.access(name, os.W_OK), has_writable_folder=os.access(folder, os.W_OK | os.X_OK))
