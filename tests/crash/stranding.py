"""Leaving claims behind: by a process that dies in its action."""

from __future__ import annotations

from typing import Any

from tests.crash.life import DEAD, Life
from tests.crash.recovery import OVER_A_LEASE
from tests.databases import Database
from tests.shop.clock import VirtualClock
from tests.shop.process import Shop


def start_process(shop: Shop, database: Database, clock: VirtualClock) -> Shop:
    """Start another process like this one; whoever starts it lets it die."""
    other = Shop(shop.colour, database.url, shop.stage, clock)
    other.boot_like(shop)
    return other


class Wreck:
    """Strands rows of one shop."""

    def __init__(self, shop: Shop, database: Database, clock: VirtualClock) -> None:
        self.shop = shop
        self.database = database
        self.clock = clock

    def strand(self, row: int, step: str, told: dict[str, Any] | None = None, **words: Any) -> Shop:
        """Let a process die in the action of a claimed step; answer the dead."""
        doomed = start_process(self.shop, self.database, self.clock)
        call = lambda: doomed.orders.advance(row, step, input=told or {}, **words)  # noqa: E731 - it is said in one line
        assert Life(doomed, place="begun").live(call) is DEAD
        return doomed

    def wait_a_lease(self) -> None:
        """Let a lease go by."""
        self.clock.move(self.database, OVER_A_LEASE)
