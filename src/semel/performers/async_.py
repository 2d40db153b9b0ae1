"""The async performers: a step is awaited.

SQLite has no sockets to wait on, so its work is done on one thread: a whole transaction is one hop there and back, because
a hop costs as much as several statements.
"""

from __future__ import annotations

import asyncio
import os
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from semel.asks import Act, Ask, Asking, Deliver, Drop, Fresh, OpenFinish, Tick, Together, Wait
from semel.clock import Clock
from semel.errors import error
from semel.performers.actors import AsyncActors
from semel.performers.conduct import JoinedConductor, OwnConductor, Steps
from semel.performers.handles import Borrowed
from semel.performers.joining import AsyncJoined, JoinedActors
from semel.performers.pool import AsyncPool, Pool
from semel.performers.stepping import take_steps, take_steps_async
from semel.performers.stopping import perform_asks
from semel.performers.wires.wire import Wire

Answer = TypeVar("Answer")


def join(own: OwnConductor, borrowed: Borrowed) -> JoinedConductor:
    """Answer the conductor of a borrowed handle."""
    joined = JoinedConductor(borrowed.wire, own.clock, own.read_clock, borrowed.handle)
    joined.actors = JoinedActors(own.actors, AsyncJoined(borrowed).begin)
    return joined


class AsyncPerformer:
    """Performs protocols over own connections, in the running event loop."""

    def __init__(self, wire: Wire, clock: Clock, read_clock: Any, connections_limit: int) -> None:
        """Open nothing yet."""
        self.pool = AsyncPool(wire, connections_limit)
        self.conductor = OwnConductor(wire, clock, read_clock, self.pool)

    async def perform(self, protocol: Asking[Answer]) -> Answer:
        """Answer what the protocol answers."""
        return await perform_asks(protocol, lambda ask: take_steps_async(self.conductor.answer(ask)))

    async def perform_on(self, borrowed: Borrowed, protocol: Asking[Answer]) -> Answer:
        """Answer what the protocol answers in the transaction of a borrowed handle."""
        return await take_steps_async(join(self.conductor, borrowed).conduct(protocol))

    def engage(self, actors: AsyncActors) -> None:
        """From now on user functions are run by these actors."""
        self.conductor.actors = actors

    def close(self) -> None:
        """Close the connections."""
        self.pool.close()


class ThreadPerformer:
    """Performs protocols over SQLite on one thread, without blocking the event loop."""

    def __init__(self, wire: Wire, clock: Clock, read_clock: Any) -> None:
        """Start no thread yet."""
        self.pool = Pool(wire, 1)
        self.conductor = OwnConductor(wire, clock, read_clock, self.pool)
        self._thread: ThreadPoolExecutor | None = None
        self._home: int | None = None

    async def perform(self, protocol: Asking[Answer]) -> Answer:
        """Answer what the protocol answers."""
        return await perform_asks(protocol, self._answer)

    async def _answer(self, ask: Ask) -> Any:
        """Answer one ask: waits are awaited here, the user's functions run here, everything else happens on the thread."""
        if isinstance(ask, Wait):
            return await self.conductor.clock.wait_async(ask.seconds)
        if isinstance(ask, Tick | Fresh):
            # The thread may be waiting for the very lock that this caller's open transaction holds.
            return take_steps(self.conductor.answer(ask))
        is_within = isinstance(ask, Together) and ask.within is not None
        if is_within or isinstance(ask, Act | Deliver | OpenFinish | Drop):
            return await take_steps_async(self.conductor.answer(ask))
        return await self._on_thread(self.conductor.answer(ask))

    async def _on_thread(self, steps: Steps[Any]) -> Any:
        """Run steps on the thread. A cancelled caller leaves, but the transaction ends by itself first."""
        return await asyncio.get_running_loop().run_in_executor(self._executor(), take_steps, steps)

    def _executor(self) -> ThreadPoolExecutor:
        if self.pool.shelf.closed:
            raise error("SEMEL-APP-2")
        if self._thread is None or self._home != os.getpid():
            self._thread, self._home = ThreadPoolExecutor(max_workers=1, thread_name_prefix="semel-sqlite"), os.getpid()
        return self._thread

    async def perform_on(self, borrowed: Borrowed, protocol: Asking[Answer]) -> Answer:
        """Answer what the protocol answers in the transaction of a borrowed handle."""
        return await take_steps_async(join(self.conductor, borrowed).conduct(protocol))

    def engage(self, actors: AsyncActors) -> None:
        """From now on user functions are run by these actors."""
        self.conductor.actors = actors

    def close(self) -> None:
        """Close the connection and let the thread end."""
        self.pool.close()
        if self._thread is not None:
            self._thread.shutdown(wait=False)
