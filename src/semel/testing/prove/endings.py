"""Endings: when everybody has ended, the keepers are given their time, and then everything is judged.

Once more with each keeper switched off: a generous recovery hides what it repairs, so without it all must hold that does
not speak of being stranded.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from semel.outcomes import Pending
from semel.testing.invariants import AT_REST, BETWEEN, SETTLED, Picture, handed_effects_are_owed, name_of
from semel.testing.prove.carrying import Answer, Carrier, event_of, run
from semel.testing.prove.deeds import Begin, Commit, Hand, Query, Reach, Rollback, Stand
from semel.testing.prove.hands import Failed
from semel.testing.prove.images import CLOCK_TABLE, Image, Images
from semel.testing.prove.life import STAGE, Deeds, Life
from semel.testing.prove.positions import Position
from semel.testing.prove.watching import Watcher, delivered_ids, make_picture
from semel.testing.prove.worlds import Event, Witness, Worlds, find_repeated_intents

ROUNDS_LIMIT = 40
"""How many rounds recovery may take: five resumes and ten deliveries, each after a look, and as many again."""

QUIET_ROUNDS = 2
"""After so many rounds in which nothing changed, nothing will: a keeper acts at its second look."""


@dataclass(frozen=True)
class Found:
    """What is wrong at an end, and what the keepers did before it showed."""

    invariant: str
    words: str
    aftermath: tuple[str, ...]


@dataclass(frozen=True)
class Rest:
    """A database after recovery."""

    image: Image
    world: int
    lines: tuple[str, ...]
    busy: frozenset[str]


class Endings:
    """Judges ends; each pair of database and outside world once."""

    def __init__(self, cast: Any, carrier: Carrier) -> None:
        """Have judged nothing yet."""
        self.cast = cast
        self.carrier = carrier
        self.images: Images = cast.images
        self.worlds: Worlds = cast.worlds
        self.watcher: Watcher = cast.watcher
        self._judged: set[tuple[int, int]] = set()

    def forget(self) -> None:
        """Judge anew what was judged before."""
        self._judged.clear()

    def judge(
        self, image: Image, world: int, late: tuple[Position, ...], outcomes: tuple[Any, ...], *, is_calm: bool
    ) -> Found | None:
        """Answer the first thing that is wrong at this end. None: all is well."""
        if is_calm:
            calm = next(self._judge_calm(image, outcomes), None)
            if calm is not None:
                return calm
        found = self._judge_recovered(image, world)
        if found is None and late:
            found = self._judge_very_late(image, world, late)
        return found

    def _judge_calm(self, image: Image, outcomes: tuple[Any, ...]) -> Iterator[Found]:
        """No fault: everything is finished, and no keeper was needed."""
        picture = self.watcher.picture(image.number)
        words = (*find_unfinished(picture), *find_undecided(outcomes))
        if self.cast.scenario.finishes:
            words += tuple(find_unsettled(picture))
        return (Found("no fault, no keeper", each, ()) for each in words)

    def _judge_recovered(self, image: Image, world: int) -> Found | None:
        if (image.number, world) in self._judged:
            return None
        self._judged.add((image.number, world))
        full = self.recover(image, world, off=None)
        if isinstance(full, Found):
            return full
        found = self._judge_rest(image, full, is_full=True)
        for off in sorted(full.busy):
            if found is not None:
                break
            rest = self.recover(image, world, off=off)
            found = rest if isinstance(rest, Found) else self._judge_rest(image, rest, is_full=False)
        return found

    def _judge_very_late(self, image: Image, world: int, late: tuple[Position, ...]) -> Found | None:
        """A commit that arrives when everybody has gone and everything was recovered."""
        rest = self.recover(image, world, off=None)
        if isinstance(rest, Found):
            return rest
        for position in late:
            lines = (*rest.lines, f"what {position.actor.name} had lost on the way arrives")
            image, world = rest.image, rest.world
            if isinstance(position.deed, Reach):
                world = self.worlds.after(world, (event_of(position.deed),))
            else:
                landing = self.carrier.carry(image, position, None, Answer.LATE)
                image = landing.image
                if landing.problem is not None:
                    return Found(landing.problem[0], landing.problem[1], lines)
            found = self._judge_recovered(image, world)
            if found is not None:
                return Found(found.invariant, found.words, (*lines, *found.aftermath))
        return None

    def _judge_rest(self, before: Image, rest: Rest, *, is_full: bool) -> Found | None:
        return next(self._problems(before, rest, is_full=is_full), None)

    def _problems(self, before: Image, rest: Rest, *, is_full: bool) -> Iterator[Found]:
        delivered = delivered_ids(self.worlds, rest.world)
        picture = make_picture(self.cast.stage, self.images, rest.image, delivered)
        for name, words in self.watcher.judge_image(rest.image):
            yield Found(name, words, rest.lines)
        for check in (handed_effects_are_owed, *SETTLED, *(AT_REST if is_full else ())):
            for words in check(picture):
                yield Found(name_of(check), words, rest.lines)
        for change in BETWEEN:
            for words in change(self.watcher.picture(before.number), picture):
                yield Found(name_of(change), words, rest.lines)
        if self.cast.scenario.once_per_intent:
            for words in find_repeated_intents(self.worlds.all[rest.world]):
                yield Found("one intent, one effect", words, rest.lines)
        asked = self._ask_scenario(rest) if is_full else None
        if asked is not None:
            yield Found("the scenario's own check", asked, rest.lines)

    def _ask_scenario(self, rest: Rest) -> str | None:
        connection = self.images.restore(rest.image)
        try:
            self.cast.scenario.check(Witness(connection, self.worlds.all[rest.world]))
        except AssertionError as problem:
            return str(problem) or "its assertion does not hold"
        return None

    # Recovery

    def recover(self, image: Image, world: int, *, off: str | None) -> Rest | Found:
        """Let new keepers look, again and again, and time go by, until nothing changes any more."""
        connection = self.images.restore(image)
        keepers = self._new_keepers(off)
        lines: list[str] = []
        busy: set[str] = set()
        events: list[Event] = []
        quiet = 0
        for _ in range(ROUNDS_LIMIT):
            self._let_time_pass(connection, keepers)
            changed = False
            for name, life, duty in keepers:
                changes = connection.total_changes
                carry_through(connection, life, life.perform(duty.look()), events)
                if connection.total_changes != changes:
                    changed = True
                    busy.add(name)
                    lines.append(f"then a new {name} looks, and acts")
            quiet = 0 if changed else quiet + 1
            if quiet == QUIET_ROUNDS:
                return Rest(self.images.keep(), self.worlds.after(world, events), tuple(lines), frozenset(busy))
        return Found(
            "recovery comes to rest", f"after {ROUNDS_LIMIT} rounds the keepers still change something", tuple(lines)
        )

    def _new_keepers(self, off: str | None) -> list[tuple[str, Life, Any]]:
        keepers = []
        for number, name in enumerate(self.cast.scenario.recovery or self.cast.side.keepers):
            if name != off:
                life = self.cast.live(100 + number, f"new {name}")
                keepers.append((name, life, self.cast.side.make_duty(name, life)))
        return keepers

    def _let_time_pass(self, connection: sqlite3.Connection, keepers: list[tuple[str, Life, Any]]) -> None:
        text = f"UPDATE {CLOCK_TABLE} SET us = max(us, (SELECT coalesce(max(next_look_us), 0) + 1 FROM ({self.cast.deadlines})))"  # noqa: S608 - our own names
        connection.execute(text)
        for _, life, _ in keepers:
            life.clock.wait(self.cast.longest_seconds)


def find_unfinished(picture: Picture) -> Iterator[str]:
    """Find what somebody took and neither finished nor gave back."""
    for claim in picture.claims:
        if claim.held:
            yield f"the claim on {claim.entity} {claim.row_id} is still held"
    for effect in picture.effects:
        if effect.state in {"taken", "parked"}:
            yield f"{effect.name} of {effect.entity} {effect.row_id} is left {effect.state}"


def find_unsettled(picture: Picture) -> Iterator[str]:
    """Find rows that are not in a terminal status."""
    for entity, rows in picture.rows.items():
        workflow = picture.workflow_of(entity)
        for row_id, (status, _) in rows.items():
            if workflow and status not in workflow.terminal:
                yield f"{entity} {row_id} is left in {status!r}"


def find_undecided(outcomes: tuple[Any, ...]) -> Iterator[str]:
    """Find what somebody was told that is no final answer."""
    for outcome in outcomes:
        for told in outcome if isinstance(outcome, tuple) else (outcome,):
            if isinstance(told, Pending | Failed):
                yield f"without any fault somebody was told {told}"


def carry_through(connection: sqlite3.Connection, life: Life, deeds: Deeds, events: list[Event]) -> Any:
    """Carry out everything somebody does, without a fault; answer what it came to."""
    before, STAGE.life = STAGE.life, life
    try:
        deed = next(deeds)
        while True:
            deed = deeds.send(_answer(connection, deed, events))
    except StopIteration as stop:
        return stop.value
    finally:
        STAGE.life = before


def _answer(connection: sqlite3.Connection, deed: Any, events: list[Event]) -> Any:
    match deed:
        case Query():
            return run(connection, deed)
        case Begin():
            connection.execute("BEGIN IMMEDIATE")
        case Commit():
            connection.execute("COMMIT")
        case Rollback():
            if connection.in_transaction:
                connection.execute("ROLLBACK")
        case Reach() | Hand():
            events.append(event_of(deed))
        case Stand():
            pass
    return None
