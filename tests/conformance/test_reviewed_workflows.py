from __future__ import annotations

from collections.abc import Iterator

import pytest
import sqlalchemy as sa

from semel import Busy, Done
from tests.conformance.faces import Colour, Stage
from tests.conformance.parcels import Post, lay_parcels, parcels, read_parcel
from tests.databases import Database
from tests.shop.clock import VirtualClock
from tests.shop.process import Shop
from tests.shop.tables import Order, lay_orders

OVER_A_LEASE = 31.0


@pytest.fixture
def post(database: Database, colour: Colour, stage: Stage, clock: VirtualClock) -> Iterator[Post]:
    """A process with two workflows on one table, in which there is one parcel."""
    post = Post(colour, database, stage, clock)
    lay_parcels(database, 1)
    yield post
    post.close()


def test_a_claim_is_judged_by_its_own_workflow(post: Post, database: Database, clock: VirtualClock) -> None:
    """A keeper that looked at the other status column would think that the row had left the claim, and strand it for ever."""
    post.strand(post.shipping, 1, "send")
    for _ in range(3):
        clock.move(database, OVER_A_LEASE)
        post.look("janitor")
    assert read_parcel(database, 1) == ("pending", 0, "packed", 2)
    assert post.advance(post.shipping, 1, "send") == Done("gone")


def test_another_workflows_claim_is_not_the_holder(post: Post, database: Database) -> None:
    """A row that is busy in one column is not said to be busy by a step of the other."""
    post.strand(post.shipping, 1, "send")
    with database.engine().begin() as connection:
        connection.execute(sa.update(parcels).values(status="charging"))
    assert post.advance(post.paying, 1, "pay") == Busy("charging")


def test_two_workflows_of_one_row_may_owe_at_the_same_version(post: Post, database: Database) -> None:
    """Each counts its own version column, and none holds up the other's after-effects."""
    assert post.advance(post.paying, 1, "pay") == Done("paid")
    assert post.advance(post.shipping, 1, "send") == Done("gone")
    with database.engine().begin() as connection:
        connection.execute(sa.text("UPDATE semel_outbox SET state = 'parked' WHERE workflow = 'paying'"))
    post.look("courier")
    assert post.delivered == [("parcels", "1")]


def test_a_claim_of_a_table_that_is_unknown_here_is_reported(
    post: Post, database: Database, clock: VirtualClock
) -> None:
    """Two processes may spell one table differently; the one that skips a claim says so."""
    post.strand(post.paying, 1, "pay")
    with database.engine().begin() as connection:
        connection.execute(sa.text("UPDATE semel_claims SET entity = 'shop.parcels'"))
    clock.move(database, OVER_A_LEASE)
    (trouble,) = post.look("janitor").troubles
    assert trouble.startswith("1 claims: paying on shop.parcels: ")
    assert "spelled" in trouble


def test_the_id_of_a_deleted_row_may_be_used_again(shop: Shop, database: Database, clock: VirtualClock) -> None:
    """Its versions begin anew; what the old row owed is delivered first, and nothing collides."""
    lay_orders(database, [1])
    assert shop.advance(1, "pay") == Done("paid")
    clock.move(database, 1)
    assert shop.advance(1, "close") == Done("closed")
    with database.engine().begin() as connection:
        connection.execute(sa.delete(Order))
    lay_orders(database, [1])
    clock.move(database, 1)
    assert shop.advance(1, "drop") == Done("dropped")
    clock.move(database, 1)
    for _ in range(4):
        shop.look("courier")
    with database.engine().connect() as connection:
        order = sa.text("SELECT effect_id, name FROM semel_outbox ORDER BY recorded_us, version, ordinal")
        recorded = [tuple(effect) for effect in connection.execute(order)]
    assert [name for _, name in recorded] == ["Receipt", "Mail", "Receipt", "Mail"]
    assert [(delivery.effect_id, delivery.name) for delivery in shop.delivered] == recorded
