"""What an actor of a shipped scenario acts with: the product's own protocols, performed in its life."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from semel.app.keeping import make_errand
from semel.errors import SemelError
from semel.keepers.courier import Courier
from semel.keepers.duty import Duty
from semel.keepers.janitor import Janitor
from semel.keepers.resumer import Resumer
from semel.keepers.stranded import Territory
from semel.protocols import advance as advancing
from semel.protocols import transition as moving
from semel.protocols.errand import Errand
from semel.testing.prove.life import Deeds, Life
from semel.testing.prove.plain import Functions
from semel.testing.prove.stage import Stage


@dataclass(frozen=True)
class Failed:
    """The outcome of a verb that raised: the code of its error."""

    code: str


class Hands:
    """The verbs."""

    def __init__(self, stage: Stage, life: Life, lease_us: int) -> None:
        """Keep whose hands they are."""
        self.stage = stage
        self.life = life
        self.lease_us = lease_us

    def advance(self, table: str, row: int, key: str, *, by: str = "customer", given: Any = None) -> Deeds:
        """Take a step; answer its outcome."""
        workflow = self.stage.workflow_of(table)
        steps = {
            step.status: found
            for step in workflow.steps
            if step.key == key and (found := workflow.step_for(key, step.status, by)) is not None
        }
        errand = Errand(
            claims=self.stage.claims[table],
            workflow=workflow,
            row=row,
            key=key,
            requester=by,
            input_text=None if given is None else json.dumps(given),
            input=given,
            owner=self.life.owner,
            lease_us=self.lease_us,
            steps=steps,
        )
        return self._try(lambda: advancing.advance(errand))

    def transition(self, table: str, row: int, source: str, to: str) -> Deeds:
        """Move a row; answer whether it moved."""
        move = self.stage.moves[table].plan([source], to, {}, self.life.owner)
        return self._try(lambda: moving.move_one(move, row))

    def transition_many(self, table: str, rows: tuple[int, ...], source: str, to: str) -> Deeds:
        """Move several rows; answer for each whether it moved."""
        move = self.stage.moves[table].plan([source], to, {}, self.life.owner)
        found = yield from self._try(lambda: moving.move_many(move, rows))
        return tuple(found.values()) if isinstance(found, dict) else found

    def _try(self, ask: Any) -> Deeds:
        try:
            return (yield from self.life.perform(ask()))
        except SemelError as problem:
            return Failed(problem.code)
        except TimeoutError as problem:
            return Failed(type(problem).__name__)  # the action's own: a call outside that was not answered


@dataclass
class _Registry:
    actions: Any


@dataclass
class _Setup:
    """As much of an application as a resumer needs to make an errand of a claim row."""

    workflows: Any
    registry: _Registry
    owner: str


def make_duty(name: str, stage: Stage, life: Life, functions: Functions) -> Duty:
    """Make one keeper's duty, new as in a process that has just begun."""
    names = [each.name for each in stage.workflows]
    territory = Territory(stage.keeping, lambda: names, lambda name: stage.claims.get(name.entity))
    if name == "janitor":
        return Janitor(territory)
    if name == "resumer":
        setup: Any = _Setup(stage.workflows, _Registry(functions.actions), life.owner)
        return Resumer(territory, lambda due, row: make_errand(setup, due, row), lambda: life.owner)
    if name == "courier":
        return Courier(stage.outbox, lambda: list(functions.effects), lambda: life.owner)
    raise AssertionError(f"there is no keeper called {name!r}")


def keep(life: Life, duty: Duty, looks: int, pause_seconds: float) -> Deeds:
    """Look, let a lease go by on one's own clock, and look again."""
    for _ in range(looks):
        yield from life.perform(duty.look())
        life.clock.wait(pause_seconds)
