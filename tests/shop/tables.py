"""The user's tables: orders that move, entries that actions write, and the offset that moves the database's time."""

from __future__ import annotations

from collections.abc import Iterable

import sqlalchemy as sa
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from tests.databases import Database

OFFSET_TABLE = "time_offset"


class Base(DeclarativeBase):
    pass


class Order(Base):
    __tablename__ = "orders"

    id: Mapped[int] = mapped_column(sa.BigInteger, primary_key=True, autoincrement=False)
    status: Mapped[str] = mapped_column(sa.String(40))
    version: Mapped[int] = mapped_column(sa.BigInteger, server_default="0")
    total: Mapped[int] = mapped_column(sa.BigInteger, server_default="0")


class Entry(Base):
    """What an action writes: nothing hinders it from being written twice, so a test can count."""

    __tablename__ = "entries"

    id: Mapped[int] = mapped_column(sa.Integer, primary_key=True)
    order_id: Mapped[int] = mapped_column(sa.BigInteger)
    step_key: Mapped[str] = mapped_column(sa.String(40))


class Mail(Base):
    """What the handler of an after-effect writes; nothing hinders it from being written twice either."""

    __tablename__ = "mails"

    id: Mapped[int] = mapped_column(sa.Integer, primary_key=True)
    effect_id: Mapped[str] = mapped_column(sa.String(40))


class TimeOffset(Base):
    __tablename__ = OFFSET_TABLE

    id: Mapped[int] = mapped_column(sa.Integer, primary_key=True)
    offset_us: Mapped[int] = mapped_column(sa.BigInteger)


def lay_tables(database: Database) -> None:
    """Make the user's tables, with time as it is."""
    engine = database.engine()
    Base.metadata.create_all(engine)
    with engine.begin() as connection:
        connection.execute(sa.insert(TimeOffset).values(id=1, offset_us=0))


def lay_orders(database: Database, ids: Iterable[int]) -> None:
    """Insert pending orders."""
    with database.engine().begin() as connection:
        connection.execute(sa.insert(Order), [{"id": each, "status": "pending"} for each in ids])


def read_orders(database: Database) -> dict[int, tuple[str, int]]:
    """Answer (status, version) of every order."""
    with database.engine().connect() as connection:
        rows = connection.execute(sa.select(Order.id, Order.status, Order.version).order_by(Order.id))
        return {row: (status, version) for row, status, version in rows}


def read_order(database: Database, row: int) -> tuple[str, int]:
    """Answer (status, version) of one order."""
    return read_orders(database)[row]


def count_entries(database: Database) -> dict[int, int]:
    """Answer how many entries each order has, where it has any."""
    with database.engine().connect() as connection:
        rows = connection.execute(sa.select(Entry.order_id, sa.func.count()).group_by(Entry.order_id))
        return dict(rows.all())


def count_mails(database: Database) -> dict[str, int]:
    """Answer how many mails each after-effect has sent, where it has sent any."""
    with database.engine().connect() as connection:
        rows = connection.execute(sa.select(Mail.effect_id, sa.func.count()).group_by(Mail.effect_id))
        return dict(rows.all())


def move_database_time(database: Database, seconds: float) -> None:
    """Let time pass in the database, for those who read it with the offset."""
    with database.engine().begin() as connection:
        later = TimeOffset.offset_us + int(seconds * 1_000_000)
        connection.execute(sa.update(TimeOffset).values(offset_us=later))
