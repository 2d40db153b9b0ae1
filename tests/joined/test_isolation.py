"""What the database's own rules mean on a borrowed handle: isolation levels, failed transactions, lock timeouts."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest
import sqlalchemy as sa
from django.db import connections, transaction
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import Session

from semel import Missed, StoreError, UsageError
from tests.joined import django_handles, raw_handles, sqlalchemy_handles
from tests.joined.django_handles import ALIAS, configure_django
from tests.joined.lent import Cell, Lent
from tests.joined.raw_handles import connect_sqlite
from tests.joined.shop import PAID, UNTOUCHED, Order, Receipt, Seen, Shop
from tests.joined.sqlalchemy_handles import open_async_engine, open_engine

CELLS = [*sqlalchemy_handles.CELLS, *raw_handles.CELLS, *django_handles.CELLS]
ON_POSTGRESQL = [cell for cell in CELLS if cell.family == "postgresql"]
# Those on which `commit` is followed by another transaction of the level just chosen.
ON_MARIADB = [
    cell
    for cell in CELLS
    if cell.family == "mariadb" and "by hand" not in cell.name and cell not in django_handles.CELLS
]

BY_ASYNCPG = ["AsyncConnection", "AsyncSession", "async_scoped_session", "asyncpg", "asyncpg from its pool"]

LEVELS = ["REPEATABLE READ", "SERIALIZABLE"]
LOST = Seen("cancelled", 1)


def cancel(shop: Shop, order: int) -> None:
    """A rival's move, committed."""
    with shop.database.engine().begin() as connection:
        cancelled = {"status": "cancelled", "version": Order.version + 1}
        connection.execute(sa.update(Order).where(Order.id == order).values(cancelled))


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("cell", ON_POSTGRESQL, ids=lambda cell: cell.name)
def test_a_race_lost_at_a_higher_level_is_retryable(cell_shop: Shop, cell: Cell, level: str) -> None:
    """PostgreSQL gives the transaction up; the error says that all of it may be run again."""
    order = cell_shop.add_order()

    async def story(lent: Lent) -> None:
        await lent.run(f"SET TRANSACTION ISOLATION LEVEL {level}")
        assert await lent.read(f"SELECT status FROM orders WHERE id = {order}") == [("pending",)]
        cancel(cell_shop, order)
        with pytest.raises(StoreError, match="SEMEL-STORE-1") as refusal:
            await lent.move(order)
        assert refusal.value.retryable
        await lent.rollback()

    cell.play(cell_shop, story)
    assert cell_shop.see(order) == LOST


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("cell", ON_MARIADB, ids=lambda cell: cell.name)
def test_a_race_lost_on_mariadb_is_a_miss_with_the_truth(cell_shop: Shop, cell: Cell, level: str) -> None:
    """Its locking reads see what is committed now, so the miss names it although the transaction's own reads do not."""
    order = cell_shop.add_order()

    async def story(lent: Lent) -> None:
        await lent.run(f"SET SESSION TRANSACTION ISOLATION LEVEL {level}")
        await lent.commit()
        await lent.read("SELECT COUNT(*) FROM receipts WHERE order_id < 0")  # from here on it reads from a snapshot
        cancel(cell_shop, order)
        assert await lent.move(order) == Missed("cancelled")
        assert await lent.move_many([order]) == {order: Missed("cancelled")}
        await lent.commit()

    cell.play(cell_shop, story)
    assert cell_shop.see(order) == LOST


@pytest.mark.parametrize("cell", ON_MARIADB, ids=lambda cell: cell.name)
def test_a_race_lost_under_snapshot_isolation_is_retryable(cell_shop: Shop, cell: Cell) -> None:
    """MariaDB 11.6 and newer have it on by default: they give the transaction up, like PostgreSQL."""
    order = cell_shop.add_order()

    async def story(lent: Lent) -> None:
        await lent.run("SET SESSION innodb_snapshot_isolation = ON")
        await lent.commit()
        await lent.read(f"SELECT status FROM orders WHERE id = {order}")
        cancel(cell_shop, order)
        with pytest.raises(StoreError, match="SEMEL-STORE-1") as refusal:
            await lent.move(order)
        assert refusal.value.retryable
        await lent.rollback()

    cell.play(cell_shop, story)
    assert cell_shop.see(order) == LOST


def test_a_race_lost_in_a_sqlite_snapshot_is_retryable(sqlite_shop: Shop) -> None:
    """A transaction that has read an older state of the file cannot write any more."""
    order = sqlite_shop.add_order()
    with closing(connect_sqlite(sqlite_shop, isolation_level=None)) as on:
        on.execute("BEGIN")
        assert on.execute("SELECT status FROM orders WHERE id = ?", (order,)).fetchone() == ("pending",)
        cancel(sqlite_shop, order)
        with pytest.raises(StoreError, match="SEMEL-STORE-1") as refusal:
            sqlite_shop.orders.transition(order, "pending", to="paid", on=on)
        assert refusal.value.retryable
    assert sqlite_shop.see(order) == LOST


