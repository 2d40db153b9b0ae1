"""Whether a borrowed connection may be joined: it is open, its transaction works, and it counts matched rows.

Where autocommit is on and no transaction is open, every statement would be a commit of its own: the move without its
journal, the transition without its after-effect. A handle that begins a transaction by itself with the first statement
(SQLAlchemy's, psycopg's and sqlite3's default) is as good as one that has begun.

No question here is put to the server: each driver knows the state of its own connection.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from semel.errors import error
from semel.performers.sqlite_async import ThreadConnection

Question: TypeAlias = Callable[[Any], bool]

CLOSED = "it is closed"

FOUND_ROWS = 2
"""MySQL's client flag that makes an UPDATE count the rows it matched."""

IN_TRANSACTION = 1
"""MySQL's server status flag of an open transaction."""


@dataclass(frozen=True, slots=True)
class Driver:
    """What one driver knows about its connection. Trouble is what makes it unusable, in words; most often there is none."""

    name_trouble: Callable[[Any], str]
    has_begun: Question
    commits_each: Question
    remedy: str
    has_failed: Question = lambda _: False
    counts_matched: Question = lambda _: True


def _psycopg_status(handle: Any) -> str:
    return str(handle.info.transaction_status.name)


def _below_aiosqlite(handle: Any) -> Any:
    return getattr(handle, "_conn", handle)


def _commits_each_sqlite(handle: Any) -> bool:
    """Since Python 3.12 sqlite3 has two ways of controlling transactions; -1 names the older one."""
    below = _below_aiosqlite(handle)
    autocommit = getattr(below, "autocommit", -1)
    return autocommit is True or (autocommit is not False and below.isolation_level is None)


def _counts_matched(handle: Any) -> bool:
    flags = getattr(handle, "client_flag", None)
    return bool((handle._client_flag if flags is None else flags) & FOUND_ROWS)  # noqa: SLF001 - asyncmy has no other name for it


def _name_trouble_of_psycopg(handle: Any) -> str:
    """In pipeline mode a statement is answered later, and how many rows it matched is not known when it matters."""
    return CLOSED if handle.closed else "it is in pipeline mode" if handle.pgconn.pipeline_status else ""


def _name_trouble_of_sqlite(handle: Any) -> str:
    """A closed connection of SQLite cannot even say whether it is in a transaction."""
    try:
        _below_aiosqlite(handle).in_transaction  # noqa: B018 - what it answers does not matter here
    except (sqlite3.ProgrammingError, ValueError):
        return CLOSED
    return ""


_SQLITE = Driver(
    name_trouble=_name_trouble_of_sqlite,
    has_begun=lambda handle: bool(handle.in_transaction),
    commits_each=_commits_each_sqlite,
    remedy="Open one: connection.execute('BEGIN IMMEDIATE'), or connect without isolation_level=None and autocommit=True.",
)
_PYMYSQL = Driver(
    name_trouble=lambda handle: "" if handle.open else CLOSED,
    has_begun=lambda handle: bool(handle.server_status & IN_TRANSACTION),
    commits_each=lambda handle: bool(handle.get_autocommit()),
    counts_matched=_counts_matched,
    remedy="Open one: connection.begin(), or connect without autocommit=True.",
)

DRIVERS: dict[str, Driver] = {
    "psycopg": Driver(
        name_trouble=_name_trouble_of_psycopg,
        has_begun=lambda handle: _psycopg_status(handle) != "IDLE",
        has_failed=lambda handle: _psycopg_status(handle) == "INERROR",
        commits_each=lambda handle: bool(handle.autocommit),
        remedy="Open one: with connection.transaction(): …, or connect without autocommit.",
    ),
    "asyncpg": Driver(
        name_trouble=lambda handle: CLOSED if handle.is_closed() else "",
        has_begun=lambda handle: bool(handle.is_in_transaction()),
        commits_each=lambda _: True,
        remedy="Open one: async with connection.transaction(): …",
    ),
    "sqlite3": _SQLITE,
    "aiosqlite": _SQLITE,
    "pymysql": _PYMYSQL,
    "asyncmy": Driver(
        name_trouble=lambda handle: "" if handle.connected else CLOSED,
        has_begun=_PYMYSQL.has_begun,
        commits_each=_PYMYSQL.commits_each,
        counts_matched=_counts_matched,
        remedy="Open one: await connection.begin(), or connect without autocommit=True.",
    ),
}
"""By the package that a connection's class comes from; other drivers are joined through SQLAlchemy or Django."""


def package_of(handle: Any) -> str | None:
    """Answer which of the known drivers a raw connection belongs to, subclasses included."""
    if isinstance(handle, ThreadConnection):
        return "aiosqlite"  # an action has lent its own session; it is made to be taken for one of these
    for kind in type(handle).__mro__:
        package = kind.__module__.split(".")[0]
        if package in DRIVERS and "Connection" in kind.__name__:
            return package
    return None


def check_raw(handle: Any, given: str) -> None:
    """Refuse a driver's own connection that is closed, has failed, counts changed rows, or commits each statement."""
    driver = DRIVERS[package_of(handle) or ""]
    check_state(handle, driver, given)
    if driver.commits_each(handle) and not driver.has_begun(handle):
        raise error("SEMEL-ON-2", given=given, remedy=driver.remedy)


def check_sqlalchemy(connection: Any, given: str) -> None:
    """Refuse a SQLAlchemy connection for the same reasons, as far as its driver is known."""
    lent = connection.connection
    driver = DRIVERS.get(package_of(lent.driver_connection) or "")
    if driver is not None:
        check_state(lent.driver_connection, driver, given)
    commits = connection.dialect.detect_autocommit_setting(lent.dbapi_connection)
    if driver is not None and driver.commits_each is _commits_each_sqlite:
        commits = _commits_each_sqlite(lent.driver_connection)
    # Some applications begin transactions themselves, on a driver that they keep in autocommit.
    if commits and not (driver is not None and driver.has_begun(lent.driver_connection)):
        remedy = "Use an engine or connection whose isolation_level is not AUTOCOMMIT."
        raise error("SEMEL-ON-2", given=given, remedy=remedy)


def check_state(handle: Any, driver: Driver, given: str) -> None:
    """Refuse a connection on which nothing could be written, whoever controls its transactions."""
    if trouble := driver.name_trouble(handle):
        raise error("SEMEL-ON-7", given=given, reason=trouble)
    if driver.has_failed(handle):
        raise error("SEMEL-ON-5", given=given)
    if not driver.counts_matched(handle):
        raise error("SEMEL-ON-4", given=given)
