"""Tests of the shop: what happens in a rehearsal is gone when the test ends, and a clock that a test moves waits for nobody."""

from collections.abc import Callable, Iterator
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from shop import Base, Order, Receipt, make_async_shop, make_shop
from sqlalchemy import Connection, Engine, create_engine, insert, select, text
from sqlalchemy.ext.asyncio import create_async_engine
from sqlalchemy.orm import Session

from semel import AsyncEffect, Done, Effect, NotAllowed, Rejected, Semel
from semel.testing.clock import VirtualClock

PAUSE_SECONDS = 5


@pytest.fixture(scope="session")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """Make one database for the whole run."""
    engine = create_engine(f"sqlite:///{tmp_path_factory.mktemp('shop')}/shop.db")
    Base.metadata.create_all(engine)
    yield engine
    engine.dispose()


@pytest.fixture(scope="session")
def once(engine: Engine) -> Iterator[Semel]:
    """Boot one Semel on it."""
    once = make_shop(str(engine.url))
    once.effect("SendReceipt")(lambda _effect: None)
    once.create_tables()
    with once:
        yield once


@pytest.fixture
def session(engine: Engine, once: Semel, semel_rehearse: Callable[[Semel, Connection], Semel]) -> Iterator[Session]:
    """Lend a session and Semel one connection for one test; closing it rolls everything back."""
    with engine.connect() as connection:
        semel_rehearse(once, connection)
        with Session(connection, join_transaction_mode="create_savepoint") as session:
            yield session


def place_order(session: Session, total_minor: int) -> int:
    """Write a pending order, as the test's own transaction sees it; answer its id."""
    session.add(order := Order(total_minor=total_minor))
    session.commit()
    return order.id


def test_a_paid_order_has_a_receipt(once: Semel, session: Session) -> None:
    """Status, receipt and what is owed are there, for this test alone."""
    orders = once.table(Order)
    order_id = place_order(session, total_minor=999)
    assert orders.advance(order_id, "pay", by="customer") == Done("paid")
    assert session.scalars(select(Receipt.order_id)).all() == [order_id]
    assert session.scalars(text("SELECT name FROM semel_outbox")).all() == ["SendReceipt"]
    assert orders.advance(order_id, "pay", by="customer") == NotAllowed("paid")


def test_a_rejected_order_is_pending_again(once: Semel, session: Session) -> None:
    """The claim went back, and nothing is left of the step, nor of the test before this one."""
    order_id = place_order(session, total_minor=0)
    rejected = Rejected("there is nothing to pay")
    assert once.table(Order).advance(order_id, "pay", by="customer") == rejected
    assert session.get_one(Order, order_id).status == "pending"
    assert session.scalars(select(Receipt)).all() == []


@pytest.mark.usefixtures("once")  # it has made Semel's tables
async def test_the_async_shop_does_the_same(
    engine: Engine, semel_rehearse_async: Callable[..., AbstractAsyncContextManager[Any]]
) -> None:
    """An AsyncSemel is rehearsed on an AsyncConnection."""
    shop = make_async_shop(str(engine.url))

    @shop.effect("SendReceipt")
    async def send_receipt(_effect: AsyncEffect) -> None:
        """Send nothing."""

    async_engine = create_async_engine(engine.url.set(drivername="sqlite+aiosqlite"))
    async with shop, async_engine.connect() as connection, semel_rehearse_async(shop, connection):
        order_id = await connection.scalar(insert(Order).values(total_minor=999).returning(Order.id))
        assert await shop.table(Order).advance(order_id, "pay", by="customer") == Done("paid")
        assert (await connection.scalars(select(Receipt.order_id))).all() == [order_id]
    await async_engine.dispose()


def test_a_mail_that_failed_is_sent_again(tmp_path: Path, semel_clock: VirtualClock) -> None:
    """The pause before the second attempt passes because the test says so."""
    engine = create_engine(f"sqlite:///{tmp_path}/shop.db")
    Base.metadata.create_all(engine)
    with engine.begin() as connection:
        semel_clock.create(connection)
    sent = Event()

    def send_receipt(effect: Effect) -> None:
        if effect.attempt == 1:
            raise TimeoutError("the mail server is at lunch")
        sent.set()

    once = make_shop(str(engine.url), clock=semel_clock)
    once.effect("SendReceipt")(send_receipt)
    once.create_tables()
    with Session(engine) as session:
        order_id = place_order(session, total_minor=999)
    with once:
        once.table(Order).advance(order_id, "pay", by="customer")
        keepers = once.rounds()
        keepers.start()
        while not sent.wait(timeout=0.05):
            with engine.begin() as connection:
                semel_clock.move(PAUSE_SECONDS, connection)
        keepers.stop()
    engine.dispose()
