from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import sqlalchemy as sa

from semel import Busy, Done, Finish, Moved, Pending, Rejected
from semel.asks import Asking
from semel.errors import SemelError, StoreError, UsageError, error
from semel.protocols.advance import wish_for
from semel.protocols.claim import Held, Wish, take_claim
from semel.protocols.errand import Errand
from tests.conformance.families import on_postgres, on_servers
from tests.conformance.rivals import Rival, open_rival
from tests.crash.recovery import see
from tests.databases import Database
from tests.shop.clock import VirtualClock
from tests.shop.process import Shop, read_claims
from tests.shop.tables import Order, lay_orders, read_order, read_orders


@pytest.fixture
def wish(shop: Shop, database: Database) -> Wish:
    """The wish to claim the first order, which is pending, for the step `pay`."""
    lay_orders(database, [1])
    bound = shop.semel._setup.bound_of(shop.orders._declared)
    errand = Errand(bound.claims, bound.workflow, 1, "pay", "*", None, None, owner="us", lease_us=30_000_000)
    return wish_for(errand, bound.workflow.step_at("pay", "pending"))


@pytest.fixture
def rival(database: Database, shop: Shop) -> Iterator[Rival]:
    """Another connection."""
    assert shop.semel is not None
    with open_rival(database) as rival:
        yield rival


def lose_answer(taking: Asking[Any], meanwhile: Callable[[], Any], *, lost: bool = True) -> Asking[Any]:
    """Pass a claim's asks on; let something happen after the first write, and let its answer be lost."""
    reply: Any = None
    problem: SemelError | None = None
    begun = False
    while True:
        try:
            ask = taking.send(reply) if problem is None else taking.throw(problem)
        except StopIteration as stop:
            return stop.value
        reply, problem = None, None
        try:
            reply = yield ask
        except SemelError as trouble:
            problem = trouble
        if not begun and getattr(ask, "whole", False):
            begun = True
            meanwhile()
            problem = error("SEMEL-STORE-3", reason="lost", seconds=0.0) if lost else problem


def write(database: Database, *texts: str) -> None:
    """Write by foreign hands."""
    with database.engine().begin() as connection:
        for text in texts:
            connection.execute(sa.text(text))


# A claim whose answer was lost


def test_a_claim_whose_answer_was_lost_is_found_again(shop: Shop, wish: Wish) -> None:
    """With its row and its pass, as the answer would have said."""
    held = shop.perform(lose_answer(take_claim(wish), lambda: None))
    assert isinstance(held, Held)
    assert (held.fence, held.pass_number, held.values["status"], held.values["version"]) == (1, 1, "paying", 1)


RELEASE = (
    "UPDATE orders SET status = 'pending', version = version + 1",
    "UPDATE semel_claims SET held = 0, owner = NULL",
)
LOSSES = {"a keeper released it": RELEASE, "the row was deleted": ("DELETE FROM orders",)}


@pytest.mark.parametrize("texts", LOSSES.values(), ids=LOSSES)
def test_a_claim_that_was_lost_with_its_answer_is_pending(
    shop: Shop, database: Database, wish: Wish, texts: tuple[str, ...]
) -> None:
    """Nobody's heart beat meanwhile; running the action then would run it without a claim."""
    assert shop.perform(lose_answer(take_claim(wish), lambda: write(database, *texts))) == Pending(None)


