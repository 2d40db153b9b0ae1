"""Time that a test moves: the local clock and the database's, together, so that no test waits for a lease."""

from __future__ import annotations

import asyncio
import threading
from dataclasses import dataclass, field

import sqlalchemy as sa

OFFSET_TABLE = "semel_test_clock"
"""The table whose one row is added to the database's clock. It exists only in the databases of tests."""

MICROSECONDS = 1_000_000

YIELD_SECONDS = 0.001
"""How long a wait really takes: long enough for other threads to run, too short to notice."""


@dataclass
class VirtualClock:
    """Pass it as `clock=` to a Semel of a test. Waiting takes no time; `move` lets time pass for everybody."""

    offset_table: str = OFFSET_TABLE
    now: float = 0.0
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def create(self, connection: sa.Connection) -> None:
        """Create the table of the offset in a test's database."""
        connection.exec_driver_sql(f"CREATE TABLE {self.offset_table} (offset_us BIGINT NOT NULL)")
        connection.exec_driver_sql(f"INSERT INTO {self.offset_table} (offset_us) VALUES (0)")  # noqa: S608 - a name of our own

    def move(self, seconds: float, connection: sa.Connection) -> None:
        """Let time pass: here, and in the database that this connection reaches. Commit it, if others shall see it."""
        with self._lock:
            self.now += seconds
        update = sa.text(f"UPDATE {self.offset_table} SET offset_us = offset_us + :passed")  # noqa: S608 - a name of our own
        connection.execute(update, {"passed": int(seconds * MICROSECONDS)})

    def tick(self) -> float:
        """Answer the local clock."""
        return self.now

    def wait(self, seconds: float) -> None:
        """Let `seconds` pass here, at once."""
        with self._lock:
            self.now += seconds
        threading.Event().wait(YIELD_SECONDS)

    def wait_for(self, stop: threading.Event, seconds: float) -> None:
        """Let `seconds` pass here, at once."""
        if not stop.is_set():
            self.wait(seconds)

    async def wait_async(self, seconds: float) -> None:
        """Let `seconds` pass here, at once."""
        with self._lock:
            self.now += seconds
        await asyncio.sleep(0)
