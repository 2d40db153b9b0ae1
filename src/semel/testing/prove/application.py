"""The user's own application on the prover's stage: its workflows, actions and mapped classes, over a database of deeds.

The application object itself is used, so that handles made at import (`orders = once.table(Order)`) work as they stand.
While a search runs, its setup, its performer and its engine are others; afterwards they are put back.
"""

from __future__ import annotations

import hashlib
import os
import random
import sqlite3
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from functools import cached_property, partial
from importlib import import_module
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import make_url
from sqlalchemy.pool import StaticPool

from semel.app import Semel
from semel.app.boot import read_workflows
from semel.app.keeping import list_duties
from semel.app.setup import Bound, Setup
from semel.app.setup import Settings as AppSettings
from semel.asks import Act, Asking, Deliver
from semel.errors import SemelError, error
from semel.keepers.duty import Duty
from semel.performers.actors import SyncActors, Troupe
from semel.performers.handles import Borrowed
from semel.performers.sync import SyncPerformer
from semel.store.claims import Claims
from semel.store.declared import Declared
from semel.store.entity import Entity
from semel.store.scripts import write_scripts
from semel.testing.prove.deeds import Hand, Reach, Stand
from semel.testing.prove.greens import current_life, perform, perform_deed, run_in_greenlet
from semel.testing.prove.hands import Failed
from semel.testing.prove.life import STAGE, Deeds, Life
from semel.testing.prove.mutants.mutant import Change, replaced
from semel.testing.prove.scenario import Part, Scenario
from semel.testing.prove.shim import NAMES, make_engine
from semel.testing.prove.stage import FrozenGround, forget_installation
from semel.workflow.model import Workflow


class ProvedSetup(Setup):
    """The setup of an application on the prover's database: whoever acts is the owner."""

    @property
    def owner(self) -> str:
        """Who holds the claims of whoever runs now."""
        return "nobody" if STAGE.life is None else STAGE.life.owner

    def find(self, declared: Declared) -> Bound:
        """Answer a bound table, also for a handle that was made after boot."""
        named = [bound for bound in self.bound.values() if bound.entity.name == declared.qualified]
        bound = self.bound_of(declared) or next((each for each in named if each.workflow is not None), None)
        if bound is None:
            raise error("SEMEL-PROVE-2", table=declared.qualified)
        return bound


class AppStage:
    """What watching and telling need to know of an application's database."""

    def __init__(self, setup: Setup) -> None:
        """Keep the setup."""
        self.setup = setup
        self.own = setup.settings.tables
        self.ground = setup.ground
        self.journal, self.outbox, self.keeping = setup.journal, setup.outbox, setup.keeping

    @cached_property
    def entities(self) -> Mapping[str, Entity]:
        """The tables by name."""
        return {bound.entity.name: bound.entity for bound in self.setup.bound.values()}

    @cached_property
    def claims(self) -> Mapping[str, Claims]:
        """Their claims' statements."""
        return {bound.entity.name: bound.claims for bound in self.setup.bound.values()}

    @property
    def workflows(self) -> tuple[Workflow, ...]:
        """The workflows."""
        return self.setup.workflows


