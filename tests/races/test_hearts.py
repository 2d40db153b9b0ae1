from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from typing import Any

import pytest
import sqlalchemy as sa

from semel import Done, Pending
from semel.asks import ClaimName
from semel.errors import ClaimLeft, StoreError, error
from semel.protocols.takeover import Stranded, release_stranded
from tests.crash.recovery import see
from tests.databases import Database
from tests.shop.fixtures import OpenShop
from tests.shop.flow import make_flow
from tests.shop.gate import PATIENCE_SECONDS, Gate
from tests.shop.process import Shop, SilentHeart, read_claims
from tests.shop.tables import lay_orders, read_order

LEASE_SECONDS = 0.6
"""Short, because these tests live in real time; long enough for a beat on a machine that has other work to do."""


def poll(condition: Callable[[], Any]) -> Any:
    """Answer what the condition answers once it is true; it is asked again and again, for a bounded time."""
    ends, between = time.monotonic() + PATIENCE_SECONDS, threading.Event()
    while not (found := condition()):
        assert time.monotonic() < ends, "it never came true"
        between.wait(0.02)
    return found


def count_beats(database: Database, row: int, step: str) -> int:
    """Answer how often the holder of a claim has said that it lives."""
    return int(read_claims(database)[str(row), step]["beats"])


@pytest.fixture
def holder(database: Database, shop: Shop, open_shop: OpenShop) -> Shop:
    """A process whose claims have short leases, in real time; `deliver` has a much longer one."""
    lay_orders(database, range(1, 8))
    assert shop.colour
    holder = open_shop(clock=None, lease_seconds=LEASE_SECONDS, workflows=make_flow(deliver={"lease_seconds": 60.0}))
    holder.boot()
    return holder


@pytest.fixture
def gate(holder: Shop) -> Iterator[Gate]:
    """Where the holder's actions stand."""
    gate = Gate(holder)
    yield gate
    gate.open()


@pytest.fixture
def keeper(holder: Shop, open_shop: OpenShop) -> Shop:
    """A process with the holder's keepers."""
    keeper = open_shop(clock=None)
    keeper.boot_like(holder)
    return keeper


def begin(holder: Shop, gate: Gate, row: int, step: str = "pay", **told: Any) -> Future[Any]:
    """Take a step as far as the gate."""
    gate.reached.clear()
    future = holder.begin_advance(row, step, input=told)
    gate.wait_for_somebody()
    return future


def test_an_action_longer_than_its_lease_keeps_its_claim(
    database: Database, holder: Shop, keeper: Shop, gate: Gate
) -> None:
    """Its process beats beside it, so keepers that look all the time find nothing to do."""
    future = begin(holder, gate, 1)
    reports = []

    def has_beaten_for_two_leases() -> bool:
        reports.append(keeper.look("janitor"))
        return count_beats(database, 1, "pay") >= 7

    poll(has_beaten_for_two_leases)
    assert not any(report.done for report in reports)
    gate.open()
    assert future.result(PATIENCE_SECONDS) == Done("paid")
    assert see(keeper, database).rows["1"] == ("paid", 2)


def test_a_holder_whose_beats_stop_is_taken_over(database: Database, holder: Shop, keeper: Shop, gate: Gate) -> None:
    """Its lease ends, and a lease later the row is back; not sooner."""
    holder.semel._performer.conductor.actors.heart = SilentHeart()
    began = time.monotonic()
    future = begin(holder, gate, 1, rows=0)
    poll(lambda: keeper.look("janitor").done)
    assert time.monotonic() - began >= 2 * LEASE_SECONDS
    assert read_order(database, 1) == ("pending", 2)
    gate.open()
    assert future.result(PATIENCE_SECONDS) == Pending(None)


def test_rounds_recover_what_a_dead_process_left(database: Database, holder: Shop, keeper: Shop, gate: Gate) -> None:
    """The keepers that a worker runs look by themselves, and stop when they are told to."""
    holder.semel._performer.conductor.actors.heart = SilentHeart()
    future = begin(holder, gate, 1, rows=0)
    rounds = keeper.semel.rounds(0.05)
    keeper.begin(rounds.start).result(PATIENCE_SECONDS)
    poll(lambda: read_order(database, 1) == ("pending", 2))
    keeper.begin(rounds.stop).result(PATIENCE_SECONDS)
    gate.open()
    assert future.result(PATIENCE_SECONDS) == Pending(None)
    with database.engine().connect() as connection:
        duties = connection.execute(sa.text("SELECT duty FROM semel_keepers")).scalars()
        assert {"janitor", "resumer", "courier", "reaper"} <= set(duties)


def test_a_short_lease_is_beaten_for_although_the_heart_waits_for_a_long_one(
    database: Database, holder: Shop, gate: Gate
) -> None:
    """The claim with the minute's lease came first; the next beat is as early as the newcomer needs it."""
    futures = [begin(holder, gate, 1, "deliver"), begin(holder, gate, 2, "pay")]
    poll(lambda: count_beats(database, 2, "pay") >= 3)
    gate.open()
    assert [future.result(PATIENCE_SECONDS) for future in futures] == [Done("delivered"), Done("paid")]


