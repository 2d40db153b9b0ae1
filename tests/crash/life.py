"""A process that dies after its n-th ask: what it was doing is never gone on with, and its connections are gone.

Nothing is raised into the protocol, the performer or the action, because a killed process runs no `finally` either. A sync
process runs in a greenlet that is never switched to again; an async one awaits what never comes.
"""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import Callable, Generator
from concurrent.futures import Future
from dataclasses import replace
from typing import Any

import sqlalchemy as sa
from greenlet import getcurrent, greenlet
from sqlalchemy.util.concurrency import await_only, in_greenlet

from semel.asks import Act, Ask, Now, OpenFinish, Together
from semel.errors import SemelError
from semel.performers.stepping import take_steps
from tests.shop.process import Shop

DEAD = object()
"""What a call answers whose process has died."""

GRAVEYARD: list[Any] = []
"""What the dead were doing: collecting it as garbage would run their `finally`."""

ASKS_LIMIT = 200
"""More asks than any verb of these tests has."""


class Life:
    """Counts the asks of one process, and ends it after the last one that it has."""

    def __init__(self, shop: Shop, asks: int = ASKS_LIMIT, place: str | None = None) -> None:
        self.shop = shop
        self.left = asks
        self.place = place
        self.over = False
        self.last_words = "nothing"
        self._died = threading.Event()
        self._connections: list[Any] = []
        self._parent: Any = None
        shop.here = self.at
        self._watch_connections()
        performer = shop.semel._performer
        shop.semel._performer = DoomedPerformer(performer, self)

    # Dying

    def spend(self, ask: str) -> bool:
        """Note that an ask was answered; answer whether it was the last, where dying is left to the caller."""
        self.left -= 1
        if self.left or self.over:
            return False
        self.over, self.last_words = True, ask
        if self.shop.colour == "sync":
            GRAVEYARD.append(getcurrent())
            self._parent.switch()
            raise AssertionError("the dead do not wake")
        if in_greenlet():
            await_only(self.freeze())
        return True

    def at(self, place: str, _step: Any) -> Any:
        """Be at a place in user code, which can die between its statements too, or only where the test has named the place."""
        if place == self.place:
            self.left = 1
        return self.freeze() if self.spend(f"user code, {place}") else None

    async def freeze(self) -> None:
        """Stop for ever."""
        GRAVEYARD.append(asyncio.current_task())
        asyncio.current_task()._log_destroy_pending = False
        self._died.set()
        await asyncio.get_running_loop().create_future()

    # Living

    def live(self, call: Callable[[], Any]) -> Any:
        """Make a call as this process, and answer what it answers, or DEAD. Then its connections are gone either way."""
        answer = self._live_sync(call) if self.shop.colour == "sync" else self._live_async(call)
        self.shop.stage.wait(self._drop_connections)
        return answer

    def _live_sync(self, call: Callable[[], Any]) -> Any:
        self._parent = getcurrent()
        answer = greenlet(call).switch()
        return DEAD if self.over else answer

    def _live_async(self, call: Callable[[], Any]) -> Any:
        answered: Future[Any] = self.shop.stage.begin(call)
        answered.add_done_callback(lambda _: self._died.set())
        assert self._died.wait(60), "neither an answer nor a death within a minute"
        return DEAD if self.over else answered.result()

    # Connections

    def _watch_connections(self) -> None:
        semel = self.shop.semel
        wire = semel._performer.pool.shelf.wire
        opened = wire.open

        def open_and_note() -> Any:
            connection = opened()
            return (
                self._note_later(connection) if inspect.isawaitable(connection) else self._note(connection, wire.close)
            )

        async def note_later(awaitable: Any) -> Any:
            return self._note(await awaitable, wire.close)

        self._note_later = note_later
        wire.open = open_and_note
        engine = getattr(semel._engine, "sync_engine", semel._engine)
        sa.event.listen(engine, "connect", lambda dbapi, _record: self._note(dbapi, close_at_once))

    def _note(self, connection: Any, close: Callable[[Any], Any]) -> Any:
        self._connections.append((connection, close))
        return connection

    async def _drop_connections_async(self) -> None:
        for connection, close in self._connections:
            ended = close(connection)
            if inspect.isawaitable(ended):
                await ended

    def _drop_connections(self) -> Any:
        GRAVEYARD.append(self)
        shelf = self.shop.semel._performer.performer.pool.shelf
        shelf.idle, shelf.made = [], 0  # a fork of the test's own process waits for nothing that is dead
        if self.shop.colour == "async":
            return self._drop_connections_async()
        for connection, close in self._connections:
            close(connection)
        return None


def close_at_once(connection: Any) -> Any:
    """Close a connection of an engine under its pool, as the end of a process would."""
    driver = getattr(connection, "driver_connection", connection)
    for name in ("terminate", "_force_close", "close"):  # asyncpg, PyMySQL, everyone else
        close = getattr(driver, name, None)
        if close is not None:
            return close()
    raise AssertionError(f"{driver!r} cannot be closed")


class DoomedPerformer:
    """Performs protocols as its process lives, and goes on with none after its death."""

    def __init__(self, performer: Any, life: Life) -> None:
        self.performer = performer
        self.conductor = performer.conductor
        self.life = life

    def perform(self, protocol: Any) -> Any:
        """Answer what the protocol answers, if the process lives that long."""
        steps = self.conductor.conduct(count_asks(protocol, self.life))
        return take_steps(steps) if self.life.shop.colour == "sync" else self._perform_async(steps)

    async def _perform_async(self, steps: Any) -> Any:
        """Take steps, each awaited or, on SQLite, called; the dead take none."""
        try:
            step = next(steps)
            while True:
                if self.life.over:
                    GRAVEYARD.append(steps)
                    await self.life.freeze()
                try:
                    reply = step()
                    reply = await reply if inspect.isawaitable(reply) else reply
                except BaseException as problem:  # noqa: BLE001 - the conductor decides about every one
                    step = steps.throw(problem)
                else:
                    step = steps.send(reply)
        except StopIteration as stop:
            return stop.value


def count_asks(protocol: Any, life: Life) -> Generator[Ask, Any, Any]:
    """Pass a protocol's asks on, and die with the answer of the last; asks of inner protocols count like any other."""
    reply: Any = None
    problem: SemelError | None = None
    while True:
        try:
            ask = protocol.send(reply) if problem is None else protocol.throw(problem)
        except StopIteration as stop:
            return stop.value
        reply, problem = None, None
        try:
            reply = yield count_inside(ask, life)
        except SemelError as trouble:
            problem = trouble
        if life.spend(name_ask(ask)):
            GRAVEYARD.append(protocol)
            yield Now()  # the next step, which the dead do not take


def count_inside(ask: Ask, life: Life) -> Ask:
    """Answer the ask with its inner protocols counted too."""
    match ask:
        case Together() | OpenFinish():
            return replace(ask, begin=lambda: count_asks(ask.begin(), life))
        case Act(fence=fence) if fence is not None:
            return replace(ask, fence=lambda: count_asks(fence(), life))
        case _:
            return ask


def name_ask(ask: Ask) -> str:
    """Name an ask, for the message of a test that fails."""
    statement = getattr(ask, "statement", None)
    return type(ask).__name__ if statement is None else f"{type(ask).__name__} {statement.name}"
