from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import sqlalchemy as sa

from semel import Done, Pending
from semel.asks import Together
from semel.errors import LockHeldError, error
from semel.protocols.operator import Freed, Kept, Release, Retry, release_by_hand, retry_by_hand
from semel.protocols.sight import see_foreign, see_story
from semel.store import dialects
from semel.store.sights import Sights
from semel.store.strays import Strays
from tests.crash.recovery import recover, see
from tests.crash.stranding import Wreck
from tests.databases import Database
from tests.shop.clock import VirtualClock
from tests.shop.fixtures import OpenShop
from tests.shop.gate import Gate
from tests.shop.process import LEASE_SECONDS, Shop
from tests.shop.tables import Order, count_entries, lay_orders, read_order


@pytest.fixture
def wreck(shop: Shop, database: Database, clock: VirtualClock) -> Wreck:
    """Where claims are left behind, on the first of five orders if nothing else is said."""
    lay_orders(database, range(1, 6))
    return Wreck(shop, database, clock)


def want(shop: Shop, row: int, **words: Any) -> Release:
    """Make an operator's wish, told by somebody who knows the workflow."""
    setup = shop.semel._setup
    bound = setup.bound_of(shop.orders._declared)
    wanted = Release(bound.claims, Sights(setup.ground), bound.workflow, row, "it looked dead")
    return replace(wanted, **words)


def release(shop: Shop, row: int, **words: Any) -> Any:
    """Release a row by hand."""
    return shop.perform(release_by_hand(want(shop, row, **words)))


def tell(shop: Shop, row: int) -> list[tuple[str, str | None, str | None, int | None]]:
    """Tell a row's story."""
    story = shop.perform(see_story(Sights(shop.semel._setup.ground), "orders", str(row), 100, None))
    return [(move.kind, move.requester, move.detail, move.version) for move in story.moves.found]


def change(database: Database, row: int, **values: Any) -> None:
    """Change an order by foreign hands."""
    with database.engine().begin() as connection:
        connection.execute(sa.update(Order).where(Order.id == row).values(**values))


# A claim


def test_a_holder_that_beat_within_its_lease_keeps_its_claim(shop: Shop, wreck: Wreck, database: Database) -> None:
    """It may be a moment from its end; the operator hears how long its lease lasts, and nothing is written."""
    wreck.strand(1, "pay")
    kept = release(shop, 1)
    assert isinstance(kept, Kept)
    assert (kept.why, kept.status, kept.seconds_left) == ("alive", "paying", pytest.approx(LEASE_SECONDS, abs=5))
    assert read_order(database, 1) == ("paying", 1)
    assert [kind for kind, *_ in tell(shop, 1)] == ["claim"]


def test_a_claim_whose_lease_is_over_is_released_with_the_reason(shop: Shop, wreck: Wreck, database: Database) -> None:
    """The row goes back to where its claim row says, and the journal keeps who did it and why."""
    wreck.strand(1, "pay")
    wreck.wait_a_lease()
    assert release(shop, 1, by="kim") == Freed("claim", "paying", "pending", 2)
    assert tell(shop, 1)[-1] == ("release", "kim", "it looked dead", 2)
    assert release(shop, 1) == Kept("free", "pending")
    assert see(shop, database).rows["1"] == ("pending", 2)


@pytest.mark.usefixtures("wreck")
def test_a_holder_whose_claim_is_released_writes_nothing(shop: Shop, open_shop: OpenShop, database: Database) -> None:
    """It was alive after all: its action ends, its finish misses, and what it wrote is rolled back."""
    holder = open_shop(like=shop)
    gate = Gate(holder)
    future = holder.begin_advance(1, "pay")
    gate.wait_for_somebody()
    assert release(shop, 1, force=True) == Freed("claim", "paying", "pending", 2)
    gate.open()
    assert future.result(30) == Pending(None)
    assert read_order(database, 1) == ("pending", 2)
    assert count_entries(database) == {}
    assert shop.advance(1, "pay") == Done("paid")


