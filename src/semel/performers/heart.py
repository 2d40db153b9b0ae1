"""The hearts: beside every action that runs under a claim, something beats for all claims of the process.

A claim that is no longer answered for is lost, and its action leaves at its next word to the step. A `def` action that
never says another word cannot be stopped; its finish finds the fence raised.
"""

from __future__ import annotations

import asyncio
import logging
import os
import threading
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol
from weakref import WeakKeyDictionary

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

    def add(self, watch: Watch) -> bool:
        """Watch one more; answer whether it wants to be beaten for sooner than the others."""
        sooner = not self.all or watch.lease_us < min(each.lease_us for each in self.all)
        self.all.add(watch)
        return sooner

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
        self._start_over()
        # A child process has none of the threads that hold locks here, and none of the claims.
        os.register_at_fork(after_in_child=self._start_over)

    def _start_over(self) -> None:
        self._watches = Watches()
        self._lock = threading.Lock()
        self._sooner = threading.Event()
        self._thread: threading.Thread | None = None

    def watch(self, watch: Watch) -> None:
        """Beat for this claim from now on; the next beat is as early as its lease wants it."""
        with self._lock:
            if self._watches.add(watch):
                self._sooner.set()
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._run, name="semel-heart", daemon=True)
                self._thread.start()

    def unwatch(self, watch: Watch) -> None:
        """Stop beating for this claim."""
        with self._lock:
            self._watches.all.discard(watch)

    def _run(self) -> None:
        last = self._clock.tick()
        while True:
            with self._lock:
                if not self._watches.all:
                    self._thread = None
                    return
                self._sooner.clear()
                pause = last + self._watches.pause_seconds() - self._clock.tick()
                before = set(self._watches.all)
            if pause > 0:
                # Afterwards it is looked again: some claims may have ended, and others may want an earlier beat.
                self._clock.wait_for(self._sooner, pause)
            else:
                last = self._clock.tick()
                self._beat_for(before)

    def _beat_for(self, before: set[Watch]) -> None:
        try:
            held = self._beat()
        except Exception as problem:  # noqa: BLE001 - an error is not an answer: nobody knows that a claim is lost
            logger.warning("a heartbeat got no answer: %s", problem)
            return
        with self._lock:
            self._watches.tell(before, held)


class AsyncHeart:
    """Beats in a task of each running loop, while there is something to beat for in it."""

    def __init__(self, clock: Clock, beat: Callable[[], Awaitable[StillHeld]]) -> None:
        """Start nothing yet."""
        self._clock = clock
        self._beat = beat
        self._start_over()
        os.register_at_fork(after_in_child=self._start_over)

    def _start_over(self) -> None:
        self._pulses: WeakKeyDictionary[asyncio.AbstractEventLoop, Pulse] = WeakKeyDictionary()

    def watch(self, watch: Watch) -> None:
        """Beat for this claim from now on; the next beat is as early as its lease wants it."""
        loop = asyncio.get_running_loop()
        pulse = self._pulses.get(loop)
        if pulse is None:
            pulse = self._pulses.setdefault(loop, Pulse(self._clock, self._beat))
        pulse.watch(watch)

    def unwatch(self, watch: Watch) -> None:
        """Stop beating for this claim; a heart with nothing to beat for stops."""
        loop = asyncio.get_running_loop()
        pulse = self._pulses.get(loop)
        if pulse is not None and pulse.unwatch(watch):
            self._pulses.pop(loop, None)  # it would keep the loop alive after its end


class Pulse:
    """The heart's task in one event loop."""

    def __init__(self, clock: Clock, beat: Callable[[], Awaitable[StillHeld]]) -> None:
        """Start nothing yet."""
        self._clock = clock
        self._beat = beat
        self._watches = Watches()
        self._changed = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def watch(self, watch: Watch) -> None:
        """Watch one more."""
        if self._watches.add(watch):
            self._changed.set()
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._run(), name="semel-heart")

    def unwatch(self, watch: Watch) -> bool:
        """Watch one less; answer whether it was the last, and the pulse stops."""
        self._watches.all.discard(watch)
        if not self._watches.all:
            self._changed.set()
        return not self._watches.all

    async def _run(self) -> None:
        last = self._clock.tick()
        while self._watches.all:
            self._changed.clear()
            pause = last + self._watches.pause_seconds() - self._clock.tick()
            if pause > 0:
                await self._wait(pause)
            else:
                last = self._clock.tick()
                await self._beat_for(set(self._watches.all))

    async def _wait(self, pause: float) -> None:
        """Wait for the next beat, or until there is more or less to beat for."""
        waits = [asyncio.ensure_future(self._changed.wait()), asyncio.ensure_future(self._clock.wait_async(pause))]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()

    async def _beat_for(self, before: set[Watch]) -> None:
        try:
            held = await self._beat()
        except Exception as problem:  # noqa: BLE001 - an error is not an answer: nobody knows that a claim is lost
            logger.warning("a heartbeat got no answer: %s", problem)
            return
        self._watches.tell(before, held)
