"""Errors that an action does not let go: they may cost it its step, never half of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Thread
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import create_async_engine
from sqlalchemy.pool import NullPool

from semel import Done, Pending, UsageError
from semel.errors import ConflictedError
from tests.conformance.faces import Colour
from tests.conformance.rivals import wait_until_waiting
from tests.databases import Database
from tests.steps.test_ended_transactions import assert_untouched, hear
from tests.steps.workshop import TARGETS, Account, Order, Seen, Workshop, Workshops, call, open_workshops, run, write


async def insert_again(step: Any, by: str) -> None:
    """Insert the step's row, which is there."""
    if by == "flush":
        step.session.add(Order(id=step.id, status="pending"))
        await call(step.session.flush)
    else:
        await run(step, f"INSERT INTO orders (id, status) VALUES ({step.id}, 'pending')")


@pytest.mark.parametrize("by", ["flush", "execute"])
def test_an_error_that_is_swallowed_costs_the_step_or_nothing_else(workshop: Workshop, step_key: str, by: str) -> None:
    """A flush rolls all back, and so does any error on PostgreSQL; elsewhere a statement that fails has done nothing."""
    row = workshop.add_order()

    async def story(step: Any) -> None:
        await write(step, "before")
        with pytest.raises(sa.exc.IntegrityError):
            await insert_again(step, by)

    heard = hear(workshop, row, step_key, story)
    if by == "flush" or workshop.family == "postgresql":
        assert isinstance(heard, UsageError)
        assert heard.code == "SEMEL-STEP-7"
        assert_untouched(workshop, row, step_key)
    else:
        assert heard == Done(TARGETS[step_key])
        assert workshop.see(row).receipts == ("before",)


# Deadlocks


@contextmanager
def deadlock_with(workshop: Workshop) -> Iterator[Any]:
    """A rival that has written more, so that MariaDB rolls the step back and not the rival; it wants account 1 when told."""
    with workshop.rival() as rival:
        receipts = [{"order_id": 0, "text": "weight"} for _ in range(50)]
        rival.exec_driver_sql("INSERT INTO receipts (order_id, text) VALUES (%(order_id)s, %(text)s)", receipts)
        rival.exec_driver_sql("UPDATE accounts SET balance = balance + 1 WHERE id = 2")
        update = "UPDATE accounts SET balance = balance + 1 WHERE id = 1"
        thread = Thread(target=lambda: rival.exec_driver_sql(update))

        def want() -> None:
            thread.start()
            wait_until_waiting(workshop.database)

        yield want
        thread.join()
        rival.rollback()


async def change_account(step: Any, account: int, by: str) -> None:
    """Lock an account by a write of either kind."""
    if by == "flush":
        (await call(step.session.get, Account, account)).balance += 10
        await call(step.session.flush)
    else:
        await run(step, f"UPDATE accounts SET balance = balance + 10 WHERE id = {account}")


@pytest.mark.parametrize("family", ["mariadb"], indirect=True)
@pytest.mark.parametrize("swallows", [False, True], ids=["lets it go", "swallows it"])
@pytest.mark.parametrize("by", ["flush", "execute"])
def test_a_deadlock_takes_the_whole_step_back(workshop: Workshop, step_key: str, by: str, *, swallows: bool) -> None:
    """MariaDB has rolled back what came before; what the action writes afterwards must not be finished without it."""
    row = workshop.add_order()

    async def story(step: Any) -> None:
        await write(step, "before")
        await change_account(step, 1, by)
        want_account()
        try:
            await change_account(step, 2, by)
        except sa.exc.OperationalError:
            if not swallows:
                raise
            with suppress(sa.exc.SQLAlchemyError):
                await write(step, "after")

    with deadlock_with(workshop) as want_account:
        heard = hear(workshop, row, step_key, story)
    if not swallows:
        assert isinstance(heard, sa.exc.OperationalError)
        assert not any("may have been kept" in note for note in getattr(heard, "__notes__", ()))
    elif by == "flush":
        assert isinstance(heard, UsageError)
        assert heard.code == "SEMEL-STEP-7"
    else:
        assert isinstance(heard, ConflictedError)
        assert heard.code == "SEMEL-STORE-1"
    assert_untouched(workshop, row, step_key)


