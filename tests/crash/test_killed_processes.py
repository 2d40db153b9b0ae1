from __future__ import annotations

import os
import random
import signal
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import pytest

from semel.store import dialects
from tests.crash.backstage import Actor, start_actor
from tests.crash.recovery import OVER_A_LEASE, recover, see
from tests.databases import Database
from tests.shop.clock import VirtualClock
from tests.shop.process import Shop
from tests.shop.tables import lay_orders, read_order

STORM = os.environ.get("SEMEL_TEST_STORM") == "1"
"""With it every boundary is a death; without it a few of each act are."""

KILLS_PER_ACT = 3


@dataclass(frozen=True)
class Act:
    """What a process does when it is killed, how it answers when it is not, and what others have done before it."""

    name: str
    told: dict[str, Any]
    answer: str
    before: dict[str, Any] = field(default_factory=dict)
    strands: bool = False


ACTS = (
    Act("claims and writes", {"step": "pay", "input": {"rows": 1, "effects": 1}}, "Done("),
    Act("is released", {"step": "pay", "input": {"rows": 1, "end": "reject"}}, "Rejected("),
    Act("needs no claim", {"step": "cancel", "input": {"rows": 1}}, "Done("),
    Act("needs no action", {"step": "drop", "input": {}}, "Done("),
    Act("is run again", {"step": "deliver", "input": {"rows": 1}}, "Done("),
    Act("releases", {"duty": "janitor"}, "Report(found=1, done=1", {"step": "pay", "input": {}}, strands=True),
    Act("runs again", {"duty": "resumer"}, "Report(found=1, done=1", {"step": "deliver", "input": {}}, strands=True),
    Act("delivers", {"duty": "courier"}, "Report(found=1, done=1", {"step": "drop", "input": {}}),
)


@pytest.fixture
def actor(database: Database, shop: Shop) -> Iterator[Actor]:
    """A real process of the shop."""
    with start_actor(database.url, shop.colour) as actor:
        yield actor


@dataclass
class Director:
    """Sets the scene for each act, on a new row every time."""

    actor: Actor
    database: Database
    clock: VirtualClock
    rows: Iterator[int] = field(default_factory=lambda: count(1))

    def set_scene(self, act: Act) -> dict[str, Any]:
        """Do what comes before the act, and answer what the actor is told."""
        lay_orders(self.database, [row := next(self.rows)])
        if not act.before:
            return {"row": row, **act.told}
        if act.strands:
            self.strand(row, act.before)
            self.clock.move(self.database, OVER_A_LEASE)
        else:
            assert self.actor.tell(row=row, **act.before).code == 0
        return act.told

    def strand(self, row: int, step: dict[str, Any]) -> None:
        """Leave a claim behind: its holder is stopped in its action, and killed there."""
        child = self.actor.tell_until_stopped(row=row, **step, stop_at="begun")
        os.kill(child, signal.SIGKILL)
        assert self.actor.wake(child).code == -signal.SIGKILL


def choose(boundaries: int, seed: str) -> Iterable[int]:
    """Choose where to die: everywhere in a storm, else at a few places that are the same in every run."""
    every = range(1, boundaries + 1)
    return every if STORM else sorted(random.Random(seed).sample(every, min(KILLS_PER_ACT, boundaries)))


@pytest.mark.timeout(600)  # a storm has some three hundred deaths
def test_a_killed_process_leaves_nothing_between(
    database: Database, shop: Shop, clock: VirtualClock, actor: Actor
) -> None:
    """SIGKILL at the boundaries of real processes: each row is as before or finished, and keepers end what is left."""
    director = Director(actor, database, clock)
    for act in ACTS:
        whole = actor.tell(**director.set_scene(act))
        assert whole.code == 0, act.name
        assert (whole.answer or "").startswith(act.answer), (act.name, whole.answer)
        for kill_at in choose(whole.boundaries, f"{database.family} {shop.colour} {act.name}"):
            ended = actor.tell(**director.set_scene(act), kill_at=kill_at)
            assert (ended.code, ended.answer) == (-signal.SIGKILL, None), (act.name, kill_at, ended)
            see(shop, database)
        picture = recover(shop, database, clock)
        ends = {status for status, _ in picture.rows.values()}
        assert ends <= {"pending", "paid", "cancelled", "dropped", "delivered"}, act.name


@pytest.mark.parametrize("step", ["pay", "deliver"])
def test_a_process_that_wakes_after_its_takeover_changes_nothing(
    database: Database, shop: Shop, clock: VirtualClock, actor: Actor, step: str
) -> None:
    """Stopped past its lease in its action, before it wrote: the row is somebody else's, its writes go, and it is told."""
    lay_orders(database, [1])
    zombie = actor.tell_until_stopped(row=1, step=step, input={"rows": 1, "effects": 1}, stop_at="begun")
    clock.move(database, OVER_A_LEASE)
    before = recover(shop, database, clock)
    assert read_order(database, 1)[0] == {"pay": "pending", "deliver": "delivered"}[step]
    woken = actor.wake(zombie)
    assert (woken.code, woken.answer) == (0, "Pending(call=None)")
    assert see(shop, database) == before


def test_a_process_that_wakes_without_a_word_to_the_database_changes_nothing(
    database: Database, shop: Shop, clock: VirtualClock, actor: Actor
) -> None:
    """It wrote nothing and asks nothing, so only the finish itself can tell it that the claim is gone."""
    lay_orders(database, [1])
    zombie = actor.tell_until_stopped(row=1, step="pay", input={"rows": 0}, stop_at="begun")
    clock.move(database, OVER_A_LEASE)
    before = recover(shop, database, clock, rows_per_finish=0)
    woken = actor.wake(zombie)
    assert (woken.code, woken.answer) == (0, "Pending(call=None)")
    assert see(shop, database, rows_per_finish=0) == before


@pytest.fixture
def short_lock_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let keepers of the test's own process wait one second for a row: MariaDB counts in whole ones."""
    monkeypatch.setattr(dialects, "LOCK_WAIT_SECONDS", 1)


@pytest.mark.usefixtures("short_lock_waits")
@pytest.mark.parametrize("database", ["postgresql", "mariadb"], indirect=True)
def test_a_process_that_stops_inside_its_finishing_transaction_keeps_its_row(
    database: Database, shop: Shop, clock: VirtualClock, actor: Actor
) -> None:
    """Its lock makes keepers wait, so nobody takes over half a finish; when it wakes, it finishes."""
    lay_orders(database, [1])
    sleeper = actor.tell_until_stopped(row=1, step="pay", input={"rows": 1}, stop_at="written")
    clock.move(database, OVER_A_LEASE)
    shop.look("janitor")
    clock.move(database, OVER_A_LEASE)
    report = shop.look("janitor")
    assert (report.found, report.done, len(report.problems)) == (1, 0, 1)
    woken = actor.wake(sleeper)
    assert (woken.code, woken.answer) == (0, "Done(status='paid', result=None)")
    picture = recover(shop, database, clock)
    assert picture.rows["1"] == ("paid", 2)
