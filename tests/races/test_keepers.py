from __future__ import annotations

from typing import Any

import pytest
import sqlalchemy as sa

from semel import Done, NotAllowed, Pending
from semel.keepers.duty import SWEEP_LIMIT
from semel.protocols.heartbeat import beat_claims
from semel.store import dialects
from tests.crash.recovery import OVER_A_LEASE, recover, see
from tests.crash.stranding import Wreck
from tests.databases import Database
from tests.shop.clock import VirtualClock
from tests.shop.fixtures import OpenShop
from tests.shop.gate import Gate
from tests.shop.process import LEASE_SECONDS, Shop
from tests.shop.tables import Order, lay_orders, read_order


@pytest.fixture
def wreck(shop: Shop, database: Database, clock: VirtualClock) -> Wreck:
    """Where claims are left behind, on the first of five orders if nothing else is said."""
    lay_orders(database, range(1, 6))
    return Wreck(shop, database, clock)


def change(database: Database, row: int, **values: Any) -> None:
    """Change an order by foreign hands."""
    with database.engine().begin() as connection:
        connection.execute(sa.update(Order).where(Order.id == row).values(**values))


# When a keeper acts


def test_a_lease_that_is_not_over_is_nobodys_business(shop: Shop, wreck: Wreck) -> None:
    """Before its end a claim is not even looked at."""
    wreck.strand(1, "pay")
    assert shop.look("janitor").found == 0


@pytest.mark.parametrize(("duty", "step"), [("janitor", "pay"), ("resumer", "deliver")])
def test_one_look_recovers_nothing(
    shop: Shop, wreck: Wreck, database: Database, clock: VirtualClock, *, duty: str, step: str
) -> None:
    """A failover lets every lease run out at once, so a keeper waits one lease more by its own clock."""
    wreck.strand(1, step)
    wreck.wait_a_lease()
    assert (shop.look(duty).found, read_order(database, 1)[1]) == (1, 1)
    clock.move(database, LEASE_SECONDS - 1)
    assert shop.look(duty).done == 0
    clock.move(database, 1)
    assert shop.look(duty).done == 1


def test_the_looks_of_two_keepers_do_not_add_up(shop: Shop, wreck: Wreck, open_shop: OpenShop) -> None:
    """What another process has seen is not what this one has seen."""
    wreck.strand(1, "pay")
    wreck.wait_a_lease()
    shop.look("janitor")
    wreck.wait_a_lease()
    assert open_shop(like=shop).look("janitor").done == 0
    assert shop.look("janitor").done == 1


def test_a_beat_between_two_looks_begins_anew(
    shop: Shop, wreck: Wreck, open_shop: OpenShop, database: Database
) -> None:
    """A holder that answers late, but answers, keeps its claim, even if its lease is over at both looks."""
    holder = open_shop(like=shop)
    gate = Gate(holder)
    future = holder.begin_advance(1, "pay")
    gate.wait_for_somebody()
    for _ in range(3):
        wreck.wait_a_lease()
        assert shop.look("janitor").done == 0
        setup = holder.semel._setup
        assert len(holder.perform(beat_claims(setup.keeping, setup.owner))) == 1
    gate.open()
    assert future.result(30) == Done("paid")
    assert see(shop, database).rows["1"] == ("paid", 2)


@pytest.mark.usefixtures("wreck")
def test_a_claim_whose_holder_gave_up_is_released_at_the_first_look(
    shop: Shop, open_shop: OpenShop, database: Database
) -> None:
    """Somebody changed the version under it, so its finish missed: it says so, and nobody has to wait for a lease."""
    holder = open_shop(like=shop)
    gate = Gate(holder)
    future = holder.begin_advance(1, "pay", input={"rows": 0})
    gate.wait_for_somebody()
    change(database, 1, version=7)
    gate.open()
    assert future.result(30) == Pending(None)
    assert shop.look("janitor").done == 1
    assert read_order(database, 1) == ("pending", 8)


# What foreign hands have changed


def test_a_foreign_version_does_not_strand_a_row(shop: Shop, wreck: Wreck, database: Database) -> None:
    """A version that somebody else changed is recovered from like any other."""
    wreck.strand(1, "pay")
    wreck.strand(2, "deliver")
    change(database, 1, version=40)
    change(database, 2, version=40)
    for _ in range(3):
        wreck.wait_a_lease()
        shop.look("janitor")
        shop.look("resumer")
    assert read_order(database, 1) == ("pending", 41)
    assert read_order(database, 2) == ("delivered", 42)


@pytest.mark.parametrize(("duty", "step"), [("janitor", "pay"), ("resumer", "deliver")])
def test_a_row_that_left_its_claim_by_foreign_hands_stays_where_it_is(
    shop: Shop, wreck: Wreck, database: Database, duty: str, step: str
) -> None:
    """There is nothing to recover: the claim is closed, and the row is whoever's moved it."""
    wreck.strand(1, step)
    change(database, 1, status="cancelled")
    for _ in range(3):
        wreck.wait_a_lease()
        shop.look(duty)
    assert read_order(database, 1) == ("cancelled", 1)
    assert shop.look(duty).found == 0
    assert shop.ran == []


