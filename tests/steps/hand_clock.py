"""A clock that only the test moves, for hearts of both colours: who waits is woken when its time has come."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from dataclasses import dataclass

PATIENCE_SECONDS = 30
"""Longer than any thread needs to come to its next wait."""


@dataclass(eq=False)
class Waiter:
    """Somebody who waits, and how to wake them."""

    until: float
    wake: Callable[[], None]
    is_awake: Callable[[], bool]


class HandClock:
    """Stands still until it is moved."""

    offset_table: str | None = None

    def __init__(self) -> None:
        self.now = 0.0
        self._waiters: list[Waiter] = []
        self._changed = threading.Condition()

    def tick(self) -> float:
        """Answer the time."""
        return self.now

    def wait(self, seconds: float) -> None:
        """Nobody here waits without a way to be woken."""
        raise NotImplementedError(seconds)

    def wait_for(self, stop: threading.Event, seconds: float) -> None:
        """Wait until the time has come, or until `stop` is set."""
        waiter = self._add(Waiter(self.now + seconds, stop.set, stop.is_set))
        try:
            assert stop.wait(PATIENCE_SECONDS), "nobody moved the clock"
        finally:
            self._remove(waiter)

    async def wait_async(self, seconds: float) -> None:
        """Wait until the time has come."""
        loop = asyncio.get_running_loop()
        due = loop.create_future()

        def wake() -> None:
            loop.call_soon_threadsafe(lambda: due.done() or due.set_result(None))

        waiter = self._add(Waiter(self.now + seconds, wake, due.done))
        try:
            await due
        finally:
            self._remove(waiter)

    def _add(self, waiter: Waiter) -> Waiter:
        with self._changed:
            self._waiters.append(waiter)
            self._changed.notify_all()
        return waiter

    def _remove(self, waiter: Waiter) -> None:
        with self._changed:
            self._waiters.remove(waiter)
            self._changed.notify_all()

    def settle(self, waiting: int = 1) -> None:
        """Return once so many wait for a time that has not come."""

        def is_settled() -> bool:
            asleep = [waiter for waiter in self._waiters if waiter.until > self.now and not waiter.is_awake()]
            return len(asleep) == len(self._waiters) == waiting

        with self._changed:
            assert self._changed.wait_for(is_settled, PATIENCE_SECONDS), "somebody never came to wait"

    def move(self, seconds: float) -> None:
        """Let time pass."""
        with self._changed:
            self.now = round(self.now + seconds, 6)
            due = [waiter for waiter in self._waiters if waiter.until <= self.now]
        for waiter in due:
            waiter.wake()
