"""One life of an actor: its protocol on the product's own conductor, with deeds where the driver would be.

Nothing here touches a database. The conductor's steps become deeds, which the explorer carries out and answers; the local
clock and the ids are functions of what the actor has seen, so that a life can be lived again from its observations.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from inspect import isgenerator
from typing import Any, TypeAlias

from semel.asks import Asking, Execute, Fetch
from semel.clock import Clock
from semel.performers import conduct
from semel.performers.conduct import OwnConductor, Steps
from semel.performers.fresh import fresh_id
from semel.performers.heart import Watch, Watches
from semel.store.dialects import make_dialect
from semel.testing.prove.deeds import LOST, Beaten, Begin, Commit, Deed, Query, Raised, Rollback

Deeds: TypeAlias = Generator[Deed, Any, Any]

CLOCKS_APART_SECONDS = 100_000.0
"""How far apart the actors' own clocks are, and from the database's: more than a day, so that mixing them up shows."""


class Token:
    """A connection of an actor, as far as its own process knows."""

    def __init__(self, number: int) -> None:
        """A new one is idle."""
        self.number = number
        self.idle = True


class DeedWire:
    """A driver's wire that makes deeds."""

    def __init__(self) -> None:
        """Know no statement yet."""
        self.dialect: Any = make_dialect("sqlite+pysqlite")
        self.names: dict[str, str] = {}
        self._made = 0

    def open(self) -> Token:
        """Open a connection."""
        self._made += 1
        return Token(self._made)

    def fetch(self, connection: Token, text: str, bound: Any) -> Query:
        """Run a statement for its rows."""
        return Query(connection.number, self.names.get(text, text), text, tuple(bound), wants="rows")

    def execute(self, connection: Token, text: str, bound: Any) -> Query:
        """Run a statement for its count."""
        return Query(connection.number, self.names.get(text, text), text, tuple(bound), wants="count")

    def begin(self, connection: Token) -> Begin:
        """Begin a transaction."""
        connection.idle = False
        return Begin(connection.number)

    def commit(self, connection: Token) -> Commit:
        """Commit it."""
        connection.idle = True
        return Commit(connection.number)

    def rollback(self, connection: Token) -> Rollback:
        """Roll it back."""
        connection.idle = True
        return Rollback(connection.number)

    def close(self, connection: Token) -> None:
        """Close the connection."""
        connection.idle = True

    def pause(self, clock: Clock, seconds: float) -> None:
        """Let time pass for this actor alone."""
        clock.wait(seconds)

    def is_idle(self, connection: Token) -> bool:
        """Whether no transaction is open."""
        return connection.idle

    def is_open(self, connection: Token) -> bool:  # noqa: ARG002 - the life opens another one when it needs one
        """A connection lasts."""
        return True

    def doubts(self, connection: Token) -> bool:  # noqa: ARG002 - there is no other server
        """There is no standby."""
        return False


class LocalClock:
    """An actor's own monotonic clock: only its own waits move it."""

    offset_table = None

    def __init__(self, start: float) -> None:
        """Start somewhere."""
        self.start = start
        self.now = start

    def tick(self) -> float:
        """Answer the local time in seconds."""
        return self.now

    def wait(self, seconds: float) -> None:
        """Move on."""
        self.now += seconds

    def wait_for(self, stop: threading.Event, seconds: float) -> None:  # noqa: ARG002 - nobody stops an actor
        """Move on."""
        self.now += seconds

    async def wait_async(self, seconds: float) -> None:
        """Move on."""
        self.now += seconds


class Pool:
    """Lends this life's connections; one is enough, two where an action reads beside its transaction."""

    def __init__(self, wire: DeedWire) -> None:
        """Open nothing yet."""
        self._wire = wire
        self._idle: list[Token] = []

    def take_idle(self) -> Token:
        """Answer a connection."""
        return self._idle.pop() if self._idle else self._wire.open()

    def give_back(self, connection: Token) -> None:
        """Take it back."""
        self._idle.append(connection)

    def discard(self, connection: Token) -> None:
        """Throw it away: what it had open is rolled back."""
        self._wire.close(connection)


class NamedConductor(OwnConductor):
    """The product's conductor, which notes under which name each text is known."""

    def run_on(self, connection: Any, ask: Fetch | Execute) -> Steps[Any]:
        """Run one statement."""
        note_name(self.wire, ask)
        return super().run_on(connection, ask)

    def beside(self, wire: Any, connection: Any) -> Any:
        """Answer a conductor for a transaction that an action writes in."""
        return NamedJoined(wire, self.clock, self.read_clock, connection)


