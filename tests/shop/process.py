"""A process of the shop: a Semel of either colour with its actions, its handlers and its keepers, which a test calls by hand."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from semel import Rejected
from semel.app.keeping import list_duties
from semel.clock import Clock
from semel.keepers.duty import Report
from tests.conformance.faces import Colour, Once, Stage
from tests.shop.clock import VirtualClock
from tests.shop.flow import make_flow
from tests.shop.tables import Entry, Order

LEASE_SECONDS = 30.0
SETTINGS: dict[str, Any] = {"workflows": make_flow(), "lease_seconds": LEASE_SECONDS}


class ActionFailedError(Exception):
    """What an action of the shop raises when it is told to."""


@dataclass(frozen=True)
class Run:
    """One run of an action."""

    step_key: str
    row: int
    attempt: int
    fence: int | None


@dataclass(frozen=True)
class Delivery:
    """One delivery of an after-effect."""

    effect_id: str
    name: str
    row: str
    attempt: int
    payload: Any


class SilentHeart:
    """Beats for nobody: time stands still in these tests, and a heart would beat without a pause."""

    def watch(self, watch: Any) -> None:
        """Beat not."""

    def unwatch(self, watch: Any) -> None:
        """Go on beating not."""


class Shop(Once):
    """One process. `here` is called at every place in an action where a process can die; async shops await its answer.

    What an action does is told by its input: how many `rows` to write, how many `effects` to record, and how to `end`.
    """

    def __init__(self, colour: Colour, url: str, stage: Stage, clock: Clock | None = None, **settings: Any) -> None:
        super().__init__(colour, url, stage, clock=clock, **SETTINGS | settings)
        self.ran: list[Run] = []
        self.delivered: list[Delivery] = []
        self.here: Callable[[str, Any], Any] = lambda _place, _step: None
        self.deliver: Callable[[Any], Any] = lambda _effect: None
        if isinstance(clock, VirtualClock):
            self.semel._performer.conductor.actors.heart = SilentHeart()
        self.orders = self.semel.table(Order)
        register_sync(self) if colour == "sync" else register_async(self)
        self.duties = {duty.name: duty for duty in list_duties(self.semel._setup)}

    def boot_like(self, other: Shop) -> None:
        """Take over what another process found out at boot: a test that needs many processes looks around once."""
        mine, found = self.semel._setup, other.semel._setup
        mine.workflows, mine.booted = found.workflows, True
        mine.registry.mappers.update(found.registry.mappers)
        mine.bound[id(self.orders._declared)] = found.bound_of(other.orders._declared)

    def advance(self, row: int, step: str, **words: Any) -> Any:
        """Take a step and answer its outcome."""
        return self.stage.wait(lambda: self.orders.advance(row, step, **words))

    def begin_advance(self, row: int, step: str, **words: Any) -> Future[Any]:
        """Begin to take a step and answer the future of its outcome."""
        return self.begin(lambda: self.orders.advance(row, step, **words))

    def perform(self, protocol: Any) -> Any:
        """Perform a protocol as this process."""
        return self.stage.wait(lambda: self.semel._performer.perform(protocol))

    def look(self, duty: str) -> Report:
        """Let one of the keepers look once."""
        report: Report = self.perform(self.duties[duty].look())
        return report

    def write_down(self, step: Any) -> None:
        """Remember that an action began."""
        self.ran.append(Run(step.key, step.id, step.attempt, step.fence))

    def note_delivery(self, effect: Any) -> None:
        """Remember a delivery."""
        self.delivered.append(Delivery(effect.id, effect.name, effect.row_id, effect.attempt, effect.payload))


def read_orders_of(step: Any) -> tuple[int, int, Any]:
    """Answer what the action is told to do: rows, effects, and how to end."""
    told = step.input or {}
    return told.get("rows", 1), told.get("effects", 0), told.get("end")


def end_as_told(end: Any) -> Any:
    """End an action."""
    if end == "reject":
        return Rejected("the action said no")
    if end == "raise":
        raise ActionFailedError("the action failed")
    return end


def judge_as_told(step: Any) -> str | None:
    """Say no where the input asks a validator to."""
    return "too drunk" if (step.input or {}).get("drunk") else None


def register_sync(shop: Shop) -> None:
    """Register `def` functions."""

    @shop.semel.validator("Sober")
    def judge(step: Any) -> str | None:
        return judge_as_told(step)

    @shop.semel.action("Act")
    def act(step: Any) -> Any:
        rows, effects, end = read_orders_of(step)
        shop.write_down(step)
        shop.here("begun", step)
        for number in range(rows):
            step.session.add(Entry(order_id=step.id, step_key=step.key))
            if number == 0:
                step.session.flush()
                shop.here("written", step)
        for number in range(effects):
            step.after("Mail", number=number)
        shop.here("ending", step)
        return end_as_told(end)

    for name in ("Receipt", "Mail"):

        @shop.semel.effect(name)
        def deliver(effect: Any) -> None:
            shop.note_delivery(effect)
            shop.deliver(effect)


def register_async(shop: Shop) -> None:
    """Register `async def` functions."""

    async def call(function: Callable[..., Any], *words: Any) -> None:
        answer = function(*words)
        if inspect.isawaitable(answer):
            await answer

    @shop.semel.validator("Sober")
    async def judge(step: Any) -> str | None:
        return judge_as_told(step)

    @shop.semel.action("Act")
    async def act(step: Any) -> Any:
        rows, effects, end = read_orders_of(step)
        shop.write_down(step)
        await call(shop.here, "begun", step)
        for number in range(rows):
            step.session.add(Entry(order_id=step.id, step_key=step.key))
            if number == 0:
                await step.session.flush()
                await call(shop.here, "written", step)
        for number in range(effects):
            step.after("Mail", number=number)
        await call(shop.here, "ending", step)
        return end_as_told(end)

    for name in ("Receipt", "Mail"):

        @shop.semel.effect(name)
        async def deliver(effect: Any) -> None:
            shop.note_delivery(effect)
            await call(shop.deliver, effect)


def read_claims(database: Any) -> dict[tuple[str, str], Any]:
    """Answer every claim row by (row id, step key)."""
    with database.engine().connect() as connection:
        rows = connection.execute(sa.text("SELECT * FROM semel_claims")).mappings()
        return {(row["row_id"], row["step_key"]): row for row in rows}
