from __future__ import annotations

import pytest

from semel import Done
from semel.keepers.resumer import LONGEST_PAUSE_SECONDS, RESUMES_LIMIT
from tests.crash.life import DEAD, Life
from tests.crash.recovery import assert_delivered, recover, see
from tests.crash.stranding import Wreck, start_process
from tests.databases import Database
from tests.shop.clock import VirtualClock
from tests.shop.fixtures import OpenShop
from tests.shop.flow import make_flow
from tests.shop.process import LEASE_SECONDS, Run, Shop
from tests.shop.tables import lay_orders, read_order


@pytest.fixture
def wreck(shop: Shop, database: Database, clock: VirtualClock) -> Wreck:
    """Where claims are left behind."""
    lay_orders(database, range(1, 6))
    return Wreck(shop, database, clock)


def test_a_step_is_run_again_with_what_it_was_given(
    shop: Shop, wreck: Wreck, database: Database, clock: VirtualClock
) -> None:
    """The stored input, on behalf of the same requester, under a new fence, as the first run after the first one."""
    seen = []
    shop.here = lambda _place, step: seen.append((step.input, step.requester, step.row.status, step.row.version))
    told = {"rows": 1, "effects": 2, "why": "naïve ☃"}
    wreck.strand(1, "deliver", told, by="customer")
    picture = recover(shop, database, clock)
    assert shop.ran == [Run("deliver", 1, attempt=1, fence=2)]
    assert seen == [(told, "customer", "delivering", 2)] * 3
    assert picture.rows["1"] == ("delivered", 3)
    assert [move.requester for move in picture.moves["1"]] == ["customer"] * 3
    assert_delivered(picture, shop)


def test_a_step_that_kills_its_keepers_is_parked(
    shop: Shop, wreck: Wreck, database: Database, clock: VirtualClock
) -> None:
    """Each run waits twice as long as the last one; after five of them a person has to look, and nobody runs it again."""
    wreck.strand(1, "deliver")
    attempts = []
    for count in range(RESUMES_LIMIT):
        keeper = start_process(shop, database, clock)
        life = Life(keeper, place="begun")
        pause = min(LEASE_SECONDS * 2**count, LONGEST_PAUSE_SECONDS)
        clock.move(database, LEASE_SECONDS + 1)
        assert keeper.look("resumer").found == 1
        clock.move(database, pause - 1)
        assert keeper.look("resumer").done == 0
        clock.move(database, 1)
        look = keeper.duties["resumer"].look
        assert life.live(lambda keeper=keeper, look=look: keeper.semel._performer.perform(look())) is DEAD
        attempts += [run.attempt for run in keeper.ran]
    assert attempts == [1, 2, 3, 4, 5]
    picture = recover(shop, database, clock)
    assert picture.rows["1"] == ("delivering", RESUMES_LIMIT + 1)
    assert "5 times" in picture.claims[0].review
    assert shop.ran == []


def test_a_step_that_fails_when_it_is_run_again_is_released(
    shop: Shop, wreck: Wreck, database: Database, clock: VirtualClock
) -> None:
    """An action's no or its exception ends the claim as it would have for its first caller; others are run again beside it."""
    wreck.strand(1, "deliver", {"rows": 1, "end": "raise"})
    wreck.strand(2, "deliver", {"rows": 1, "end": "reject"})
    wreck.strand(3, "deliver")
    picture = recover(shop, database, clock)
    assert [picture.rows[str(row)] for row in (1, 2, 3)] == [("pending", 3), ("pending", 3), ("delivered", 3)]
    assert len(shop.ran) == 3


def test_what_an_action_raises_when_it_is_run_again_is_reported(shop: Shop, wreck: Wreck) -> None:
    """The keeper has no caller to raise it to, so it says it in its report, and goes on."""
    wreck.strand(1, "deliver", {"end": "raise"})
    wreck.strand(2, "deliver")
    wreck.wait_a_lease()
    shop.look("resumer")
    wreck.wait_a_lease()
    report = shop.look("resumer")
    assert (report.found, report.done, report.problems) == (2, 1, ["orders 1: ActionFailedError: the action failed"])


@pytest.mark.usefixtures("shop", "wreck")
def test_a_step_whose_input_had_secrets_is_parked(open_shop: OpenShop, database: Database, clock: VirtualClock) -> None:
    """A secret is not stored, so it cannot be run again; nor can its digest be taken for it."""
    secretive = open_shop(workflows=make_flow(deliver={"secret_input": ["card"]}))
    secretive.boot()
    Wreck(secretive, database, clock).strand(1, "deliver", {"card": "4242 4242"})
    picture = recover(secretive, database, clock)
    assert picture.rows["1"] == ("delivering", 1)
    assert "secrets" in picture.claims[0].review
    assert "4242" not in repr(picture)
    assert secretive.ran == []


def test_the_pass_grows_by_finishes_only(shop: Shop, wreck: Wreck, database: Database, clock: VirtualClock) -> None:
    """Claims that were released, or taken over, are the same pass; the next claim after a finish is the next one."""
    wreck.strand(1, "deliver")
    recover(shop, database, clock)
    assert shop.advance(2, "pay", input={"rows": 0, "end": "reject"}) is not None
    assert shop.advance(2, "pay") == Done("paid")
    picture = see(shop, database)
    assert {(claim.row_id, claim.pass_number) for claim in picture.claims} == {("1", 2), ("2", 2)}
    assert read_order(database, 2) == ("paid", 4)
