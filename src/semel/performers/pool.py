"""Semel's own connections: opened when needed, lent one at a time, made anew after a fork or in another event loop."""

from __future__ import annotations

import asyncio
import logging
import os
import threading
from collections import deque
from collections.abc import AsyncGenerator
from typing import Any

from semel.errors import error
from semel.performers.wires.wire import Wire
from semel.store.dialects import LOCK_WAIT_SECONDS

logger = logging.getLogger("semel")

LEND_SECONDS = 10.0
"""How long a verb waits for a free connection: twice a lock wait, so that one stuck row does not fail its neighbours."""


class Shelf:
    """The connections of one process (and, for async, of one event loop). Not safe by itself: pools guard it."""

    def __init__(self, wire: Wire, limit: int) -> None:
        """Open nothing yet."""
        self.wire = wire
        self.limit = limit
        self.home: object = None
        self.process = os.getpid()
        self.inherited: list[Any] = []
        self.idle: list[Any] = []
        self.made = 0
        self.closed = False

    def take(self, home: object) -> Any | None:
        """Answer an idle connection that may still be used, the last one given back first."""
        if self.closed:
            raise error("SEMEL-APP-2")
        if home != self.home:
            self._leave_behind()
            self.home, self.idle, self.made = home, [], 0
        while self.idle:
            connection = self.idle.pop()
            if self.wire.is_open(connection):
                return connection
            self.drop(connection)
        return None

    def _leave_behind(self) -> None:
        """Another process or loop owns the old connections: to close them here would speak on its sockets.

        Those of another process are not even forgotten, because their destructors would touch what the two share.
        """
        if self.process != os.getpid():
            self.inherited += self.idle
            self.process = os.getpid()

    def drop(self, connection: Any) -> None:
        """Close a connection and make room for another."""
        self.made -= 1
        self.wire.close(connection)

    def close(self, home: object) -> None:
        """Close what is idle and ours; what is lent is closed when it comes back."""
        self.closed = True
        idle, self.idle = self.idle, []
        if home == self.home:
            for connection in idle:
                self.made -= 1
                try:
                    self.wire.close(connection)
                except Exception as problem:  # noqa: BLE001 - one that cannot be closed keeps no other from being closed
                    logger.debug("a connection could not be closed: %s", problem)


class Pool:
    """Lends connections to threads."""

    def __init__(self, wire: Wire, limit: int) -> None:
        """Open nothing yet."""
        self.shelf = Shelf(wire, limit)
        self._free = threading.Condition()
        self._borrowers: dict[int, int] = {}
        # SQLite keeps its locks by process, so what a child inherits must be closed before it is born.
        is_file = wire.dialect.name == "sqlite"
        if is_file:
            os.register_at_fork(before=self._wait_until_idle)
        os.register_at_fork(after_in_child=self._start_over)

    def _start_over(self) -> None:
        """The parent's threads, and with them whoever held the lock, do not exist in the child."""
        self._free = threading.Condition()
        self._borrowers = {}

    def _wait_until_idle(self) -> None:
        """Let lent connections come back, as long as a lock may be waited for, and close them."""
        with self._free:
            self._free.wait_for(lambda: len(self.shelf.idle) == self.shelf.made, LOCK_WAIT_SECONDS)
            while self.shelf.idle:
                self.shelf.drop(self.shelf.idle.pop())

    def take_idle(self) -> Any | None:
        """Answer a connection that is free right now, or None."""
        with self._free:
            connection = self.shelf.take(os.getpid())
            if connection is not None:
                self._lent(connection)
            return connection

    def lend(self) -> Any:
        """Answer a connection, opening one within the limit, else waiting for one to come back."""
        with self._free:
            connection = self._wait_for_one()
        if connection is None:
            try:
                connection = self.shelf.wire.open()
            except BaseException:
                with self._free:
                    self.shelf.made -= 1
                    self._free.notify()
                raise
        with self._free:
            self._lent(connection)
        return connection

    def _wait_for_one(self) -> Any | None:
        """Answer an idle connection, or None with the right to open one."""
        connection = self.shelf.take(os.getpid())
        if connection is None and self.shelf.made >= self.shelf.limit:
            if self.shelf.limit == 1 and threading.get_ident() in self._borrowers.values():
                raise error("SEMEL-STORE-9")
            if not self._free.wait_for(
                lambda: self.shelf.idle or self.shelf.made < self.shelf.limit or self.shelf.closed, LEND_SECONDS
            ):
                raise error("SEMEL-STORE-7", seconds=LEND_SECONDS, limit=self.shelf.limit)
            connection = self.shelf.take(os.getpid())
        if connection is None:
            self.shelf.made += 1
        return connection

    def _lent(self, connection: Any) -> None:
        self._borrowers[id(connection)] = threading.get_ident()

    def give_back(self, connection: Any) -> None:
        """Take an idle connection back."""
        with self._free:
            self._borrowers.pop(id(connection), None)
            if self.shelf.closed or self.shelf.home != os.getpid():
                self.shelf.drop(connection)
            else:
                self.shelf.idle.append(connection)
            self._free.notify_all()  # a fork may wait beside those who want a connection

    def discard(self, connection: Any) -> None:
        """Close a connection that is not to be used again."""
        with self._free:
            self._borrowers.pop(id(connection), None)
            self.shelf.drop(connection)
            self._free.notify()

    def close(self) -> None:
        """Close every idle connection, and refuse to lend."""
        with self._free:
            self.shelf.close(os.getpid())
            self._free.notify_all()


