"""Actions without an ORM: generators that yield deeds, for scenarios that run a hundred thousand times.

They are run under the same rules as the user's own: the first write opens the finishing transaction with the fenced lock,
nothing is committed here, and a claim that is lost is left at the next word.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from semel.asks import Act, Acted, Deliver, Recorded
from semel.errors import ClaimLeft, ClaimLostError
from semel.outcomes import Rejected
from semel.performers.actors import read_verdict
from semel.performers.heart import Watch
from semel.performers.opened import SET_TOKEN
from semel.testing.prove.deeds import Begin, Commit, Hand, Query, Reach, Rollback, Stand
from semel.testing.prove.life import Deeds, Life, NamedJoined, Token


@dataclass(frozen=True)
class Functions:
    """The user's functions of a scenario, by name."""

    actions: Mapping[str, Callable[[Any], Any]] = field(default_factory=dict)
    validators: Mapping[str, Callable[[Any], Any]] = field(default_factory=dict)
    effects: Mapping[str, Callable[[Any], Any] | None] = field(default_factory=dict)


class PlainOpened:
    """A transaction that an action writes in."""

    borrowed = False
    rolled_back = False
    gave_way = False
    is_gone_by_itself = False

    def __init__(self, life: Life) -> None:
        """Open nothing yet."""
        self._life = life
        self._token: Token | None = None

    def wire(self, connection: Token) -> Any:  # noqa: ARG002 - there is one kind of wire
        """Answer how statements travel in it."""
        return self._life.wire

    def connection(self) -> Deeds:
        """Answer its connection, beginning it if nothing has."""
        if self._token is None:
            self._token = self._life.wire.open()
            yield from self._life.do(self._life.wire.begin(self._token))
        return self._token

    def say(self, text: str) -> Query:
        """Run a statement about the token."""
        assert self._token is not None, "only what has begun has a token"
        return Query(self._token.number, text, text, (), wants="count")

    def commit(self) -> Commit:
        """Commit it."""
        assert self._token is not None, "nothing is committed that was not begun"
        return self._life.wire.commit(self._token)

    def rollback(self) -> Rollback | None:
        """Roll it back."""
        return None if self._token is None else self._life.wire.rollback(self._token)


class PlainStep:
    """What an action is given."""

    def __init__(self, life: Life, act: Act) -> None:
        """Open nothing yet, unless the step did."""
        self.facts = act.facts
        self.lost = False
        self.effects: list[Recorded] = []
        self.opened: PlainOpened | None = act.opened  # type: ignore[assignment] # made here
        self._fence = act.fence
        self._life = life

    @property
    def id(self) -> Any:
        """The row's id."""
        return self.facts.row

    @property
    def row(self) -> Mapping[str, Any]:
        """The row's columns."""
        return self.facts.values

    def write(self, text: str, *bound: object) -> Deeds:
        """Write in the finishing transaction; answer the count."""
        connection = yield from self.begin()
        name = "write " + text.split()[2].partition("(")[0]
        return (yield from self._life.do(Query(connection.number, name, text, bound, wants="count")))

    def write_alone(self, text: str, *bound: object) -> Deeds:
        """Write in a commit of its own, as an action should not; answer the count."""
        self.check()
        name = "write " + text.split()[2].partition("(")[0] + " alone"
        return (yield from self._life.do(Query(self._life.wire.open().number, name, text, bound, wants="count")))

    def begin(self) -> Deeds:
        """Open the finishing transaction with the fenced lock; answer its connection."""
        self.check()
        if self.opened is None:
            self.opened = PlainOpened(self._life)
        connection = yield from self.opened.connection()
        if self._fence is not None:
            fence, self._fence = self._fence, None
            own = self._life.conductor
            joined = NamedJoined(self._life.wire, self._life.clock, own.read_clock, connection)
            try:
                yield from self._life.drive(joined.conduct(fence()))
            except ClaimLostError:
                self.lost = True
                raise ClaimLeft from None
            yield from self._life.do(self.opened.say(SET_TOKEN))
        return connection

    def reach(self, name: str, key: str, intent: str = "") -> Deeds:
        """Reach the outside world."""
        self.check()
        return (yield from self._life.do(self._reach(name, key, intent)))

    def _reach(self, name: str, key: str, intent: str) -> Reach:
        return Reach(name, key, intent or f"{self.facts.entity} {self.id}", self._life.knows_loss)

    def after(self, name: str, /, **payload: object) -> None:
        """Record an after-effect."""
        self.check()
        self.effects.append(Recorded(name, json.dumps(payload, sort_keys=True)))

    def check(self) -> None:
        """Leave the action at once if its claim is gone."""
        if self.lost:
            raise ClaimLeft


class PlainEffect:
    """What the handler of an after-effect is given."""

    def __init__(self, life: Life, deliver: Deliver, note: Any) -> None:
        """Keep what is delivered, and the statement that notes it."""
        self.id = deliver.effect_id
        self._life = life
        self._note = note

    def write_once(self, text: str, *bound: object) -> Deeds:
        """Write in a transaction of the handler's own, unless it has done so before for this effect."""
        life = self._life
        connection = life.wire.open()
        rendered = self._note.render(life.wire.dialect)
        params = rendered.bind({"effect_id": self.id, "consumer": 1})
        yield from life.do(life.wire.begin(connection))
        first = yield from life.do(
            Query(connection.number, self._note.name, rendered.text, tuple(params), wants="count")
        )
        if first:
            name = "write " + text.split()[2].partition("(")[0]
            yield from life.do(Query(connection.number, name, text, bound, wants="count"))
        yield from life.do(life.wire.commit(connection))


class PlainActors:
    """Runs a scenario's functions."""

    def __init__(self, life: Life, functions: Functions, note_delivery: Any) -> None:
        """Keep the functions."""
        self._life = life
        self._functions = functions
        self._note = note_delivery

    def open(self) -> PlainOpened:
        """Open nothing yet."""
        return PlainOpened(self._life)

    def act(self, act: Act) -> Deeds:
        """Run validators and action, and answer how they left."""
        life = self._life
        step = PlainStep(life, act)
        watch = None
        if act.claim is not None and act.facts.fence is not None:
            watch = Watch(act.claim, act.facts.fence, act.lease_us, step)
            life.watch(watch)
            yield from life.do(Stand(act.facts.step_key, str(act.facts.row)))
        value: Any = None
        problem: BaseException | None = None
        try:
            value = yield from self._play(act, step)
        except ClaimLeft:
            step.lost = True
        except Exception as trouble:  # noqa: BLE001 - the protocol rolls back and releases, then raises it again
            problem = trouble
        if watch is not None:
            life.unwatch(watch)
        opened = None if act.opened is not None else step.opened
        return Acted(value, problem, opened, tuple(step.effects), lost=step.lost)

    def _play(self, act: Act, step: PlainStep) -> Deeds:
        for name in act.validators:
            rejected: Rejected | None = read_verdict(self._functions.validators[name](step))
            if rejected is not None:
                return rejected
        if act.action is None:
            return None
        return (yield from self._functions.actions[act.action](step))

    def deliver(self, deliver: Deliver) -> Deeds:
        """Hand an after-effect to its handler; answer what it raised."""
        try:
            yield from self._life.do(Hand(deliver.effect_id, deliver.name, deliver.entity, deliver.row_id))
            handler = self._functions.effects.get(deliver.name)
            if handler is not None:
                yield from handler(PlainEffect(self._life, deliver, self._note))
        except Exception as problem:  # noqa: BLE001 - the courier writes it down and tries again
            return problem
        return None


__all__ = ["Begin", "Functions", "PlainActors", "PlainStep"]
