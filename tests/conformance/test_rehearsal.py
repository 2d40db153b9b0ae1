from __future__ import annotations

from collections.abc import Iterator

import pytest
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import create_async_engine
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from semel import AsyncSemel, AsyncStep, Done, NotAllowed, Rejected, Semel, Step
from semel.testing.clock import VirtualClock
from semel.testing.rehearsal import rehearse, rehearse_async
from tests.databases import Database

FLOW = {
    "workflow": "orders",
    "entity_table": "orders",
    "status_types": ["pending", "charging", "paid", "closed"],
    "initial": "pending",
    "terminal": ["closed"],
    "steps": [
        {
            "step_id": 1,
            "step_key": "pay",
            "status": "pending",
            "successful_claim_state": ["charging", "pending"],
            "successful_state": "paid",
            "action": "Charge",
        },
        {"step_id": 2, "step_key": "close", "status": "paid", "successful_state": "closed", "action": "Close"},
    ],
}


class Base(DeclarativeBase):
    pass


class Order(Base):
    __tablename__ = "orders"

    id: Mapped[int] = mapped_column(primary_key=True)
    status: Mapped[str] = mapped_column(sa.String(20))
    version: Mapped[int] = mapped_column(sa.BigInteger, server_default="0")


class Note(Base):
    __tablename__ = "notes"

    id: Mapped[int] = mapped_column(primary_key=True)
    text: Mapped[str] = mapped_column(sa.String(50))


@pytest.fixture
def once(database: Database) -> Iterator[Semel]:
    Base.metadata.create_all(database.engine())
    with database.engine().begin() as connection:
        connection.execute(sa.insert(Order).values(id=1, status="pending"))
    semel = Semel(database.url, workflows=FLOW)

    @semel.action("Charge")
    def charge(step: Step[Order]) -> Rejected | None:
        step.session.add(Note(text="charged"))
        step.session.flush()
        return Rejected("no") if step.input == "no" else None

    @semel.action("Close")
    def close(step: Step[Order]) -> None:
        step.session.add(Note(text="closed"))

    semel.create_tables()
    yield semel
    semel.close()


def count(connection: sa.Connection, table: str) -> int:
    return int(connection.exec_driver_sql(f"SELECT count(*) FROM {table}").scalar_one())


def test_a_rehearsal_leaves_nothing_behind(database: Database, once: Semel) -> None:
    """Claims, finishes and what actions wrote are there for the test, and gone when it rolls back."""
    orders = once.table(Order)
    once.boot()
    with database.engine().connect() as connection:
        connection.execute(sa.insert(Order).values(id=2, status="pending"))
        with rehearse(once, connection):
            assert orders.advance(2, "pay", by="customer") == Done("paid")
            assert orders.advance(2, "pay", by="customer") == NotAllowed("paid")
            assert orders.advance(2, "close", by="customer") == Done("closed")
            assert (count(connection, "notes"), count(connection, "semel_journal")) == (2, 3)
        connection.rollback()
        assert (count(connection, "notes"), count(connection, "semel_journal"), count(connection, "orders")) == (
            0,
            0,
            1,
        )


def test_what_is_refused_in_a_rehearsal_does_not_poison_it(database: Database, once: Semel) -> None:
    """A rejected step rolls back to its savepoint only, and the test's transaction goes on."""
    orders = once.table(Order)
    once.boot()
    with database.engine().connect() as connection:
        connection.execute(sa.insert(Note).values(text="the test's own"))
        with rehearse(once, connection):
            assert orders.advance(1, "pay", by="customer", input="no") == Rejected("no")
            with pytest.raises(Exception, match="SEMEL-ROW-1"):
                orders.advance(99, "pay", by="customer")
            assert count(connection, "notes") == 1
            assert orders.advance(1, "pay", by="customer") == Done("paid")
            assert count(connection, "notes") == 2


async def test_an_async_rehearsal_leaves_nothing_behind(database: Database) -> None:
    """The async one likewise."""
    Base.metadata.create_all(database.engine())
    with database.engine().begin() as connection:
        connection.execute(sa.insert(Order).values(id=1, status="pending"))
    once = AsyncSemel(database.url, workflows=FLOW)

    @once.action("Charge")
    async def charge(step: AsyncStep[Order]) -> None:
        step.session.add(Note(text="charged"))

    @once.action("Close")
    async def close(step: AsyncStep[Order]) -> None:
        await step.session.execute(sa.insert(Note).values(text="closed"))

    await once.create_tables()
    orders = once.table(Order)
    engine = create_async_engine(database.async_url)
    async with once, engine.connect() as connection:
        async with rehearse_async(once, connection):
            assert await orders.advance(1, "pay", by="customer") == Done("paid")
            assert await orders.advance(1, "close", by="customer") == Done("closed")
            found = await connection.exec_driver_sql("SELECT count(*) FROM notes")
            assert found.scalar_one() == 2
        await connection.rollback()
        found = await connection.exec_driver_sql("SELECT count(*) FROM notes")
        assert found.scalar_one() == 0
    await engine.dispose()


def test_a_virtual_clock_moves_the_database_too(database: Database) -> None:
    """An hour passes for everybody at once, and nobody has waited for it."""
    clock = VirtualClock()
    with database.engine().begin() as connection:
        clock.create(connection)
    once = Semel(database.url, clock=clock)
    once.create_tables()
    read = once._setup.ground.read_clock

    def ask():  # a protocol of one ask
        from semel.asks import Fetch

        return (yield Fetch(read, {}))

    ((before,),) = once._performer.perform(ask())
    with database.engine().begin() as connection:
        clock.move(3600, connection)
    ((after,),) = once._performer.perform(ask())
    once.close()
    assert 3600 <= (after - before) / 1_000_000 < 3660
    assert clock.tick() == 3600
