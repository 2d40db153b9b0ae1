from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from semel import Moved, StoreError, UsageError
from semel.performers import pool
from tests.conformance.conftest import Open
from tests.conformance.faces import Once, Orders
from tests.conformance.families import on_servers
from tests.conformance.rivals import open_rival, wait_until_waiting
from tests.conformance.shop import Order, lay_orders, read_moves, read_row, read_rows
from tests.databases import Database

ROWS = range(100, 140)


@pytest.fixture
def narrow(database: Database, open_once: Open, once: Once) -> Orders:
    """Orders behind two connections."""
    lay_orders(database)
    assert once.colour
    narrow = open_once(connections_limit=2)
    orders = narrow.table(Order)
    narrow.boot()
    return orders


def find_pool(orders: Orders) -> Any:
    """Answer the pool under a handle."""
    return orders.once.semel._performer.pool


def test_more_callers_than_connections_wait_for_their_turn(database: Database, narrow: Orders) -> None:
    """Forty callers over two connections: everyone is served, and no third connection is made."""
    lay_orders(database, ROWS)
    calls = [lambda row=row: narrow.table.transition(row, "pending", to="paid") for row in ROWS]
    assert narrow.once.call_all(calls) == [Moved(1)] * len(ROWS)
    shelf = find_pool(narrow).shelf
    assert shelf.made == len(shelf.idle) <= 2


