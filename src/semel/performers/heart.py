"""The hearts: beside every action that runs under a claim, something beats for all claims of the process.

A claim that is no longer answered for is lost, and its action leaves at its next word to the step. A `def` action that
never says another word cannot be stopped; its finish finds the fence raised.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol

from semel.asks import ClaimName
from semel.clock import Clock

logger = logging.getLogger("semel")

BEATS_IN_A_LEASE = 3
"""How often a claim's holder says that it lives within one lease: two beats may be lost without anyone looking."""

StillHeld = frozenset[tuple[ClaimName, int]]


class Watched(Protocol):
    """What is told when its claim is lost."""

    lost: bool


@dataclass(eq=False)
class Watch:
    """A claim whose action runs in this process."""

    name: ClaimName
    fence: int
    lease_us: int
    watched: Watched


class Watches:
    """The claims that are beaten for."""

    def __init__(self) -> None:
        """Watch nothing yet."""
        self.all: set[Watch] = set()

    def pause_seconds(self) -> float:
        """Answer how long until the next beat: the shortest lease decides."""
        shortest = min((watch.lease_us for watch in self.all), default=0)
        return shortest / BEATS_IN_A_LEASE / 1_000_000

    def tell(self, before: set[Watch], held: StillHeld) -> None:
        """Tell those that were watched before the beat, still are, and are not held any more."""
        for watch in before & self.all:
            if (watch.name, watch.fence) not in held:
                watch.watched.lost = True
                logger.warning("the claim on %s %s was lost to a keeper", watch.name.entity, watch.name.row_id)


class Heart:
    """Beats on a thread of its own, while there is something to beat for."""

    def __init__(self, clock: Clock, beat: Callable[[], StillHeld]) -> None:
        """Start nothing yet."""
        self._clock = clock
        self._beat = beat
        self._watches = Watches()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    def watch(self, watch: Watch) -> None:
        """Beat for this claim from now on."""
        with self._lock:
            self._watches.all.add(watch)
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._run, name="semel-heart", daemon=True)
                self._thread.start()

    def unwatch(self, watch: Watch) -> None:
        """Stop beating for this claim."""
        with self._lock:
            self._watches.all.discard(watch)

    def _run(self) -> None:
        while True:
            with self._lock:
                pause = self._watches.pause_seconds()
                if not self._watches.all:
                    self._thread = None
                    return
            self._clock.wait(pause)
            before = set(self._watches.all)
            if not before:
                continue
            try:
                held = self._beat()
            except Exception as problem:  # noqa: BLE001 - an error is not an answer: nobody knows that a claim is lost
                logger.warning("a heartbeat got no answer: %s", problem)
                continue
            with self._lock:
                self._watches.tell(before, held)


class AsyncHeart:
    """Beats in a task of the running loop, while there is something to beat for."""

    def __init__(self, clock: Clock, beat: Callable[[], Awaitable[StillHeld]]) -> None:
        """Start nothing yet."""
        self._clock = clock
        self._beat = beat
        self._watches = Watches()
        self._task: asyncio.Task[None] | None = None

    def watch(self, watch: Watch) -> None:
        """Beat for this claim from now on."""
        self._watches.all.add(watch)
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._run(), name="semel-heart")

    def unwatch(self, watch: Watch) -> None:
        """Stop beating for this claim."""
        self._watches.all.discard(watch)
        if not self._watches.all and self._task is not None:
            self._task.cancel()
            self._task = None

    async def _run(self) -> None:
        while self._watches.all:
            await self._clock.wait_async(self._watches.pause_seconds())
            before = set(self._watches.all)
            try:
                held = await self._beat()
            except Exception as problem:  # noqa: BLE001 - an error is not an answer: nobody knows that a claim is lost
                logger.warning("a heartbeat got no answer: %s", problem)
                continue
            self._watches.tell(before, held)
