"""`on=`: find out what a user lent, check that it can be joined, and say how statements travel on it.

A borrowed handle is never committed, rolled back or run again on. It is checked before anything is written on it, also
before a session is flushed: where every statement commits, a flush would.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncSession, async_scoped_session
from sqlalchemy.orm import Session, scoped_session

from semel.errors import error
from semel.performers.checks import check_raw, check_sqlalchemy, package_of
from semel.performers.django import join_django
from semel.performers.durable import READ_SYNCHRONOUS, warn_if_not_durable
from semel.performers.quoting import name_of
from semel.performers.wanted import Wanted, look_at
from semel.performers.wires.borrowed import AiosqliteWire, AsyncSqlalchemyWire, PsycopgAsyncWire, SqlalchemyWire
from semel.performers.wires.wire import Wire
from semel.store.declared import Declared
from semel.store.dialects import DIALECTS, family_named

SYNC_KINDS = (
    "a SQLAlchemy Connection, Session or scoped_session, a raw psycopg, sqlite3 or PyMySQL connection, "
    "or the alias of a Django database"
)
ASYNC_KINDS = (
    "a SQLAlchemy AsyncConnection, AsyncSession or async_scoped_session, "
    "or a raw asyncpg, psycopg, aiosqlite or asyncmy connection"
)


@dataclass(frozen=True)
class Borrowed:
    """A handle that may be joined, and the session it came from, whose objects will have to be told."""

    wire: Wire
    handle: Any
    session: Any = None


def borrow(on: Any, wanted: Wanted, declared: Declared) -> Borrowed:
    """Answer how a sync handle is joined."""
    if isinstance(on, scoped_session):
        on = on()
    if isinstance(on, Session):
        return join_session(on, wanted, declared)
    if isinstance(on, sa.Connection):
        return join_sqlalchemy(on, wanted, name_of(on))
    if isinstance(on, str):
        return Borrowed(*join_django(on, wanted))
    package = package_of(on)
    if package is None or package not in SYNC_WIRES or _is_async(on):
        raise wanted.refuse(on, SYNC_KINDS)
    borrowed = join_raw(on, wanted, SYNC_WIRES[package], package)
    if package == "sqlite3":
        with look_at(on):
            synchronous = borrowed.wire.fetch(on, READ_SYNCHRONOUS, ())
        warn_if_not_durable(synchronous)
    return borrowed


async def borrow_async(on: Any, wanted: Wanted, declared: Declared) -> Borrowed:
    """Answer how an async handle is joined."""
    if isinstance(on, async_scoped_session):
        on = on()
    if isinstance(on, AsyncSession):
        return await join_async_session(on, wanted, declared)
    if isinstance(on, AsyncConnection):
        return await join_async_sqlalchemy(on, wanted, name_of(on))
    package = package_of(on)
    if package is None or package not in ASYNC_WIRES or (package == "psycopg" and not _is_async(on)):
        raise wanted.refuse(on, ASYNC_KINDS)
    borrowed = join_raw(on, wanted, ASYNC_WIRES[package], package)
    if package == "aiosqlite":
        with look_at(on):
            synchronous = await borrowed.wire.fetch(on, READ_SYNCHRONOUS, ())
        warn_if_not_durable(synchronous)
    return borrowed


def join_session(session: Session, wanted: Wanted, declared: Declared) -> Borrowed:
    """Join the connection of a session; what the user changed on objects goes first, as before a query of theirs."""
    with look_at(session) as given:
        refuse_idle_session(session, given)
        connection = session.connection(bind_arguments=bind_of(declared))
    borrowed = join_sqlalchemy(connection, wanted, given)
    if session.autoflush:
        session.flush()
    return Borrowed(borrowed.wire, connection, session)


async def join_async_session(session: AsyncSession, wanted: Wanted, declared: Declared) -> Borrowed:
    """Join the connection of an async session, likewise."""
    with look_at(session) as given:
        refuse_idle_session(session.sync_session, given)
        connection = await session.connection(bind_arguments=bind_of(declared))
    borrowed = await join_async_sqlalchemy(connection, wanted, given)
    if session.sync_session.autoflush:
        await session.flush()
    return Borrowed(borrowed.wire, connection, session)


def refuse_idle_session(session: Session, given: str) -> None:
    """A session that was told not to begin by itself, and has not begun."""
    if not session.autobegin and not session.in_transaction():
        raise error("SEMEL-ON-2", given=given, remedy="Begin one: with session.begin(): …")


def bind_of(declared: Declared) -> Any:
    """Answer how a session with several databases finds the one that holds the table."""
    if declared.mapper is not None:
        return {"mapper": declared.mapper}
    return None if declared.table is None else {"clause": declared.table}


def join_sqlalchemy(connection: sa.Connection, wanted: Wanted, given: str) -> Borrowed:
    """Join a SQLAlchemy connection."""
    wanted.check_family(given, family_named(connection.dialect.name))
    wire = SqlalchemyWire(connection.dialect)
    synchronous = None
    with look_at(connection):
        if wanted.family == "sqlite":  # asked first: some applications send SQLite's BEGIN with the first statement
            synchronous = wire.fetch(connection, READ_SYNCHRONOUS, ())
        check_sqlalchemy(connection, given)
    if synchronous is not None:
        warn_if_not_durable(synchronous)
    return Borrowed(wire, connection)


async def join_async_sqlalchemy(connection: AsyncConnection, wanted: Wanted, given: str) -> Borrowed:
    """Join a SQLAlchemy async connection."""
    wanted.check_family(given, family_named(connection.dialect.name))
    wire = AsyncSqlalchemyWire(connection.dialect)
    synchronous = None
    with look_at(connection):
        if wanted.family == "sqlite":
            synchronous = await wire.fetch(connection, READ_SYNCHRONOUS, ())
        await connection.get_raw_connection()
        check_sqlalchemy(connection.sync_connection, given)
    if synchronous is not None:
        warn_if_not_durable(synchronous)
    return Borrowed(wire, connection)


def join_raw(on: Any, wanted: Wanted, make: Callable[[Any], Wire], package: str) -> Borrowed:
    """Join a driver's own connection."""
    family, dialect = DIALECTS[package]()
    with look_at(on) as given:
        wanted.check_family(given, family)
        check_raw(on, given)
    return Borrowed(make(dialect), on)


def _is_async(on: Any) -> bool:
    return any("Async" in kind.__name__ for kind in type(on).__mro__)


def _psycopg(dialect: Any) -> Wire:
    from semel.performers.wires.psycopg import PsycopgWire

    return PsycopgWire(dialect)


def _pymysql(dialect: Any) -> Wire:
    from semel.performers.wires.pymysql import PymysqlWire

    return PymysqlWire(dialect)


def _sqlite(dialect: Any) -> Wire:
    from semel.performers.wires.sqlite import SqliteWire

    return SqliteWire(dialect)


def _asyncpg(dialect: Any) -> Wire:
    from semel.performers.wires.asyncpg import AsyncpgWire

    return AsyncpgWire(dialect)


def _asyncmy(dialect: Any) -> Wire:
    from semel.performers.wires.asyncmy import AsyncmyWire

    return AsyncmyWire(dialect)


SYNC_WIRES: dict[str, Callable[[Any], Wire]] = {"psycopg": _psycopg, "pymysql": _pymysql, "sqlite3": _sqlite}
ASYNC_WIRES: dict[str, Callable[[Any], Wire]] = {
    "psycopg": PsycopgAsyncWire,
    "asyncpg": _asyncpg,
    "asyncmy": _asyncmy,
    "aiosqlite": AiosqliteWire,
}
