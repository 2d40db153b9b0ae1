"""The shop whose orders are moved on borrowed handles: one database per family, kept for the whole run.

Every test takes an order of its own, so a test costs a few statements instead of a database.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from semel import AsyncSemel, AsyncTable, Semel, Table
from tests.databases import Database


class Base(DeclarativeBase):
    pass


class Order(Base):
    __tablename__ = "orders"
    __table_args__ = (sa.CheckConstraint("NOT (status = 'paid' AND note = 'unpayable')", name="payable"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    status: Mapped[str] = mapped_column(sa.String(20))
    version: Mapped[int] = mapped_column(sa.BigInteger, server_default="0")
    total: Mapped[int] = mapped_column(server_default="0")
    note: Mapped[str | None] = mapped_column(sa.String(40))


class Receipt(Base):
    __tablename__ = "receipts"

    id: Mapped[int] = mapped_column(primary_key=True)
    order_id: Mapped[int]


@dataclass(frozen=True)
class Seen:
    """What another connection sees of an order: where it is, how often the journal says it moved, its receipts."""

    status: str
    version: int
    moves: tuple[tuple[str, str, int], ...] = ()
    receipts: int = 0


UNTOUCHED = Seen("pending", 0)
PAID = Seen("paid", 1, (("pending", "paid", 1),))
PAID_WITH_RECEIPT = Seen("paid", 1, (("pending", "paid", 1),), receipts=1)


@dataclass
class Shop:
    """One database with orders in it, and a Semel of each colour on it."""

    database: Database
    once: Semel
    async_once: AsyncSemel
    loop: asyncio.AbstractEventLoop
    ids: Iterator[int] = field(default_factory=lambda: count(1))

    def __post_init__(self) -> None:
        self.orders: Table[Order] = self.once.table(Order)
        self.async_orders: AsyncTable[Order] = self.async_once.table(Order)

    @property
    def family(self) -> str:
        """Which database it is."""
        return self.database.family

    def add_order(self, **columns: Any) -> int:
        """Commit an order and answer its id."""
        row = next(self.ids)
        with self.database.engine().begin() as connection:
            connection.execute(sa.insert(Order), {"id": row, "status": "pending", "total": 100, **columns})
        return row

    def see(self, row: int) -> Seen | None:
        """Answer what is committed of an order, or None if it does not exist."""
        journal = "SELECT from_status, to_status, version FROM semel_journal WHERE row_id = :row ORDER BY version"
        with self.database.engine().connect() as connection:
            found = connection.execute(sa.select(Order.status, Order.version).where(Order.id == row)).one_or_none()
            moves = connection.execute(sa.text(journal), {"row": str(row)}).all()
            receipts = connection.scalar(sa.select(sa.func.count()).where(Receipt.order_id == row)) or 0
        return None if found is None else Seen(*found, tuple(tuple(move) for move in moves), receipts)


@contextmanager
def open_shop(database: Database) -> Iterator[Shop]:
    """Lay the tables, open both Semels, and close everything in the end. The loop is no thread's own: tests have theirs."""
    Base.metadata.create_all(database.engine())
    loop = asyncio.new_event_loop()
    with lay_semel(database) as once:
        async_once = AsyncSemel(database.url)
        loop.run_until_complete(async_once.boot())
        try:
            yield Shop(database, once, async_once, loop)
        finally:
            loop.run_until_complete(async_once.close())
            loop.run_until_complete(loop.shutdown_default_executor())
            loop.close()


def lay_semel(database: Database) -> Semel:
    """Answer a Semel whose tables are there."""
    once = Semel(database.url)
    once.create_tables()
    return once
