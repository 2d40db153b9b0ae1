from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy.ext.asyncio import AsyncSession, create_async_engine
from sqlalchemy.orm import Session
from sqlalchemy.pool import NullPool

from semel.asks import Execute
from semel.protocols.effect import ATTEMPTS_LIMIT, LONGEST_PAUSE_SECONDS
from tests.crash.recovery import OVER_A_DELIVERY, assert_delivered, recover, see
from tests.databases import Database
from tests.invariants import Picture
from tests.shop.clock import VirtualClock
from tests.shop.fixtures import OpenShop
from tests.shop.gate import PATIENCE_SECONDS, Gate
from tests.shop.process import Delivery, Shop
from tests.shop.tables import Mail, count_mails, lay_orders


class MailServerError(Exception):
    """What a handler raises when it cannot deliver."""


def fail_for(shop: Shop, is_refused: Callable[[Any], bool]) -> None:
    """Let some deliveries fail."""

    def deliver(effect: Any) -> None:
        if is_refused(effect):
            raise MailServerError(f"no mail for {effect.row_id} \0 today")

    shop.deliver = deliver


def show_deliveries(shop: Shop) -> list[tuple[str, str]]:
    """Answer (row, name) of every delivery, in order."""
    return [(delivery.row, delivery.name) for delivery in shop.delivered]


def show_states(picture: Picture) -> dict[tuple[str, str], str]:
    """Answer the state of every after-effect by (row, name)."""
    return {(effect.row_id, effect.name): effect.state for effect in picture.effects}


def look_until_idle(shop: Shop) -> None:
    """Let the courier look until nothing is due now."""
    for _ in range(20):
        if not shop.look("courier").found:
            return
    raise AssertionError("there was always something due")


@pytest.fixture(autouse=True)
def orders(database: Database, shop: Shop) -> None:
    """Some pending orders."""
    assert shop.colour
    lay_orders(database, range(1, 4))


def test_the_after_effects_of_a_row_are_delivered_in_their_order(shop: Shop, database: Database) -> None:
    """Declared ones before those that the action asked for, earlier moves before later ones, none before its turn."""
    assert shop.advance(1, "pay", input={"rows": 1, "effects": 2})
    assert shop.advance(1, "close")
    assert shop.look("courier").found == 1
    look_until_idle(shop)
    assert show_deliveries(shop) == [("1", "Receipt"), *[("1", "Mail")] * 3]
    assert [delivery.payload for delivery in shop.delivered] == [{}, {"number": 0}, {"number": 1}, {}]
    assert_delivered(see(shop, database), shop)


def test_a_failed_delivery_holds_up_its_row_and_no_other(shop: Shop, database: Database, clock: VirtualClock) -> None:
    """What comes after it on the same row waits, and is delivered in order once the first one is."""
    refused = {"1"}
    fail_for(shop, lambda effect: effect.row_id in refused)
    for row in (1, 2):
        assert shop.advance(row, "drop")
    look_until_idle(shop)
    states = show_states(see(shop, database))
    assert states == {
        ("1", "Receipt"): "due",
        ("1", "Mail"): "due",
        ("2", "Receipt"): "delivered",
        ("2", "Mail"): "delivered",
    }
    refused.clear()
    clock.move(database, OVER_A_DELIVERY)
    look_until_idle(shop)
    assert [each for each in show_deliveries(shop) if each[0] == "1"] == [
        ("1", "Receipt"),
        ("1", "Receipt"),
        ("1", "Mail"),
    ]
    assert_delivered(see(shop, database), shop)


def test_a_delivery_that_always_fails_is_parked_with_its_reason(
    shop: Shop, database: Database, clock: VirtualClock
) -> None:
    """Ten attempts, each later than the last; then it waits for a person, and holds up only its own row."""
    fail_for(shop, lambda effect: effect.row_id == "1")
    assert shop.advance(1, "drop")
    pauses = []
    for _ in range(ATTEMPTS_LIMIT):
        before = clock.now
        while not shop.look("courier").found:
            clock.move(database, LONGEST_PAUSE_SECONDS / 200)
        pauses.append(clock.now - before)
    assert pauses == sorted(pauses)
    assert pauses[-1] >= LONGEST_PAUSE_SECONDS - LONGEST_PAUSE_SECONDS / 200
    clock.move(database, 10 * LONGEST_PAUSE_SECONDS)
    assert shop.look("courier").found == 0
    assert shop.advance(2, "drop")
    look_until_idle(shop)
    states = show_states(see(shop, database))
    assert states == {
        ("1", "Receipt"): "parked",
        ("1", "Mail"): "due",
        ("2", "Receipt"): "delivered",
        ("2", "Mail"): "delivered",
    }
    assert [delivery.attempt for delivery in shop.delivered if delivery.row == "1"] == list(
        range(1, ATTEMPTS_LIMIT + 1)
    )