def test_claims_that_come_and_go_do_not_keep_the_heart_from_beating(
    database: Database, holder: Shop, gate: Gate
) -> None:
    """A busy process begins and ends claims more often than it beats; the long one among them is beaten for all the same."""
    future = begin(holder, gate, 1)
    gate.place = "nowhere"

    def has_beaten() -> bool:
        holder.advance(2, "pay", input={"rows": 0, "end": "reject"})
        return count_beats(database, 1, "pay") >= 4

    poll(has_beaten)
    gate.open()
    assert future.result(PATIENCE_SECONDS) == Done("paid")


def test_one_statement_beats_for_all_claims_of_a_process(database: Database, holder: Shop, gate: Gate) -> None:
    """Five claims are beaten for together: as many beats for each of them as there were statements."""
    wire, beats = holder.semel._performer.pool.shelf.wire, []
    execute = wire.execute

    def count(connection: Any, text: str, bound: Any) -> Any:
        if "beats" in text:
            beats.append(text)
        return execute(connection, text, bound)

    wire.execute = count
    futures = [begin(holder, gate, row) for row in range(1, 6)]
    poll(lambda: min(count_beats(database, row, "pay") for row in range(1, 6)) >= 2)
    assert count_beats(database, 1, "pay") <= len(beats)
    assert len(beats) < 2 * 5 * 2
    gate.open()
    assert {future.result(PATIENCE_SECONDS) for future in futures} == {Done("paid")}


def test_a_heartbeat_that_gets_no_answer_is_not_a_lost_claim(database: Database, holder: Shop, gate: Gate) -> None:
    """An error says nothing about the claim, so the action goes on and finishes."""
    failures = fail_to_beat(holder)
    future = begin(holder, gate, 1)
    poll(lambda: len(failures) >= 2)
    gate.open()
    assert future.result(PATIENCE_SECONDS) == Done("paid")
    assert see(holder, database).rows["1"] == ("paid", 2)


def fail_to_beat(shop: Shop) -> list[StoreError]:
    """Let every beat of a process fail; answer the failures as they come."""
    failures: list[StoreError] = []

    def fail() -> Any:
        problem = error("SEMEL-STORE-4", reason="the network is down")
        assert isinstance(problem, StoreError)
        failures.append(problem)
        raise problem

    async def fail_async() -> Any:
        fail()

    shop.semel._performer.conductor.actors.heart._beat = fail if shop.colour == "sync" else fail_async
    return failures


@pytest.mark.parametrize("word", ["session", "read"])
def test_an_action_leaves_at_its_next_word_once_a_beat_finds_its_claim_gone(
    database: Database, holder: Shop, keeper: Shop, gate: Gate, *, caplog: pytest.LogCaptureFixture, word: str
) -> None:
    """Nothing it could do would count any more, so it need not do it; no `except Exception` holds it back."""
    left = speak(holder, word)
    future = begin(holder, gate, 1)
    poll(lambda: release_by_force(keeper, database, 1, "pay"))
    poll(lambda: "was lost to a keeper" in caplog.text)
    gate.open()
    assert future.result(PATIENCE_SECONDS) == Pending(None)
    assert left == [ClaimLeft]
    assert not issubclass(ClaimLeft, Exception)
    assert read_order(database, 1) == ("pending", 2)


def release_by_force(keeper: Shop, database: Database, row: int, step: str) -> bool:
    """Release a claim that is alive and well, unless it beats in between: then False."""
    claim = read_claims(database)[str(row), step]
    bound = keeper.semel._setup.bound_of(keeper.orders._declared)
    name = ClaimName("orders", "orders", str(row), step, "pending")
    stranded = Stranded(bound.claims, name, row, claim["fence"], claim["beats"], claim["claim_status"], "pending")
    return bool(keeper.perform(release_stranded(stranded, "a person")) == "released")


def speak(shop: Shop, word: str) -> list[type[BaseException]]:
    """Register an action that says one word to its step after the gate; answer what it left by."""
    left: list[type[BaseException]] = []

    def note(problem: BaseException) -> None:
        left.append(type(problem))

    def act(step: Any) -> None:
        shop.here("begun", step)
        try:
            step.read(sa.text("SELECT 1")) if word == "read" else step.session
        except BaseException as problem:
            note(problem)
            raise

    async def act_async(step: Any) -> None:
        await shop.here("begun", step)
        try:
            await step.read(sa.text("SELECT 1")) if word == "read" else step.session
        except BaseException as problem:
            note(problem)
            raise

    registered = shop.semel._setup.registry.actions
    registered["Act"] = type(registered["Act"])(act if shop.colour == "sync" else act_async)
    return left