class AppSide:
    """A scenario of an application."""

    def __init__(self, scenario: Scenario) -> None:
        """Load the application, and put it on the prover's stage."""
        self.scenario = scenario
        self.once = load_app(str(scenario.app))
        own: Setup = self.once._setup  # noqa: SLF001 - the prover stands where the composition root stands
        settings = AppSettings(**{**vars(own.settings), "url": make_url("sqlite://")})
        self.setup = ProvedSetup(settings, own.registry, declared=list(own.declared))
        self.setup.__dict__["ground"] = FrozenGround("sqlite", settings.tables)
        self.setup.declare_tables_of(read_workflows(self.setup))
        self.stage: Any = AppStage(self.setup)
        self._stack = ExitStack()
        self._engine: sa.Engine | None = None

    @property
    def keepers(self) -> tuple[str, ...]:
        """One keeper for every duty that the workflows give somebody."""
        recoveries = {step.recovery for flow in self.setup.workflows for step in flow.steps if step.claims}
        needed = (("janitor", recoveries & {"revert", "review"}), ("resumer", recoveries & {"resume"}))
        found = [name for name, reason in needed if reason]
        return (*found, "courier") if self.setup.registry.effects else tuple(found)

    def build(self, connection: sqlite3.Connection) -> None:
        """Create Semel's tables, those of the mapped classes, and what the scenario adds; then boot on them."""
        for script in write_scripts("sqlite", self.setup.settings.tables):
            for statement in script.statements:
                connection.execute(statement)
        forget_installation(connection, self.setup.settings.tables)
        engine = sa.create_engine("sqlite://", creator=lambda: connection, poolclass=StaticPool)
        for text in self.scenario.extra:
            connection.execute(text)
        with engine.connect() as looking:
            for metadata in {id(m): m for declared, _ in self.setup.declared if (m := metadata_of(declared))}.values():
                metadata.create_all(looking)
            self.setup.bound.update(self.setup.look(looking))
            looking.commit()
        self.setup.booted = True
        note_names(self.stage)

    def begin(self, connection: sqlite3.Connection) -> None:
        """From now on the application runs here."""
        self._engine = make_engine(lambda: connection)
        enter = self._stack.enter_context
        performer = GreenPerformer(self)
        changes: dict[str, Any] = {"_setup": self.setup, "_performer": performer, "_engine": self._engine}
        changes["_find"] = lambda declared, _on: self.setup.find(declared)
        for name, instead in changes.items():
            enter(replaced_attribute(self.once, name, instead))
        for place, name in self.scenario.outside.items():
            enter(replaced(change_of(place, partial(reach_outside, name))))
        for place in self.scenario.engines:
            enter(replaced(change_of(place, self._engine)))
        for source in (os, random):
            enter(replaced(Change(source, URANDOM[source.__name__], draw_bytes)))

    def engage(self, life: Life) -> None:
        """Let the user's functions run in greenlets."""
        setup = self.setup
        troupe = Troupe(setup.registry, life.clock, setup.ground.read_clock, setup.outbox.note_delivery_once)
        sync = SyncActors(troupe, lambda: self._engine, GreenHeart(life))  # type: ignore[arg-type,return-value] # begun before anybody acts
        life.conductor.actors = GreenActors(life, sync)
        life.run_step = partial(run_in_greenlet, life)

    def act(self, part: Part, life: Life) -> Deeds:
        """Let somebody act; answer everything they were told."""

        def body() -> Any:
            try:
                part.body(self.scenario, self.once)
            except SemelError as problem:
                life.told.append(Failed(problem.code))
            except Exception as problem:  # noqa: BLE001 - what an action raises comes out of the verb, and ends who called it
                life.told.append(Failed(type(problem).__name__))
            return tuple(life.told)

        return run_in_greenlet(life, body)

    def make_duty(self, name: str, life: Life) -> Duty:  # noqa: ARG002 - its owner is whoever runs
        """Make one keeper's duty."""
        return next(duty for duty in list_duties(self.setup) if duty.name == name)

    def end(self) -> None:
        """Put back what was replaced."""
        self._stack.close()


URANDOM = {"os": "urandom", "random": "_urandom"}
"""Where the system's random bytes come from, for uuid4() and the module secrets."""

_system_bytes = os.urandom


def draw_bytes(count: int) -> bytes:
    """Draw the random bytes of an actor: others each time, and the same whenever this life is led again."""
    if STAGE.life is None:
        return _system_bytes(count)
    return hashlib.blake2b(STAGE.life.draw().encode(), digest_size=min(count, 64)).digest().ljust(count, b"\0")


def change_of(place: str, instead: Any) -> Change:
    """Answer the change of something that is named as `module:name`."""
    module, _, attribute = place.partition(":")
    return Change(import_module(module), attribute, instead)


