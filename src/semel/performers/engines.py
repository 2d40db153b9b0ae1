"""SQLAlchemy engines for what a user's action writes: the same database, the same promises as Semel's own connections."""

from __future__ import annotations

import os
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import URL
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from semel.performers.opened import GAVE_WAY
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
    if family == "sqlite":
        sa.event.listen(engine, "connect", _prepare_sqlite)
        sa.event.listen(engine, "begin", _begin_sqlite)
    elif family == "mariadb":
        sa.event.listen(engine, "connect", _prepare_mariadb)
        sa.event.listen(engine, "handle_error", _remember_deadlock)
    # A child process must not speak on its parent's sockets; it opens its own.
    os.register_at_fork(after_in_child=lambda: engine.dispose(close=False))


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
