"""Every way in which an action can end its step's transaction: all of the step happens, or nothing, or a person looks."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, TypeAlias

import pytest
import sqlalchemy as sa

from semel import Done, Pending, Rejected, UsageError
from tests.steps.workshop import TARGETS, Order, Seen, Workshop, call, do_nothing, entered, run, within, write

Way: TypeAlias = Callable[[Any], Awaitable[None]]

REVIEW = "the action ended the transaction of its step itself"


class LateError(Exception):
    """What an action raises after it has ended its transaction."""


# The session's own verbs


async def use_as_block(session: Any) -> None:
    async with entered(session):
        pass


async def begin_block(session: Any) -> None:
    async with entered(session.begin()):
        pass


VERBS: dict[str, Way] = {
    "commit": lambda session: call(session.commit),
    "rollback": lambda session: call(session.rollback),
    "close": lambda session: call(session.close),
    "reset": lambda session: call(session.reset),
    "invalidate": lambda session: call(session.invalidate),
    "begin": begin_block,
    "with": use_as_block,
}

# What goes past the session


async def end_by_connection(session: Any, verb: str) -> None:
    connection = await call(session.connection)
    await call(getattr(connection, verb))


async def end_by_transaction_of_connection(session: Any, verb: str) -> None:
    connection = await call(session.connection)
    await call(getattr(connection.get_transaction(), verb))


DETOURS: dict[str, Way] = {
    "get_transaction().commit": lambda session: call(session.get_transaction().commit),
    "get_transaction().rollback": lambda session: call(session.get_transaction().rollback),
    "connection().commit": lambda session: end_by_connection(session, "commit"),
    "connection().rollback": lambda session: end_by_connection(session, "rollback"),
    "connection().close": lambda session: end_by_connection(session, "close"),
    "connection().get_transaction().commit": lambda session: end_by_transaction_of_connection(session, "commit"),
    "connection().get_transaction().rollback": lambda session: end_by_transaction_of_connection(session, "rollback"),
}

# What nothing in Python sees


async def say(session: Any, sql: str) -> None:
    await call(session.execute, sa.text(sql))


async def end_by_driver(session: Any, verb: str) -> None:
    await within(session, lambda sync: getattr(sync.connection().connection, verb)())


async def insert_twice(session: Any) -> None:
    """Flush an order that is there already, and swallow the error: SQLAlchemy rolls back."""
    with suppress(sa.exc.IntegrityError):
        session.add(Order(id=await call(session.scalar, sa.select(sa.func.min(Order.id))), status="pending"))
        await call(session.flush)


async def commit_after_savepoint(session: Any) -> None:
    nested = await call(session.begin_nested)
    await call(nested.rollback)
    await say(session, "COMMIT")


async def commit_before_failed_flush(session: Any) -> None:
    await say(session, "COMMIT")
    await insert_twice(session)


TEARS: dict[str, Way] = {
    "COMMIT": lambda session: say(session, "COMMIT"),
    "ROLLBACK": lambda session: say(session, "ROLLBACK"),
    "driver's commit": lambda session: end_by_driver(session, "commit"),
    "driver's rollback": lambda session: end_by_driver(session, "rollback"),
    "COMMIT after a savepoint was rolled back": commit_after_savepoint,
    "COMMIT before a flush that fails": commit_before_failed_flush,
}


def hear(workshop: Workshop, row: int, step: str, story: Any) -> Any:
    """Answer what the caller of a step hears: its outcome, or the exception."""
    try:
        return workshop.take(row, step, story)
    except Exception as problem:  # noqa: BLE001 - whatever it is, the test looks at it
        return problem


def assert_untouched(workshop: Workshop, row: int, step: str) -> None:
    """Nothing of the step was kept, and the row is free: the same step can be taken at once."""
    version = {"pay": 2, "cancel": 0}[step]  # a claim and its release count too
    assert workshop.see(row) == Seen("pending", version)
    assert workshop.take(row, step, do_nothing) == Done(TARGETS[step])


@pytest.mark.parametrize("way", VERBS.values(), ids=VERBS)
def test_the_sessions_own_verbs_are_refused(workshop: Workshop, step_key: str, way: Way) -> None:
    """The error leaves the action, so nothing of the step is kept and the row is free."""
    row = workshop.add_order()

    async def story(step: Any) -> None:
        await write(step, "before")
        await way(step.session)

    heard = hear(workshop, row, step_key, story)
    assert isinstance(heard, UsageError)
    assert heard.code == "SEMEL-STEP-2"
    assert_untouched(workshop, row, step_key)


@pytest.mark.parametrize("way", VERBS.values(), ids=VERBS)
def test_a_refused_verb_has_done_nothing(workshop: Workshop, way: Way) -> None:
    """An action that swallows the refusal goes on in the same transaction, and all it writes belongs to the step."""
    row = workshop.add_order()

    async def story(step: Any) -> None:
        await write(step, "before")
        with pytest.raises(UsageError, match="SEMEL-STEP-2"):
            await way(step.session)
        await write(step, "after")

    assert workshop.take(row, "pay", story) == Done("paid")
    assert workshop.see(row) == Seen("paid", 2, ("before", "after"))


@pytest.mark.parametrize(("step_key", "goes_on"), [("pay", False), ("pay", True), ("cancel", True)])
@pytest.mark.parametrize("way", DETOURS.values(), ids=DETOURS)
def test_a_way_past_the_session_finishes_nothing(workshop: Workshop, step_key: str, way: Way, *, goes_on: bool) -> None:
    """A commit is refused before it happens, a rollback is seen; whatever the action does then, nothing of it is kept."""
    row = workshop.add_order()

    async def story(step: Any) -> None:
        await write(step, "before")
        if not goes_on:
            await way(step.session)
            return
        with suppress(Exception):
            await way(step.session)
        with suppress(Exception):
            await write(step, "after")

    heard = hear(workshop, row, step_key, story)
    assert isinstance(heard, UsageError)
    assert heard.code == "SEMEL-STEP-2"
    assert_untouched(workshop, row, step_key)


async def end(way: str) -> Any:
    """End an action in one of four ways."""
    if way == "raises":
        raise LateError
    return Rejected("no") if way == "says no" else None


@pytest.mark.parametrize("last", ["returns", "writes", "says no", "raises"])
@pytest.mark.parametrize("way", TEARS.values(), ids=TEARS)
def test_a_torn_step_under_a_claim_waits_for_a_person(workshop: Workshop, way: Way, last: str) -> None:
    """Half a step may have been kept: never Done, never released, and the reason stands in the claim."""
    row = workshop.add_order()

    async def story(step: Any) -> Any:
        await write(step, "before")
        await way(step.session)
        if last == "writes":
            with suppress(Exception):
                await write(step, "after")
        return await end(last)

    heard = hear(workshop, row, "pay", story)
    seen = workshop.see(row)
    assert (seen.status, seen.version, seen.held, seen.review) == ("paying", 1, True, REVIEW)
    if last == "says no":
        assert heard == Pending(None)
    else:
        assert isinstance(heard, LateError if last == "raises" else UsageError)
        assert any(REVIEW in note for note in heard.__notes__)
        assert last == "raises" or heard.code == "SEMEL-STEP-8"


@pytest.mark.parametrize("last", ["returns", "says no", "raises"])
@pytest.mark.parametrize("way", ["COMMIT", "COMMIT before a flush that fails"])
def test_a_torn_step_without_a_claim_says_so(workshop: Workshop, way: str, last: str) -> None:
    """There is no claim to be parked, so its caller hears that something may have been kept; it is never Done or Rejected."""
    row = workshop.add_order()

    async def story(step: Any) -> Any:
        await write(step, "before")
        await TEARS[way](step.session)
        return await end(last)

    heard = hear(workshop, row, "cancel", story)
    seen = workshop.see(row)
    assert (seen.status, seen.version) == ("pending", 0)
    if last == "raises":
        assert isinstance(heard, LateError)
        assert any("may have been kept" in note for note in heard.__notes__)
    else:
        assert isinstance(heard, UsageError)
        assert heard.code == "SEMEL-STEP-8"


@pytest.mark.parametrize("last", ["returns", "raises"])
def test_ddl_belongs_to_the_step_or_parks_it(workshop: Workshop, last: str) -> None:
    """PostgreSQL and SQLite keep or drop the new table with the step; MariaDB has committed half of it by then."""
    row = workshop.add_order()
    table = f"made_by_{workshop.colour}_{row}"

    async def story(step: Any) -> None:
        await write(step, "before")
        await run(step, f"CREATE TABLE {table} (id INTEGER)")
        await end(last)

    heard = hear(workshop, row, "pay", story)
    seen, is_there = workshop.see(row), sa.inspect(workshop.database.engine()).has_table(table)
    if workshop.family == "mariadb":
        assert (seen, is_there) == (Seen("paying", 1, ("before",), held=True, review=REVIEW), True)
    elif last == "returns":
        assert (heard, seen, is_there) == (Done("paid"), Seen("paid", 2, ("before",)), True)
    else:
        assert isinstance(heard, LateError)
        assert (seen, is_there) == (Seen("pending", 2), False)
