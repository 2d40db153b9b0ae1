"""What actions do every day with their session, and that all of it is one commit with the step."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import Any

import pytest
import sqlalchemy as sa

from semel import Done, UsageError
from tests.steps.test_ended_transactions import LateError, hear
from tests.steps.workshop import TARGETS, Order, Receipt, Seen, Story, Workshop, call, entered, run, write


async def add(step: Any) -> None:
    step.session.add(Receipt(order_id=step.id, text="one"))


async def add_and_flush(step: Any) -> None:
    await write(step, "one")


async def execute(step: Any) -> None:
    await call(step.session.execute, sa.insert(Receipt).values(order_id=step.id, text="one"))


async def insert_many(step: Any) -> None:
    rows = [{"order_id": step.id, "text": text} for text in ("one", "two", "three")]
    await call(step.session.execute, sa.insert(Receipt), rows)


async def keep_savepoint(step: Any) -> None:
    async with entered(step.session.begin_nested()):
        await write(step, "one")
    await write(step, "two")


async def lose_savepoint_by_error(step: Any) -> None:
    await write(step, "one")
    with pytest.raises(sa.exc.IntegrityError):
        await write_and_fail(step)
    await write(step, "two")


async def write_and_fail(step: Any) -> None:
    async with entered(step.session.begin_nested()):
        await write(step, "lost")
        step.session.add(Order(id=step.id, status="pending"))


async def lose_savepoint_by_hand(step: Any) -> None:
    nested = await call(step.session.begin_nested)
    await write(step, "lost")
    await call(nested.rollback)
    await write(step, "one")


async def lose_savepoint_by_text(step: Any) -> None:
    await write(step, "one")
    await run(step, "SAVEPOINT mine")
    await run(step, f"INSERT INTO receipts (order_id, text) VALUES ({step.id}, 'lost')")
    await run(step, "ROLLBACK TO SAVEPOINT mine")


async def change_the_row(step: Any) -> None:
    order = await call(step.session.get, Order, step.id)
    order.total = 7
    await call(step.session.refresh, order)
    order.total += 1
    await write(step, f"version {order.version - (step.fence or 0)}")


async def write_and_delete(step: Any) -> None:
    await write(step, "lost")
    receipt = await call(step.session.scalar, sa.select(Receipt).where(Receipt.order_id == step.id))
    await call(step.session.delete, receipt)
    step.session.add(lost := Receipt(order_id=step.id, text="lost"))
    step.session.expunge(lost)
    await call(step.session.merge, Receipt(order_id=step.id, text="one"))


USES: dict[str, tuple[Story, tuple[str, ...]]] = {
    "add": (add, ("one",)),
    "add and flush": (add_and_flush, ("one",)),
    "execute": (execute, ("one",)),
    "many rows": (insert_many, ("one", "two", "three")),
    "a savepoint that is kept": (keep_savepoint, ("one", "two")),
    "a savepoint lost by an error": (lose_savepoint_by_error, ("one", "two")),
    "a savepoint lost by hand": (lose_savepoint_by_hand, ("one",)),
    "a savepoint lost by text": (lose_savepoint_by_text, ("one",)),
    "the row itself": (change_the_row, ("version 0",)),
    "delete, expunge, merge": (write_and_delete, ("one",)),
}


@pytest.mark.parametrize(("story", "receipts"), USES.values(), ids=USES)
def test_what_an_action_writes_is_committed_with_its_step(
    workshop: Workshop, step_key: str, story: Story, receipts: tuple[str, ...]
) -> None:
    """Done means that all of it is there, once, and that the row has moved."""
    row = workshop.add_order()
    assert workshop.take(row, step_key, story) == Done(TARGETS[step_key])
    seen = workshop.see(row)
    assert (seen.status, seen.receipts, seen.held) == (TARGETS[step_key], receipts, False)


def is_free(workshop: Workshop, row: int) -> bool:
    """Whether somebody else could write the row now."""
    if workshop.family == "sqlite":
        with closing(sqlite3.connect(workshop.database.name, timeout=0)) as rival:
            try:
                rival.execute("BEGIN IMMEDIATE")
            except sqlite3.OperationalError:
                return False
            return True
    with workshop.rival() as rival:
        try:
            rival.exec_driver_sql(f"SELECT id FROM orders WHERE id = {row} FOR UPDATE NOWAIT")
        except sa.exc.OperationalError:
            return False
        return True


def test_reading_and_adding_lock_nothing(workshop: Workshop) -> None:
    """Only the first statement through the session opens the transaction; until then others may have the row."""
    row = workshop.add_order()
    free: list[bool] = []

    async def story(step: Any) -> None:
        assert (await call(step.read, sa.select(Order.status).where(Order.id == row)))[0][0] == "paying"
        step.session.add(Receipt(order_id=row, text="one"))
        free.append(is_free(workshop, row))
        await call(step.session.flush)
        free.append(is_free(workshop, row))

    assert workshop.take(row, "pay", story) == Done("paid")
    assert free == [True, False]


def test_reading_sees_what_the_action_has_written(workshop: Workshop, step_key: str) -> None:
    """Once the transaction is open, `step.read` reads in it; others see nothing of it before the commit."""
    row = workshop.add_order()
    count = sa.select(sa.func.count()).where(Receipt.order_id == row)
    counts: list[int] = []

    async def story(step: Any) -> None:
        counts.append((await call(step.read, count))[0][0])
        await write(step, "one")
        counts.append((await call(step.read, count))[0][0])
        counts.append(len(workshop.see(row).receipts))

    assert workshop.take(row, step_key, story) == Done(TARGETS[step_key])
    assert counts == [0, 1, 0]


def test_a_step_that_is_kept_is_of_no_use(workshop: Workshop, step_key: str) -> None:
    """Work that comes after the action would not belong to the step's commit."""
    row = workshop.add_order()
    kept: list[Any] = []

    async def story(step: Any) -> None:
        kept.append(step)

    workshop.take(row, step_key, story)
    (step,) = kept
    for word in (lambda: step.session, lambda: step.after("Mail"), lambda: workshop.stage.wait(lambda: step.read("…"))):
        with pytest.raises(UsageError, match="SEMEL-STEP-5"):
            word()


def test_steps_inside_a_step_share_its_fate(workshop: Workshop, step_key: str) -> None:
    """An action lends its session to a step of another row, and that one to a third: one commit, or none."""
    for fails in (False, True):
        first, second, third = (workshop.add_order() for _ in range(3))
        inner = {first: second, second: third}

        async def story(step: Any, inner: dict[int, int] = inner, *, fails: bool = fails) -> None:
            await write(step, "before")
            if step.id in inner:
                done = await call(workshop.orders.advance, inner[step.id], "cancel", on=step.session)
                assert done == Done("cancelled")
            await write(step, "after")
            if fails and step.id not in inner.values():
                raise LateError

        heard = hear(workshop, first, step_key, story)
        if fails:
            assert isinstance(heard, LateError)
            assert {workshop.see(row).receipts for row in (first, second, third)} == {()}
            assert workshop.see(third) == Seen("pending", 0)
        else:
            assert heard == Done(TARGETS[step_key])
            assert {workshop.see(row).receipts for row in (first, second, third)} == {("before", "after")}
            assert workshop.see(third) == Seen("cancelled", 1, ("before", "after"))
