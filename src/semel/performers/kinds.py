"""The types of handles that `on=` takes, for type checkers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, TypeAlias


class PymysqlConnection(Protocol):
    """A connection of PyMySQL, which ships no types: without this, type checkers would take anything for one."""

    @property
    def open(self) -> Any:
        """Whether it is open."""

    def thread_id(self) -> Any:
        """How the server calls it."""

    def begin(self) -> Any:
        """Begin a transaction."""


if TYPE_CHECKING:
    import sqlite3

    import aiosqlite
    import asyncmy.connection
    import asyncpg
    import asyncpg.pool
    import psycopg
    import sqlalchemy as sa
    from sqlalchemy.ext.asyncio import AsyncConnection, AsyncSession, async_scoped_session
    from sqlalchemy.orm import Session, scoped_session

    SyncHandle: TypeAlias = (
        sa.Connection
        | Session
        | scoped_session[Any]
        | psycopg.Connection[Any]
        | sqlite3.Connection
        | PymysqlConnection
        | str
    )
    AsyncHandle: TypeAlias = (
        AsyncConnection
        | AsyncSession
        | async_scoped_session[Any]
        | asyncpg.Connection
        | asyncpg.pool.PoolConnectionProxy
        | psycopg.AsyncConnection[Any]
        | aiosqlite.Connection
        | asyncmy.connection.Connection
    )
