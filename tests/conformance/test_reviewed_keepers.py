from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Iterator
from typing import Any

import pytest
import sqlalchemy as sa

from semel.asks import Asking, Tick
from semel.keepers.duty import SWEEP_LIMIT, Report
from semel.keepers.rounds import AsyncRounds, Beat, Rounds
from semel.protocols.effect import ATTEMPTS_LIMIT
from tests.crash.stranding import Wreck
from tests.databases import Database
from tests.shop.clock import VirtualClock
from tests.shop.fixtures import OpenShop
from tests.shop.flow import make_flow
from tests.shop.process import Shop
from tests.shop.tables import lay_orders, read_order

ENDINGS = [SystemExit, asyncio.CancelledError, ValueError, BaseException]


@pytest.fixture
def wreck(shop: Shop, database: Database, clock: VirtualClock) -> Wreck:
    """Where claims are left behind."""
    lay_orders(database, range(1, 4))
    return Wreck(shop, database, clock)


def look_twice(shop: Shop, wreck: Wreck, duty: str) -> Report:
    """Let a keeper look, and look again a lease later; answer the last report."""
    wreck.wait_a_lease()
    shop.look(duty)
    wreck.wait_a_lease()
    return shop.look(duty)


def read_effects(database: Database) -> dict[str, Any]:
    """Answer the after-effects by their row."""
    with database.engine().connect() as connection:
        rows = connection.execute(sa.text("SELECT row_id, state, attempts, problem FROM semel_outbox"))
        return {row.row_id: (row.state, row.attempts, row.problem) for row in rows}


def write(database: Database, text: str, **values: Any) -> None:
    """Change Semel's own tables by foreign hands."""
    with database.engine().begin() as connection:
        connection.execute(sa.text(text), values)


# Whatever users raise


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_handler_that_ends_its_thread_ends_no_courier(
    shop: Shop, database: Database, ending: type[BaseException]
) -> None:
    """What it raises is written down like any other problem, and the rest is delivered."""
    lay_orders(database, [1, 2])

    def deliver(effect: Any) -> None:
        if effect.row_id == "1":
            raise ending("enough")

    shop.deliver = deliver
    for row in (1, 2):
        assert shop.advance(row, "pay", input={"rows": 0})
    shop.look("courier")
    effects = read_effects(database)
    assert effects["1"] == ("due", 1, f"{ending.__name__}: enough")
    assert effects["2"][0] == "delivered"


@pytest.mark.parametrize("ending", ENDINGS)
def test_an_action_that_ends_its_thread_ends_no_resumer(
    shop: Shop, wreck: Wreck, database: Database, ending: type[BaseException]
) -> None:
    """Its row is released, and the rows behind it are resumed in the same look."""
    for row in (1, 2, 3):
        wreck.strand(row, "deliver")

    def end(_place: str, step: Any) -> None:
        if step.id == 1:
            raise ending("enough")

    shop.here = end
    report = look_twice(shop, wreck, "resumer")
    assert (report.done, report.problems) == (2, [f"orders 1: {ending.__name__}: enough"])
    assert [read_order(database, row)[0] for row in (1, 2, 3)] == ["pending", "delivered", "delivered"]


class RaisingDuty:
    """Raises at its first look."""

    name = "raising"

    def __init__(self, ending: type[BaseException]) -> None:
        self.ending: type[BaseException] | None = ending
        self.looked_again = threading.Event()

    def look(self) -> Asking[Report]:
        """Raise, or note that there was another look."""
        yield Tick()
        ending, self.ending = self.ending, None
        if ending is not None:
            raise ending
        self.looked_again.set()
        return Report()


@pytest.fixture
def quiet() -> Iterator[None]:
    """No word about what is raised on purpose."""
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


@pytest.mark.usefixtures("quiet")
@pytest.mark.parametrize("ending", ENDINGS)
def test_a_duty_looks_again_whatever_was_raised(shop: Shop, clock: VirtualClock, ending: type[BaseException]) -> None:
    """A keeper's thread or task ends when it is stopped, and not before."""
    duty, setup = RaisingDuty(ending), shop.semel._setup
    perform = shop.semel._performer.perform

    async def breathe(_seconds: float) -> None:
        await asyncio.sleep(0)

    def start() -> Any:
        wait = clock.wait_for if shop.colour == "sync" else breathe
        kind = Rounds if shop.colour == "sync" else AsyncRounds
        rounds = kind([duty], perform, Beat(setup.keeping, "a keeper", wait))  # type: ignore[operator, arg-type]
        rounds.start()
        return rounds

    async def start_async() -> Any:
        return start()

    rounds = shop.stage.wait(start if shop.colour == "sync" else start_async)
    assert duty.looked_again.wait(30), "it never looked again"
    shop.stage.wait(rounds.stop)


