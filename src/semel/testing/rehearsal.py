"""A rehearsal: Semel on the test's own connection, where every commit is a savepoint that the test rolls back.

Everything the application does with Semel happens inside the transaction that the test has begun, beside what the test
itself writes, and is gone when the test rolls back. What needs two connections to be seen (who waits for whose lock, who
dies with which transaction) cannot be rehearsed: that is what `semel prove` is for.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any, TypeVar

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from semel.aio import AsyncSemel
from semel.app import Semel
from semel.asks import Asking, Execute, Fetch
from semel.clock import Clock
from semel.performers.actors import AsyncActors, SyncActors
from semel.performers.async_ import join
from semel.performers.conduct import JoinedConductor, OwnConductor, Steps
from semel.performers.handles import Borrowed
from semel.performers.joining import JoinedActors, SyncJoined
from semel.performers.stepping import take_steps, take_steps_async
from semel.performers.wires.borrowed import AsyncSqlalchemyWire, SqlalchemyWire

SAVEPOINT = "semel_rehearsal"

Answer = TypeVar("Answer")


class OneConnection:
    """A pool that lends the test's connection, to one at a time or to one inside the other."""

    def __init__(self, connection: Any) -> None:
        """Keep the connection."""
        self._connection = connection

    def take_idle(self) -> Any:
        """Answer it."""
        return self._connection

    def give_back(self, _connection: Any) -> None:
        """It stays with the test."""

    def discard(self, _connection: Any) -> None:
        """It stays with the test."""

    def close(self) -> None:
        """It stays with the test."""


class RehearsalWire(SqlalchemyWire):
    """A sync connection on which a transaction is a savepoint."""

    in_savepoint = False

    def is_idle(self, _connection: Any) -> bool:
        """Whether no savepoint of ours is open."""
        return not self.in_savepoint

    def begin(self, connection: Any) -> None:
        """Set a savepoint."""
        self.execute(connection, f"SAVEPOINT {SAVEPOINT}", ())
        self.in_savepoint = True

    def commit(self, connection: Any) -> None:
        """Release it."""
        self.execute(connection, f"RELEASE SAVEPOINT {SAVEPOINT}", ())
        self.in_savepoint = False

    def rollback(self, connection: Any) -> None:
        """Go back to it."""
        self.in_savepoint = False
        self.execute(connection, f"ROLLBACK TO SAVEPOINT {SAVEPOINT}", ())
        self.execute(connection, f"RELEASE SAVEPOINT {SAVEPOINT}", ())

    def pause(self, clock: Clock, seconds: float) -> None:
        """Let time pass."""
        clock.wait(seconds)


class AsyncRehearsalWire(AsyncSqlalchemyWire):
    """An async connection on which a transaction is a savepoint."""

    in_savepoint = False

    def is_idle(self, _connection: Any) -> bool:
        """Whether no savepoint of ours is open."""
        return not self.in_savepoint

    async def begin(self, connection: Any) -> None:
        """Set a savepoint."""
        await self.execute(connection, f"SAVEPOINT {SAVEPOINT}", ())
        self.in_savepoint = True

    async def commit(self, connection: Any) -> None:
        """Release it."""
        await self.execute(connection, f"RELEASE SAVEPOINT {SAVEPOINT}", ())
        self.in_savepoint = False

    async def rollback(self, connection: Any) -> None:
        """Go back to it."""
        self.in_savepoint = False
        await self.execute(connection, f"ROLLBACK TO SAVEPOINT {SAVEPOINT}", ())
        await self.execute(connection, f"RELEASE SAVEPOINT {SAVEPOINT}", ())

    async def pause(self, clock: Clock, seconds: float) -> None:
        """Let time pass."""
        await clock.wait_async(seconds)


class NoHeart:
    """Nobody takes a claim over in a rehearsal, so nothing beats."""

    def watch(self, _watch: Any) -> None:
        """Beat for nothing."""

    def unwatch(self, _watch: Any) -> None:
        """Stop beating for nothing."""


