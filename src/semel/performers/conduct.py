"""What every performer does, written once: answer a protocol's asks over connections, and say honestly what went wrong.

A conductor is a generator too. It yields steps, which are calls that touch the outside (a driver, a pool, a pause), and is
sent their answers. The sync performer calls a step; the async one awaits what the call gives. Nothing else differs.

The rules it keeps
- Outside `Together` a statement is one autocommit statement.
- After any error in a transaction of its own: roll back, make sure none is open, and only then tell the protocol. Running
  half a transaction again would commit the first half on MariaDB, where a lock timeout undoes one statement only.
- An error that leaves it unknown whether a write or a COMMIT happened is `OutcomeUnknownError`, and never anything milder.
- A connection is given back only when it is idle; in doubt it is closed.
- A statement that matched more rows than it promised is an error: every count is read here, in one place.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

from semel.asks import (
    Act,
    Ask,
    Asking,
    Deliver,
    Drop,
    Execute,
    Fetch,
    Fresh,
    Now,
    OpenFinish,
    Row,
    Tick,
    Together,
    Wait,
)
from semel.clock import Clock
from semel.errors import SemelError, error
from semel.performers.explaining import as_told, explain, unknown
from semel.performers.finishing import Finishing
from semel.performers.fresh import fresh_id
from semel.performers.quoting import quote
from semel.performers.stepping import Step, Steps
from semel.performers.wires.wire import Wire
from semel.store.dialects import Fault, classify

logger = logging.getLogger("semel")

Answer = TypeVar("Answer")
_UNUSABLE = (Fault.LOST, Fault.TURNED_AWAY, Fault.UNRECOGNISED)


def is_unusable_after(problem: BaseException) -> bool:
    """Whether nobody knows what a connection would answer next. What Semel itself raised says nothing about it."""
    return not isinstance(problem, SemelError) and classify(problem) in _UNUSABLE


class Conductor(Finishing):
    """Answers asks that need no connection; the rest is for those who know where connections come from."""

    def __init__(self, wire: Wire, clock: Clock, read_clock: Any) -> None:
        """Keep the driver's wire, the local clock, and the statement that reads the database's."""
        self.wire = wire
        self.clock = clock
        self.read_clock = read_clock
        self.actors: Any = None

    def conduct(self, protocol: Asking[Answer]) -> Steps[Answer]:
        """Drive a protocol to its answer."""
        reply: Any = None
        problem: SemelError | None = None
        while True:
            try:
                ask = protocol.send(reply) if problem is None else protocol.throw(problem)
            except StopIteration as stop:
                return stop.value  # type: ignore[no-any-return]
            reply, problem = None, None
            try:
                reply = yield from self.answer(ask)
            except SemelError as trouble:
                problem = trouble

    def answer(self, ask: Ask) -> Steps[Any]:
        """Answer one ask."""
        match ask:
            case Fetch() | Execute():
                return (yield from self.run_alone(ask))
            case Together(begin=begin, within=None):
                return (yield from self.run_together(begin))
            case Now():
                ((now,),) = yield from self.run_alone(Fetch(self.read_clock, {}))
                return now
            case Tick():
                return self.clock.tick()
            case Fresh():
                return fresh_id()
            case Wait(seconds=seconds):
                return (yield partial(self.wire.pause, self.clock, seconds))
            case _:
                return (yield from self.answer_with_user(ask))

    def answer_with_user(self, ask: Act | Deliver | Drop | OpenFinish | Together) -> Steps[Any]:
        """Answer an ask that runs the user's functions, or ends what they left open."""
        match ask:
            case Together(begin=begin, within=opened):
                return (yield from self.run_within(opened, begin))
            case OpenFinish(begin=begin):
                opened = yield self.actors.open
                return opened, (yield from self.run_first(opened, begin))
            case Drop(open=opened):
                return (yield from self.drop(opened))
            case Act():
                return (yield partial(self.actors.act, ask))
            case Deliver():
                return (yield partial(self.actors.deliver, ask))

    def run_alone(self, ask: Fetch | Execute) -> Steps[Any]:
        """Answer a statement outside `Together`."""
        raise NotImplementedError

    def run_together(self, begin: Callable[[], Asking[Any]]) -> Steps[Any]:
        """Answer a `Together`."""
        raise NotImplementedError

    def beside(self, wire: Wire, connection: Any) -> JoinedConductor:
        """Answer a conductor for a connection that somebody else began and will end."""
        return JoinedConductor(wire, self.clock, self.read_clock, connection)

    def run_on(self, connection: Any, ask: Fetch | Execute) -> Steps[Any]:
        """Run one statement on a connection; a driver's error goes up as it is."""
        rendered = ask.statement.render(self.wire.dialect)  # type: ignore[attr-defined] # protocols know only a statement's name
        bound = rendered.bind(ask.params)
        if isinstance(ask, Fetch):
            return rendered.read((yield partial(self.wire.fetch, connection, rendered.text, bound)))
        counted = yield partial(self.wire.execute, connection, rendered.text, bound)
        return check_count(ask, counted)

    def conduct_inside(self, connection: Any, protocol: Asking[Answer]) -> Steps[Answer]:
        """Drive a protocol inside a transaction. Any error ends it: what follows a failure is not the protocol's to decide."""
        reply: Any = None
        while True:
            try:
                ask = protocol.send(reply)
            except StopIteration as stop:
                return stop.value  # type: ignore[no-any-return]
            match ask:
                case Fetch() | Execute():
                    reply = yield from self.run_on(connection, ask)
                case Now():
                    ((reply,),) = yield from self.run_on(connection, Fetch(self.read_clock, {}))
                case Tick():
                    reply = self.clock.tick()
                case Fresh():
                    reply = fresh_id()
                case _:
                    raise AssertionError(f"{type(ask).__name__} cannot be asked inside a transaction")


