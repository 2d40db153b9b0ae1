"""What SQLAlchemy lends: connections, sessions and scoped sessions, sync and async."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, AsyncSession, async_scoped_session, create_async_engine
from sqlalchemy.ext.asyncio import async_sessionmaker as make_async_sessions
from sqlalchemy.orm import Session, scoped_session, sessionmaker

from tests.databases import FAMILIES
from tests.joined.lent import Cell, Lent
from tests.joined.shop import Shop


class LentBySqlalchemy(Lent):
    """A Connection or anything with the methods of a Session."""

    nested: Any = None

    async def run(self, sql: str) -> None:
        self.on.execute(sa.text(sql))

    async def read(self, sql: str) -> list[tuple[Any, ...]]:
        return [tuple(row) for row in self.on.execute(sa.text(sql))]

    async def commit(self) -> None:
        self.on.commit()

    async def rollback(self) -> None:
        self.on.rollback()

    async def savepoint(self) -> None:
        self.nested = self.on.begin_nested()

    async def back_to_savepoint(self) -> None:
        self.nested.rollback()


class LentByAsyncSqlalchemy(Lent):
    """The same, awaited."""

    is_async = True
    nested: Any = None

    async def run(self, sql: str) -> None:
        await self.on.execute(sa.text(sql))

    async def read(self, sql: str) -> list[tuple[Any, ...]]:
        return [tuple(row) for row in await self.on.execute(sa.text(sql))]

    async def commit(self) -> None:
        await self.on.commit()

    async def rollback(self) -> None:
        await self.on.rollback()

    async def savepoint(self) -> None:
        self.nested = await self.on.begin_nested()

    async def back_to_savepoint(self) -> None:
        await self.nested.rollback()


@contextmanager
def open_engine(url: str, **options: Any) -> Iterator[sa.Engine]:
    """A sync engine of the user's own."""
    engine = sa.create_engine(url, **options)
    try:
        yield engine
    finally:
        engine.dispose()


@asynccontextmanager
async def open_async_engine(url: str, **options: Any) -> AsyncIterator[AsyncEngine]:
    """An async engine of the user's own."""
    engine = create_async_engine(url, **options)
    try:
        yield engine
    finally:
        await engine.dispose()


def open_scoped(engine: sa.Engine) -> scoped_session[Session]:
    """A registry of sessions, as web frameworks keep one."""
    return scoped_session(sessionmaker(engine))


def open_async_scoped(engine: AsyncEngine) -> async_scoped_session[AsyncSession]:
    """The async kind, one session per task."""
    return async_scoped_session(make_async_sessions(engine), scopefunc=asyncio.current_task)


def lend_sync(make: Callable[[sa.Engine], Any]) -> Any:
    """Lend what `make` makes of an engine; a connection and a session close alike."""

    @asynccontextmanager
    async def lend(shop: Shop) -> AsyncIterator[Lent]:
        with open_engine(shop.database.sync_url) as engine:
            on = make(engine)
            try:
                yield LentBySqlalchemy(shop, on)
            finally:
                on.close()

    return lend


def lend_async(make: Callable[[AsyncEngine], Any], driver: str | None = None) -> Any:
    """Lend what `make` makes of an async engine."""

    @asynccontextmanager
    async def lend(shop: Shop) -> AsyncIterator[Lent]:
        url = sa.make_url(shop.database.async_url)
        async with open_async_engine(
            (url.set(drivername=driver) if driver else url).render_as_string(hide_password=False)
        ) as engine:
            on = make(engine)
            if isinstance(on, AsyncConnection):
                await on.start()
            try:
                yield LentByAsyncSqlalchemy(shop, on)
            finally:
                await on.close()

    return lend


def begin_by_hand(engine: sa.Engine) -> sa.Connection:
    """What SQLAlchemy's own documentation advises for SQLite: a driver in autocommit, and BEGIN with the first statement."""
    sa.event.listen(engine, "connect", lambda raw, _: setattr(raw, "isolation_level", None))
    sa.event.listen(engine, "begin", lambda connection: connection.exec_driver_sql("BEGIN"))
    return engine.connect()


SYNC_KINDS: dict[str, Callable[[sa.Engine], Any]] = {
    "Connection": sa.Engine.connect,
    "Session": Session,
    "scoped_session": open_scoped,
}
ASYNC_KINDS: dict[str, Callable[[AsyncEngine], Any]] = {
    "AsyncConnection": AsyncEngine.connect,
    "AsyncSession": AsyncSession,
    "async_scoped_session": open_async_scoped,
}

CELLS = [
    *(Cell(name, family, "sync", lend_sync(make)) for name, make in SYNC_KINDS.items() for family in FAMILIES),
    *(Cell(name, family, "async", lend_async(make)) for name, make in ASYNC_KINDS.items() for family in FAMILIES),
    Cell("AsyncConnection over psycopg", "postgresql", "async", lend_async(AsyncEngine.connect, "postgresql+psycopg")),
    Cell("Connection that begins by hand", "sqlite", "sync", lend_sync(begin_by_hand)),
]
