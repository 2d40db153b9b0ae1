"""The cast: a scenario put on its stage, with a life for everyone who acts."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import Any

from semel.protocols.heartbeat import beat_claims
from semel.testing.prove.carrying import Carrier
from semel.testing.prove.endings import Endings, carry_through
from semel.testing.prove.hands import keep
from semel.testing.prove.images import Image, Images
from semel.testing.prove.life import Deeds, Life
from semel.testing.prove.positions import Actor, Position, Positions
from semel.testing.prove.scenario import Part, Scenario
from semel.testing.prove.sides import PlainSide, Side
from semel.testing.prove.watching import Watcher
from semel.testing.prove.worlds import Witness, Worlds

LONGEST_PAUSE_SECONDS = 6 * 3600.0
"""More than any keeper waits between two tries of one thing: recovery need not go through every pause."""


class Cast:
    """Everything a search needs to know about one scenario."""

    def __init__(self, scenario: Scenario, *, remembers: bool = True) -> None:
        """Build the first database, and let everyone come to their first boundary."""
        self.scenario = scenario
        self.side: Side = PlainSide(scenario) if scenario.app is None else make_app_side(scenario)
        self.stage = self.side.stage
        self.images = Images(self._build, self.stage.own.journal.name)
        self.side.begin(self.images.connection)
        self.worlds = Worlds()
        self.positions = Positions()
        self.watcher = Watcher(self.stage, self.images)
        self.carrier = Carrier(self.images, self.positions, self.watcher, remembers=remembers)
        self.endings = Endings(self, self.carrier)
        self.longest_seconds = LONGEST_PAUSE_SECONDS
        self.actors = tuple(self._actors())
        self.starts = tuple(self.positions.start(each) for each in self.actors)
        self._jumps: dict[int, tuple[tuple[int, Image], ...]] = {}
        self._beats: dict[tuple[int, str], tuple[Image, frozenset[Any]]] = {}

    def _build(self, connection: sqlite3.Connection) -> None:
        self.side.build(connection)
        self.scenario.world(Witness(connection))

    # Who acts

    def _actors(self) -> list[Actor]:
        made: list[Actor] = []
        for part in self.scenario.parts():
            made.append(self._actor(len(made), part.name, self._body(part), is_keeper=False))
        for name in self.side.keepers:
            count = self.scenario.keeper_count.get(name, 1)
            for number in range(count):
                shown = f"{name} {number + 1}" if count > 1 else name
                made.append(self._actor(len(made), shown, self._keep(name), is_keeper=True))
        return made

    def _actor(self, number: int, name: str, begin: Callable[[Life], Deeds], *, is_keeper: bool) -> Actor:
        return Actor(number, name, lambda: self.live(number, name), begin, is_keeper)

    def _body(self, part: Part) -> Callable[[Life], Deeds]:
        return lambda life: self.side.act(part, life)

    def _keep(self, name: str) -> Callable[[Life], Deeds]:
        pause = self.scenario.lease_us / 1_000_000 + 1
        looks = self.scenario.looks
        return lambda life: keep(life, self.side.make_duty(name, life), looks, pause)

    def live(self, number: int, owner: str) -> Life:
        """Give somebody a new life."""
        life = Life(number, owner, self.stage.ground.read_clock, self.scenario.beats)
        self.side.engage(life)
        return life

    def end(self) -> None:
        """Let go of all lives, and of what was replaced for them."""
        self.positions.bury()
        self.side.end()

    # What happens beside the steps

    @property
    def deadlines(self) -> str:
        """A SELECT of every moment at which something becomes due."""
        own = self.stage.own
        return (
            f"SELECT next_look_us FROM {own.claims.name} WHERE held = 1"  # noqa: S608 - our own names
            f" UNION SELECT next_look_us FROM {own.outbox.name} WHERE state IN ('due', 'taken')"
        )

    def jumps(self, image: Image) -> tuple[tuple[int, Image], ...]:
        """Answer the database at each moment to which its clock may jump: just after every deadline ahead."""
        found = self._jumps.get(image.number)
        if found is None:
            now = self.images.now_of(image)
            rows = self.images.restore(image).execute(self.deadlines).fetchall()
            moments = sorted({row[0] for row in rows if row[0] >= now})
            found = tuple((moment - now, self.images.move_clock(image, moment + 1)) for moment in moments)
            self._jumps[image.number] = found
        return found

    def beat(self, image: Image, position: Position) -> tuple[Image, frozenset[Any]]:
        """Let an actor's heart beat; answer the database after it, and what is still held."""
        owner = position.actor.name
        found = self._beats.get((image.number, owner))
        if found is None:
            connection = self.images.restore(image)
            life = self.live(200, owner)
            held = carry_through(connection, life, life.perform(beat_claims(self.stage.keeping, owner)), [])
            found = self.images.keep(), held
            self._beats[image.number, owner] = found
        return found


def make_app_side(scenario: Scenario) -> Side:
    """Put an application on the stage; SQLAlchemy's ORM and greenlets are imported only then."""
    from semel.testing.prove.application import AppSide

    return AppSide(scenario)
