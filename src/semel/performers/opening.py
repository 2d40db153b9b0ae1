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
from semel.performers.wires.wire import CONNECT_SECONDS, Wire
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
    _refuse_misread(url)
    facts = FAMILIES[read_family(url)]
    driver = facts.async_driver if is_async else facts.sync_driver
    named = url.drivername.partition("+")[2]
    if named and f"{read_family(url)}+{named}" not in (facts.sync_driver, facts.async_driver, "sqlite+aiosqlite"):
        raise error("SEMEL-DB-1", url=show(url), reason=f"Semel speaks to it through {driver.partition('+')[2]}")
    if url.drivername.startswith("sqlite") and url.database in (None, "", ":memory:"):
        raise error(
            "SEMEL-DB-1",
            url=show(url),
            reason="a database in memory is gone with its connection, and Semel must outlive crashes",
        )
    return url.set(drivername=driver)


def _refuse_misread(url: URL) -> None:
    """Refuse what parses as something else than its writer meant; a piece of a password may have become the host."""
    if "@" in (url.host or ""):
        raise error("SEMEL-DB-1", url="…", reason="an @ inside a user name or password must be written %40")
    if url.drivername.startswith("sqlite") and (url.host or url.username):
        raise error("SEMEL-DB-1", url="…", reason="a SQLite file is named after three slashes: sqlite:///file.db")


def show(url: URL) -> str:
    """Write a URL out without its password, wherever in it that stands."""
    hidden = {name: "***" for name in url.query if "pass" in name.lower()}
    return url.update_query_dict(hidden).render_as_string(hide_password=True)


def open_wire(url: URL, *, pooled: bool) -> Wire:
    """Answer the wire of the URL's driver."""
    module, name = _WIRES[url.drivername]
    try:
        found = import_module(f"semel.performers.wires.{module}")
    except ModuleNotFoundError as problem:
        raise no_driver(url, problem) from None
    wire: Wire = getattr(found, name)(make_dialect(url.drivername), url, pooled=pooled)
    return wire


def no_driver(url: URL, problem: ModuleNotFoundError) -> Exception:
    """Make the error for a driver that is not installed; a missing piece of Semel itself is told as it is."""
    if str(problem.name).startswith("semel"):
        return problem
    return error("SEMEL-DB-2", driver=str(problem.name), extra=FAMILIES[read_family(url)].extra)


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
    try:
        engine = sa.create_engine(url, poolclass=NullPool, **looking_options(url))
    except ModuleNotFoundError as problem:
        raise no_driver(url, problem) from None
    try:
        with engine.begin() as connection:
            return look(connection)
    except Exception as problem:
        if not is_from_driver(problem):
            raise
        raise cannot_look(problem) from problem
    finally:
        engine.dispose()


async def look_around_async(url: URL, look: Callable[[sa.Connection], Answer]) -> Answer:
    """Answer what `look` finds, without blocking the event loop."""
    if read_family(url) == "sqlite":
        return await asyncio.to_thread(look_around, url, look)
    try:
        engine = create_async_engine(url, poolclass=NullPool, **looking_options(url))
    except ModuleNotFoundError as problem:
        raise no_driver(url, problem) from None
    try:
        async with engine.begin() as connection:
            return await connection.run_sync(look)
    except Exception as problem:
        if not is_from_driver(problem):
            raise
        raise cannot_look(problem) from problem
    finally:
        await engine.dispose()


def looking_options(url: URL) -> dict[str, Any]:
    """Answer how to look around: each statement sees what is committed by then, and no silent server is waited for."""
    if read_family(url) == "sqlite":
        return {}
    deadline = "timeout" if url.drivername.endswith("+asyncpg") else "connect_timeout"
    given = deadline in url.query
    return {
        "isolation_level": "READ COMMITTED",
        "connect_args": {} if given else {deadline: int(CONNECT_SECONDS)},
    }


def is_from_driver(problem: Exception) -> bool:
    """Whether the database or the way to it is at fault; asyncpg's errors on connecting are not wrapped by SQLAlchemy."""
    return isinstance(problem, sa.exc.DBAPIError | OSError) or type(problem).__module__.split(".")[0] == "asyncpg"


def cannot_look(problem: Exception) -> Exception:
    """Make the error for a database that cannot be reached or refuses; nothing was written."""
    from semel.performers.conduct import explain

    cause = getattr(problem, "orig", None)
    return explain(cause if isinstance(cause, Exception) else problem, writing=False)