@pytest.fixture
def short_lock_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a shop that is made afterwards wait one second for a row: MariaDB counts in whole ones."""
    monkeypatch.setattr(dialects, "LOCK_WAIT_SECONDS", 1)


@pytest.mark.usefixtures("wreck")
@pytest.mark.usefixtures("short_lock_waits")
@pytest.mark.parametrize("database", ["postgresql", "mariadb"], indirect=True)
def test_a_release_waits_for_a_finish_that_is_under_way(shop: Shop, open_shop: OpenShop, database: Database) -> None:
    """The holder has begun to write, so it holds the row: the operator is told so, and finds nothing when it is done."""
    holder = open_shop(like=shop)
    gate = Gate(holder, "written")
    future = holder.begin_advance(1, "pay")
    gate.wait_for_somebody()
    with pytest.raises(LockHeldError):
        release(shop, 1, force=True)
    gate.open()
    assert future.result(30) == Done("paid")
    assert release(shop, 1, force=True) == Kept("free", "paid")
    assert read_order(database, 1) == ("paid", 2)


def test_operator_and_janitor_release_a_claim_once(shop: Shop, wreck: Wreck) -> None:
    """Whoever is second finds nothing to release, whichever of the two it is."""
    for row in (1, 2):
        wreck.strand(row, "pay")
    wreck.wait_a_lease()
    shop.look("janitor")
    assert isinstance(release(shop, 1), Freed)
    wreck.wait_a_lease()
    assert shop.look("janitor").done == 1
    assert release(shop, 2) == Kept("free", "pending")
    assert [kind for kind, *_ in tell(shop, 1)] == ["claim", "release"]
    assert [kind for kind, *_ in tell(shop, 2)] == ["claim", "release"]


@pytest.mark.parametrize(("step", "claim"), [("deliver", "delivering"), ("inspect", "inspecting")])
def test_every_kind_of_recovery_can_be_ended_by_hand(
    shop: Shop, wreck: Wreck, database: Database, step: str, claim: str
) -> None:
    """Also a claim that a keeper would run again, and one that waits for a person."""
    wreck.strand(1, step)
    wreck.wait_a_lease()
    assert release(shop, 1) == Freed("claim", claim, "pending", 2)
    assert recover(shop, database, wreck.clock).rows["1"] == ("pending", 2)


def test_a_release_whose_answer_was_lost_is_one_release(shop: Shop, wreck: Wreck, database: Database) -> None:
    """It committed and nobody was told: its mark is found, and the operator hears what was done, not that there is nothing."""
    wreck.strand(1, "pay")
    wreck.wait_a_lease()
    assert shop.perform(lose_one_answer(release_by_hand(want(shop, 1)))) == Freed("claim", "paying", "pending", 2)
    assert read_order(database, 1) == ("pending", 2)
    assert [kind for kind, *_ in tell(shop, 1)] == ["claim", "release"]


def lose_one_answer(asking: Any) -> Any:
    """Perform a protocol whose first transaction commits without anybody hearing of it."""
    lost, answer = False, None
    ask = next(asking)
    while True:
        answer = yield ask
        try:
            if isinstance(ask, Together) and not lost:
                lost = True
                ask = asking.throw(error("SEMEL-STORE-3", reason="the network died", seconds=0, operation="?"))
            else:
                ask = asking.send(answer)
        except StopIteration as stop:
            return stop.value


# Rows that foreign hands have moved


@pytest.mark.usefixtures("wreck")
def test_a_foreign_row_goes_back_to_where_the_workflow_says(shop: Shop, database: Database) -> None:
    """Nobody claimed it, so only a person may say that nothing happened in it."""
    change(database, 1, status="paying")
    assert release(shop, 1) == Freed("foreign", "paying", "pending", 1)
    assert tell(shop, 1) == [("release", "operator", "it looked dead", 1)]
    assert shop.advance(1, "pay") == Done("paid")


@pytest.mark.usefixtures("wreck")
def test_without_a_workflow_a_foreign_row_stays(shop: Shop, database: Database) -> None:
    """No row says where it came from."""
    change(database, 1, status="paying")
    assert release(shop, 1, workflow=None) == Kept("unclear", "paying")
    assert read_order(database, 1) == ("paying", 0)


def test_a_claim_that_its_row_has_left_is_closed(shop: Shop, wreck: Wreck, database: Database) -> None:
    """The row is where foreign hands put it, and stays there; its claim is closed and that is written down."""
    wreck.strand(1, "pay")
    change(database, 1, status="cancelled")
    assert isinstance(release(shop, 1, workflow=None), Kept)
    assert release(shop, 1) == Freed("closed", "paying", "cancelled", 1)
    assert tell(shop, 1)[-1] == ("release", "operator", "it looked dead", 1)
    assert release(shop, 1) == Kept("free", "cancelled")


def test_the_claim_of_a_row_that_is_gone_is_closed(shop: Shop, wreck: Wreck, database: Database) -> None:
    """A deleted row leaves a claim that nobody needs."""
    wreck.strand(1, "pay")
    with database.engine().begin() as connection:
        connection.execute(sa.delete(Order).where(Order.id == 1))
    assert release(shop, 1) == Freed("closed", "paying", None, None)
    assert release(shop, 1) == Kept("absent", None)


def test_the_claim_that_counts_is_the_one_taken_last(shop: Shop, wreck: Wreck, database: Database) -> None:
    """Foreign hands freed a claimed row and it was claimed anew, by another step: the first claim is not the row's."""
    wreck.strand(1, "pay")
    change(database, 1, status="pending")
    wreck.strand(1, "deliver")
    wreck.wait_a_lease()
    assert release(shop, 1) == Freed("claim", "delivering", "pending", 3)
    assert release(shop, 1) == Freed("closed", "paying", "pending", 3)
    assert release(shop, 1) == Kept("free", "pending")


