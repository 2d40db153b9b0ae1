from __future__ import annotations

from collections import Counter

import pytest

from semel import Busy, Done, NotAllowed
from tests.conformance.faces import CROWD
from tests.crash.recovery import OVER_A_LEASE, assert_delivered, recover, see
from tests.databases import Database
from tests.shop.clock import VirtualClock
from tests.shop.fixtures import OpenShop
from tests.shop.gate import Gate
from tests.shop.process import Shop
from tests.shop.tables import lay_orders

CONNECTIONS = 16
KEEPERS = 4


@pytest.mark.parametrize("step", ["pay", "deliver"])
def test_of_many_callers_of_a_claimed_step_one_runs_its_action(
    database: Database, shop: Shop, open_shop: OpenShop, step: str
) -> None:
    """Sixty-four at once: one is done, everybody else is told that it is busy or was too late, and nobody waits long."""
    lay_orders(database, [1])
    crowded = open_shop(like=shop, clock=None, connections_limit=CONNECTIONS)
    answers = crowded.call_all([lambda: crowded.orders.advance(1, step)] * CROWD)
    status = {"pay": "paid", "deliver": "delivered"}[step]
    assert Counter(map(type, answers))[Done] == 1
    assert {each for each in answers if not each} <= {Busy(step), Busy("lock"), NotAllowed(status)}
    assert len(crowded.ran) == 1
    assert see(shop, database).rows["1"] == (status, 2)


def test_a_crowd_that_takes_different_steps_takes_one(database: Database, shop: Shop, open_shop: OpenShop) -> None:
    """Claimed steps and steps without a claim race for one row: it leaves its status once."""
    lay_orders(database, [1])
    crowded = open_shop(like=shop, clock=None, connections_limit=CONNECTIONS)
    steps = ("pay", "deliver", "cancel", "drop") * 8
    answers = crowded.call_all([lambda step=step: crowded.orders.advance(1, step) for step in steps])
    done = [answer for answer in answers if answer]
    assert len(done) == 1
    assert see(shop, database).rows["1"][0] == done[0].status
    assert len(crowded.ran) == (done[0].status != "dropped")


def test_everybody_is_busy_while_one_holds_the_claim(database: Database, shop: Shop) -> None:
    """The second caller is told which step is in progress, and whoever comes after it that the row has moved on."""
    lay_orders(database, [1])
    gate = Gate(shop)
    first = shop.begin_advance(1, "pay")
    gate.wait_for_somebody()
    assert shop.advance(1, "pay") == Busy("pay")
    assert shop.advance(1, "deliver") == Busy("pay")
    assert shop.advance(1, "cancel") == Busy("pay")
    gate.open()
    assert first.result() == Done("paid")
    assert shop.advance(1, "pay") == NotAllowed("paid")


@pytest.mark.parametrize("database", ["postgresql", "mariadb"], indirect=True)
def test_a_foreign_lock_makes_a_claim_busy_at_once(database: Database, shop: Shop) -> None:
    """A row that somebody holds without a claim is not waited for: it may be the caller's own. SQLite has no locks of rows."""
    lay_orders(database, [1])
    with database.engine().begin() as rival:
        rival.exec_driver_sql("UPDATE orders SET total = 1 WHERE id = 1")
        assert shop.advance(1, "pay") == Busy("lock")
    assert shop.advance(1, "pay") == Done("paid")


@pytest.mark.parametrize(("step", "end"), [("pay", "pending"), ("deliver", "delivered")])
def test_of_many_keepers_one_recovers_a_stranded_row(
    database: Database, shop: Shop, open_shop: OpenShop, clock: VirtualClock, *, step: str, end: str
) -> None:
    """Four processes see the same stranded claim at the same moment: one of them acts, once."""
    lay_orders(database, [1])
    gate = Gate(shop)
    stranded = shop.begin_advance(1, step)
    gate.wait_for_somebody()
    duty = {"pay": "janitor", "deliver": "resumer"}[step]
    keepers = [open_shop(like=shop) for _ in range(KEEPERS)]
    clock.move(database, OVER_A_LEASE)
    assert [keeper.look(duty).done for keeper in keepers] == [0] * KEEPERS
    clock.move(database, OVER_A_LEASE)
    looks = [lambda keeper=keeper: keeper.semel._performer.perform(keeper.duties[duty].look()) for keeper in keepers]
    reports = shop.call_all(looks)
    assert sum(report.done for report in reports) == 1
    assert sum(len(keeper.ran) for keeper in keepers) == (step == "deliver")
    gate.open()
    assert not stranded.result()
    picture = recover(keepers[0], database, clock)
    assert picture.rows["1"][0] == end
    assert_delivered(picture, *keepers)


def test_of_many_couriers_one_delivers(
    database: Database, shop: Shop, open_shop: OpenShop, clock: VirtualClock
) -> None:
    """Four couriers find the same after-effects: each is delivered once, because each attempt is one courier's."""
    lay_orders(database, range(1, 6))
    for row in range(1, 6):
        assert shop.advance(row, "pay")
    couriers = [open_shop(like=shop) for _ in range(KEEPERS)]
    looks = [lambda each=each: each.semel._performer.perform(each.duties["courier"].look()) for each in couriers]
    reports = shop.call_all(looks)
    assert not any(report.problems for report in reports)
    picture = recover(shop, database, clock)
    delivered = Counter(delivery.effect_id for each in (shop, *couriers) for delivery in each.delivered)
    assert set(delivered.values()) == {1}
    assert len(delivered) == len(picture.effects) == 5
