from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from sqlalchemy.ext.asyncio import AsyncSession, create_async_engine
from sqlalchemy.orm import Session
from sqlalchemy.pool import NullPool

from tests.crash.life import ASKS_LIMIT, DEAD, Life
from tests.crash.recovery import OVER_A_LEASE, assert_delivered, recover, see
from tests.crash.stranding import Wreck, start_process
from tests.databases import Database
from tests.shop.clock import VirtualClock
from tests.shop.process import Shop
from tests.shop.tables import Mail, count_mails, lay_orders


def keep_until_death(
    shop: Shop, database: Database, clock: VirtualClock, duty: str, prepare: Callable[[int], None]
) -> Iterator[tuple[int, Life]]:
    """Prepare row after row for a keeper that dies after one ask more each time, until one survives."""
    for row in range(1, ASKS_LIMIT):
        prepare(row)
        keeper = start_process(shop, database, clock)
        life = Life(keeper)
        clock.move(database, OVER_A_LEASE)
        keeper.look(duty)
        clock.move(database, OVER_A_LEASE)
        life.left = row
        answer = life.live(lambda keeper=keeper: keeper.semel._performer.perform(keeper.duties[duty].look()))
        yield row, life
        if answer is not DEAD:
            return
    raise AssertionError("no keeper lived to the end of its look")


@pytest.mark.parametrize(
    ("duty", "step", "seen", "end"),
    [
        ("janitor", "pay", {"paying", "pending"}, "pending"),
        ("resumer", "deliver", {"delivering", "delivered"}, "delivered"),
    ],
)
def test_a_keeper_that_dies_at_any_ask_leaves_work_for_the_next(
    database: Database, shop: Shop, clock: VirtualClock, *, duty: str, step: str, seen: set[str], end: str
) -> None:
    """Recovery is as safe to kill as what it recovers from: another keeper brings the row to the same end."""
    statuses, wreck = set(), Wreck(shop, database, clock)

    def prepare(row: int) -> None:
        lay_orders(database, [row])
        wreck.strand(row, step)

    for row, life in keep_until_death(shop, database, clock, duty, prepare):
        picture = see(shop, database)
        statuses.add(picture.rows[str(row)][0])
        picture = recover(shop, database, clock)
        assert picture.rows[str(row)][0] == end, life.last_words
        assert_delivered(picture, shop, life.shop)
    assert statuses == seen


def handle_once(
    shop: Shop, database: Database, at: Callable[[str, Any], Any] = lambda _place, _effect: None
) -> Callable[[Any], Any]:
    """Answer a handler that sends one mail however often it is called, and can die before and after."""

    def handle(effect: Any) -> None:
        at("handling", effect)
        with Session(database.engine()) as session, session.begin():
            if effect.first_time(session):
                session.add(Mail(effect_id=effect.id))
        at("handled", effect)

    async def stand(place: str, effect: Any) -> None:
        frozen = at(place, effect)
        if frozen is not None:
            await frozen

    async def handle_async(effect: Any) -> None:
        await stand("handling", effect)
        engine = create_async_engine(database.async_url, poolclass=NullPool)
        async with AsyncSession(engine) as session, session.begin():
            if await effect.first_time(session):
                session.add(Mail(effect_id=effect.id))
        await stand("handled", effect)

    return handle if shop.colour == "sync" else handle_async


def test_a_courier_that_dies_at_any_ask_loses_no_delivery(database: Database, shop: Shop, clock: VirtualClock) -> None:
    """What it was delivering is delivered again, under the same id, and a handler that asks `first_time` acts once."""
    shop.deliver = handle_once(shop, database)
    attempts, couriers = set(), [shop]
    for row in range(1, ASKS_LIMIT):
        lay_orders(database, [row])
        assert shop.advance(row, "drop")
        couriers.append(courier := start_process(shop, database, clock))
        life = Life(courier, asks=row)
        courier.deliver = handle_once(courier, database, life.at)
        answer = life.live(lambda courier=courier: courier.semel._performer.perform(courier.duties["courier"].look()))
        picture = recover(shop, database, clock)
        assert_delivered(picture, *couriers)
        assert set(count_mails(database).values()) == {1}, life.last_words
        attempts |= {effect.attempts for effect in picture.effects}
        if answer is not DEAD:
            break
    assert attempts == {1, 2}
    assert len(count_mails(database)) == 2 * row
