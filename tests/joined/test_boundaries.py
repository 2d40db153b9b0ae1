"""The transaction stays the user's: when it may be joined for the first time, and what is never done to it."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing

import pytest
import sqlalchemy as sa
from sqlalchemy.orm import Session

from semel import AsyncSemel, Missed, Semel, StoreError, UsageError
from tests.joined import raw_handles
from tests.joined.lent import Cell, Lent
from tests.joined.raw_handles import connect_sqlite
from tests.joined.shop import PAID, UNTOUCHED, Order, Shop
from tests.joined.sqlalchemy_handles import open_async_engine, open_engine


def listen_to_boundaries(engine: sa.Engine) -> list[str]:
    """Answer a list that grows with everything that begins or ends a transaction."""
    heard: list[str] = []
    for name in ("begin", "commit", "rollback", "savepoint", "rollback_savepoint", "release_savepoint"):
        sa.event.listen(engine, name, lambda *_, name=name: heard.append(name))
    return heard


def test_no_boundary_of_an_engine_is_ever_crossed(shop: Shop) -> None:
    """SQLAlchemy hears one begin, which is its own, and no commit or rollback, whatever the verb answers."""
    order = shop.add_order()
    with open_engine(shop.database.sync_url) as engine, engine.connect() as connection, Session(connection) as session:
        heard = listen_to_boundaries(engine)
        for on in (connection, session):
            with pytest.raises(UsageError):
                shop.orders.transition(0, "pending", to="paid", on=on)
            assert shop.orders.transition(order, "cancelled", to="paid", on=on) == Missed("pending")
        assert shop.orders.transition(order, "pending", to="paid", on=session)
        assert heard == ["begin"]
        connection.commit()
    assert shop.see(order) == PAID


def test_no_boundary_of_an_async_engine_is_ever_crossed(shop: Shop) -> None:
    """The same through the async adapters."""
    order = shop.add_order()

    async def story() -> None:
        async with open_async_engine(shop.database.async_url) as engine, engine.connect() as connection:
            heard = listen_to_boundaries(engine.sync_engine)
            assert await shop.async_orders.transition(order, "cancelled", to="paid", on=connection) == Missed("pending")
            assert await shop.async_orders.transition(order, "pending", to="paid", on=connection)
            assert heard == ["begin"]
            await connection.commit()

    shop.loop.run_until_complete(story())
    assert shop.see(order) == PAID


IDENTITIES = {
    "postgresql": "SELECT pg_current_xact_id()::text",
    # A transaction that has not written has no id of its own in MariaDB, so it is asked after the user's write.
    "mariadb": "SELECT trx_id FROM information_schema.innodb_trx WHERE trx_mysql_thread_id = CONNECTION_ID()",
}
RAW_ON_SERVERS = [cell for cell in raw_handles.CELLS if cell.family in IDENTITIES]


@pytest.mark.parametrize("cell", RAW_ON_SERVERS, ids=lambda cell: cell.name)
def test_the_server_sees_one_transaction_from_first_to_last(cell_shop: Shop, cell: Cell) -> None:
    """Its id is the same before and after a miss, a misuse and a move."""
    order = cell_shop.add_order()

    async def story(lent: Lent) -> None:
        await lent.write_receipt(order)
        before = await lent.read(IDENTITIES[cell.family])
        assert await lent.move(order, "cancelled") == Missed("pending")
        with pytest.raises(UsageError):
            await lent.move(0)
        assert await lent.move(order)
        assert await lent.read(IDENTITIES[cell.family]) == before
        await lent.rollback()

    cell.play(cell_shop, story)
    assert cell_shop.see(order) == UNTOUCHED


def test_sqlite_receives_no_boundary_but_its_users(sqlite_shop: Shop) -> None:
    """sqlite3 begins by itself before the savepoint, which would else be a transaction, and its RELEASE a commit."""
    order = sqlite_shop.add_order()
    with closing(connect_sqlite(sqlite_shop)) as on:
        heard: list[str] = []
        on.set_trace_callback(heard.append)
        assert sqlite_shop.orders.transition(order, "cancelled", to="paid", on=on) == Missed("pending")
        assert sqlite_shop.orders.transition(order, "pending", to="paid", on=on)
        words = [statement.split()[0].upper() for statement in heard]
    boundaries = [word for word in words if word not in ("PRAGMA", "SELECT", "UPDATE", "INSERT")]
    assert boundaries == ["BEGIN", "SAVEPOINT", "RELEASE", "SAVEPOINT", "RELEASE"]
    assert sqlite_shop.see(order) == UNTOUCHED


def test_the_first_verb_of_all_may_join_an_open_transaction(shop: Shop) -> None:
    """Boot happens beside it, and waits for no lock that the user's transaction holds."""
    order = shop.add_order()
    with shop.database.engine().connect() as connection:
        connection.execute(sa.update(Order).where(Order.id == order).values(note="mine"))
        once = Semel(shop.database.url)
        assert once.table(Order).transition(order, "pending", to="paid", on=connection)
        connection.commit()
        once.close()
    assert shop.see(order) == PAID