class NamedJoined(conduct.JoinedConductor):
    """The same for a transaction that somebody else began."""

    def run_on(self, connection: Any, ask: Fetch | Execute) -> Steps[Any]:
        """Run one statement."""
        note_name(self.wire, ask)
        return super().run_on(connection, ask)


def note_name(wire: Any, ask: Fetch | Execute) -> None:
    """Remember what a text is called."""
    if isinstance(wire, DeedWire):
        wire.names[ask.statement.render(wire.dialect).text] = ask.statement.name  # type: ignore[attr-defined] # see conduct


class Life:
    """Everything that belongs to one actor's process."""

    def __init__(self, number: int, owner: str, read_clock: Any, beats: int) -> None:
        """Begin with nothing seen."""
        self.number = number
        self.owner = owner
        self.clock = LocalClock(CLOCKS_APART_SECONDS * (number + 1))
        self.wire = DeedWire()
        self.conductor = NamedConductor(self.wire, self.clock, read_clock, Pool(self.wire))
        self.watches = Watches()
        self.beats_left = beats
        self.drawn = 0
        self.dead: set[int] = set()
        self.knows_loss = False
        self.told: list[Any] = []
        self.run_step: Callable[[Callable[[], Any]], Deeds] | None = None

    def perform(self, protocol: Asking[Any]) -> Deeds:
        """Perform a protocol: answer what it answers."""
        return self.drive(self.conductor.conduct(protocol))

    def drive(self, steps: Steps[Any]) -> Deeds:
        """Take a conductor's steps: what they make is a deed, more deeds, or an answer."""
        reply: Any = None
        problem: BaseException | None = None
        while True:
            try:
                step = steps.send(reply) if problem is None else steps.throw(problem)
            except StopIteration as stop:
                return stop.value
            reply, problem = None, None
            try:
                made = step() if self.run_step is None else (yield from self.run_step(step))
                reply = (yield from made) if isgenerator(made) else (yield from self.do(made))
            except Exception as trouble:  # noqa: BLE001 - the conductor decides about every one
                problem = trouble

    def do(self, made: Any) -> Deeds:
        """Ask for a deed until it is answered; a heartbeat may be heard meanwhile. What is no deed is its own answer."""
        if not isinstance(made, Deed):
            return made
        connection = getattr(made, "connection", None)
        if connection in self.dead:
            raise as_exception(LOST)
        answer = yield made
        while isinstance(answer, Beaten):
            self.hear(answer)
            answer = yield made
        if isinstance(answer, Raised):
            if answer == LOST and connection is not None:
                self.dead.add(connection)
            raise as_exception(answer)
        return answer

    def hear(self, beaten: Beaten) -> None:
        """Tell those whose claim is gone."""
        self.beats_left -= 1
        self.knows_loss |= any((each.name, each.fence) not in beaten.held for each in self.watches.all)
        self.watches.tell(set(self.watches.all), beaten.held)  # type: ignore[arg-type] # a pair of claim name and fence

    def watch(self, watch: Watch) -> None:
        """Let the heart beat for a claim."""
        self.watches.all.add(watch)

    def unwatch(self, watch: Watch) -> None:
        """Let it rest."""
        self.knows_loss = False
        self.watches.all.discard(watch)

    @property
    def is_beating(self) -> bool:
        """Whether a heartbeat may come now."""
        return bool(self.watches.all) and self.beats_left > 0

    def draw(self) -> str:
        """Draw a new id: the actor and a count, so that equal histories give equal databases."""
        self.drawn += 1
        return f"{self.number + 1:016x}{self.drawn:016x}"


def as_exception(raised: Raised) -> Exception:
    """Make the error that an answer stands for."""
    kinds: dict[str, Callable[..., Exception]] = {
        name: getattr(sqlite3, name) for name in ("OperationalError", "IntegrityError", "DatabaseError")
    }
    made = kinds.get(raised.kind, TimeoutError)(raised.words)
    if raised.code is not None:
        made.sqlite_errorcode = raised.code  # type: ignore[attr-defined] # as the driver sets it
    return made


class _Stage:
    """Whose turn it is: ids are drawn by the life that runs."""

    def __init__(self) -> None:
        self.life: Life | None = None

    def draw(self) -> str:
        """Draw an id for whoever runs."""
        return fresh_id() if self.life is None else self.life.draw()


STAGE = _Stage()


@contextmanager
def drawing_ids() -> Iterator[None]:
    """Let the conductor draw ids from the actors, and keep its log quiet: what goes wrong here goes wrong on purpose."""
    before, logged = conduct.fresh_id, conduct.logger.disabled
    conduct.fresh_id, conduct.logger.disabled = STAGE.draw, True
    try:
        yield
    finally:
        conduct.fresh_id, conduct.logger.disabled = before, logged
