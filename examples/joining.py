"""One order, moved in transactions that are not Semel's: a session's, an async session's, a driver's, and Django's."""

import asyncio
import sqlite3
from contextlib import closing

import django
from django.conf import settings
from django.db import connections, transaction
from sqlalchemy import BigInteger, String, create_engine, func, select
from sqlalchemy.ext.asyncio import AsyncSession, create_async_engine
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column

from semel import AsyncSemel, Semel, UsageError


class Base(DeclarativeBase):
    """Your models, as you have them."""


class Order(Base):
    """An order is pending, then paid or cancelled."""

    __tablename__ = "orders"

    id: Mapped[int] = mapped_column(primary_key=True)
    status: Mapped[str] = mapped_column(String(20), default="pending")
    version: Mapped[int] = mapped_column(BigInteger, default=0)
    note: Mapped[str | None] = mapped_column(String(40))


class Receipt(Base):
    """What a paid order leaves behind."""

    __tablename__ = "receipts"

    id: Mapped[int] = mapped_column(primary_key=True)
    order_id: Mapped[int]


engine = create_engine("sqlite:///joining.db")
once = Semel("sqlite:///joining.db")
orders = once.table(Order)


def place_order() -> int:
    """Write a pending order; answer its id."""
    with Session(engine) as session, session.begin():
        session.add(order := Order())
        session.flush()
        return order.id


def pay(order_id: int) -> str:
    """Pay in a session's transaction. Answer where the order was, if it was not pending."""
    with Session(engine) as session, session.begin():
        order = session.get_one(Order, order_id)
        order.note = "gift"
        moved = orders.transition(order_id, "pending", to="paid", on=session)
        if not moved:
            return f"missed, it is {moved.now}"
        session.add(Receipt(order_id=order_id))
        return f"{order.status}, version {order.version}, {order.note}"


def pay_or_change_my_mind(order_id: int) -> str:
    """Pay inside a savepoint and go back to it: the move is gone, what came before it commits."""
    with Session(engine) as session, session.begin():
        order = session.get_one(Order, order_id)
        order.note = "undecided"
        with session.begin_nested() as savepoint:
            orders.transition(order_id, "pending", to="paid", on=session)
            savepoint.rollback()
        return f"{order.status}, version {order.version}, {order.note}"


async def pay_later(order_id: int) -> str:
    """Pay in an async session's transaction."""
    engine = create_async_engine("sqlite+aiosqlite:///joining.db")
    async with AsyncSemel("sqlite:///joining.db") as once, AsyncSession(engine) as session, session.begin():
        order = await session.get_one(Order, order_id)
        await once.table(Order).transition(order_id, "pending", to="paid", on=session)
        session.add(Receipt(order_id=order_id))
        told = f"{order.status}, version {order.version}"
    await engine.dispose()
    return told


def pay_by_driver(order_id: int) -> str:
    """Pay on a driver's own connection, which begins by itself and commits when the block ends."""
    with closing(sqlite3.connect("joining.db")) as connection, connection:
        moved = orders.transition(order_id, "pending", to="paid", on=connection)
        connection.execute("INSERT INTO receipts (order_id) VALUES (?)", (order_id,))
        return repr(moved)


def pay_in_django(order_id: int) -> str:
    """Pay in Django's atomic block, named by the alias of its database."""
    with transaction.atomic():
        moved = orders.transition(order_id, "pending", to="paid", on="default")
        with connections["default"].cursor() as cursor:
            cursor.execute("INSERT INTO receipts (order_id) VALUES (%s)", [order_id])
        return repr(moved)


def pay_in_autocommit(order_id: int) -> str:
    """Try a connection on which the move and its journal would be commits of their own."""
    with closing(sqlite3.connect("joining.db", isolation_level=None)) as connection:
        try:
            return repr(orders.transition(order_id, "pending", to="paid", on=connection))
        except UsageError as problem:
            return str(problem)


def main() -> None:
    """Tell every story once."""
    Base.metadata.create_all(engine)
    once.create_tables()
    settings.configure(DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": "joining.db"}})
    django.setup()

    order_id = place_order()
    print("session:  ", pay_or_change_my_mind(order_id))
    print("session:  ", pay(order_id))
    print("again:    ", pay(order_id))
    print("async:    ", asyncio.run(pay_later(place_order())))
    print("driver:   ", pay_by_driver(place_order()))
    print("Django:   ", pay_in_django(place_order()))
    with Session(engine) as session:
        print("receipts: ", session.scalar(select(func.count()).select_from(Receipt)))
    print(pay_in_autocommit(place_order()))


main()
