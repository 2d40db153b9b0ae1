"""The two sides a scenario can be on: its own small tables and generators, or the user's application."""

from __future__ import annotations

import sqlite3
from typing import Any, Protocol

from semel.keepers.duty import Duty
from semel.testing.prove.hands import Hands, make_duty
from semel.testing.prove.life import Deeds, Life
from semel.testing.prove.plain import Functions, PlainActors
from semel.testing.prove.scenario import Part, Scenario
from semel.testing.prove.stage import Stage


class Side(Protocol):
    """What a cast needs to know about its scenario."""

    stage: Any

    @property
    def keepers(self) -> tuple[str, ...]:
        """Which keepers act beside."""

    def build(self, connection: sqlite3.Connection) -> None:
        """Create every table but the scenario's rows."""

    def begin(self, connection: sqlite3.Connection) -> None:
        """Be told where the database is, once it is there."""

    def engage(self, life: Life) -> None:
        """Give a life those who run the user's functions."""

    def act(self, part: Part, life: Life) -> Deeds:
        """Let somebody act."""

    def make_duty(self, name: str, life: Life) -> Duty:
        """Make one keeper's duty, new as in a process that has just begun."""

    def end(self) -> None:
        """Put back what was replaced."""


class PlainSide:
    """A scenario without an application."""

    def __init__(self, scenario: Scenario) -> None:
        """Make the statements."""
        self.scenario = scenario
        self.stage = Stage(scenario.tables, scenario.workflows)
        self.functions = Functions(scenario.actions, scenario.validators, scenario.effects)

    @property
    def keepers(self) -> tuple[str, ...]:
        """Those that the scenario names."""
        return self.scenario.keepers

    def build(self, connection: sqlite3.Connection) -> None:
        """Create every table."""
        self.stage.build(connection)
        for text in self.scenario.extra:
            connection.execute(text)

    def begin(self, connection: sqlite3.Connection) -> None:
        """Everything is there already."""

    def engage(self, life: Life) -> None:
        """Let generators be run."""
        life.conductor.actors = PlainActors(life, self.functions, self.stage.outbox.note_delivery_once)

    def act(self, part: Part, life: Life) -> Deeds:
        """Let somebody act."""
        deeds: Deeds = part.body(self.scenario, Hands(self.stage, life, self.scenario.lease_us))
        return deeds

    def make_duty(self, name: str, life: Life) -> Duty:
        """Make one keeper's duty."""
        return make_duty(name, self.stage, life, self.functions)

    def end(self) -> None:
        """Nothing was replaced."""
