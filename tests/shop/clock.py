"""A clock that stands still until a test moves it."""

from __future__ import annotations

import threading

from tests.databases import Database
from tests.shop.tables import OFFSET_TABLE, move_database_time


class VirtualClock:
    """The local clock of every process of one test; the database's moves with it."""

    offset_table: str | None = OFFSET_TABLE

    def __init__(self) -> None:
        self.now = 1_000.0

    def tick(self) -> float:
        """Answer the local monotonic clock in seconds."""
        return self.now

    def wait(self, seconds: float) -> None:
        """Let time pass at once: whoever waits here is the only one who could let it."""
        self.now += seconds

    def wait_for(self, _stop: threading.Event, seconds: float) -> None:
        """Let time pass at once."""
        self.now += seconds

    async def wait_async(self, seconds: float) -> None:
        """Let time pass at once."""
        self.now += seconds

    def move(self, database: Database, seconds: float) -> None:
        """Let time pass, here and in the database."""
        self.now += seconds
        move_database_time(database, seconds)