@on_servers
def test_a_claim_that_cannot_be_read_again_is_pending(
    shop: Shop, database: Database, wish: Wish, rival: Rival, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The row is locked by somebody else: the claim is committed, so nobody may say that nothing was written."""
    monkeypatch.setattr("semel.protocols.operation.RERUN_SECONDS", 0.0)
    outcome = shop.perform(lose_answer(take_claim(wish), lambda: rival.lock(1)))
    rival.commit()
    assert outcome == Pending(None)
    claim = read_claims(database)["1", "pay"]
    assert (claim["held"], claim["owner"]) == (1, None)


# Why a claim was not to be had


@on_postgres
def test_a_row_that_is_deleted_under_a_lock_is_gone(shop: Shop, wish: Wish, rival: Rival) -> None:
    """Once the deletion has committed, there is no row; it is not busy."""
    rival.run("DELETE FROM orders")
    with pytest.raises(UsageError, match="no row"):
        shop.perform(lose_answer(take_claim(wish), rival.commit, lost=False))


@on_servers
def test_a_row_that_is_being_deleted_is_busy(shop: Shop, wish: Wish, rival: Rival) -> None:
    """Until the deletion has committed, the row may stay."""
    rival.run("DELETE FROM orders")
    assert shop.perform(take_claim(wish)) == Busy("lock")


TRIGGERS = {
    "postgresql": (
        "CREATE FUNCTION swallow() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'",
        "CREATE TRIGGER swallow BEFORE UPDATE ON orders FOR EACH ROW EXECUTE FUNCTION swallow()",
    ),
    "sqlite": ("CREATE TRIGGER swallow BEFORE UPDATE ON orders BEGIN SELECT RAISE(IGNORE); END",),
}


@pytest.mark.parametrize("database", list(TRIGGERS), indirect=True)
def test_a_trigger_that_swallows_the_claim_is_told(shop: Shop, database: Database, wish: Wish) -> None:
    """The row is where the step begins, so NotAllowed would be a riddle."""
    write(database, *TRIGGERS[database.family])
    with pytest.raises(StoreError) as caught:
        shop.perform(take_claim(wish))
    assert caught.value.code == "SEMEL-STORE-6"


# What else the row is used for


@on_postgres
@pytest.mark.usefixtures("wish")
def test_a_new_child_row_holds_up_no_claim(shop: Shop, database: Database, rival: Rival) -> None:
    """A foreign key's share lock and the lock of a status change do not exclude each other."""
    write(database, "CREATE TABLE children (order_id bigint REFERENCES orders)")
    rival.run("INSERT INTO children VALUES (1)")

    def insert(_place: str, _step: Any) -> None:
        with database.engine().begin() as connection:
            connection.execute(sa.text("SET LOCAL lock_timeout = '2s'"))
            connection.execute(sa.text("INSERT INTO children VALUES (1)"))

    shop.here = insert
    assert shop.advance(1, "pay") == Done("paid")
    assert shop.stage.wait(lambda: shop.orders.transition(1, "paid", to="closed")) == Moved(3)


# What actions say


def end_with(shop: Shop, value: Any) -> None:
    """Let the shop's action return a value."""

    def act(_step: Any) -> Any:
        return value

    async def act_async(_step: Any) -> Any:
        return value

    registered = shop.semel._setup.registry.actions
    registered["Act"] = type(registered["Act"])(act if shop.colour == "sync" else act_async)


class Text(str):
    """A text that prints as something else, like the members of `class Status(str, Enum)`."""

    __slots__ = ()

    def __str__(self) -> str:
        return f"Text.{super().__str__()}"


@pytest.mark.usefixtures("wish")
@pytest.mark.parametrize("step", ["pay", "cancel"])
def test_a_status_that_prints_as_something_else_is_written_as_declared(
    shop: Shop, database: Database, step: str
) -> None:
    """The workflow's own text is written, whatever kind of text the action picked it by."""
    status = {"pay": "paid", "cancel": "cancelled"}[step]
    end_with(shop, Finish(Text(status)))
    outcome = shop.advance(1, step)
    assert (outcome, type(outcome.status)) == (Done(status), str)
    assert read_order(database, 1)[0] == status


@pytest.mark.usefixtures("wish")
@pytest.mark.parametrize("reason", ["sold\0out", "sold \ud800 out"])
def test_a_reason_that_no_database_can_hold_still_releases(
    shop: Shop, database: Database, clock: VirtualClock, reason: str
) -> None:
    """The caller hears it as it was said; the journal keeps it as well as it can, at once."""
    end_with(shop, Rejected(reason))
    before = clock.now
    assert shop.advance(1, "pay") == Rejected(reason)
    assert (clock.now, read_order(database, 1)) == (before, ("pending", 2))


@pytest.mark.usefixtures("wish")
def test_a_reason_is_text() -> None:
    """An exception as a reason could neither be journaled nor sent."""
    with pytest.raises(TypeError, match="text"):
        Rejected(ValueError("sold out"))  # type: ignore[arg-type]


@pytest.mark.usefixtures("wish")
@pytest.mark.parametrize(
    ("database", "requester"),
    [("postgresql", "a\0b"), ("postgresql", "a\ud800b"), ("mariadb", "a\ud800b"), ("sqlite", "a\ud800b")],
    indirect=["database"],
)
def test_what_a_driver_does_not_send_is_not_tried_for_long(
    shop: Shop, database: Database, clock: VirtualClock, requester: str
) -> None:
    """It refuses before anything is sent, so nothing was written and nothing changes by waiting."""
    before = clock.now
    with pytest.raises(StoreError) as caught:
        shop.advance(1, "pay", by=requester)
    assert (caught.value.code, clock.now) == ("SEMEL-STORE-5", before)
    assert read_order(database, 1) == ("pending", 0)


# Cancelled


@pytest.mark.parametrize("colour", ["async"], indirect=True)
@pytest.mark.parametrize("persistently", [False, True])
def test_a_cancelled_step_leaves_no_claim(shop: Shop, database: Database, *, persistently: bool) -> None:
    """Wherever it was cancelled, and however often: its row is free, or the step is done, when its task has ended."""
    rows = range(1, 61)
    lay_orders(database, rows)
    shop.stage.wait(lambda: cancel_after_turns(shop, rows, persistently=persistently))
    shop.stage.wait(lambda: cancel_after_turns(shop, range(1001, 1011), persistently=persistently))
    picture = see(shop, database)
    assert not [claim for claim in picture.claims if claim.held]
    statuses = {status for status, _ in read_orders(database).values()}
    assert statuses <= {"pending", "paid"}
    assert {move.kind for moves in picture.moves.values() for move in moves} >= {"claim", "release"}


async def cancel_after_turns(shop: Shop, rows: range, *, persistently: bool) -> None:
    """Cancel one step after the other, each a turn later than the one before; some libraries do so every turn.

    Whatever became of the step, also where there is no such row: who was cancelled hears that.
    """
    for turns, row in enumerate(rows):
        task = asyncio.ensure_future(shop.orders.advance(row, "pay"))
        for _ in range(turns):
            await asyncio.wait([task], timeout=0)
        in_time = task.cancel()
        while persistently and not task.done():
            await asyncio.wait([task], timeout=0.001)
            task.cancel()
        (heard,) = await asyncio.gather(task, return_exceptions=True)
        assert not in_time or isinstance(heard, asyncio.CancelledError), heard


@pytest.mark.parametrize("colour", ["async"], indirect=True)
@pytest.mark.parametrize("rows", [0, 1])
def test_a_step_that_is_cancelled_while_it_finishes_is_done(shop: Shop, database: Database, rows: int) -> None:
    """Its answer is awaited, so nobody is left in doubt; the caller, who has left, hears that it was cancelled."""
    lay_orders(database, [1])

    async def cancel_at_the_end() -> None:
        task = asyncio.ensure_future(shop.orders.advance(1, "pay", input={"rows": rows}))

        def cancel_soon(place: str, _step: Any) -> None:
            if place == "ending":
                asyncio.get_running_loop().call_soon(task.cancel)

        shop.here = cancel_soon
        with pytest.raises(asyncio.CancelledError):
            await task

    shop.stage.wait(cancel_at_the_end)
    assert read_order(database, 1) == ("paid", 2)
    assert not see(shop, database, rows).claims[0].held


@pytest.mark.parametrize("colour", ["async"], indirect=True)
def test_a_timeout_around_a_step_is_a_timeout(shop: Shop, database: Database) -> None:
    """The cancellation comes out as it went in, after the claim was released."""
    lay_orders(database, [1])

    async def linger(place: str, _step: Any) -> None:
        if place == "begun":
            await asyncio.Event().wait()

    async def hurry() -> None:
        async with asyncio.timeout(0.3):
            await shop.orders.advance(1, "pay")

    shop.here = linger
    with pytest.raises(TimeoutError):
        shop.stage.wait(hurry)
    assert read_order(database, 1) == ("pending", 2)
    with database.engine().connect() as connection:
        assert connection.execute(sa.select(Order.status)).scalar_one() == "pending"
