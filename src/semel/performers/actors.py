"""Those who run the user's functions: validators, actions and the handlers of after-effects."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncEngine, AsyncSession
from sqlalchemy.orm import Mapper

from semel.asks import Act, Acted, Deliver
from semel.clock import Clock
from semel.errors import ClaimLeft
from semel.outcomes import Rejected
from semel.performers.effects import AsyncEffect, Effect
from semel.performers.heart import AsyncHeart, Heart, Watch
from semel.performers.opened import AsyncOpened, StepSession, SyncOpened
from semel.performers.stage import AsyncStage, Stage, SyncStage
from semel.performers.steps import AsyncStep, Step


class Cast(Protocol):
    """Where the user's functions are found by name."""

    def action(self, name: str) -> Callable[[Any], Any]:
        """Answer an action."""

    def validator(self, name: str) -> Callable[[Any], Any]:
        """Answer a validator."""

    def effect(self, name: str) -> Callable[[Any], Any]:
        """Answer the handler of an after-effect."""

    def mapper(self, entity: str) -> Mapper[Any] | None:
        """Answer the mapped class of a table, if it has one."""


@dataclass(frozen=True)
class Troupe:
    """What actors need beside the functions."""

    cast: Cast
    clock: Clock
    read_clock: Any
    note_delivery: Any


def read_verdict(verdict: Any) -> Rejected | None:
    """Read what a validator returned: a reason to say no, or nothing."""
    if verdict is None or verdict is True:
        return None
    if isinstance(verdict, Rejected):
        return verdict
    return Rejected(verdict if isinstance(verdict, str) else "rejected")


class SyncActors:
    """Runs `def` functions in the caller's thread."""

    def __init__(self, troupe: Troupe, engine: Callable[[], sa.Engine], heart: Heart) -> None:
        """Keep what the functions will need."""
        self.troupe = troupe
        self.engine = engine
        self.heart = heart

    def open(self) -> SyncOpened:
        """Open nothing yet: the session's first statement does."""
        return SyncOpened(StepSession(self.engine()))

    def act(self, act: Act) -> Acted:
        """Run validators and action, and answer how they left. Nothing they raise goes up from here."""
        troupe = self.troupe
        stage = SyncStage(act, troupe.cast.mapper(act.facts.entity), troupe.clock, troupe.read_clock, self.engine)
        watch = watch_for(act, stage)
        value: Any = None
        problem: BaseException | None = None
        try:
            if watch is not None:
                self.heart.watch(watch)
            value = self._play(act, Step(stage))
            if not isinstance(value, Rejected) and stage.has_rest:
                stage.opened.session.flush()
        except ClaimLeft:
            stage.lost = True
        except BaseException as trouble:  # noqa: BLE001 - the protocol rolls back and releases, then raises it again
            problem = trouble
        finally:
            stage.over = True
            if watch is not None:
                self.heart.unwatch(watch)
        return Acted(value, problem, self._left_open(stage, act), tuple(stage.effects), lost=stage.lost)

    def _play(self, act: Act, step: Step[Any]) -> Any:
        for name in act.validators:
            rejected = read_verdict(self.troupe.cast.validator(name)(step))
            if rejected is not None:
                return rejected
        return None if act.action is None else self.troupe.cast.action(act.action)(step)

    def _left_open(self, stage: SyncStage, act: Act) -> SyncOpened | None:
        """Answer the transaction that the action has opened. One that the step opened is the step's to end."""
        if act.opened is not None or stage.asked_for is None:
            return None
        if stage.is_in_transaction:
            return stage.opened
        stage.opened.rollback()
        return None

    def deliver(self, deliver: Deliver) -> BaseException | None:
        """Run the handler of an after-effect; answer what it raised."""
        try:
            self.troupe.cast.effect(deliver.name)(Effect(deliver, self.troupe.note_delivery))
        except (GeneratorExit, KeyboardInterrupt):
            raise
        except BaseException as problem:  # noqa: BLE001 - the courier writes it down and tries again; sys.exit() too
            return problem
        return None


class AsyncActors:
    """Runs `async def` functions in the running event loop."""

    def __init__(self, troupe: Troupe, engine: Callable[[], AsyncEngine], heart: AsyncHeart) -> None:
        """Keep what the functions will need."""
        self.troupe = troupe
        self.engine = engine
        self.heart = heart

    async def open(self) -> AsyncOpened:
        """Open nothing yet: the session's first statement does."""
        return AsyncOpened(AsyncSession(self.engine(), sync_session_class=StepSession))

    async def act(self, act: Act) -> Acted:
        """Run validators and action, and answer how they left. Nothing they raise goes up from here."""
        troupe = self.troupe
        stage = AsyncStage(act, troupe.cast.mapper(act.facts.entity), troupe.clock, troupe.read_clock, self.engine)
        watch = watch_for(act, stage)
        value: Any = None
        problem: BaseException | None = None
        try:
            if watch is not None:
                self.heart.watch(watch)
            value = await self._play(act, AsyncStep(stage))
            if not isinstance(value, Rejected) and stage.has_rest:
                await stage.opened.session.flush()
        except ClaimLeft:
            stage.lost = True
        except BaseException as trouble:  # noqa: BLE001 - the protocol rolls back and releases, then raises it again
            problem = trouble
        finally:
            stage.over = True
            if watch is not None:
                self.heart.unwatch(watch)
        return Acted(value, problem, await self._left_open(stage, act), tuple(stage.effects), lost=stage.lost)

    async def _play(self, act: Act, step: AsyncStep[Any]) -> Any:
        for name in act.validators:
            rejected = read_verdict(await self.troupe.cast.validator(name)(step))
            if rejected is not None:
                return rejected
        return None if act.action is None else await self.troupe.cast.action(act.action)(step)

    async def _left_open(self, stage: AsyncStage, act: Act) -> AsyncOpened | None:
        """Answer the transaction that the action has opened. One that the step opened is the step's to end."""
        if act.opened is not None or stage.asked_for is None:
            return None
        if stage.is_in_transaction:
            return stage.opened
        await stage.opened.rollback()
        return None

    async def deliver(self, deliver: Deliver) -> BaseException | None:
        """Run the handler of an after-effect; answer what it raised."""
        try:
            await self.troupe.cast.effect(deliver.name)(AsyncEffect(deliver, self.troupe.note_delivery))
        except (GeneratorExit, KeyboardInterrupt):
            raise
        except BaseException as problem:  # noqa: BLE001 - the courier writes it down and tries again; sys.exit() too
            return problem
        return None


def watch_for(act: Act, stage: Stage) -> Watch | None:
    """Answer what the heart watches: nothing for a step without a claim."""
    if act.claim is None or act.facts.fence is None:
        return None
    return Watch(act.claim, act.facts.fence, act.lease_us, stage)
