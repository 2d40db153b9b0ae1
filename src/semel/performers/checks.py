"""Whether a raw driver connection may be joined: it has an open transaction that works, and counts matched rows.

Where autocommit is on and no transaction is open, every statement would be a commit of its own: the move without its
journal, the transition without its after-effect. A handle that begins a transaction by itself with the first statement
(SQLAlchemy's, psycopg's and sqlite3's default) is as good as one that has begun.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from semel.errors import error

FOUND_ROWS = 2
"""MySQL's client flag that makes an UPDATE count the rows it matched."""

IN_TRANSACTION = 1
"""MySQL's server status flag of an open transaction."""


def name_of(handle: Any) -> str:
    """Answer how a handle is called in an error."""
    kind = type(handle)
    return f"{kind.__module__.split('.')[0]}.{kind.__qualname__}" if kind.__module__ != "builtins" else repr(handle)


def refuse_autocommit(handle: Any, remedy: str) -> None:
    """Refuse a handle on which every statement would commit."""
    raise error("SEMEL-ON-2", given=name_of(handle), remedy=remedy)


def check_psycopg(handle: Any) -> None:
    """Both kinds of psycopg connections."""
    from psycopg.pq import TransactionStatus

    status = handle.info.transaction_status
    if status == TransactionStatus.INERROR:
        raise error("SEMEL-ON-5", given=name_of(handle))
    if handle.autocommit and status == TransactionStatus.IDLE:
        refuse_autocommit(handle, "Open one: with connection.transaction(): …, or connect without autocommit.")


def check_asyncpg(handle: Any) -> None:
    """An asyncpg connection, and what its pool lends."""
    if not handle.is_in_transaction():
        refuse_autocommit(handle, "Open one: async with connection.transaction(): …")


def check_sqlite(handle: Any) -> None:
    """sqlite3 and aiosqlite, in both ways that sqlite3 has of controlling transactions."""
    if handle.in_transaction:
        return
    autocommit = getattr(handle, "autocommit", -1)
    if autocommit is True or (autocommit is not False and handle.isolation_level is None):
        refuse_autocommit(
            handle, "Open one: connection.execute('BEGIN IMMEDIATE'), or connect without isolation_level=None."
        )


def check_pymysql(handle: Any) -> None:
    """PyMySQL and asyncmy."""
    flags = getattr(handle, "client_flag", None)
    flags = handle._client_flag if flags is None else flags  # noqa: SLF001 - asyncmy has no other name for it
    if not flags & FOUND_ROWS:
        raise error("SEMEL-ON-4", given=name_of(handle))
    if handle.get_autocommit() and not handle.server_status & IN_TRANSACTION:
        refuse_autocommit(handle, "Open one: connection.begin(), or connect without autocommit=True.")


CHECKS: dict[str, Callable[[Any], None]] = {
    "psycopg": check_psycopg,
    "asyncpg": check_asyncpg,
    "sqlite3": check_sqlite,
    "aiosqlite": check_sqlite,
    "pymysql": check_pymysql,
    "asyncmy": check_pymysql,
}
"""By the package that a raw connection's class comes from; psycopg2 and mysqlclient are joined through SQLAlchemy or Django."""


def package_of(handle: Any) -> str | None:
    """Answer which of the known drivers a raw connection belongs to, subclasses included."""
    for kind in type(handle).__mro__:
        package = kind.__module__.split(".")[0]
        if package in CHECKS and ("Connection" in kind.__name__):
            return package
    return None


def check_sqlalchemy(connection: Any) -> None:
    """A SQLAlchemy Connection: autocommit is a property of the driver's connection below it."""
    below = connection.connection.dbapi_connection
    driver = connection.connection.driver_connection
    if package_of(driver) == "pymysql":
        check_pymysql_flags(driver)
    if connection.dialect.detect_autocommit_setting(below) and not _has_begun(driver):
        refuse_autocommit(connection, "Use an engine or connection whose isolation_level is not AUTOCOMMIT.")


def check_pymysql_flags(driver: Any) -> None:
    """An engine made with a creator of its own may have forgotten the flag that SQLAlchemy sets."""
    if not driver.client_flag & FOUND_ROWS:
        raise error("SEMEL-ON-4", given=name_of(driver))


def _has_begun(driver: Any) -> bool:
    """Some applications begin SQLite transactions themselves, on a driver that they keep in autocommit."""
    return bool(getattr(driver, "in_transaction", False))