@pytest.mark.parametrize("cell", ON_POSTGRESQL, ids=lambda cell: cell.name)
def test_the_users_own_lock_timeout_survives(cell_shop: Shop, cell: Cell) -> None:
    """The bound on Semel's waits ends with its statement, whether it moves, misses or finds nothing."""
    order, others = cell_shop.add_order(), [cell_shop.add_order() for _ in range(2)]

    async def story(lent: Lent) -> None:
        await lent.run("SET SESSION lock_timeout = '70s'")
        for scope in ("LOCAL", "SESSION"):
            await lent.run(f"SET {scope} lock_timeout = '30s'")
            assert await lent.move(order, "cancelled") == Missed("pending")
            assert await lent.read("SHOW lock_timeout") == [("30s",)]
            with pytest.raises(UsageError):
                await lent.move(0)
            assert await lent.read("SHOW lock_timeout") == [("30s",)]
        assert await lent.move(order)
        assert all((await lent.move_many(others)).values())
        assert await lent.read("SHOW lock_timeout") == [("30s",)]
        await lent.commit()
        if cell not in django_handles.CELLS:
            assert await lent.read("SHOW lock_timeout") == [("30s",)]

    cell.play(cell_shop, story)
    assert cell_shop.see(order) == PAID


@pytest.mark.parametrize("cell", ON_POSTGRESQL, ids=lambda cell: cell.name)
def test_a_transaction_that_has_failed_is_refused_until_it_is_rolled_back(cell_shop: Shop, cell: Cell) -> None:
    """PostgreSQL would refuse every statement; the error says what to do instead of how the next statement failed."""
    order = cell_shop.add_order()

    async def story(lent: Lent) -> None:
        with pytest.raises(Exception, match="zero"):
            await lent.run("SELECT 1 / 0")
        with pytest.raises(UsageError, match="SEMEL-ON-5") as refusal:
            await lent.move(order)
        # asyncpg does not tell a failed transaction from a working one, so there the server had to say it.
        assert ("a handle" in refusal.value.happened) == (cell.name in BY_ASYNCPG)
        await lent.rollback()

    cell.play(cell_shop, story)
    assert cell_shop.see(order) == UNTOUCHED


def test_a_session_whose_flush_has_failed_is_refused(shop: Shop) -> None:
    """SQLAlchemy itself refuses it on every database; after a rollback it is taken again."""
    order = shop.add_order()
    with Session(shop.database.engine()) as session:
        session.add(Order(id=order, status="twice"))
        with pytest.raises(sa.exc.IntegrityError):
            session.flush()
        with pytest.raises(UsageError, match="SEMEL-ON-5"):
            shop.orders.transition(order, "pending", to="paid", on=session)
        session.rollback()
        assert shop.orders.transition(order, "pending", to="paid", on=session)
        session.commit()
    assert shop.see(order) == PAID


def test_an_async_session_whose_flush_has_failed_is_refused(shop: Shop) -> None:
    """Likewise."""
    order = shop.add_order()

    async def story() -> None:
        async with open_async_engine(shop.database.async_url) as engine, AsyncSession(engine) as session:
            session.add(Order(id=order, status="twice"))
            with pytest.raises(sa.exc.IntegrityError):
                await session.flush()
            with pytest.raises(UsageError, match="SEMEL-ON-5"):
                await shop.async_orders.transition(order, "pending", to="paid", on=session)
            await session.rollback()
            assert await shop.async_orders.transition(order, "pending", to="paid", on=session)
            await session.commit()

    shop.loop.run_until_complete(story())
    assert shop.see(order) == PAID


def test_a_flush_that_the_move_sets_off_fails_as_the_users_own(shop: Shop) -> None:
    """What the database says about the user's objects is raised as SQLAlchemy raises it."""
    order = shop.add_order()
    with Session(shop.database.engine()) as session:
        session.add(Order(id=order, status="twice"))
        with pytest.raises(sa.exc.IntegrityError):
            shop.orders.transition(order, "pending", to="paid", on=session)
    assert shop.see(order) == UNTOUCHED


