"""The four drivers, each as plain as it comes, and the same to a test: what the proxy's faults are proved with."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import asyncmy
import asyncpg
import psycopg
import pymysql
from sqlalchemy.engine import make_url


@dataclass(frozen=True)
class Client:
    """One connection of one driver in autocommit, the same to a test whatever the driver."""

    run: Callable[..., Awaitable[Any]]
    place: str
    lost: type[Exception]

    async def transact(self, *texts: str) -> None:
        """Run statements as one transaction."""
        for text in ("BEGIN", *texts, "COMMIT"):
            await self.run(text)


@asynccontextmanager
async def open_psycopg(url: str) -> AsyncIterator[Client]:
    with await asyncio.to_thread(psycopg.connect, url, autocommit=True) as connection:
        yield Client(
            lambda text, *values: asyncio.to_thread(connection.execute, text, values), "%s", psycopg.OperationalError
        )


@asynccontextmanager
async def open_asyncpg(url: str) -> AsyncIterator[Client]:
    connection = await asyncpg.connect(url)
    yield Client(connection.execute, "$1", asyncpg.ConnectionDoesNotExistError)
    connection.terminate()


@asynccontextmanager
async def open_pymysql(url: str) -> AsyncIterator[Client]:
    with await asyncio.to_thread(pymysql.connect, **mysql_place(url)) as connection:
        yield Client(
            lambda text, *values: asyncio.to_thread(connection.cursor().execute, text, values),
            "%s",
            pymysql.OperationalError,
        )


@asynccontextmanager
async def open_asyncmy(url: str) -> AsyncIterator[Client]:
    connection = await asyncmy.connect(**mysql_place(url))
    cursor = connection.cursor()
    yield Client(lambda text, *values: cursor.execute(text, values), "%s", asyncmy.errors.OperationalError)
    connection.close()


def mysql_place(url: str) -> dict[str, Any]:
    parsed = make_url(url)
    return {
        "host": parsed.host,
        "port": parsed.port,
        "user": parsed.username,
        "password": parsed.password or "",
        "database": parsed.database,
        "autocommit": True,
    }


OPENERS = {"psycopg": open_psycopg, "asyncpg": open_asyncpg, "pymysql": open_pymysql, "asyncmy": open_asyncmy}