@on_servers
def test_a_pool_that_stays_empty_is_an_error_after_a_bounded_wait(
    database: Database, narrow: Orders, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error names the limit; nothing was written, and the connections come back."""
    monkeypatch.setattr(pool, "LEND_SECONDS", 0.05)
    with open_rival(database) as rival:
        rival.lock(1)
        rival.lock(2)
        held = [narrow.begin_transition(row, "pending", to="paid") for row in (1, 2)]
        wait_until_waiting(database, 2)
        with pytest.raises(StoreError, match="all 2 of them are in use") as caught:
            narrow.begin_transition(3, "pending", to="paid").result()
        assert (caught.value.code, caught.value.retryable) == ("SEMEL-STORE-7", True)
        rival.commit()
        assert [each.result() for each in held] == [Moved(1), Moved(1)]
    assert narrow.transition(3, "pending", to="paid") == Moved(1)


@pytest.mark.parametrize("colour", ["async"], indirect=True)
@on_servers
def test_a_cancelled_task_takes_no_connection_with_it(database: Database, narrow: Orders) -> None:
    """Fifty tasks cancelled while their statement waits for a lock, others while they wait for a connection."""
    with open_rival(database) as rival:
        rival.lock(1)
        narrow.once.stage.begin(lambda: cancel_waiting_tasks(database, narrow, rounds=50)).result()
        rival.commit()
    shelf = find_pool(narrow).shelf
    assert shelf.made == len(shelf.idle) <= 2
    lay_orders(database, ROWS)
    calls = [lambda row=row: narrow.table.transition(row, "pending", to="paid") for row in ROWS]
    assert narrow.once.call_all(calls) == [Moved(1)] * len(ROWS)
    assert {read_rows(database)[row] for row in ROWS} == {
        ("paid", 1)
    }  # none of them in a transaction that was left open
    for row in (1, 2):
        status, version = read_row(database, row)
        assert (status, version) in {("pending", 0), ("paid", 1)}  # a statement that was sent may still have run
        assert len([entry for entry in read_moves(database) if entry.row_id == str(row)]) == version


async def cancel_waiting_tasks(database: Database, orders: Orders, *, rounds: int) -> None:
    """Begin four verbs on a locked row over two connections, and cancel them once two of them wait for the lock."""
    for number in range(rounds):
        verb, which = (orders.table.transition_many, [1, 2]) if number % 2 else (orders.table.transition, 1)
        tasks = [asyncio.ensure_future(verb(which, "pending", to="paid")) for _ in range(4)]
        await asyncio.to_thread(wait_until_waiting, database, 2)
        for task in tasks:
            task.cancel()
        answers = await asyncio.gather(*tasks, return_exceptions=True)
        assert [type(answer) for answer in answers] == [asyncio.CancelledError] * 4, answers


@pytest.mark.parametrize("colour", ["async"], indirect=True)
def test_a_cancelled_task_may_still_work_while_it_cleans_up(database: Database, narrow: Orders) -> None:
    """Who was asked to stop and first releases what it holds is not stopped a second time by Semel."""
    done: list[object] = []

    async def hold_until_cancelled() -> None:
        try:
            await asyncio.get_running_loop().create_future()
        finally:
            done.append(await narrow.table.transition(1, "pending", to="released"))

    async def cancel_it() -> None:
        task = asyncio.ensure_future(hold_until_cancelled())
        await asyncio.wait([task], timeout=0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    drop_idle_connections(narrow)
    narrow.once.stage.begin(cancel_it).result()
    assert (done, read_row(database, 1)) == ([Moved(1)], ("released", 1))


def drop_idle_connections(orders: Orders) -> None:
    """Make the next verb connect anew."""
    shelf = find_pool(orders).shelf

    async def drop() -> None:
        while shelf.idle:
            shelf.drop(shelf.idle.pop())

    orders.once.stage.begin(drop).result()


@pytest.mark.parametrize("colour", ["async"], indirect=True)
def test_a_task_cancelled_at_any_turn_of_the_loop_leaves_a_sound_pool(database: Database, narrow: Orders) -> None:
    """Cancelled after 0, 1, 2 … turns: while connecting, sending, waiting, committing. Nothing leaks, nothing is half done."""
    lay_orders(database, ROWS)
    narrow.once.stage.begin(lambda: cancel_after_turns(narrow, ROWS)).result()
    for row in ROWS:
        assert isinstance(narrow.transition(row, ["pending", "paid"], to="sent"), Moved)
    shelf = find_pool(narrow).shelf
    assert shelf.made == len(shelf.idle) <= 2
    moves = read_moves(database)
    for row in ROWS:
        status, version = read_row(database, row)
        assert status == "sent"
        assert [entry.version for entry in sort_by_version(moves, row)] == list(range(1, version + 1))


def sort_by_version(moves: list[Any], row: int) -> list[Any]:
    """Answer the moves of one row in their order."""
    return sorted((entry for entry in moves if entry.row_id == str(row)), key=lambda entry: entry.version)


async def cancel_after_turns(orders: Orders, rows: range) -> None:
    """Cancel one verb after the other, each a turn later than the one before."""
    for turns, row in enumerate(rows):
        words = ([row], "pending") if row % 2 else (row, "pending")
        verb = orders.table.transition_many if row % 2 else orders.table.transition
        task = asyncio.ensure_future(verb(*words, to="paid"))
        for _ in range(turns // 2):
            await asyncio.wait([task], timeout=0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


def test_a_closed_semel_refuses_to_work(database: Database, orders: Orders) -> None:
    """Closing twice is fine; any verb afterwards says what happened."""
    assert orders.transition(1, "pending", to="paid") == Moved(1)
    orders.once.close()
    orders.once.close()
    for call in (
        lambda: orders.transition(2, "pending", to="paid"),
        lambda: orders.transition_many([2], "pending", to="paid"),
    ):
        with pytest.raises(UsageError, match="was closed") as caught:
            call()
        assert caught.value.code == "SEMEL-APP-2"
    assert read_row(database, 2) == ("pending", 0)


@on_servers
def test_closing_lets_the_verbs_under_way_finish(database: Database, narrow: Orders) -> None:
    """A connection that is lent is closed when it comes back, with its answer."""
    with open_rival(database) as rival:
        rival.lock(1)
        under_way = narrow.begin_transition(1, "pending", to="paid")
        wait_until_waiting(database)
        narrow.once.close()
        rival.commit()
        assert under_way.result() == Moved(1)
    assert find_pool(narrow).shelf.idle == []


@pytest.mark.parametrize("colour", ["sync"], indirect=True)
def test_a_sync_verb_refuses_to_block_a_running_loop(orders: Orders) -> None:
    """The error names the other way; from a thread of the loop it works."""
    orders.once.boot()

    async def call_it_there() -> str:
        with pytest.raises(UsageError, match="AsyncSemel") as caught:
            orders.table.transition(1, "pending", to="paid")
        with pytest.raises(UsageError):
            orders.once.semel.boot()
        with pytest.raises(UsageError):
            orders.once.semel.create_tables()
        assert await asyncio.to_thread(orders.table.transition, 1, "pending", to="paid") == Moved(1)
        return caught.value.code

    assert orders.once.stage.begin(call_it_there).result() == "SEMEL-APP-1"


@pytest.mark.parametrize("colour", ["sync"], indirect=True)
def test_threads_that_end_leave_their_connections_to_others(database: Database, narrow: Orders) -> None:
    """Connections belong to nobody: forty threads, one after the other, use the same one."""
    lay_orders(database, ROWS)
    for row in ROWS:
        thread = threading.Thread(target=lambda row=row: narrow.table.transition(row, "pending", to="paid"))
        thread.start()
        thread.join()
    assert find_pool(narrow).shelf.made == 1
    assert len(read_moves(database)) == len(ROWS)