# Statements that would not belong to the step


@contextmanager
def another_engine(workshop: Workshop) -> Iterator[sa.Engine]:
    """An engine of the user's own on the same database."""
    make: Any = sa.create_engine if workshop.colour == "sync" else create_async_engine
    engine = make(workshop.other_url(), poolclass=NullPool)
    yield getattr(engine, "sync_engine", engine)


@pytest.mark.parametrize("swallows", [False, True], ids=["lets it go", "swallows it"])
@pytest.mark.parametrize("first", [True, False], ids=["first", "later"])
def test_a_statement_of_another_engine_is_refused(
    workshop: Workshop, step_key: str, *, first: bool, swallows: bool
) -> None:
    """It would be committed apart from the step; and however the action takes the refusal, nothing of it is kept."""
    row = workshop.add_order()

    async def story(step: Any) -> None:
        if not first:
            await write(step, "before")
        try:
            await call(step.session.execute, sa.text("SELECT 1"), bind_arguments={"bind": engine})
        except UsageError:
            if not swallows:
                raise
            with suppress(UsageError):
                await write(step, "after")

    with another_engine(workshop) as engine:
        heard = hear(workshop, row, step_key, story)
    assert isinstance(heard, UsageError)
    assert heard.code == "SEMEL-STEP-9"
    assert_untouched(workshop, row, step_key)


def test_autocommit_is_refused(workshop: Workshop) -> None:
    """Each statement would be a commit of its own, and the fence a lock that is gone at once."""
    row = workshop.add_order()

    async def story(step: Any) -> None:
        await call(step.session.connection, execution_options={"isolation_level": "AUTOCOMMIT"})

    heard = hear(workshop, row, "pay", story)
    assert isinstance(heard, UsageError)
    assert heard.code == "SEMEL-STEP-9"
    assert_untouched(workshop, row, "pay")


# Steps whose fence failed


def test_an_action_that_swallows_its_lost_claim_writes_nothing(workshop: Workshop) -> None:
    """Its connection is thrown away with the fence that failed: not even a COMMIT of its own keeps anything."""
    row = workshop.add_order()

    async def story(step: Any) -> None:
        with workshop.rival() as rival:
            rival.exec_driver_sql(f"UPDATE orders SET version = version + 1 WHERE id = {row}")
            rival.commit()
        for _ in range(2):
            with suppress(BaseException):  # as careless as users can be
                await run(step, f"INSERT INTO receipts (order_id, text) VALUES ({row}, 'unfenced')")
            with suppress(BaseException):
                await run(step, "COMMIT")

    assert hear(workshop, row, "pay", story) == Pending(None)
    assert workshop.see(row) == Seen("paying", 2, held=True)


@pytest.fixture
def impatient(
    request: pytest.FixtureRequest, database: Database, short_lock_waits: None, stage: Any
) -> Iterator[Workshops]:
    """Workshops that wait one second for a row."""
    assert request is not None
    assert short_lock_waits is None
    with open_workshops(database, stage) as both:
        yield both


@pytest.mark.parametrize("database", ["postgresql", "mariadb"], indirect=True)
@pytest.mark.parametrize(("colour", "swallows"), [("sync", False), ("async", True)], indirect=["colour"])
def test_a_fence_that_had_to_wait_too_long_parks_nothing(
    impatient: Workshops, colour: Colour, *, swallows: bool
) -> None:
    """Somebody holds the row: the step is released as after any error, and an unfenced write never happens."""
    workshop = impatient[colour]
    row = workshop.add_order()

    async def story(step: Any) -> None:
        with workshop.rival() as rival:
            rival.exec_driver_sql(f"UPDATE orders SET total = 1 WHERE id = {row}")
            try:
                await write(step, "unfenced")
            except ConflictedError:
                if not swallows:
                    raise
                with suppress(Exception):
                    await run(step, f"INSERT INTO receipts (order_id, text) VALUES ({row}, 'unfenced')")
                with suppress(Exception):
                    await run(step, "COMMIT")
            rival.rollback()

    heard = hear(workshop, row, "pay", story)
    assert isinstance(heard, ConflictedError)
    assert heard.code == "SEMEL-STORE-2"
    assert_untouched(workshop, row, "pay")
