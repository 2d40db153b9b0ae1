"""The two local clocks: a monotonic one for deadlines, and waiting.

Times that are stored come from the database's clock (`Now`), never from here: machines disagree, and a row outlives the
process that wrote it. `Clock` is a value so that tests and `prove` can move time instead of waiting for it.
"""

from __future__ import annotations

import asyncio
import threading
import time
from dataclasses import dataclass
from typing import Protocol

MICROSECONDS = 1_000_000


class Clock(Protocol):
    """What a performer needs to know about time: a monotonic reading, and two ways to let time pass."""

    @property
    def offset_table(self) -> str | None:
        """The table that holds an offset to the database's clock; only tests have one."""

    def tick(self) -> float:
        """Answer the local monotonic clock in seconds."""

    def wait(self, seconds: float) -> None:
        """Let `seconds` pass, blocking this thread."""

    def wait_for(self, stop: threading.Event, seconds: float) -> None:
        """Let `seconds` pass, or less if `stop` is set."""

    async def wait_async(self, seconds: float) -> None:
        """Let `seconds` pass without blocking the event loop."""


@dataclass(frozen=True, slots=True)
class SystemClock:
    """The machine's own clock."""

    offset_table: str | None = None

    def tick(self) -> float:
        """Answer the local monotonic clock in seconds."""
        return time.monotonic()

    def wait(self, seconds: float) -> None:
        """Block this thread for `seconds`."""
        time.sleep(seconds)

    def wait_for(self, stop: threading.Event, seconds: float) -> None:
        """Block this thread for `seconds`, or until `stop` is set."""
        stop.wait(seconds)

    async def wait_async(self, seconds: float) -> None:
        """Suspend this task for `seconds`."""
        await asyncio.sleep(seconds)


SYSTEM = SystemClock()
