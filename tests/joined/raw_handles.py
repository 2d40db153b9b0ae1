"""What drivers lend: their own connections, with the row factories and the ways of beginning that their users choose."""

from __future__ import annotations

import sqlite3
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from functools import partial
from typing import Any

import aiosqlite
import asyncmy
import asyncmy.cursors
import asyncpg
import psycopg
import psycopg.rows
import pymysql
import pymysql.cursors
import sqlalchemy as sa
from pymysql.constants import CLIENT

from tests.joined.lent import Cell, Lent, as_tuple
from tests.joined.shop import Shop


class LentByDriver(Lent):
    """A connection with cursors, commit and rollback."""

    async def run(self, sql: str) -> None:
        with closing(self.on.cursor()) as cursor:
            cursor.execute(sql)

    async def read(self, sql: str) -> list[tuple[Any, ...]]:
        with closing(self.on.cursor()) as cursor:
            cursor.execute(sql)
            return [as_tuple(row) for row in cursor.fetchall()]

    async def commit(self) -> None:
        self.on.commit()

    async def rollback(self) -> None:
        self.on.rollback()


class LentByPsycopgBlock(LentByDriver):
    """An autocommit connection inside `with connection.transaction()`."""

    def __init__(self, shop: Shop, on: Any) -> None:
        super().__init__(shop, on)
        self.block = on.transaction()
        self.block.__enter__()

    async def commit(self) -> None:
        self.block.__exit__(None, None, None)

    async def rollback(self) -> None:
        self.block.__exit__(psycopg.Rollback, psycopg.Rollback(), None)


class LentByAsyncDriver(Lent):
    """The same, awaited."""

    is_async = True

    async def run(self, sql: str) -> None:
        async with self.on.cursor() as cursor:
            await cursor.execute(sql)

    async def read(self, sql: str) -> list[tuple[Any, ...]]:
        async with self.on.cursor() as cursor:
            await cursor.execute(sql)
            return [as_tuple(row) for row in await cursor.fetchall()]

    async def commit(self) -> None:
        await self.on.commit()

    async def rollback(self) -> None:
        await self.on.rollback()


class LentByAsyncpg(Lent):
    """asyncpg has no cursors of the common kind, and a transaction is an object."""

    is_async = True

    async def begin(self) -> Lent:
        """Begin, as `async with connection.transaction()` does."""
        self.transaction = self.on.transaction()
        await self.transaction.start()
        return self

    async def run(self, sql: str) -> None:
        await self.on.execute(sql)

    async def read(self, sql: str) -> list[tuple[Any, ...]]:
        return [tuple(row.values()) for row in await self.on.fetch(sql)]

    async def commit(self) -> None:
        await self.transaction.commit()

    async def rollback(self) -> None:
        await self.transaction.rollback()

    async def savepoint(self) -> None:
        self.nested = self.on.transaction()
        await self.nested.start()

    async def back_to_savepoint(self) -> None:
        await self.nested.rollback()


def url_of(shop: Shop) -> sa.URL:
    """Where the shop's database is."""
    return sa.make_url(shop.database.url)


def mysql_words(shop: Shop, **words: Any) -> dict[str, Any]:
    """How MySQL's drivers are told where to go, counting matched rows."""
    url = url_of(shop)
    place = {"host": url.host, "port": url.port or 3306, "user": url.username, "password": url.password or ""}
    return {**place, "database": url.database, "client_flag": CLIENT.FOUND_ROWS, **words}


def connect_psycopg(shop: Shop, **words: Any) -> psycopg.Connection[Any]:
    """A connection of psycopg."""
    return psycopg.connect(shop.database.url, **words)


def connect_sqlite(shop: Shop, **words: Any) -> sqlite3.Connection:
    """A connection of sqlite3."""
    return sqlite3.connect(shop.database.name, **words)


def connect_rows(shop: Shop) -> sqlite3.Connection:
    """One whose rows are sqlite3.Row, and whose texts are bytes."""
    connection = connect_sqlite(shop)
    connection.row_factory = sqlite3.Row
    connection.text_factory = bytes
    return connection


def connect_begun(shop: Shop) -> sqlite3.Connection:
    """One in autocommit, on which its user has begun."""
    connection = connect_sqlite(shop, isolation_level=None)
    connection.execute("BEGIN IMMEDIATE")
    return connection


def connect_pymysql(shop: Shop, **words: Any) -> Any:
    """A connection of PyMySQL."""
    return pymysql.connect(**mysql_words(shop, **words))


def connect_pymysql_begun(shop: Shop) -> Any:
    """One in autocommit, on which its user has begun."""
    connection = connect_pymysql(shop, autocommit=True)
    connection.begin()
    return connection


