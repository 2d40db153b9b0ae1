"""`on=`: find out what a user lent, check that it can be joined, and say how statements travel on it.

A borrowed handle is never committed, rolled back or run again on. Afterwards the user's own ORM object forgets its status
and version, because they changed behind its back.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncSession, async_scoped_session
from sqlalchemy.orm import Session, scoped_session
from sqlalchemy.orm.util import identity_key

from semel.performers.checks import CHECKS, check_sqlalchemy, package_of
from semel.performers.django import join_django
from semel.performers.wanted import Wanted
from semel.performers.wires.borrowed import AiosqliteWire, AsyncSqlalchemyWire, PsycopgAsyncWire, SqlalchemyWire
from semel.performers.wires.wire import Wire
from semel.store.declared import Declared
from semel.store.dialects import DIALECTS, family_of
from semel.store.entity import Id

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
    """A handle that may be joined."""

    wire: Wire
    handle: Any
    session: Session | None = None


def borrow(on: Any, wanted: Wanted, mapper: Any) -> Borrowed:
    """Answer how a sync handle is joined."""
    if isinstance(on, scoped_session):
        on = on()
    if isinstance(on, Session):
        if on.autoflush:
            on.flush()  # what the user changed on the object goes first, as it would before a query of theirs
        arguments = {"mapper": mapper} if mapper is not None else None
        return join_sqlalchemy(on.connection(bind_arguments=arguments), wanted, session=on)
    if isinstance(on, sa.Connection):
        return join_sqlalchemy(on, wanted)
    if isinstance(on, str):
        return Borrowed(*join_django(on, wanted))
    package = package_of(on)
    if package is not None and package in SYNC_WIRES and not _is_async(on):
        return join_raw(on, wanted, SYNC_WIRES[package], package)
    raise wanted.refuse(on, SYNC_KINDS)


async def borrow_async(on: Any, wanted: Wanted, mapper: Any) -> Borrowed:
    """Answer how an async handle is joined."""
    if isinstance(on, async_scoped_session):
        on = on()
    if isinstance(on, AsyncSession):
        if on.sync_session.autoflush:
            await on.flush()
        arguments = {"mapper": mapper} if mapper is not None else None
        return await join_async_sqlalchemy(
            await on.connection(bind_arguments=arguments), wanted, session=on.sync_session
        )
    if isinstance(on, AsyncConnection):
        return await join_async_sqlalchemy(on, wanted)
    package = package_of(on)
    if package is not None and package in ASYNC_WIRES and (package != "psycopg" or _is_async(on)):
        borrowed = join_raw(on, wanted, ASYNC_WIRES[package], package)
        if package == "aiosqlite":
            warn_if_not_durable(await borrowed.wire.fetch(on, _SYNCHRONOUS, ()))
        return borrowed
    raise wanted.refuse(on, ASYNC_KINDS)


def join_sqlalchemy(connection: sa.Connection, wanted: Wanted, session: Session | None = None) -> Borrowed:
    """Join a SQLAlchemy connection."""
    given = session or connection
    wanted.check_family(given, family_of(connection.dialect))
    check_sqlalchemy(connection)
    borrowed = Borrowed(SqlalchemyWire(connection.dialect), connection, session)
    if wanted.family == "sqlite":
        warn_if_not_durable(borrowed.wire.fetch(connection, _SYNCHRONOUS, ()))
    return borrowed


async def join_async_sqlalchemy(
    connection: AsyncConnection, wanted: Wanted, session: Session | None = None
) -> Borrowed:
    """Join a SQLAlchemy async connection."""
    wanted.check_family(session or connection, family_of(connection.dialect))
    await connection.get_raw_connection()
    check_sqlalchemy(connection.sync_connection)
    borrowed = Borrowed(AsyncSqlalchemyWire(connection.dialect), connection, session)
    if wanted.family == "sqlite":
        warn_if_not_durable(await borrowed.wire.fetch(connection, _SYNCHRONOUS, ()))
    return borrowed


def join_raw(on: Any, wanted: Wanted, make: Callable[[Any], Wire], package: str) -> Borrowed:
    """Join a driver's own connection."""
    family, dialect = DIALECTS[package]()
    wanted.check_family(on, family)
    CHECKS[package](on)
    wire = make(dialect)
    if package == "sqlite3":
        warn_if_not_durable(wire.fetch(on, _SYNCHRONOUS, ()))
    return Borrowed(wire, on)


_SYNCHRONOUS = "PRAGMA synchronous"
_FULL = 2


def warn_if_not_durable(rows: Any) -> None:
    """Warn once per place: below FULL a commit that returned can be lost with the power, and money with it."""
    if rows[0][0] < _FULL:
        text = (
            "on= was given a SQLite connection with PRAGMA synchronous below FULL: a power cut undoes its last commits."
        )
        warnings.warn(text, UserWarning, stacklevel=2)


def forget_moved(session: Session, declared: Declared, id_column: str, moved: Iterable[Id]) -> None:
    """Expire status and version of the moved rows' objects, if the session holds them."""
    mapper, table = declared.mapper, declared.table
    names = [name for name in (declared.status_attribute, declared.version_attribute) if name is not None]
    if mapper is None or table is None or not names:
        return
    by_key = [column.name for column in mapper.primary_key] == [id_column]
    wanted = set(moved)
    if by_key:
        held = [session.identity_map.get(identity_key(mapper.class_, row)) for row in wanted]
    else:
        name = mapper.get_property_by_column(table.c[id_column]).key
        held = [
            each
            for each in session.identity_map.values()
            if isinstance(each, mapper.class_) and each.__dict__.get(name) in wanted
        ]
    for each in held:
        if each is not None:
            session.expire(each, names)


def _is_async(on: Any) -> bool:
    return "Async" in type(on).__name__


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