class GreenPerformer(SyncPerformer):
    """Performs what a verb asks for in the life of whoever called it."""

    def __init__(self, side: AppSide) -> None:
        """Open nothing."""
        self._side = side

    def perform(self, protocol: Asking[Any]) -> Any:
        """Answer what the protocol answers."""
        told = perform(protocol)
        current_life().told.append(told)
        return told

    def perform_on(self, borrowed: Borrowed, protocol: Asking[Any]) -> Any:
        """Answer what the protocol answers in a transaction that the user has begun on the prover's engine."""
        self.conductor = current_life().conductor
        told = super().perform_on(borrowed, protocol)
        current_life().told.append(told)
        return told

    def close(self) -> None:
        """Nothing is open."""


class GreenActors:
    """Runs the user's functions in greenlets."""

    def __init__(self, life: Life, sync: SyncActors) -> None:
        """Keep the product's own actors."""
        self._life = life
        self._sync = sync

    def open(self) -> Any:
        """Open nothing yet."""
        return self._sync.open()

    def act(self, act: Act) -> Deeds:
        """Run validators and action."""
        return run_in_greenlet(self._life, lambda: self._sync.act(act))

    def deliver(self, deliver: Deliver) -> Deeds:
        """Hand an after-effect to its handler."""

        def hand() -> BaseException | None:
            try:
                perform_deed(Hand(deliver.effect_id, deliver.name, deliver.entity, deliver.row_id))
            except TimeoutError as problem:
                return problem
            return self._sync.deliver(deliver)

        return run_in_greenlet(self._life, hand)


class GreenHeart:
    """Beats when the search says so."""

    def __init__(self, life: Life) -> None:
        """Watch nothing yet."""
        self._life = life

    def watch(self, watch: Any) -> None:
        """Beat for this claim; from here on time may pass."""
        self._life.watch(watch)
        perform_deed(Stand(watch.name.step_key, watch.name.row_id))

    def unwatch(self, watch: Any) -> None:
        """Stop beating for it."""
        self._life.unwatch(watch)


KEYS = ("key", "idempotency_key")
"""How the argument is called that makes a repeated call one effect."""


def reach_outside(name: str, *given: Any, **named: Any) -> dict[str, str]:
    """Do what a function of the user's does outside: once for each key, or each time, if there is none."""
    key = next((named[word] for word in KEYS if named.get(word) is not None), None)
    life = current_life()
    chosen = str(key) if key is not None else life.draw()
    said = [f"{word}={value}" for word, value in sorted(named.items()) if word not in KEYS]
    intent = ", ".join([*map(str, given), *said])
    perform_deed(Reach(name, chosen, intent))
    return {"reference": f"{name}:{chosen}"}


def load_app(place: str) -> Semel:
    """Import the user's Semel."""
    module, _, name = place.partition(":")
    found = getattr(import_module(module), name or "once", None)
    if not isinstance(found, Semel):
        raise error("SEMEL-CLI-2", app=place, reason=f"tier 1 proves a Semel, and this is {type(found).__name__}")
    return found


def metadata_of(declared: Declared) -> sa.MetaData | None:
    """Answer the metadata of a mapped table; None for one that only has a name."""
    return declared.table.metadata if declared.table is not None else None


def note_names(stage: AppStage) -> None:
    """Remember what the product's statements are called that travel over SQLAlchemy."""
    dialect = sa.make_url("sqlite://").get_dialect()()
    for claims in stage.claims.values():
        for name in ("lock_row_if_fenced", "lock_row", "move_row_out_of_claim_if_fenced", "close_claim_if_fenced"):
            statement = getattr(claims, name)
            NAMES[statement.render(dialect).text] = name
    NAMES[stage.journal.write_move.render(dialect).text] = "write_move"


def replaced_attribute(owner: Any, name: str, instead: Any) -> Any:
    """Put something in an object's own dictionary for a while."""
    stack = ExitStack()
    if name in owner.__dict__:
        stack.callback(owner.__dict__.__setitem__, name, owner.__dict__[name])
    else:
        stack.callback(owner.__dict__.pop, name, None)
    owner.__dict__[name] = instead
    return stack


__all__ = ["AppSide", "Callable"]