def lend(connect: Any, face: Any = LentByDriver) -> Any:
    """Lend what a sync driver connects."""

    @asynccontextmanager
    async def lending(shop: Shop) -> AsyncIterator[Lent]:
        with closing(connect(shop)) as on:
            yield face(shop, on)

    return lending


def lend_psycopg_async(**words: Any) -> Any:
    """Lend psycopg's async connection."""

    @asynccontextmanager
    async def lending(shop: Shop) -> AsyncIterator[Lent]:
        async with await psycopg.AsyncConnection.connect(shop.database.url, **words) as on:
            yield LentByAsyncDriver(shop, on)

    return lending


@asynccontextmanager
async def lend_asyncpg(shop: Shop) -> AsyncIterator[Lent]:
    """Lend asyncpg's connection."""
    on = await asyncpg.connect(shop.database.url)
    try:
        yield await LentByAsyncpg(shop, on).begin()
    finally:
        await on.close()


@asynccontextmanager
async def lend_asyncpg_pooled(shop: Shop) -> AsyncIterator[Lent]:
    """Lend what asyncpg's pool lends."""
    async with asyncpg.create_pool(shop.database.url, min_size=1, max_size=1) as pool, pool.acquire() as on:
        yield await LentByAsyncpg(shop, on).begin()


def lend_aiosqlite(row_factory: Any = None, text_factory: Any = str) -> Any:
    """Lend aiosqlite's connection."""

    @asynccontextmanager
    async def lending(shop: Shop) -> AsyncIterator[Lent]:
        async with aiosqlite.connect(shop.database.name) as on:
            on.row_factory, on.text_factory = row_factory, text_factory
            yield LentByAsyncDriver(shop, on)

    return lending


def lend_asyncmy(**words: Any) -> Any:
    """Lend asyncmy's connection."""

    @asynccontextmanager
    async def lending(shop: Shop) -> AsyncIterator[Lent]:
        on = await asyncmy.connect(**mysql_words(shop, **words))
        if words.get("autocommit"):
            await on.begin()
        try:
            yield LentByAsyncDriver(shop, on)
        finally:
            await on.ensure_closed()

    return lending


def name_cells() -> list[Cell]:
    """Every raw handle, with the database it belongs to."""
    dict_row = psycopg.rows.dict_row
    raw_cursors = {"row_factory": dict_row, "cursor_factory": psycopg.RawCursor}
    async_raw_cursors = {"row_factory": dict_row, "cursor_factory": psycopg.AsyncRawCursor}
    pymysql_dicts = partial(connect_pymysql, cursorclass=pymysql.cursors.DictCursor)
    return [
        Cell("psycopg", "postgresql", "sync", lend(connect_psycopg)),
        Cell(
            "psycopg with raw cursors and dict rows",
            "postgresql",
            "sync",
            lend(partial(connect_psycopg, **raw_cursors)),
        ),
        Cell(
            "psycopg in a transaction block",
            "postgresql",
            "sync",
            lend(partial(connect_psycopg, autocommit=True), LentByPsycopgBlock),
        ),
        Cell("psycopg async", "postgresql", "async", lend_psycopg_async()),
        Cell(
            "psycopg async with raw cursors and dict rows",
            "postgresql",
            "async",
            lend_psycopg_async(**async_raw_cursors),
        ),
        Cell("asyncpg", "postgresql", "async", lend_asyncpg),
        Cell("asyncpg from its pool", "postgresql", "async", lend_asyncpg_pooled),
        Cell("sqlite3", "sqlite", "sync", lend(connect_sqlite)),
        Cell("sqlite3 with Row and bytes", "sqlite", "sync", lend(connect_rows)),
        Cell("sqlite3 begun by hand", "sqlite", "sync", lend(connect_begun)),
        *name_newer_sqlite(),
        Cell("aiosqlite", "sqlite", "async", lend_aiosqlite()),
        Cell("aiosqlite with Row and bytes", "sqlite", "async", lend_aiosqlite(sqlite3.Row, bytes)),
        Cell("PyMySQL", "mariadb", "sync", lend(connect_pymysql)),
        Cell("PyMySQL with DictCursor", "mariadb", "sync", lend(pymysql_dicts)),
        Cell("PyMySQL begun by hand", "mariadb", "sync", lend(connect_pymysql_begun)),
        Cell("asyncmy", "mariadb", "async", lend_asyncmy()),
        Cell("asyncmy with DictCursor", "mariadb", "async", lend_asyncmy(cursor_cls=asyncmy.cursors.DictCursor)),
        Cell("asyncmy begun by hand", "mariadb", "async", lend_asyncmy(autocommit=True)),
    ]


def name_newer_sqlite() -> list[Cell]:
    """The way of beginning that sqlite3 has since Python 3.12."""
    if sys.version_info < (3, 12):
        return []
    return [Cell("sqlite3 with autocommit=False", "sqlite", "sync", lend(partial(connect_sqlite, autocommit=False)))]


CELLS = name_cells()