def test_a_connection_that_lost_its_transaction_is_refused_until_its_user_rolls_back(shop: Shop) -> None:
    """SQLAlchemy knows that what was written is gone; to go on would commit the rest alone."""
    order = shop.add_order()
    with open_engine(shop.database.sync_url) as engine, engine.connect() as connection:
        connection.execute(sa.insert(Receipt).values(order_id=order))
        connection.invalidate()
        with pytest.raises(UsageError, match="SEMEL-ON-5"):
            shop.orders.transition(order, "pending", to="paid", on=connection)
        connection.rollback()
        assert shop.orders.transition(order, "pending", to="paid", on=connection)
        connection.commit()
    assert shop.see(order) == PAID


def test_an_async_connection_that_lost_its_transaction_is_refused_until_its_user_rolls_back(shop: Shop) -> None:
    """Afterwards it has to connect again, which an async driver can only do where it is awaited."""
    order = shop.add_order()

    async def story() -> None:
        async with open_async_engine(shop.database.async_url) as engine, engine.connect() as connection:
            await connection.execute(sa.insert(Receipt).values(order_id=order))
            await connection.invalidate()
            with pytest.raises(UsageError, match="SEMEL-ON-5"):
                await shop.async_orders.transition(order, "pending", to="paid", on=connection)
            await connection.rollback()
            assert await shop.async_orders.transition(order, "pending", to="paid", on=connection)
            await connection.commit()

    shop.loop.run_until_complete(story())
    assert shop.see(order) == PAID


def test_a_connection_whose_block_has_ended_its_transaction_is_refused(shop: Shop) -> None:
    """SQLAlchemy lets nobody write in the rest of such a block, on any database."""
    order = shop.add_order()
    with open_engine(shop.database.sync_url) as engine, engine.connect() as connection, connection.begin() as begun:
        begun.rollback()
        with pytest.raises(UsageError, match=r"SEMEL-ON-7.*closed transaction"):
            shop.orders.transition(order, "pending", to="paid", on=connection)
    assert shop.see(order) == UNTOUCHED


def test_a_django_block_that_needs_a_rollback_is_refused(shop: Shop) -> None:
    """Django would refuse every statement in it."""
    order = shop.add_order()
    with configure_django(shop), transaction.atomic(using=ALIAS):
        transaction.set_rollback(True, using=ALIAS)
        with pytest.raises(UsageError, match="SEMEL-ON-5"):
            shop.orders.transition(order, "pending", to="paid", on=ALIAS)
    assert shop.see(order) == UNTOUCHED


def test_after_an_error_of_postgresql_a_django_block_cannot_commit(postgresql_shop: Shop) -> None:
    """A handler that swallows the error is told by Django; otherwise its COMMIT would silently be a ROLLBACK."""
    order = postgresql_shop.add_order(note="unpayable")
    with configure_django(postgresql_shop):
        with transaction.atomic(using=ALIAS):
            with pytest.raises(StoreError, match="SEMEL-STORE-5"):
                postgresql_shop.orders.transition(order, "pending", to="paid", on=ALIAS)
            with (
                pytest.raises(transaction.TransactionManagementError) as told,
                connections[ALIAS].cursor() as cursor,
            ):
                cursor.execute(f"INSERT INTO receipts (order_id) VALUES ({order})")
            assert "payable" in str(told.value.__cause__)
        assert postgresql_shop.see(order) == UNTOUCHED


@pytest.mark.parametrize("cell", [cell for cell in CELLS if cell.family != "postgresql"], ids=lambda cell: cell.name)
def test_an_error_of_the_other_databases_undoes_the_move_alone(
    cell: Cell, cell_shop: Shop, broken_journal: int
) -> None:
    """The row had moved when its journal could not be written: both are undone, and the user's write commits."""
    order = broken_journal

    async def story(lent: Lent) -> None:
        await lent.write_receipt(order)
        with pytest.raises(StoreError, match="SEMEL-STORE-5"):
            await lent.move(order)
        await lent.commit()

    cell.play(cell_shop, story)
    assert cell_shop.see(order) == Seen("pending", 0, receipts=1)


@pytest.fixture
def broken_journal(cell_shop: Shop) -> Iterator[int]:
    """An order whose moves cannot be written to the journal."""
    order = cell_shop.add_order()
    refusal = {
        "sqlite": f"WHEN NEW.row_id = '{order}' BEGIN SELECT RAISE(ABORT, 'no more'); END",
        "mariadb": f"FOR EACH ROW IF NEW.row_id = '{order}' THEN SIGNAL SQLSTATE '45000'; END IF",
    }[cell_shop.family]
    with cell_shop.database.engine().begin() as connection:
        connection.exec_driver_sql(f"CREATE TRIGGER full_disk BEFORE INSERT ON semel_journal {refusal}")
    yield order
    with cell_shop.database.engine().begin() as connection:
        connection.exec_driver_sql("DROP TRIGGER full_disk")
