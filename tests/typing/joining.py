"""What users pass as `on=`: every kind of handle is taken where its colour belongs, and nothing else is."""

# pyright: reportUnnecessaryTypeIgnoreComment=true

from __future__ import annotations

import sqlite3
from typing import Any, assert_type

import aiosqlite
import asyncmy.connection
import asyncpg  # pyright: ignore[reportMissingTypeStubs]
import asyncpg.pool  # pyright: ignore[reportMissingTypeStubs]
import psycopg
import pymysql.connections
import sqlalchemy as sa
from psycopg.rows import DictRow
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, AsyncSession, async_scoped_session
from sqlalchemy.orm import Session, scoped_session, sessionmaker

from semel import AsyncTable, Missed, Moved, Table


class Order:
    """Stands for a mapped class; what it maps is of no interest to a handle."""


def join_sqlalchemy(
    orders: Table[Order], connection: sa.Connection, session: Session, scoped: scoped_session[Session]
) -> None:
    """What SQLAlchemy lends."""
    assert_type(orders.transition(1, "pending", to="paid", on=connection), Moved | Missed)
    orders.transition(1, "pending", to="paid", on=session)
    orders.transition(1, "pending", to="paid", on=scoped)
    orders.transition_many([1], "pending", to="paid", on=session)
    with sessionmaker[Session]().begin() as begun:
        orders.transition(1, "pending", to="paid", on=begun)


def join_drivers(
    orders: Table[Order],
    rows: psycopg.Connection[tuple[Any, ...]],
    dicts: psycopg.Connection[DictRow],
    file: sqlite3.Connection,
    mysql: pymysql.connections.Connection,
) -> None:
    """What drivers lend, whatever rows their users chose, and Django's alias."""
    orders.transition(1, "pending", to="paid", on=rows)
    orders.transition(1, "pending", to="paid", on=dicts)
    orders.transition(1, "pending", to="paid", on=file)
    orders.transition(1, "pending", to="paid", on=mysql)
    orders.transition(1, "pending", to="paid", on="default")


async def join_async_sqlalchemy(
    orders: AsyncTable[Order],
    connection: AsyncConnection,
    session: AsyncSession,
    scoped: async_scoped_session[AsyncSession],
) -> None:
    """What SQLAlchemy lends to be awaited."""
    assert_type(await orders.transition(1, "pending", to="paid", on=connection), Moved | Missed)
    await orders.transition(1, "pending", to="paid", on=session)
    await orders.transition(1, "pending", to="paid", on=scoped)
    await orders.transition_many([1], "pending", to="paid", on=session)


async def join_async_drivers(
    orders: AsyncTable[Order],
    rows: psycopg.AsyncConnection[tuple[Any, ...]],
    file: aiosqlite.Connection,
    mysql: asyncmy.connection.Connection,
) -> None:
    """What async drivers lend."""
    await orders.transition(1, "pending", to="paid", on=rows)
    await orders.transition(1, "pending", to="paid", on=file)
    await orders.transition(1, "pending", to="paid", on=mysql)


async def join_asyncpg(
    orders: AsyncTable[Order], server: asyncpg.Connection, lent: asyncpg.pool.PoolConnectionProxy
) -> None:
    """What asyncpg lends, by itself and from its pool."""
    await orders.transition(1, "pending", to="paid", on=server)
    await orders.transition(1, "pending", to="paid", on=lent)


def refuse_what_cannot_be_joined(
    orders: Table[Order], engine: sa.Engine, session: AsyncSession, later: psycopg.AsyncConnection[Any], number: int
) -> None:
    """Engines, async handles and anything else are wrong before the program runs."""
    orders.transition(1, "pending", to="paid", on=engine)  # type: ignore[arg-type]
    orders.transition(1, "pending", to="paid", on=session)  # type: ignore[arg-type]
    orders.transition(1, "pending", to="paid", on=later)  # type: ignore[arg-type]
    orders.transition(1, "pending", to="paid", on=number)  # type: ignore[arg-type]
    orders.transition_many([1], "pending", to="paid", on=engine)  # type: ignore[arg-type]


async def refuse_async_what_cannot_be_joined(
    orders: AsyncTable[Order], engine: AsyncEngine, session: Session, sooner: psycopg.Connection[Any]
) -> None:
    """Likewise; mypy takes anything here as long as asyncpg ships no types."""
    await orders.transition(1, "pending", to="paid", on=engine)  # pyright: ignore[reportArgumentType]
    await orders.transition(1, "pending", to="paid", on=session)  # pyright: ignore[reportArgumentType]
    await orders.transition(1, "pending", to="paid", on=sooner)  # pyright: ignore[reportArgumentType]
    await orders.transition(1, "pending", to="paid", on="default")  # pyright: ignore[reportArgumentType]


def refuse_what_no_verb_takes(orders: Table[Order]) -> None:
    """A target is never a position, and a requester is a text."""
    orders.transition(1, "pending", "paid")  # type: ignore[call-arg]
    orders.transition(1, "pending", to="paid", by=7)  # type: ignore[arg-type]