class RehearsalConductor(OwnConductor):
    """Runs every statement in a savepoint: one that fails must not poison the test's transaction."""

    def run_alone(self, ask: Fetch | Execute) -> Steps[Any]:
        """Run one statement as a transaction of its own."""
        return (yield from self.run_together(lambda: ask_once(ask)))


def ask_once(ask: Fetch | Execute) -> Asking[Any]:
    """A protocol of one ask."""
    return (yield ask)


class Rehearsal:
    """Stands in for the performer of a `Semel`."""

    def __init__(self, once: Semel, connection: sa.Connection) -> None:
        """Let everything happen on this connection."""
        own = once._performer.conductor  # noqa: SLF001 - a rehearsal takes the performer's place
        wire = RehearsalWire(connection.dialect)
        self.conductor = RehearsalConductor(wire, own.clock, own.read_clock, OneConnection(connection))
        self.conductor.actors = SyncActors(own.actors.troupe, lambda: connection, NoHeart())  # type: ignore[arg-type, return-value] # what it needs of them

    def perform(self, protocol: Asking[Answer]) -> Answer:
        """Answer what the protocol answers."""
        return take_steps(self.conductor.conduct(protocol))

    def perform_on(self, borrowed: Borrowed, protocol: Asking[Answer]) -> Answer:
        """Answer what the protocol answers in the transaction of a borrowed handle."""
        own = self.conductor
        joined = JoinedConductor(borrowed.wire, own.clock, own.read_clock, borrowed.handle)
        joined.actors = JoinedActors(own.actors, SyncJoined(borrowed).begin)
        return take_steps(joined.conduct(protocol))

    def close(self) -> None:
        """The test's connection stays open."""


class AsyncRehearsal:
    """Stands in for the performer of an `AsyncSemel`."""

    def __init__(self, once: AsyncSemel, connection: AsyncConnection) -> None:
        """Let everything happen on this connection."""
        own = once._performer.conductor  # noqa: SLF001 - a rehearsal takes the performer's place
        wire = AsyncRehearsalWire(connection.dialect)
        self.conductor = RehearsalConductor(wire, own.clock, own.read_clock, OneConnection(connection))
        self.conductor.actors = AsyncActors(own.actors.troupe, lambda: connection, NoHeart())  # type: ignore[arg-type, return-value] # what it needs of them

    async def perform(self, protocol: Asking[Answer]) -> Answer:
        """Answer what the protocol answers."""
        return await take_steps_async(self.conductor.conduct(protocol))

    async def perform_on(self, borrowed: Borrowed, protocol: Asking[Answer]) -> Answer:
        """Answer what the protocol answers in the transaction of a borrowed handle."""
        return await take_steps_async(join(self.conductor, borrowed).conduct(protocol))


def must_begin(connection: Any) -> bool:
    """Whether sqlite3 has put BEGIN off until the first write: a savepoint before it would commit when it is released."""
    driver = connection.connection.driver_connection
    return connection.dialect.name == "sqlite" and not driver.in_transaction


@contextmanager
def rehearse(once: Semel, connection: sa.Connection) -> Iterator[Semel]:
    """Let a booted `Semel` work on the test's connection until the block ends. The test rolls the connection back."""
    if must_begin(connection):
        connection.exec_driver_sql("BEGIN")
    real = once._performer  # noqa: SLF001 - a rehearsal takes the performer's place
    once._performer = Rehearsal(once, connection)  # type: ignore[assignment] # noqa: SLF001 - as above
    try:
        yield once
    finally:
        once._performer = real  # noqa: SLF001 - as above


@asynccontextmanager
async def rehearse_async(once: AsyncSemel, connection: AsyncConnection) -> AsyncIterator[AsyncSemel]:
    """Let a booted `AsyncSemel` work on the test's connection until the block ends. The test rolls the connection back."""
    await connection.get_raw_connection()
    if must_begin(connection.sync_connection):
        await connection.exec_driver_sql("BEGIN")
    real = once._performer  # noqa: SLF001 - a rehearsal takes the performer's place
    once._performer = AsyncRehearsal(once, connection)  # type: ignore[assignment] # noqa: SLF001 - as above
    try:
        yield once
    finally:
        once._performer = real  # noqa: SLF001 - as above
