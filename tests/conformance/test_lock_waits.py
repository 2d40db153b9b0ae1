from __future__ import annotations

from typing import Self

import pytest
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import create_async_engine
from sqlalchemy.pool import NullPool

from semel import Moved
from semel.errors import LockHeldError
from semel.store import dialects
from tests.conformance.faces import Once, Orders
from tests.conformance.families import on_postgres, on_servers
from tests.conformance.rivals import open_rival
from tests.conformance.shop import Order, read_journal, read_row
from tests.databases import Database


@pytest.mark.usefixtures("short_lock_waits")
def test_a_row_that_stays_locked_is_given_up_after_a_bounded_wait(database: Database, orders: Orders) -> None:
    """The error says how long it waited and names the most likely holder: the caller's own open transaction."""
    with open_rival(database) as rival:
        rival.lock(1)
        with pytest.raises(LockHeldError, match="your own open one: commit it first, or pass it as on=") as caught:
            orders.transition(1, "pending", to="paid")
        assert "stayed locked for 1 s" in caught.value.happened
        assert (caught.value.code, caught.value.retryable) == ("SEMEL-STORE-2", True)
    assert read_journal(database) == []
    assert orders.transition(1, "pending", to="paid") == Moved(1)


@pytest.mark.usefixtures("short_lock_waits")
def test_the_callers_own_open_transaction_is_such_a_holder(database: Database, orders: Orders) -> None:
    """A verb beside it gives up; the same verb on it works."""
    orders.once.boot()
    with database.engine().connect() as connection:
        connection.execute(sa.update(Order).where(Order.id == 1).values(total=5))
        with pytest.raises(LockHeldError):
            orders.transition(1, "pending", to="paid")
        connection.commit()
    assert read_row(database, 1) == ("pending", 0)


def test_the_bound_is_five_seconds() -> None:
    """Longer than a sane transaction, shorter than an HTTP client's patience; the statements read it when they are built."""
    assert dialects.LOCK_WAIT_SECONDS == 5


@on_servers
@pytest.mark.usefixtures("short_lock_waits")
def test_a_wait_in_a_borrowed_transaction_is_bounded_too(database: Database, orders: Orders) -> None:
    """Inside the statement, whatever the session's own bound is: the user's transaction decides what to do next."""
    with open_rival(database) as rival, borrow(database, orders.once) as borrowed:
        rival.lock(1)
        for call in (orders.transition, lambda row, *words, **more: orders.transition_many([2, row], *words, **more)):
            with pytest.raises(LockHeldError):
                call(1, "pending", to="paid", on=borrowed.handle)
            borrowed.run("ROLLBACK" if database.family == "postgresql" else "SELECT 1")
            borrowed.run("BEGIN" if database.family == "postgresql" else "SELECT 1")


@on_postgres
@pytest.mark.parametrize("given", ["0", "1234ms"])
def test_the_bound_on_lock_waits_stays_in_its_statement(database: Database, orders: Orders, given: str) -> None:
    """Afterwards the borrowed transaction has its own lock_timeout back, also a transaction-local one, in every verb."""
    words = f"SET LOCAL lock_timeout = '{given}'"
    with borrow(database, orders.once) as borrowed:
        borrowed.run(words)
        assert orders.transition(1, "pending", to="paid", on=borrowed.handle)
        assert borrowed.show("lock_timeout") == given
        assert not orders.transition(1, "pending", to="paid", on=borrowed.handle)
        assert orders.transition_many(range(2, 15), "pending", to="paid", on=borrowed.handle)
        assert borrowed.show("lock_timeout") == given


@on_postgres
def test_an_own_connection_keeps_no_bound(orders: Orders) -> None:
    """Nothing of it is left in the session: behind a pooler, the next one to use it is somebody else."""
    orders.transition(1, "pending", to="paid")
    orders.transition_many([2, 3], "pending", to="paid")
    pool = orders.once.semel._performer.pool
    connection = pool.shelf.idle[-1]
    text = "SELECT current_setting('lock_timeout')"
    rows = orders.once.stage.wait(lambda: pool.shelf.wire.fetch(connection, text, ()))
    assert [tuple(row) for row in rows] == [("0",)]


class Borrowed:
    """A SQLAlchemy connection of the test's colour, in a transaction."""

    def __init__(self, once: Once, database: Database) -> None:
        self.stage = once.stage
        self.is_async = once.colour == "async"
        self.engine = (
            create_async_engine(database.async_url, poolclass=NullPool) if self.is_async else database.engine()
        )

    def __enter__(self) -> Self:
        connection = self.engine.connect()
        self.handle = self.stage.wait(connection.start) if self.is_async else connection
        return self

    def __exit__(self, *_: object) -> None:
        self.stage.wait(self.handle.rollback)
        self.stage.wait(self.handle.close)

    def run(self, text: str) -> object:
        return self.stage.wait(lambda: self.handle.exec_driver_sql(text))

    def show(self, setting: str) -> str:
        return str(self.run(f"SHOW {setting}").scalar_one())  # type: ignore[attr-defined]


def borrow(database: Database, once: Once) -> Borrowed:
    """Open a handle that a user would lend."""
    return Borrowed(once, database)
