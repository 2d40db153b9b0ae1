"""The store's own way to its tables; what moves a row goes through Semel instead.

A query is a plain function of a SQLAlchemy Session, written once for all databases. On PostgreSQL and MariaDB it runs over
an async engine. SQLite has no socket to wait on, and its async drivers are threads in disguise; so there the same function
runs over a sync engine in a thread, and the store needs no driver beside the standard library's.
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import sqlalchemy as sa
from sqlalchemy.engine import make_url
from sqlalchemy.ext.asyncio import AsyncSession, create_async_engine
from sqlalchemy.orm import Session

Answer = TypeVar("Answer")

ASYNC_DRIVERS = {"postgresql": "postgresql+asyncpg", "mariadb": "mariadb+asyncmy", "mysql": "mariadb+asyncmy"}

BUSY_SECONDS = 30
"""How long SQLite's writers queue for the file: 200 of them on a disk that takes a tenth of a second for a commit."""

SET_UP_SECONDS = 60
"""How long a starting process waits for another one to create what is missing, which takes a second or two."""

SET_UP_LOCK = 0x6D656469
"""PostgreSQL's locks are numbered, within one database; this one says "medi"."""


class Database(ABC):
    """What the store asks of a database."""

    @abstractmethod
    async def read(self, query: Callable[[Session], Answer]) -> Answer:
        """Answer what a query answers, in a transaction of its own."""

    @abstractmethod
    async def write(self, work: Callable[[Session], None]) -> None:
        """Do the work in a transaction of its own: all of it, or nothing."""

    @abstractmethod
    async def set_up(self, work: Callable[[sa.Connection], None]) -> None:
        """Do the work over one connection; it commits by itself."""

    @abstractmethod
    async def close(self) -> None:
        """Close every connection."""


class AsyncDatabase(Database):
    """PostgreSQL and MariaDB."""

    def __init__(self, url: sa.URL) -> None:
        """Open nothing yet."""
        self.engine = create_async_engine(url, pool_pre_ping=True)

    async def read(self, query: Callable[[Session], Answer]) -> Answer:
        """Answer what a query answers, in a transaction of its own."""
        async with AsyncSession(self.engine) as session:
            return await session.run_sync(query)

    async def write(self, work: Callable[[Session], None]) -> None:
        """Do the work in a transaction of its own: all of it, or nothing."""
        async with AsyncSession(self.engine) as session, session.begin():
            await session.run_sync(work)

    async def set_up(self, work: Callable[[sa.Connection], None]) -> None:
        """Do the work over one connection; it commits by itself."""
        async with self.engine.connect() as connection:
            await connection.run_sync(work)

    async def close(self) -> None:
        """Close every connection."""
        await self.engine.dispose()


class ThreadDatabase(Database):
    """SQLite."""

    def __init__(self, url: sa.URL) -> None:
        """Open nothing yet."""
        self.engine = open_sqlite(url)

    async def read(self, query: Callable[[Session], Answer]) -> Answer:
        """Answer what a query answers, in a transaction of its own."""

        def run() -> Answer:
            with Session(self.engine) as session:
                return query(session)

        return await asyncio.to_thread(run)

    async def write(self, work: Callable[[Session], None]) -> None:
        """Do the work in a transaction of its own: all of it, or nothing."""

        def run() -> None:
            with Session(self.engine.execution_options(writes=True)) as session, session.begin():
                work(session)

        await asyncio.to_thread(run)

    async def set_up(self, work: Callable[[sa.Connection], None]) -> None:
        """Do the work over one connection; it commits by itself."""

        def run() -> None:
            with self.engine.connect() as connection:
                work(connection)

        await asyncio.to_thread(run)

    async def close(self) -> None:
        """Close every connection."""
        self.engine.dispose()


def open_database(text: str) -> Database:
    """Answer the database that a URL names; Semel has read the URL before and refused what nobody can open."""
    url = make_url(text)
    family = url.get_backend_name()
    if family == "sqlite":
        return ThreadDatabase(url)
    return AsyncDatabase(url.set(drivername=ASYNC_DRIVERS[family]))


def open_sqlite(url: sa.URL | str, **options: Any) -> sa.Engine:
    """Answer an engine whose commits are on the disk when they return.

    It is opened after `create_tables`, which changes the file to WAL for good: there, readers do not wait for the writer.
    """
    engine = sa.create_engine(url, connect_args={"timeout": BUSY_SECONDS}, **options)

    @sa.event.listens_for(engine, "connect")
    def prepare(connection: Any, _record: object) -> None:
        # The driver would begin transactions where it thinks they are needed; `begin` below does it where they are.
        connection.isolation_level = None
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA foreign_keys = ON")

    @sa.event.listens_for(engine, "begin")
    def begin(connection: sa.Connection) -> None:
        # A transaction that has read may find that it cannot write any more, so one that will write says so first.
        writes = connection.get_execution_options().get("writes", False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    return engine


@contextmanager
def alone(connection: sa.Connection) -> Iterator[None]:
    """Let one process at a time work on this database, and commit before the next one comes."""
    connection.execution_options(writes=True)  # SQLite: its only write lock keeps the others out
    family = connection.dialect.name
    # MariaDB commits with every CREATE TABLE, so the lock is the connection's; its name is for the whole server.
    name = sa.func.concat(sa.func.database(), ".media_store")
    try:
        with connection.begin():
            if family == "postgresql":
                connection.execute(sa.select(sa.func.pg_advisory_xact_lock(SET_UP_LOCK)))
            if family == "mariadb" and connection.scalar(sa.select(sa.func.get_lock(name, SET_UP_SECONDS))) != 1:
                raise TimeoutError(f"another process was creating this store for {SET_UP_SECONDS} s; start again later")
            yield
    finally:
        if family == "mariadb":
            connection.execute(sa.select(sa.func.release_lock(name)))
