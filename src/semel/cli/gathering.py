"""Gather the facts that the doctor judges: what boot would refuse, and what the verbs' own connections find."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from semel.cli.findings import Facts, File
from semel.cli.target import Target, refuse_missing_file
from semel.clock import MICROSECONDS, Clock
from semel.errors import SemelError
from semel.protocols.examine import Clocked, examine
from semel.store.meta import Meta
from semel.store.schema import check_schema, read_versions
from semel.store.server import check_server
from semel.store.settings import Settings, is_behind_pooler

if TYPE_CHECKING:
    import sqlalchemy as sa


@dataclass(frozen=True, slots=True)
class Seen:
    """What one look over SQLAlchemy's connection has shown, as boot looks."""

    server: SemelError | None
    schema: SemelError | None
    versions: Mapping[str, int]
    behind_pooler: bool


def gather(target: Target) -> Facts:
    """Answer every fact; an error of Semel, if the database cannot be reached."""
    refuse_missing_file(target)
    seen = target.look(lambda connection: look_as_boot(connection, target))
    ground = target.ground
    examined = target.perform(examine(Settings(ground), Meta(ground), target.url.drivername))
    ahead, unsure = compare_clocks(examined.clock, target.clock)
    return Facts(
        family=target.family,
        settings=examined.settings,
        server=seen.server,
        schema=seen.schema,
        counting=examined.counting,
        versions=seen.versions,
        ahead_seconds=ahead,
        unsure_seconds=unsure,
        behind_pooler=seen.behind_pooler,
        is_pooled=target.is_pooled,
        file=find_file(target),
    )


def look_as_boot(connection: sa.Connection, target: Target) -> Seen:
    """Ask what boot asks, and keep what it would refuse."""
    server: SemelError | None = None
    schema: SemelError | None = None
    versions: Mapping[str, int] = {}
    try:
        check_server(connection, target.family)
    except SemelError as problem:
        server = problem
    try:
        check_schema(connection, target.tables)
        versions = read_versions(connection, target.tables)
    except SemelError as problem:
        schema = problem
    behind = target.family == "postgresql" and is_behind_pooler(connection)
    return Seen(server, schema, versions, behind)


def compare_clocks(clocked: Clocked, clock: Clock) -> tuple[float, float]:
    """Answer by how many seconds the database's clock is ahead of the local one, and how sure that is.

    The database read its clock somewhere between the two local readings; the middle is the best guess.
    """
    local = (clocked.before + clocked.after) / 2 + (time.time() - clock.tick())
    return clocked.database_us / MICROSECONDS - local, (clocked.after - clocked.before) / 2


def find_file(target: Target) -> File | None:
    """Look at SQLite's file. None: the database is another one, or its file is named in another way."""
    name = target.url.database or ""
    if target.family != "sqlite" or name.startswith("file:"):
        return None
    folder = Path(name).absolute().parent
    return File(name, is_writable=os.access(name, os.W_OK), has_writable_folder=os.access(folder, os.W_OK | os.X_OK))
