"""SQLAlchemy engines for what a user's action writes: the same database, the same promises as Semel's own connections."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator, Callable
from typing import Any
from weakref import WeakKeyDictionary, ref

import sqlalchemy as sa
from sqlalchemy.engine import URL
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from semel.performers.checks import DRIVERS, package_of
from semel.performers.opened import GAVE_WAY, listen_to_engine
from semel.performers.pool import has_running_loop
from semel.performers.wires.sqlite import PRAGMAS
from semel.performers.wires.wire import CONNECT_SECONDS, STATEMENT_SECONDS
from semel.store.dialects import LOCK_WAIT_SECONDS, Fault, classify, read_family

READING = {"semel_reading": True}
"""The execution option of a connection that only reads: on SQLite it must not take the only write lock."""


def make_engine(url: URL, connections_limit: int, *, pooled: bool) -> sa.Engine:
    """Make the engine of a sync Semel's actions."""
    engine = sa.create_engine(url, pool_size=connections_limit, max_overflow=0, **_options(url, pooled=pooled))
    _prepare(engine, url)
    return engine


def make_async_engine(url: URL, connections_limit: int, *, pooled: bool) -> AsyncEngine:
    """Make the engine of an async Semel's actions."""
    options = _options(url, pooled=pooled)
    if read_family(url) == "sqlite":
        from semel.performers.sqlite_async import sqlite_module

        url = url.set(drivername="sqlite+aiosqlite")
        engine = create_async_engine(
            url, module=sqlite_module(), pool_size=connections_limit, max_overflow=0, **options
        )
    else:
        engine = create_async_engine(url, pool_size=connections_limit, max_overflow=0, **options)
    _prepare(engine.sync_engine, url)
    return engine


class LoopEngines:
    """The engines of an async Semel's actions, one for each event loop: a connection belongs to the loop it was opened in."""

    def __init__(self, make: Callable[[], AsyncEngine]) -> None:
        """Make nothing yet."""
        self._make = make
        self._spare: AsyncEngine | None = None
        self._engines: WeakKeyDictionary[asyncio.AbstractEventLoop, tuple[AsyncEngine, Any]] = WeakKeyDictionary()

    def find(self) -> AsyncEngine:
        """Answer the engine of the running loop; outside of any, the one that the next loop will have."""
        if not has_running_loop():
            self._spare = self._spare or self._make()
            return self._spare
        loop = asyncio.get_running_loop()
        if loop not in self._engines:
            engine, self._spare = self._spare or self._make(), None
            watch = self._until_loop_ends(loop, engine)
            self._engines[loop] = engine, watch
            loop.create_task(self._begin(watch))  # noqa: RUF006 - it never waits, so it is done before anybody could forget it
        return self._engines[loop][0]

    async def _begin(self, watch: AsyncGenerator[None]) -> None:
        await anext(watch)

    async def _until_loop_ends(self, loop: asyncio.AbstractEventLoop, engine: AsyncEngine) -> AsyncGenerator[None]:
        """An ending loop closes every generator that was begun in it; afterwards nobody could close the connections."""
        try:
            yield
        finally:
            self._engines.pop(loop, None)
            await engine.dispose()

    async def dispose(self) -> None:
        """Close the idle connections of the running loop."""
        found = self._engines.pop(asyncio.get_running_loop(), None)
        if found is not None:
            engine, watch = found
            await engine.dispose()
            await watch.aclose()


def _options(url: URL, *, pooled: bool) -> dict[str, Any]:
    """Answer what makes a driver as bounded, and as careful behind a pooler, as Semel's own connections are."""
    seconds = STATEMENT_SECONDS
    match url.drivername:
        case "postgresql+psycopg":
            return {
                "connect_args": {"connect_timeout": int(CONNECT_SECONDS), "prepare_threshold": None if pooled else 5}
            }
        case "postgresql+asyncpg":
            arguments: dict[str, Any] = {"timeout": CONNECT_SECONDS, "command_timeout": seconds}
            if pooled:
                arguments |= {"prepared_statement_cache_size": 0, "statement_cache_size": 0}
            return {"connect_args": arguments}
        case "mariadb+pymysql":
            timeouts = {
                "connect_timeout": int(CONNECT_SECONDS),
                "read_timeout": int(seconds),
                "write_timeout": int(seconds),
            }
            return {"isolation_level": "READ COMMITTED", "connect_args": timeouts}
        case "mariadb+asyncmy":
            timeouts = {"connect_timeout": int(CONNECT_SECONDS), "read_timeout": int(seconds)}
            return {"isolation_level": "READ COMMITTED", "connect_args": timeouts}
        case _:
            # isolation_level=None: transactions begin when we say so, see below.
            return {"connect_args": {"isolation_level": None}}


def _prepare(engine: sa.Engine, url: URL) -> None:
    family = read_family(url)
    listen_to_engine(engine)
    sa.event.listen(engine, "checkout", _refuse_closed)
    if family == "sqlite":
        sa.event.listen(engine, "connect", _prepare_sqlite)
        sa.event.listen(engine, "begin", _begin_sqlite)
    elif family == "mariadb":
        sa.event.listen(engine, "connect", _prepare_mariadb)
        sa.event.listen(engine, "handle_error", _remember_deadlock)
    lasting = ref(
        engine
    )  # what is registered for a fork stays registered, longer than an engine of one event loop lasts

    def let_go() -> None:
        """A child process must not speak on its parent's sockets; it opens its own."""
        kept = lasting()
        if kept is not None:
            kept.dispose(close=False)

    os.register_at_fork(after_in_child=let_go)


def _refuse_closed(_connection: Any, record: Any, _lent: Any) -> None:
    """Lend no connection that its driver knows to be closed: the pool opens another, and the action never hears of it."""
    driver = DRIVERS.get(package_of(record.driver_connection) or "")
    if driver is not None and driver.name_trouble(record.driver_connection):
        raise sa.exc.DisconnectionError


def _prepare_sqlite(connection: Any, _record: Any) -> None:
    cursor = connection.cursor()
    for pragma in (*PRAGMAS, f"PRAGMA busy_timeout = {LOCK_WAIT_SECONDS * 1000}"):
        cursor.execute(pragma)
    cursor.close()


def _begin_sqlite(connection: sa.Connection) -> None:
    reading = connection.get_execution_options().get("semel_reading")
    connection.exec_driver_sql("BEGIN" if reading else "BEGIN IMMEDIATE")


def _remember_deadlock(context: sa.ExceptionContext) -> None:
    """MariaDB has rolled back everything: an action that goes on after this has lost what it wrote before."""
    if context.connection is not None and classify(context.original_exception) is Fault.GAVE_WAY:
        context.connection.info[GAVE_WAY] = True


def _prepare_mariadb(connection: Any, _record: Any) -> None:
    cursor = connection.cursor()
    cursor.execute(f"SET SESSION innodb_lock_wait_timeout = {LOCK_WAIT_SECONDS}")
    cursor.close()
