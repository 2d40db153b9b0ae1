from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from tests.crash.life import ASKS_LIMIT, DEAD, Life
from tests.crash.recovery import assert_delivered, recover, see
from tests.databases import Database
from tests.shop.clock import VirtualClock
from tests.shop.process import ActionFailedError, Shop
from tests.shop.tables import lay_orders


@dataclass(frozen=True)
class Story:
    """A step that is taken, and where its row may be in the end: `finished` where it can get so far."""

    step: str
    input: dict[str, Any]
    finished: str | None
    claim: str | None = None

    @property
    def resumes(self) -> bool:
        """Whether keepers run the step again instead of moving the row back."""
        return self.claim == "delivering"

    @property
    def states(self) -> set[str]:
        """Where rows can be when a caller has died."""
        return {"pending", *filter(None, (self.claim, self.finished))}

    def take(self, shop: Shop, row: int) -> Any:
        """Take the step."""
        return shop.orders.advance(row, self.step, input=self.input)


STORIES = {
    "claimed, writing": Story("pay", {"rows": 2, "effects": 1}, "paid", "paying"),
    "claimed, writing nothing": Story("pay", {"rows": 0, "effects": 1}, "paid", "paying"),
    "alone, with an action": Story("cancel", {"rows": 2, "effects": 1}, "cancelled"),
    "alone, without an action": Story("drop", {}, "dropped"),
    "rejected by the action": Story("pay", {"rows": 2, "end": "reject"}, None, "paying"),
    "rejected by a validator": Story("pay", {"drunk": True}, None, "paying"),
    "rejected alone": Story("cancel", {"rows": 1, "end": "reject"}, None),
    "failed": Story("pay", {"rows": 2, "end": "raise"}, None, "paying"),
    "failed without writing": Story("pay", {"rows": 0, "end": "raise"}, None, "paying"),
    "failed alone": Story("cancel", {"rows": 1, "end": "raise"}, None),
    "run again": Story("deliver", {"rows": 2, "effects": 1}, "delivered", "delivering"),
    "run again, writing nothing": Story("deliver", {"rows": 0, "effects": 1}, "delivered", "delivering"),
}


def die_at_every_ask(shop: Shop, database: Database, clock: VirtualClock, story: Story) -> Iterator[tuple[int, Life]]:
    """Take the step on row after row, each time as a process that lives one ask longer, until one survives."""
    for row in range(1, ASKS_LIMIT):
        lay_orders(database, [row])
        doomed = Shop(shop.colour, database.url, shop.stage, clock)
        doomed.boot_like(shop)
        life = Life(doomed, asks=row)
        try:
            answer = life.live(lambda doomed=doomed, row=row: story.take(doomed, row))
        except ActionFailedError as problem:
            answer = problem
        yield row, life
        if answer is not DEAD:
            return
    raise AssertionError("no process lived to its end")


@pytest.mark.parametrize("story", STORIES.values(), ids=STORIES)
def test_a_death_at_any_ask_leaves_the_row_as_before_or_finished(
    database: Database, shop: Shop, clock: VirtualClock, story: Story
) -> None:
    """Whatever a caller was doing when it died: nothing is half done then, and nothing is left to do after the keepers."""
    deaths, rows_per_finish = [], story.input.get("rows", 1)
    for row, life in die_at_every_ask(shop, database, clock, story):
        picture = see(shop, database, rows_per_finish)
        deaths.append((row, life.last_words, picture.rows[str(row)][0]))
    picture = recover(shop, database, clock, rows_per_finish)
    for row, last_words, status_then in deaths:
        status, _ = picture.rows[str(row)]
        is_finished = status_then == story.finished or (story.resumes and status_then != "pending")
        assert status == (story.finished if is_finished else "pending"), last_words
    assert_delivered(picture, shop)
    # The walk has met every state of the step, or it would prove little.
    assert {status for _, _, status in deaths} == story.states