def test_another_workflow_of_the_table_keeps_its_claims(shop: Shop, wreck: Wreck, database: Database) -> None:
    """A claim of a workflow over another status column is none of this one's, though the row is in no status it knows."""
    wreck.strand(1, "pay")
    change(database, 1, status="cancelled")
    other = replace(want(shop, 1).workflow, name="others")
    assert release(shop, 1, workflow=other) == Kept("free", "cancelled")
    with database.engine().connect() as connection:
        assert connection.scalar(sa.text("SELECT held FROM semel_claims")) == 1


# Looking for foreign rows


def look_for_foreign(shop: Shop, limit: int = 100) -> Any:
    """Look for rows in claim statuses that nobody claimed."""
    wanted = want(shop, 1)
    assert wanted.workflow is not None
    strays = Strays(wanted.claims.entity)
    return see_foreign(wanted.sights, strays, wanted.workflow.name, wanted.workflow.claim_statuses, limit)


def test_only_rows_without_a_claim_are_foreign(shop: Shop, wreck: Wreck, database: Database) -> None:
    """A row that is claimed is not, nor is one whose claim is in another status than the row."""
    wreck.strand(1, "pay")
    wreck.strand(2, "pay")
    change(database, 2, status="delivering")
    change(database, 3, status="inspecting")
    found = shop.perform(look_for_foreign(shop))
    assert [(row.row_id, row.status) for row in found.found] == [("2", "delivering"), ("3", "inspecting")]
    assert not found.more
    assert shop.perform(look_for_foreign(shop, limit=2)).more


@pytest.mark.usefixtures("wreck")
def test_a_row_that_finishes_while_it_is_looked_at_is_not_foreign(shop: Shop, open_shop: OpenShop) -> None:
    """Seen in its claim status before the finish, and its claim row after it: its version tells that it moved meanwhile."""
    holder = open_shop(like=shop)
    gate = Gate(holder)
    future = holder.begin_advance(1, "pay")
    gate.wait_for_somebody()
    looking = look_for_foreign(shop)
    rows = shop.perform(once_more(next(looking)))
    gate.open()
    assert future.result(30) == Done("paid")
    found = shop.perform(go_on(looking, rows))
    assert found.found == ()


def once_more(ask: Any) -> Any:
    """Ask one thing."""
    return (yield ask)


def go_on(asking: Any, answer: Any) -> Any:
    """Go on with a protocol that has an answer already."""
    while True:
        try:
            ask = asking.send(answer)
        except StopIteration as stop:
            return stop.value
        answer = yield ask


# After-effects


def retry(shop: Shop, effect_id: str) -> Any:
    """Retry an after-effect by hand."""
    setup = shop.semel._setup
    wanted = Retry(Sights(setup.ground), setup.outbox, setup.journal, effect_id, "the mail server is back", "kim")
    return shop.perform(retry_by_hand(wanted))


@pytest.mark.usefixtures("wreck")
def test_a_parked_effect_is_delivered_after_a_retry(shop: Shop, database: Database) -> None:
    """It is due again under its own id, with attempts of its own, and the journal says by whom and why."""
    assert shop.advance(1, "pay") == Done("paid")
    with database.engine().begin() as connection:
        connection.execute(sa.text("UPDATE semel_outbox SET state = 'parked', attempts = 10, problem = 'no'"))
        effect_id = connection.scalar(sa.text("SELECT effect_id FROM semel_outbox"))
    assert shop.look("courier").found == 0
    retried = retry(shop, str(effect_id))
    assert (retried.done, retried.effect.name) == (True, "Receipt")
    kind, requester, detail, _version = tell(shop, 1)[-1]
    assert (kind, requester) == ("retry", "kim")
    assert detail == f"Receipt {effect_id}: the mail server is back"
    shop.look("courier")
    assert [(delivery.effect_id, delivery.attempt) for delivery in shop.delivered] == [(effect_id, 1)]


@pytest.mark.usefixtures("wreck")
def test_only_a_parked_effect_is_retried(shop: Shop, database: Database) -> None:
    """One that is due is a courier's, one that is delivered is done, and one that is not there is nobody's."""
    assert shop.advance(1, "pay") == Done("paid")
    with database.engine().connect() as connection:
        effect_id = str(connection.scalar(sa.text("SELECT effect_id FROM semel_outbox")))
    assert retry(shop, effect_id).done is False
    shop.look("courier")
    retried = retry(shop, effect_id)
    assert (retried.done, retried.effect.state) == (False, "delivered")
    assert retry(shop, "0" * 32).effect is None
    assert [kind for kind, *_ in tell(shop, 1)] == ["claim", "finish"]