def test_a_parked_one_goes_on_under_its_id_when_a_person_says_so(
    shop: Shop, database: Database, clock: VirtualClock
) -> None:
    """Retried, it is the same after-effect with its attempts before it, and what waited behind it follows."""
    refused = {"1"}
    fail_for(shop, lambda effect: effect.row_id in refused)
    assert shop.advance(1, "drop")
    for _ in range(ATTEMPTS_LIMIT):
        shop.look("courier")
        clock.move(database, LONGEST_PAUSE_SECONDS + 1)
    (effect_id,) = {delivery.effect_id for delivery in shop.delivered}
    assert see(shop, database).effects[0].problem.startswith("MailServerError: no mail for 1")
    refused.clear()
    retry = shop.semel._setup.outbox.retry_effect_if_parked
    assert shop.perform(ask_once(Execute(retry, {"effect_id": effect_id}))) == 1
    assert shop.perform(ask_once(Execute(retry, {"effect_id": effect_id}))) == 0
    shop.delivered.clear()
    look_until_idle(shop)
    assert shop.delivered[0] == Delivery(effect_id, "Receipt", "1", 1, {})
    assert show_deliveries(shop) == [("1", "Receipt"), ("1", "Mail")]
    assert set(show_states(see(shop, database)).values()) == {"delivered"}


def ask_once(ask: Execute) -> Any:
    """Make a protocol of one ask."""
    return (yield ask)


def test_a_courier_slower_than_its_lease_changes_nothing(
    shop: Shop, open_shop: OpenShop, database: Database, clock: VirtualClock
) -> None:
    """Another courier has made the next attempt; the late word of the first one, good or bad, does not count."""
    slow = open_shop(like=shop)
    gate = Gate(slow)
    slow.deliver = lambda effect: slow.here("begun", effect)
    assert shop.advance(1, "drop")
    look = slow.begin(lambda: slow.semel._performer.perform(slow.duties["courier"].look()))
    gate.wait_for_somebody()
    clock.move(database, OVER_A_DELIVERY)
    fail_for(shop, lambda effect: effect.name == "Receipt")
    assert shop.look("courier").found == 1
    between = see(shop, database)
    gate.open()
    assert look.result(PATIENCE_SECONDS).found == 1
    assert see(shop, database) == between
    assert show_states(between)["1", "Receipt"] == "due"
    shop.deliver = lambda _effect: None
    picture = recover(shop, database, clock)
    assert_delivered(picture, shop, slow)


def test_an_after_effect_that_nobody_handles_waits(shop: Shop, open_shop: OpenShop, database: Database) -> None:
    """A process without its handler leaves it to those who have it, and neither parks nor loses it."""
    assert shop.advance(1, "drop")
    other = open_shop(like=shop)
    del other.semel._setup.registry.effects["Receipt"]
    look_until_idle(other)
    assert other.delivered == []
    assert set(show_states(see(shop, database)).values()) == {"due"}
    look_until_idle(shop)
    assert show_deliveries(shop) == [("1", "Receipt"), ("1", "Mail")]


def test_a_handler_that_asks_first_time_acts_once_for_each_consumer(
    shop: Shop, database: Database, clock: VirtualClock
) -> None:
    """However often it is delivered; what it did in a transaction that was rolled back, it does again."""
    mail = make_mailer(shop, database)
    assert shop.advance(1, "drop")
    for _ in range(3):
        shop.look("courier")
        clock.move(database, OVER_A_DELIVERY)
    picture = see(shop, database)
    receipt = next(effect for effect in picture.effects if effect.name == "Receipt")
    assert receipt.attempts == 3
    assert count_mails(database) == {receipt.effect_id: 2}
    assert mail == ["rolled back", "crm", "mailer", "nobody"]


def make_mailer(shop: Shop, database: Database) -> list[str]:
    """Let the first delivery roll back, the second act for two consumers, and the third find nothing to do."""
    said: list[str] = []

    def finish(effect: Any, first: list[bool]) -> None:
        if effect.attempt == 1:
            said.append("rolled back")
            raise MailServerError("after the work")
        said.extend(name for name, is_first in zip(("crm", "mailer"), first, strict=True) if is_first)
        if not any(first):
            said.append("nobody")

    def deliver(effect: Any) -> None:
        with Session(database.engine()) as session, session.begin():
            first = [effect.first_time(session, consumer) for consumer in ("crm", "mailer")]
            session.add_all(Mail(effect_id=effect.id) for is_first in first if is_first)
            session.flush()
            finish(effect, first)
        raise MailServerError("after the commit")

    async def deliver_async(effect: Any) -> None:
        engine = create_async_engine(database.async_url, poolclass=NullPool)
        async with AsyncSession(engine) as session, session.begin():
            first = [await effect.first_time(session, consumer) for consumer in ("crm", "mailer")]
            session.add_all(Mail(effect_id=effect.id) for is_first in first if is_first)
            await session.flush()
            finish(effect, first)
        raise MailServerError("after the commit")

    shop.deliver = deliver if shop.colour == "sync" else deliver_async
    return said
