"""The pools lend anything: here, numbers that a wire without a database opens, so that every turn can be played by hand."""

from __future__ import annotations

import asyncio
import gc
import os
import threading
import weakref
from types import SimpleNamespace
from typing import Any

import pytest

from semel.errors import PoolEmptyError, UsageError
from semel.performers import pool
from semel.performers.pool import AsyncPool, Pool


class Numbers:
    """Opens connections that are numbers, and remembers which are closed or dead."""

    dialect = SimpleNamespace(name="postgresql")

    def __init__(self) -> None:
        self.opened = 0
        self.closed: list[int] = []
        self.dead: set[int] = set()
        self.refusing = False

    def open(self) -> int:
        if self.refusing:
            raise ConnectionRefusedError
        self.opened += 1
        return self.opened

    def is_open(self, connection: int) -> bool:
        return connection not in self.dead

    def close(self, connection: int) -> None:
        self.closed.append(connection)


class AsyncNumbers(Numbers):
    """The same, awaited; `gate` holds those who open."""

    gate: asyncio.Event | None = None

    async def open(self) -> int:  # type: ignore[override] # an async wire answers with something to await
        if self.gate is not None:
            await self.gate.wait()
        return super().open()


def test_the_last_one_back_is_the_next_one_out() -> None:
    """So that a quiet time lets the others grow old, and a busy one does not open more than it needs."""
    lender = Pool(Numbers(), 3)
    first, second = lender.lend(), lender.lend()
    lender.give_back(first)
    lender.give_back(second)
    assert (lender.lend(), lender.lend(), lender.shelf.made) == (second, first, 2)


def test_a_dead_connection_is_replaced() -> None:
    """It leaves the pool when it is next wanted, and its place is taken."""
    wire = Numbers()
    lender = Pool(wire, 1)
    lender.give_back(dead := lender.lend())
    wire.dead.add(dead)
    assert lender.lend() != dead
    assert (wire.closed, lender.shelf.made) == ([dead], 1)


def test_a_database_that_refuses_costs_no_place(monkeypatch: pytest.MonkeyPatch) -> None:
    """After any number of failures the pool still lends as many as it may."""
    monkeypatch.setattr(pool, "LEND_SECONDS", 0.01)
    wire = Numbers()
    lender = Pool(wire, 2)
    wire.refusing = True
    for _ in range(5):
        with pytest.raises(ConnectionRefusedError):
            lender.lend()
    wire.refusing = False
    lender.lend()
    lender.discard(lender.lend())
    lender.lend()
    with pytest.raises(PoolEmptyError, match="all 2 of them"):
        lender.lend()


def test_who_waits_is_served_by_who_gives_back_or_gives_up() -> None:
    """A connection that comes back is handed on; a place that comes free may be filled."""
    for give_up in (False, True):
        lender = Pool(Numbers(), 2)
        held = [lender.lend(), lender.lend()]
        served: list[Any] = []
        waiting = threading.Thread(target=lambda lender=lender, served=served: served.append(lender.lend()))
        waiting.start()
        (lender.discard if give_up else lender.give_back)(held[0])
        waiting.join()
        assert served == [3 if give_up else held[0]]
        assert lender.shelf.made == 2


def test_a_thread_that_already_holds_the_only_connection_is_told_at_once() -> None:
    """Waiting for itself would never end."""
    lender = Pool(Numbers(), 1)
    lender.lend()
    with pytest.raises(UsageError) as caught:
        lender.lend()
    assert caught.value.code == "SEMEL-STORE-9"


def test_a_closed_pool_wakes_who_waits_and_closes_what_comes_back() -> None:
    """Nobody waits for a pool that will never lend again."""
    wire = Numbers()
    lender = Pool(wire, 2)
    held, other = lender.lend(), lender.lend()
    told: list[str] = []

    def wait() -> None:
        with pytest.raises(UsageError) as caught:
            lender.lend()
        told.append(caught.value.code)

    waiting = threading.Thread(target=wait)
    waiting.start()
    lender.give_back(other)
    lender.close()
    waiting.join()
    lender.give_back(held)
    assert (told, sorted(wire.closed)) in ((["SEMEL-APP-2"], [held, other]), ([], [held, other]))


def test_a_child_inherits_no_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    """They are neither used nor closed nor forgotten: their sockets are the parent's, and so would be a destructor's farewell."""
    wire = Numbers()
    lender = Pool(wire, 2)
    lender.give_back(lender.lend())
    monkeypatch.setattr(os, "getpid", lambda: 1)
    assert lender.take_idle() is None
    assert lender.lend() == 2
    assert (wire.closed, lender.shelf.inherited) == ([], [1])


