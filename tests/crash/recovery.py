"""What keepers are given after a death: time, and turns. Then nothing may be left between."""

from __future__ import annotations

from semel.workflow.model import Workflow
from tests.databases import Database
from tests.invariants import (
    Picture,
    Written,
    find_broken_promises,
    find_lost_deliveries,
    find_unfinished_business,
    take_picture,
)
from tests.shop.clock import VirtualClock
from tests.shop.process import LEASE_SECONDS, Shop
from tests.shop.tables import count_entries

OVER_A_LEASE = LEASE_SECONDS + 1
OVER_A_DELIVERY = 61.0
"""Longer than the courier's lease on one attempt."""

TURNS_LIMIT = 12
"""How often keepers look at most: a resume and its deliveries take three looks, and one may die on the way."""


def read_workflow(shop: Shop) -> Workflow:
    """Answer the workflow as the process understood it."""
    found: Workflow = shop.semel._setup.bound_of(shop.orders._declared).workflow
    return found


def see(shop: Shop, database: Database, rows_per_finish: int = 1) -> Picture:
    """Take a picture, and refuse what may never be, not even for a moment."""
    with database.engine().connect() as connection:
        picture = take_picture(connection, read_workflow(shop))
    written = Written({str(row): count for row, count in count_entries(database).items()}, rows_per_finish)
    refuse_any(find_broken_promises(picture, written))
    return picture


def refuse_any(found: list[str]) -> None:
    """Fail with what was found."""
    assert not found, "\n".join(found)


def recover(shop: Shop, database: Database, clock: VirtualClock, rows_per_finish: int = 1) -> Picture:
    """Let the keepers of one process look until nothing is left to do, time passing between their looks."""
    for _ in range(TURNS_LIMIT):
        found = sum(shop.look(duty).found for duty in ("janitor", "resumer", "courier"))
        picture = see(shop, database, rows_per_finish)
        if not found and not find_unfinished_business(picture):
            break
        clock.move(database, max(OVER_A_LEASE, OVER_A_DELIVERY))
    refuse_any(find_unfinished_business(picture))
    return picture


def assert_delivered(picture: Picture, *shops: Shop) -> None:
    """Every after-effect was delivered by one of these processes, and nothing else was."""
    delivered = [delivery.effect_id for shop in shops for delivery in shop.delivered]
    refuse_any(find_lost_deliveries(picture, delivered))