@pytest.mark.parametrize("colour", ["async"], indirect=True)
@pytest.mark.parametrize("where", ["handler", "look", "wait"])
def test_a_keeper_that_is_cancelled_stops(
    shop: Shop, database: Database, caplog: pytest.LogCaptureFixture, where: str
) -> None:
    """Its own cancellation is no user's exception, even if it was met in a handler and written down as its problem."""
    lay_orders(database, [1])
    assert shop.advance(1, "pay", input={"rows": 0})
    duty = shop.duties["courier" if where == "handler" else "reaper"]
    reached = threading.Event()

    async def hang(_: Any = None) -> Any:
        reached.set()
        await asyncio.Event().wait()

    async def cancel() -> None:
        perform = hang if where == "look" else shop.semel._performer.perform
        rounds = AsyncRounds([duty], perform, Beat(shop.semel._setup.keeping, "a keeper", hang))
        rounds.start()
        (task,) = rounds._tasks
        await asyncio.to_thread(reached.wait)
        task.cancel()
        await asyncio.wait([task], timeout=10)
        assert task.done()

    shop.deliver = hang
    shop.stage.wait(cancel)
    assert [record.message for record in caplog.records if record.levelno >= logging.WARNING] == []
    assert read_effects(database)["1"][:2] == ("due", int(where == "handler"))


# What hides what


def test_a_claim_that_cannot_be_read_hides_no_other(shop: Shop, wreck: Wreck, database: Database) -> None:
    """An id that is none here is reported, and the rows behind it are released."""
    wreck.strand(1, "pay")
    wreck.strand(2, "pay")
    write(database, "UPDATE semel_claims SET row_id = 'one' WHERE row_id = '1'")
    report = look_twice(shop, wreck, "janitor")
    assert report.done == 1
    assert "ValueError" in report.troubles[0]
    assert read_order(database, 2)[0] == "pending"


def test_steps_that_are_unknown_here_starve_nobody(shop: Shop, wreck: Wreck, database: Database) -> None:
    """More of them than a look takes on stand before a claim that can be resumed, and it is resumed."""
    wreck.strand(1, "deliver")
    copy_claims(database, SWEEP_LIMIT + 1)
    wreck.strand(2, "deliver")
    wreck.wait_a_lease()
    shop.look("resumer")
    wreck.wait_a_lease()
    reports = [shop.look("resumer") for _ in range(2)]
    assert read_order(database, 2)[0] == "delivered"
    assert any("knows no step 'gone'" in trouble for trouble in reports[0].troubles)


def copy_claims(database: Database, count: int) -> None:
    """Let a claim of row 1 be many claims, of a step that this version does not have."""
    with database.engine().begin() as connection:
        claims = sa.Table("semel_claims", sa.MetaData(), autoload_with=connection)
        claim = dict(connection.execute(sa.select(claims)).mappings().one())
        copies = [claim | {"row_id": str(number), "step_key": "gone"} for number in range(100, 100 + count)]
        connection.execute(sa.insert(claims), copies)
        connection.execute(sa.delete(claims).where(claims.c.row_id == "1"))


# Deliveries without end


def test_a_handler_that_kills_its_process_every_time_is_parked(shop: Shop, database: Database) -> None:
    """Nobody comes to write down its problem, so the attempts are counted when they are taken."""
    lay_orders(database, [1])
    assert shop.advance(1, "pay", input={"rows": 0})
    write(database, "UPDATE semel_outbox SET state = 'taken', attempts = :made, next_look_us = 0", made=ATTEMPTS_LIMIT)
    shop.look("courier")
    state, _, problem = read_effects(database)["1"]
    assert (state, shop.delivered) == ("parked", [])
    assert "came to an end" in problem


def test_a_problem_that_no_database_can_hold_is_still_written_down(shop: Shop, database: Database) -> None:
    """NUL bytes and half surrogate pairs are replaced; otherwise it could neither be postponed nor parked."""
    lay_orders(database, [1])

    def deliver(_effect: Any) -> None:
        raise ValueError("bad \0 byte \ud800")

    shop.deliver = deliver
    assert shop.advance(1, "pay", input={"rows": 0})
    assert shop.look("courier").problems == []
    assert read_effects(database)["1"] == ("due", 1, "ValueError: bad \ufffd byte ?")


def test_an_old_attempt_does_not_end_a_new_one_of_the_same_number(shop: Shop, database: Database) -> None:
    """After a retry by hand the attempts are counted anew, so their owner is compared too."""
    lay_orders(database, [1])
    shop.deliver = lambda _effect: write(database, "UPDATE semel_outbox SET owner = 'another courier'")
    assert shop.advance(1, "pay", input={"rows": 0})
    shop.look("courier")
    assert read_effects(database)["1"][0] == "taken"


def test_a_secret_leaves_nothing_to_guess_from(
    wreck: Wreck, open_shop: OpenShop, database: Database, clock: VirtualClock
) -> None:
    """Three digits are guessed from any digest, so only that there was a secret is stored."""
    secretive = open_shop(workflows=make_flow(deliver={"secret_input": ["cvv"]}))
    secretive.boot()
    Wreck(secretive, database, clock).strand(1, "deliver", {"cvv": "123", "rows": 1})
    assert wreck.shop.semel is not secretive.semel
    with database.engine().connect() as connection:
        stored = connection.execute(sa.text("SELECT input FROM semel_claims")).scalar_one()
    assert stored == '{"cvv":{"semel_secret":true},"rows":1}'