async def test_tasks_are_served_in_the_order_in_which_they_asked() -> None:
    """Nobody is overtaken, and nobody is forgotten."""
    lender = AsyncPool(AsyncNumbers(), 1)
    held = await lender.lend()
    order: list[int] = []

    async def work(number: int) -> None:
        connection = await lender.lend()
        order.append(number)
        lender.give_back(connection)

    tasks = [asyncio.ensure_future(work(number)) for number in range(5)]
    await asyncio.wait(tasks, timeout=0)
    lender.give_back(held)
    await asyncio.gather(*tasks)
    assert (order, lender.shelf.made) == ([0, 1, 2, 3, 4], 1)


async def test_a_cancelled_task_hands_its_turn_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cancelled while waiting, after having been served but before running, and while opening: no place is lost."""
    monkeypatch.setattr(pool, "LEND_SECONDS", 0.01)
    wire = AsyncNumbers()
    lender = AsyncPool(wire, 1)
    held = await lender.lend()
    tasks = [asyncio.ensure_future(lender.lend()) for _ in range(3)]
    await asyncio.wait(tasks, timeout=0)
    tasks[0].cancel()
    lender.give_back(held)  # the first one left has it now, and is cancelled before it can run
    tasks[1].cancel()
    assert await tasks[2] == held
    wire.gate = asyncio.Event()
    lender.discard(held)
    opening = asyncio.ensure_future(lender.lend())
    await asyncio.wait([opening], timeout=0)
    opening.cancel()
    await asyncio.gather(*tasks, opening, return_exceptions=True)
    wire.gate = None
    assert await lender.lend() == 2
    with pytest.raises(PoolEmptyError):
        await lender.lend()


async def test_a_place_that_comes_free_is_filled_by_who_waits() -> None:
    """A discarded connection, or one that could not be opened, lets the next in line open another."""
    wire = AsyncNumbers()
    lender = AsyncPool(wire, 1)
    held = await lender.lend()
    tasks = [asyncio.ensure_future(lender.lend()) for _ in range(2)]
    await asyncio.wait(tasks, timeout=0)
    wire.refusing = True
    lender.discard(held)
    await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    wire.refusing = False
    answers = await asyncio.gather(*tasks, return_exceptions=True)
    assert isinstance(answers[0], ConnectionRefusedError)
    assert (answers[1], lender.shelf.made) == (2, 1) or isinstance(answers[1], ConnectionRefusedError)


async def test_a_closed_pool_refuses_those_who_wait() -> None:
    """They find it closed, and what is lent is closed when it comes back."""
    wire = AsyncNumbers()
    lender = AsyncPool(wire, 1)
    held = await lender.lend()
    waiting = asyncio.ensure_future(lender.lend())
    await asyncio.wait([waiting], timeout=0)
    lender.close()
    with pytest.raises(UsageError, match="was closed"):
        await waiting
    lender.give_back(held)
    assert wire.closed == [held]


def test_each_loop_has_connections_of_its_own_and_closes_them_when_it_ends() -> None:
    """Also when a later loop gets the place in memory that an ended one had."""
    wire = AsyncNumbers()
    lender = AsyncPool(wire, 2)

    async def use() -> int:
        connection: int = await lender.lend()
        lender.give_back(connection)
        return connection

    for number in range(1, 6):
        assert asyncio.run(use()) == number
        assert wire.closed == list(range(1, number + 1))
        gc.collect()


def test_a_loop_is_remembered_as_long_as_its_connections_are() -> None:
    """Nobody gets the place in memory of a loop that was closed without a farewell, and with it that loop's connections."""
    lender = AsyncPool(AsyncNumbers(), 1)

    async def use() -> int:
        connection: int = await lender.lend()
        lender.give_back(connection)
        return connection

    loop = asyncio.new_event_loop()
    assert loop.run_until_complete(use()) == 1
    loop.close()
    remembered = weakref.ref(loop)
    del loop
    gc.collect()
    assert (remembered() is not None, lender.shelf.idle) == (True, [1])
    assert asyncio.run(use()) == 2


def test_a_waiter_of_a_dead_loop_is_served_by_nobody() -> None:
    """What comes back in another loop goes to those who wait there."""
    wire = AsyncNumbers()
    lender = AsyncPool(wire, 1)
    dead = asyncio.new_event_loop()
    dead.run_until_complete(lender.lend())
    left = dead.create_task(lender.lend())
    dead.run_until_complete(asyncio.wait([left], timeout=0))

    async def use() -> tuple[int, int]:
        connection = await lender.lend()
        waiting = asyncio.ensure_future(lender.lend())
        await asyncio.wait([waiting], timeout=0)
        lender.give_back(connection)
        return connection, await waiting

    assert asyncio.run(use()) == (2, 2)
    left.cancel()
    dead.run_until_complete(asyncio.gather(left, return_exceptions=True))
    dead.close()