class OwnConductor(Conductor):
    """Answers asks over Semel's own connections."""

    def __init__(self, wire: Wire, clock: Clock, read_clock: Any, pool: Any) -> None:
        """Keep where connections come from."""
        super().__init__(wire, clock, read_clock)
        self.pool = pool

    def run_alone(self, ask: Fetch | Execute) -> Steps[list[Row] | int]:
        """Run one statement in autocommit."""
        connection = yield from self.lend()
        try:
            answer: list[Row] | int = yield from self.run_on(connection, ask)
        except BaseException as problem:
            yield from self.give_back_after(connection, problem)
            if not isinstance(problem, Exception) or isinstance(problem, SemelError):
                raise
            raise explain(problem, writing=ask.statement.writes) from problem
        if self.wire.doubts(connection) and ask.statement.writes:
            yield from self.give_back_after(connection, None)
            raise unknown("the commit was not confirmed by every server that should have it")
        self.pool.give_back(connection)
        return answer

    def run_together(self, begin: Callable[[], Asking[Any]]) -> Steps[Any]:
        """Run a protocol in one transaction of its own."""
        connection = yield from self.lend()
        committing = False
        try:
            yield partial(self.wire.begin, connection)
            answer = yield from self.conduct_inside(connection, begin())
            committing = True
            yield partial(self.wire.commit, connection)
        except BaseException as problem:
            yield from self.give_back_after(connection, problem)
            if not isinstance(problem, Exception) or isinstance(problem, SemelError | AssertionError):
                raise
            raise explain(problem, writing=committing) from problem
        if self.wire.doubts(connection):
            yield from self.give_back_after(connection, None)
            raise unknown("the commit was not confirmed by every server that should have it")
        if not self.wire.is_idle(connection):
            yield from self.give_back_after(connection, None)
            raise unknown("the connection was still in a transaction after COMMIT")
        self.pool.give_back(connection)
        return answer

    def lend(self) -> Steps[Any]:
        """Take a connection from the pool; a failure to open one wrote nothing."""
        connection = self.pool.take_idle()
        if connection is not None:
            return connection
        try:
            return (yield self.pool.lend)
        except SemelError:
            raise
        except Exception as problem:
            raise explain(problem, writing=False) from problem

    def give_back_after(self, connection: Any, problem: BaseException | None) -> Steps[None]:
        """Roll back what an error left open; give the connection back if it is sound, else close it."""
        if problem is not None and not isinstance(problem, Exception):
            self.pool.discard(
                connection
            )  # the caller is being cancelled or stopped: no more waiting on this connection
            return
        try:
            if problem is None or is_unusable_after(problem) or not self.wire.is_open(connection):
                self.pool.discard(connection)
                return
            if not self.wire.is_idle(connection):
                yield partial(self.wire.rollback, connection)
        except Exception:  # noqa: BLE001 - a connection that cannot roll back is closed, and the first error is the one to tell
            self.pool.discard(connection)
            return
        except BaseException:
            self.pool.discard(connection)
            raise
        if self.wire.is_idle(connection):
            self.pool.give_back(connection)
        else:
            self.pool.discard(connection)


SAVEPOINT = "semel_move"


class JoinedConductor(Conductor):
    """Answers asks on a handle the user lent: never commits, rolls back or runs again."""

    def __init__(self, wire: Wire, clock: Clock, read_clock: Any, handle: Any) -> None:
        """Keep the borrowed handle."""
        super().__init__(wire, clock, read_clock)
        self.handle = handle

    def run_alone(self, ask: Fetch | Execute) -> Steps[Any]:
        """Run one statement in the user's transaction."""
        try:
            return (yield from self.run_on(self.handle, ask))
        except SemelError:
            raise
        except Exception as problem:
            raise explain(problem, writing=False) from problem

    def run_together(self, begin: Callable[[], Asking[Any]]) -> Steps[Any]:
        """Run several statements in a savepoint: what fails half-way leaves the user's transaction as it found it."""
        yield from self.say(f"SAVEPOINT {SAVEPOINT}")
        try:
            answer = yield from self.conduct_inside(self.handle, begin())
        except BaseException as problem:
            yield from self.back_to_savepoint()
            raise as_told(problem, writing=False) from problem
        yield from self.say(f"RELEASE SAVEPOINT {SAVEPOINT}")
        return answer

    def back_to_savepoint(self) -> Steps[None]:
        """Undo what was written since; a database that has rolled back everything has nothing to undo."""
        try:
            yield from self.say(f"ROLLBACK TO SAVEPOINT {SAVEPOINT}")
            yield from self.say(f"RELEASE SAVEPOINT {SAVEPOINT}")
        except Exception as problem:  # noqa: BLE001 - the first error is the one to tell
            logger.debug("the savepoint is gone: %s", quote(problem))

    def say(self, text: str) -> Steps[None]:
        """Run a statement without parameters or answer."""
        yield partial(self.wire.execute, self.handle, text, ())


def check_count(ask: Execute, counted: int) -> int:
    """Answer the count of matched rows, if it is within what the statement promised."""
    if not 0 <= counted <= ask.rows_limit:
        raise error("SEMEL-STORE-6", statement=ask.statement.name, counted=counted, expected=f"0 to {ask.rows_limit}")
    return counted


__all__ = ["Conductor", "JoinedConductor", "OwnConductor", "Step", "Steps", "check_count", "explain", "fresh_id"]