def has_running_loop() -> bool:
    """Whether this thread runs an event loop now."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


class AsyncPool:
    """Lends connections to the tasks of one event loop, in the order in which they asked."""

    def __init__(self, wire: Wire, limit: int) -> None:
        """Open nothing yet."""
        self.shelf = Shelf(wire, limit)
        self._waiting: deque[asyncio.Future[Any | None]] = deque()
        self._watched: object = None
        self._watch: AsyncGenerator[None] | None = None

    def _home(self) -> object:
        # The loop itself, not its id: a later loop may be given the place in memory that a dead one had.
        return os.getpid(), asyncio.get_running_loop()

    def take_idle(self) -> Any | None:
        """Answer a connection that is free right now, or None."""
        if self.shelf.home != self._home():
            self._waiting.clear()  # who waited in another loop is woken by nobody here
        return self.shelf.take(self._home())

    async def lend(self) -> Any:
        """Answer a connection, opening one within the limit, else waiting for one to come back."""
        connection = self.take_idle()
        if connection is None and self.shelf.made >= self.shelf.limit:
            connection = await self._wait_for_turn()
        elif connection is None:
            self.shelf.made += 1
        if connection is not None:
            return connection
        try:
            await self._close_with_loop()
            return await self.shelf.wire.open()
        except BaseException:
            self._leave_place()
            raise

    async def _close_with_loop(self) -> None:
        """See to it that idle connections end with this loop: afterwards nobody can close them."""
        if self._watched != self._home():
            self._watched, self._watch = self._home(), self._until_loop_ends()
            await anext(self._watch)

    async def _until_loop_ends(self) -> AsyncGenerator[None]:
        """An ending loop closes every generator that was begun in it; that is the only sign it gives."""
        home = self._home()
        try:
            yield
        finally:
            while self.shelf.home == home and self.shelf.idle:
                self.shelf.drop(self.shelf.idle.pop())

    async def _wait_for_turn(self) -> Any | None:
        """Answer a connection that was given back, or None with the right to open one."""
        turn: asyncio.Future[Any | None] = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        try:
            async with asyncio.timeout(LEND_SECONDS):
                return await turn
        except BaseException as problem:
            self._pass_on(turn)
            if isinstance(problem, TimeoutError):
                raise error("SEMEL-STORE-7", seconds=LEND_SECONDS, limit=self.shelf.limit) from None
            raise

    def _pass_on(self, turn: asyncio.Future[Any | None]) -> None:
        """Leave the queue; what had been handed over already goes to the next."""
        if turn in self._waiting:
            self._waiting.remove(turn)
        elif turn.done() and not turn.cancelled():
            connection = turn.result()
            if connection is None:
                self._leave_place()
            else:
                self.give_back(connection)

    def _next_in_line(self) -> asyncio.Future[Any | None] | None:
        while self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():
                return turn
        return None

    def _leave_place(self) -> None:
        """Let the next one open the connection that is missing now."""
        turn = self._next_in_line()
        if turn is None:
            self.shelf.made -= 1
        else:
            turn.set_result(None)

    def give_back(self, connection: Any) -> None:
        """Take an idle connection back, or hand it to the next in line."""
        if self.shelf.home != self._home():
            self.shelf.wire.close(connection)  # lent in another life; it is not counted in this one
            return
        if self.shelf.closed:
            self.shelf.drop(connection)
            return
        turn = self._next_in_line()
        if turn is None:
            self.shelf.idle.append(connection)
        else:
            turn.set_result(connection)

    def discard(self, connection: Any) -> None:
        """Close a connection that is not to be used again."""
        self.shelf.wire.close(connection)
        if self.shelf.home == self._home():
            self._leave_place()

    def close(self) -> None:
        """Close every idle connection, and refuse to lend; those who wait find it closed."""
        home = self._home() if has_running_loop() else None
        self.shelf.close(home)
        while (turn := self._next_in_line()) is not None:
            turn.set_exception(error("SEMEL-APP-2"))
