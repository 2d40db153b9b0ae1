from __future__ import annotations

import asyncio
import gc
import subprocess
import sys

import pytest

from semel import AsyncSemel, Moved
from tests.conformance.faces import Colour, Once
from tests.conformance.shop import Order, lay_orders, read_moves, read_rows
from tests.databases import Database

only_async = pytest.mark.parametrize("colour", ["async"], indirect=True)


@only_async
def test_one_semel_may_live_through_several_event_loops(database: Database, once: Once) -> None:
    """As tests and scripts do with asyncio.run: each loop has connections of its own, and every verb works in each."""
    lay_orders(database, range(1, 25))
    semel = AsyncSemel(database.url, connections_limit=2)
    orders = semel.table(Order)
    assert once.colour

    async def move(rows: range) -> list[object]:
        return list(await asyncio.gather(*(orders.transition(row, "pending", to="paid") for row in rows)))

    for number in range(4):
        rows = range(1 + 6 * number, 7 + 6 * number)
        assert asyncio.run(move(rows)) == [Moved(1)] * 6
        gc.collect()  # a later loop may get the place in memory that a dead one had
    asyncio.run(close(semel))
    assert len(read_moves(database)) == 24


async def close(semel: AsyncSemel) -> None:
    """Close it in a loop."""
    await semel.close()


@only_async
def test_boot_in_a_second_loop_waits_for_its_own_lock(database: Database, once: Once) -> None:
    """Many callers of a first verb wait for one boot, in one loop after another."""
    lay_orders(database)
    assert once.colour
    semel = AsyncSemel(database.url)

    async def declare_and_move(row: int) -> list[object]:
        table = semel.table(Order)
        verbs = [table.transition(each, "pending", to="paid") for each in range(row, row + 5)]
        return list(await asyncio.gather(*verbs))

    assert asyncio.run(declare_and_move(1)) == [Moved(1)] * 5
    assert asyncio.run(declare_and_move(6)) == [Moved(1)] * 5
    asyncio.run(close(semel))


FORK = """
import asyncio, os, sys, warnings
from semel import AsyncSemel, Moved, Semel

warnings.simplefilter("error")
warnings.filterwarnings("ignore", "This process .* is multi-threaded", DeprecationWarning)
url, colour = sys.argv[1:]
once = Semel(url, connections_limit=2) if colour == "sync" else AsyncSemel(url, connections_limit=2)
orders = once.table("orders")

def move(*rows):
    def check(answers):
        assert answers == [Moved(1)] * len(rows), answers
    if colour == "sync":
        check([orders.transition(row, "pending", to="paid") for row in rows])
        check(list(orders.transition_many([row + 20 for row in rows], "pending", to="paid").values()))
    else:
        async def both():
            check(list(await asyncio.gather(*(orders.transition(row, "pending", to="paid") for row in rows))))
            check(list((await orders.transition_many([row + 20 for row in rows], "pending", to="paid")).values()))
        asyncio.run(both())

move(1, 2)
children = []
for number in range(3):
    child = os.fork()
    if child == 0:
        try:
            move(10 + number, 15 + number)
        except BaseException:
            import traceback
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    children.append(child)
    move(3 + number)
statuses = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
assert statuses == [0, 0, 0], statuses
move(6)
if colour == "sync":
    once.close()
"""


def test_a_forked_child_opens_connections_of_its_own(database: Database, colour: Colour, once: Once) -> None:
    """Parent and children move rows at the same time after a fork: each answer is its own, and none is lost."""
    lay_orders(database, range(1, 41))
    assert once.colour
    program = [sys.executable, "-c", FORK, database.url, colour]
    ran = subprocess.run(program, capture_output=True, text=True, timeout=60, check=False)
    assert ran.returncode == 0, ran.stderr
    for sign in ("Traceback", "Exception ignored", "Warning"):  # an interpreter may say other things when it starts
        assert sign not in ran.stderr
    rows = [1, 2, 3, 4, 5, 6, 10, 11, 12, 15, 16, 17]
    moved = sorted([*rows, *(row + 20 for row in rows)])
    assert [row for row, (status, _) in read_rows(database).items() if status == "paid"] == moved
    assert sorted(int(entry.row_id or 0) for entry in read_moves(database)) == moved