def test_the_first_async_verb_of_all_may_join_an_open_transaction(shop: Shop) -> None:
    """Likewise in an event loop."""
    order = shop.add_order()

    async def story() -> None:
        once = AsyncSemel(shop.database.url)
        async with open_async_engine(shop.database.async_url) as engine, engine.connect() as connection:
            await connection.execute(sa.update(Order).where(Order.id == order).values(note="mine"))
            assert await once.table(Order).transition(order, "pending", to="paid", on=connection)
            await connection.commit()
        await once.close()

    shop.loop.run_until_complete(story())
    assert shop.see(order) == PAID


@pytest.fixture
def impatient(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> Iterator[Semel]:
    """A Semel that hardly waits for locks: 50 ms where the database can count them, else not at all."""
    wait = 0 if shop.family == "mariadb" else 0.05
    for module in ("store.dialects",):
        monkeypatch.setattr(f"semel.{module}.LOCK_WAIT_SECONDS", wait)
    with Semel(shop.database.url) as once:
        yield once


def test_without_on_a_row_of_an_open_transaction_cannot_be_moved(shop: Shop, impatient: Semel) -> None:
    """PostgreSQL does not show it; the others make whoever asks wait. Both errors say to commit first or to pass on=."""
    order = next(shop.ids)
    orders = impatient.table(Order)
    orders.transition(shop.add_order(), "pending", to="paid")
    expected = {"postgresql": "SEMEL-ROW-1", "mariadb": "SEMEL-STORE-2", "sqlite": "SEMEL-STORE-2"}[shop.family]
    with Session(shop.database.engine()) as session:
        session.add(Order(id=order, status="pending"))
        session.flush()
        with pytest.raises((UsageError, StoreError), match=expected) as refusal:
            orders.transition(order, "pending", to="paid")
        assert "on=" in refusal.value.remedy
        assert orders.transition(order, "pending", to="paid", on=session)
        session.commit()
    assert shop.see(order) == PAID


def test_a_row_that_somebody_holds_is_waited_for_within_bounds(shop: Shop, impatient: Semel) -> None:
    """Through SQLAlchemy, which wraps the driver's error, the lock is still told from a lost connection."""
    order = shop.add_order()
    orders = impatient.table(Order)
    options = {"connect_args": {"timeout": 0.05}} if shop.family == "sqlite" else {}
    with (
        shop.database.engine().connect() as holder,
        open_engine(shop.database.sync_url, **options) as engine,
        engine.connect() as connection,
    ):
        holder.execute(sa.update(Order).where(Order.id == order).values(note="held"))
        with pytest.raises(StoreError, match="SEMEL-STORE-2") as refusal:
            orders.transition(order, "pending", to="paid", on=connection)
        assert refusal.value.retryable
        holder.rollback()
    assert shop.see(order) == UNTOUCHED


def test_a_thread_that_does_not_own_a_sqlite_connection_is_told_so(sqlite_shop: Shop) -> None:
    """sqlite3 refuses it, and the error says whose handle it is."""
    order, told = sqlite_shop.add_order(), []

    def try_it(on: sqlite3.Connection) -> None:
        with pytest.raises(UsageError, match="SEMEL-ON-7") as refusal:
            sqlite_shop.orders.transition(order, "pending", to="paid", on=on)
        told.append(refusal.value.remedy)

    with closing(connect_sqlite(sqlite_shop)) as on:
        thread = threading.Thread(target=try_it, args=(on,))
        thread.start()
        thread.join()
    assert "thread" in told[0]
