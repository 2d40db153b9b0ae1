"""A local clock for tests: nobody waits, and every wait moves the time."""

from __future__ import annotations

import threading


class JumpingClock:
    """The clock that a Semel is made with."""

    offset_table: str | None = None

    def __init__(self) -> None:
        self.now = 1_000.0
        self.waits: list[float] = []
        self._lock = threading.Lock()

    def tick(self) -> float:
        """Answer the time so far."""
        return self.now

    def wait(self, seconds: float) -> None:
        """Jump."""
        with self._lock:
            self.now += seconds
            self.waits.append(seconds)

    async def wait_async(self, seconds: float) -> None:
        """Jump."""
        self.wait(seconds)
