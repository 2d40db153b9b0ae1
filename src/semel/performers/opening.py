"""Open what a URL names: the wire of its driver, a performer, and for a moment SQLAlchemy's own connection to look around."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeVar

import sqlalchemy as sa
from sqlalchemy.engine import make_url
from sqlalchemy.ext.asyncio import create_async_engine
from sqlalchemy.pool import NullPool

from semel.clock import Clock
from semel.errors import error
from semel.performers.async_ import AsyncPerformer, ThreadPerformer
from semel.performers.sync import SyncPerformer
from semel.performers.wires.wire import Wire
from semel.store.dialects import FAMILIES, make_dialect, read_family

if TYPE_CHECKING:
    from sqlalchemy.engine import URL

Answer = TypeVar("Answer")

_WIRES = {
    "postgresql+psycopg": ("psycopg", "PsycopgWire"),
    "postgresql+asyncpg": ("asyncpg", "AsyncpgWire"),
    "mariadb+pymysql": ("pymysql", "PymysqlWire"),
    "mariadb+asyncmy": ("asyncmy", "AsyncmyWire"),
    "sqlite+pysqlite": ("sqlite", "SqliteWire"),
}


def read_url(text: str, *, is_async: bool) -> URL:
    """Answer the URL with the driver Semel uses for it, or refuse it with the ones it could use."""
    try:
        url = make_url(text)
    except (sa.exc.ArgumentError, ValueError):
        raise error("SEMEL-DB-1", url="…", reason="it is not a database URL") from None
    facts = FAMILIES[read_family(url)]
    driver = facts.async_driver if is_async else facts.sync_driver
    other = facts.sync_driver if is_async else facts.async_driver
    named = url.drivername.replace("mysql", "mariadb").replace("postgres+", "postgresql+")
    if "+" in named and named not in (driver, other, "sqlite+aiosqlite"):
        raise error("SEMEL-DB-1", url=show(url), reason=f"Semel speaks to it through {driver.split('+')[1]}")
    if url.drivername.startswith("sqlite") and url.database in (None, "", ":memory:"):
        raise error(
            "SEMEL-DB-1",
            url=show(url),
            reason="a database in memory is gone with its connection, and Semel must outlive crashes",
        )
    return url.set(drivername=driver)


def show(url: URL) -> str:
    """Write a URL out without its password."""
    return url.render_as_string(hide_password=True)


def open_wire(url: URL, *, pooled: bool) -> Wire:
    """Answer the wire of the URL's driver."""
    module, name = _WIRES[url.drivername]
    try:
        found = import_module(f"semel.performers.wires.{module}")
    except ModuleNotFoundError as problem:
        if str(problem.name).startswith("semel"):
            raise
        raise error("SEMEL-DB-2", driver=str(problem.name), extra=FAMILIES[read_family(url)].extra) from None
    wire: Wire = getattr(found, name)(make_dialect(url.drivername), url, pooled=pooled)
    return wire


def open_sync(url: URL, clock: Clock, read_clock: Any, *, connections_limit: int, pooled: bool) -> SyncPerformer:
    """Answer a performer for threads. SQLite has one writer, so one connection and no quarrel about it."""
    limit = 1 if read_family(url) == "sqlite" else connections_limit
    return SyncPerformer(open_wire(url, pooled=pooled), clock, read_clock, limit)


def open_async(
    url: URL, clock: Clock, read_clock: Any, *, connections_limit: int, pooled: bool
) -> AsyncPerformer | ThreadPerformer:
    """Answer a performer for an event loop."""
    wire = open_wire(url, pooled=pooled)
    if read_family(url) == "sqlite":
        return ThreadPerformer(wire, clock, read_clock)
    return AsyncPerformer(wire, clock, read_clock, connections_limit)


def look_around(url: URL, look: Callable[[sa.Connection], Answer]) -> Answer:
    """Answer what `look` finds over one SQLAlchemy connection, committing what it did."""
    engine = sa.create_engine(url, poolclass=NullPool)
    try:
        with engine.begin() as connection:
            return look(connection)
    except (sa.exc.OperationalError, sa.exc.InterfaceError, OSError) as problem:
        raise cannot_look(problem) from problem
    finally:
        engine.dispose()


async def look_around_async(url: URL, look: Callable[[sa.Connection], Answer]) -> Answer:
    """Answer what `look` finds, without blocking the event loop."""
    if read_family(url) == "sqlite":
        return await asyncio.to_thread(look_around, url, look)
    engine = create_async_engine(url, poolclass=NullPool)
    try:
        async with engine.begin() as connection:
            return await connection.run_sync(look)
    except (sa.exc.OperationalError, sa.exc.InterfaceError, OSError) as problem:
        raise cannot_look(problem) from problem
    finally:
        await engine.dispose()


def cannot_look(problem: Exception) -> Exception:
    """Make the error for a database that cannot be reached; nothing was written."""
    from semel.performers.conduct import explain

    cause = getattr(problem, "orig", None)
    return explain(cause if isinstance(cause, Exception) else problem, writing=False)
