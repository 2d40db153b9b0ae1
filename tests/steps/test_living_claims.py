"""Claims of whole processes: whose they are, who beats for them, and what is left when a caller is cancelled."""

from __future__ import annotations

import asyncio
import copy
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any

import pytest
import sqlalchemy as sa

from semel import AsyncSemel, Done, Semel
from tests.conformance.faces import Colour, Stage
from tests.databases import Database
from tests.joined.lent import run_through
from tests.steps.workshop import FLOW, Order, Seen, Workshop, call, lay_tables, write

LONG_LEASE_SECONDS = 60
"""The first beat for it alone would come after 20 s."""

SHORT_LEASE_SECONDS = 1
"""The first beat for it comes after a third of a second."""

PATIENCE_SECONDS = 15
"""Less than the long lease alone would take, and far more than the short one needs."""


def make_flow() -> dict[str, Any]:
    """Two steps with claims: `pay` under a short lease, `keep` under a long one."""
    flow = copy.deepcopy(FLOW)
    pay, cancel = flow["steps"]
    flow["status_types"].append("keeping")
    pay["lease_seconds"] = SHORT_LEASE_SECONDS
    keep = {"step_key": "keep", "successful_claim_state": ["keeping", "pending"], "lease_seconds": LONG_LEASE_SECONDS}
    cancel.update(keep)
    return flow


def make(database: Database, colour: Colour, story: Callable[[Any], Any]) -> Any:
    """Make a process whose action tells a story."""
    kind: Any = Semel if colour == "sync" else AsyncSemel
    semel = kind(database.url, workflows=make_flow(), lease_seconds=LONG_LEASE_SECONDS, connections_limit=20)
    if colour == "sync":
        semel.action("Act")(lambda step: run_through(story(step)))
    else:

        async def act(step: Any) -> Any:
            return await story(step)

        semel.action("Act")(act)
    return semel


@pytest.fixture
def laid(database: Database) -> Iterator[Database]:
    """A database with twenty pending orders."""
    lay_tables(database)
    with database.engine().begin() as connection:
        connection.execute(sa.insert(Order), [{"id": row, "status": "pending"} for row in range(20)])
    return database


async def wait_for_a_beat(step: Any) -> None:
    """Stay in the action until somebody has beaten for its claim."""
    beats = sa.text("SELECT beats FROM semel_claims WHERE row_id = :row AND held = 1")
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not (await call(step.read, beats, {"row": str(step.id)}))[0][0]:
        assert time.monotonic() < deadline, "nobody beat for this claim in time"


def test_a_short_lease_is_beaten_for_beside_a_long_one(laid: Database, colour: Colour, stage: Stage) -> None:
    """The long claim came first and set a slow pace; the short one is not lost for that."""
    begun, ended = threading.Event(), threading.Event()

    async def story(step: Any) -> None:
        if step.key == "pay":
            await wait_for_a_beat(step)
            return
        begun.set()
        if colour == "sync":
            ended.wait(PATIENCE_SECONDS)
        else:
            await asyncio.to_thread(ended.wait, PATIENCE_SECONDS)

    semel = make(laid, colour, story)
    orders = semel.table(Order)
    stage.wait(semel.boot)
    begin = stage.threads.submit if colour == "sync" else stage.begin
    kept = begin(lambda: orders.advance(1, "keep"))
    assert begun.wait(PATIENCE_SECONDS)
    try:
        assert stage.wait(lambda: orders.advance(2, "pay")) == Done("paid")
    finally:
        ended.set()
    assert kept.result(PATIENCE_SECONDS) == Done("cancelled")
    stage.wait(semel.close)


def test_actions_live_in_several_event_loops(laid: Database) -> None:
    """One loop after the other, as scripts and tests have them: each has connections and a heart that belong to it."""

    async def story(step: Any) -> None:
        await write(step, "one") if step.id % 2 else await wait_for_a_beat(step)

    semel = make(laid, "async", story)
    orders = semel.table(Order)
    for row in range(4):
        assert asyncio.run(orders.advance(row, "pay")) == Done("paid")
    asyncio.run(semel.close())


# Owners


OWNERS = """
import sys, threading
from semel import Semel

sys.setswitchinterval(1e-6)
for number in range(15):
    once, together, owners = Semel("sqlite:///never_opened.db"), threading.Barrier(16), []

    def ask():
        together.wait()
        owners.append(once._setup.owner)

    threads = [threading.Thread(target=ask) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(owners) == 16 and len(set(owners)) == 1, set(owners)
    once.close()
"""


def test_a_process_has_one_owner_however_many_threads_ask_first() -> None:
    """Two names would mean claims that no heart of the process beats for."""
    ran = subprocess.run([sys.executable, "-c", OWNERS], capture_output=True, text=True, timeout=60, check=False)
    assert ran.returncode == 0, ran.stderr


def test_sixteen_first_claims_have_one_owner(laid: Database, stage: Stage) -> None:
    """The first verbs of a process come at once, from as many threads; all of their claims are the process's."""
    together, owners = threading.Barrier(16), []

    async def story(step: Any) -> None:
        together.wait(PATIENCE_SECONDS)
        owners.append(step.read(sa.text("SELECT DISTINCT owner FROM semel_claims WHERE held = 1")))
        together.wait(PATIENCE_SECONDS)

    semel = make(laid, "sync", story)
    orders = semel.table(Order)
    semel.boot()
    futures = [stage.threads.submit(orders.advance, row, "keep") for row in range(16)]
    assert [future.result(30) for future in futures] == [Done("cancelled")] * 16
    assert {len(each) for each in owners} == {1}
    semel.close()


# Cancelled callers

FOR_EVER = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c"


@pytest.mark.parametrize("family", ["sqlite"], indirect=True)
@pytest.mark.parametrize("colour", ["async"], indirect=True)
def test_a_cancelled_caller_leaves_no_lock_and_no_claim_on_sqlite(workshop: Workshop) -> None:
    """Its query is interrupted, its transaction rolled back, its row released: somebody else may write at once."""
    row = workshop.add_order()
    begun = threading.Event()

    async def story(step: Any) -> None:
        await write(step, "before")
        begun.set()
        await call(step.session.execute, sa.text(FOR_EVER))

    async def cancel() -> None:
        workshop.story = story
        task = asyncio.create_task(workshop.orders.advance(row, "pay"))
        assert await asyncio.to_thread(begun.wait, PATIENCE_SECONDS)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    workshop.stage.wait(cancel)
    with closing(sqlite3.connect(workshop.database.name, timeout=0)) as rival:
        rival.execute("BEGIN IMMEDIATE")
    assert workshop.see(row) == Seen("pending", 2)