@pytest.mark.parametrize(("duty", "step"), [("janitor", "pay"), ("resumer", "deliver")])
def test_a_row_that_is_gone_leaves_no_claim(shop: Shop, wreck: Wreck, database: Database, duty: str, step: str) -> None:
    """A deleted row's claim is closed, and troubles nobody again."""
    wreck.strand(1, step)
    with database.engine().begin() as connection:
        connection.execute(sa.delete(Order).where(Order.id == 1))
    for _ in range(3):
        wreck.wait_a_lease()
        assert not shop.look(duty).problems
    assert shop.look(duty).found == 0


def test_a_row_without_a_claim_is_never_moved_by_a_keeper(shop: Shop, wreck: Wreck, database: Database) -> None:
    """Somebody else put it into a claim status, so no timer knows what it means there."""
    change(database, 1, status="paying")
    for _ in range(4):
        wreck.wait_a_lease()
        assert [shop.look(duty).found for duty in ("janitor", "resumer")] == [0, 0]
    assert read_order(database, 1) == ("paying", 0)


# Bounds and order


def test_more_stranded_rows_than_a_look_takes_on_are_all_released(
    shop: Shop, wreck: Wreck, database: Database, clock: VirtualClock
) -> None:
    """A look stays short; what is left is due at the next one."""
    count = SWEEP_LIMIT + 5
    lay_orders(database, range(6, count + 6))
    wreck.strand(1, "pay")
    multiply_claim(database, range(6, count + 5))
    wreck.wait_a_lease()
    assert shop.look("janitor").done == 0
    clock.move(database, OVER_A_LEASE)
    assert shop.look("janitor").done == SWEEP_LIMIT
    picture = recover(shop, database, clock)
    assert {status for status, _ in picture.rows.values()} == {"pending"}


def multiply_claim(database: Database, rows: range) -> None:
    """Put more rows into the claim that the first order is in, as many dead processes would have left them."""
    tables = {"semel_claims": "row_id", "semel_journal": "row_id"}
    with database.engine().begin() as connection:
        metadata = sa.MetaData()
        metadata.reflect(connection, only=list(tables))
        for name, column in tables.items():
            table = metadata.tables[name]
            pattern = dict(connection.execute(sa.select(table).where(table.c[column] == "1")).one()._mapping)
            unique = {"operation_id": lambda row: f"{row:032x}"} if name == "semel_journal" else {}
            copies = [pattern | {column: str(row)} | {key: make(row) for key, make in unique.items()} for row in rows]
            connection.execute(sa.insert(table), copies)
        connection.execute(sa.update(Order).where(Order.id.in_(rows)).values(status="paying", version=1))


@pytest.fixture
def short_lock_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a keeper that is made afterwards wait one second for a row: MariaDB counts in whole ones."""
    monkeypatch.setattr(dialects, "LOCK_WAIT_SECONDS", 1)


@pytest.mark.usefixtures("short_lock_waits")
@pytest.mark.parametrize("database", ["postgresql", "mariadb"], indirect=True)
def test_a_locked_row_holds_up_no_other(shop: Shop, wreck: Wreck, database: Database) -> None:
    """It is reported, left for the next look, and released then."""
    wreck.strand(1, "pay")
    wreck.strand(2, "pay")
    wreck.wait_a_lease()
    shop.look("janitor")
    wreck.wait_a_lease()
    with database.engine().begin() as rival:
        rival.execute(sa.update(Order).where(Order.id == 1).values(total=1))
        report = shop.look("janitor")
        assert (report.done, len(report.problems)) == (1, 1)
    assert shop.look("janitor").done == 1
    assert [read_order(database, row)[0] for row in (1, 2)] == ["pending", "pending"]


# Review


def test_a_claim_for_review_waits_for_a_person(shop: Shop, wreck: Wreck, database: Database) -> None:
    """Nobody knows what its action has done, so no keeper moves it; the reason is written down, once."""
    wreck.strand(1, "inspect")
    for _ in range(4):
        wreck.wait_a_lease()
        shop.look("janitor")
        shop.look("resumer")
    picture = see(shop, database)
    assert picture.rows["1"] == ("inspecting", 1)
    assert "person" in picture.claims[0].review or "review" in picture.claims[0].review
    assert shop.look("janitor").found == 0


def test_a_slow_holder_finishes_although_a_person_was_called(
    shop: Shop, wreck: Wreck, open_shop: OpenShop, database: Database
) -> None:
    """Slow is not dead: the step is done, and the call for a person goes with it."""
    holder = open_shop(like=shop)
    gate = Gate(holder)
    future = holder.begin_advance(1, "inspect")
    gate.wait_for_somebody()
    for _ in range(3):
        wreck.wait_a_lease()
        shop.look("janitor")
    assert see(shop, database).claims[0].review is not None
    gate.open()
    assert future.result(30) == Done("inspected")
    picture = see(shop, database)
    assert picture.claims[0].review is None
    assert picture.rows["1"] == ("inspected", 2)
    assert shop.advance(1, "inspect") == NotAllowed("inspected")
