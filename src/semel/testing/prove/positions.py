"""Positions: where an actor is, as what it has seen so far; known positions cost nothing to come back to.

A generator cannot be copied, but it can be led again: a new life is given the recorded observations and must ask the same
questions. Every position is a node of one tree per actor, so a life is led only for what nobody has seen yet.
"""

from __future__ import annotations

import itertools
import logging
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from typing import Any

from semel.testing.prove.deeds import Beaten, Deed
from semel.testing.prove.life import STAGE, Deeds, Life
from semel.testing.prove.suspects import watching_suspects

CLOSINGS_LIMIT = 100
"""How often a life that asks on in its `finally` blocks is told that its world is gone."""


class NondeterminismError(Exception):
    """An actor that has seen the same asked for something else: it cannot be proven, because it cannot be repeated."""

    def __init__(self, actor: str, before: object, now: object, source: str = "") -> None:
        """Keep what was asked, and what is asked now."""
        named = f"What decides is {source}." if source else "Time, random numbers, threads or input of its own decide."
        super().__init__(
            f"{actor} saw the same twice and asked differently: first {before}, then {now}. {named}"
            " Let it depend on the row, on step.input and on what the database answers."
        )
        self.actor = actor
        self.before = before
        self.now = now
        self.source = source


logger = logging.getLogger("semel")


@dataclass(frozen=True)
class Broken:
    """The outcome of an actor that raised."""

    kind: str
    words: str


@dataclass(frozen=True)
class Actor:
    """Somebody who acts: what begins their life, and what they are called in a story."""

    number: int
    name: str
    live: Callable[[], Life]
    begin: Callable[[Life], Deeds]
    is_keeper: bool = False


@dataclass(slots=True, eq=False)
class Position:
    """An actor that has seen what leads here. `deed` is what it asks for next; None: it is done, with `outcome`."""

    actor: Actor
    number: int
    deed: Deed | None
    outcome: Any
    parent: Position | None
    seen: Any
    is_beating: bool
    waited: float
    children: dict[Any, Position] = field(default_factory=dict)
    life: tuple[Life, Deeds] | None = None
    missed: bool = False


class Positions:
    """All positions of all actors."""

    def __init__(self) -> None:
        """Know nobody yet."""
        self.all: list[Position] = []
        self.lives = 0
        self._graves: list[Deeds] = []
        self._done: dict[tuple[int, str], Position] = {}

    def start(self, actor: Actor) -> Position:
        """Answer where an actor begins."""
        life = actor.live()
        deeds = self._begin(actor, life)
        return self._settle(actor, (None, None), (life, deeds), lambda: next(deeds))

    def after(self, position: Position, seen: Any) -> Position:
        """Answer where an actor is once its deed is answered."""
        found = position.children.get(seen)
        if found is None:
            life, deeds = position.life or self._live_again(position)
            position.life = None
            found = self._settle(position.actor, (position, seen), (life, deeds), lambda: deeds.send(seen))
            position.children[seen] = found
        return found

    def bury(self) -> None:
        """Let go of all lives. Their world is gone, so whatever their `finally` blocks ask for is not done."""
        lives = [position.life[1] for position in self.all if position.life is not None]
        for deeds in (*lives, *self._graves):
            close_in_dead_world(deeds)

    def _begin(self, actor: Actor, life: Life) -> Deeds:
        self.lives += 1
        return actor.begin(life)

    def _settle(
        self, actor: Actor, came: tuple[Position | None, Any], alive: tuple[Life, Deeds], go: Callable[[], Deed]
    ) -> Position:
        life = alive[0]
        before, STAGE.life = STAGE.life, life
        deed: Deed | None = None
        outcome: Any = None
        try:
            deed = go()
        except StopIteration as stop:
            outcome = stop.value
        except Exception as problem:  # noqa: BLE001 - whatever an actor raises is how it ended
            outcome = Broken(type(problem).__name__, str(problem))
        finally:
            STAGE.life = before
        if deed is None:
            return self._end(actor, outcome)
        made = Position(
            actor,
            len(self.all),
            deed,
            None,
            *came,
            is_beating=life.is_beating,
            waited=life.clock.now - life.clock.start,
        )
        made.life = alive
        self.all.append(made)
        return made

    def _end(self, actor: Actor, outcome: Any) -> Position:
        """All ways to the same outcome end in one position: nobody asks a dead man how he came there."""
        named = (actor.number, repr(outcome))
        if named not in self._done:
            made = Position(actor, len(self.all), None, outcome, None, None, is_beating=False, waited=0.0)
            self._done[named] = made
            self.all.append(made)
        return self._done[named]

    def _live_again(self, position: Position) -> tuple[Life, Deeds]:
        """Lead a new life to a position that another life has left."""
        path: list[Position] = []
        at: Position | None = position
        while at is not None:
            path.append(at)
            at = at.parent
        path.reverse()
        actor = position.actor
        try:
            return self._lead(actor, path)
        except NondeterminismError as problem:
            raise self._name_source(actor, path, problem) from None

    def _name_source(self, actor: Actor, path: list[Position], problem: NondeterminismError) -> NondeterminismError:
        """Lead one more life, and see what it asks that nobody recorded."""
        with watching_suspects() as seen:
            try:
                self._graves.append(self._lead(actor, path)[1])
            except NondeterminismError as again:
                problem = again
        return NondeterminismError(actor.name, problem.before, problem.now, seen[-1] if seen else "")

    def _lead(self, actor: Actor, path: list[Position]) -> tuple[Life, Deeds]:
        life = actor.live()
        deeds = self._begin(actor, life)
        before, STAGE.life = STAGE.life, life
        try:
            asked: Deed | None = next(deeds, None)
            for earlier, later in itertools.pairwise(path):
                self._compare(actor, earlier, asked, deeds)
                asked = send(deeds, later.seen)
            self._compare(actor, path[-1], asked, deeds)
        finally:
            STAGE.life = before
        return life, deeds

    def _compare(self, actor: Actor, position: Position, asked: Deed | None, deeds: Deeds) -> None:
        if asked != position.deed:
            self._graves.append(deeds)
            raise NondeterminismError(actor.name, position.deed, asked)


def send(deeds: Deeds, seen: Any) -> Deed | None:
    """Answer what is asked next; None: nothing more."""
    try:
        return deeds.send(seen)
    except StopIteration:
        return None


def close_in_dead_world(deeds: Generator[Any, Any, Any]) -> None:
    """Close a life; whatever it still asks for is not answered."""
    for _ in range(CLOSINGS_LIMIT):
        try:
            deeds.close()
        except Exception as problem:  # noqa: BLE001 - a dead life may raise whatever it likes, and is asked again
            logger.debug("a dead life raised %r", problem)
            continue
        return


__all__ = ["Actor", "Beaten", "NondeterminismError", "Position", "Positions"]
