"""The stage an action runs on: its session, its after-effects, and the knowledge whether its claim still stands."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncEngine, AsyncSession
from sqlalchemy.orm import Mapper, Session

from semel.asks import Act, Asking, Recorded, StepFacts
from semel.clock import Clock
from semel.errors import ClaimLeft, ClaimLostError, error
from semel.performers.conduct import JoinedConductor
from semel.performers.engines import READING
from semel.performers.opened import SET_TOKEN, AsyncOpened, StepSession, SyncOpened
from semel.performers.snapshot import Snapshot
from semel.performers.stepping import take_steps
from semel.performers.wires.borrowed import SqlalchemyWire


class Stage:
    """What both kinds of stages have in common."""

    def __init__(self, act: Act, mapper: Mapper[Any] | None, clock: Clock, read_clock: Any) -> None:
        """Nothing is open yet, unless the step opened it."""
        self.facts: StepFacts = act.facts
        self.effects: list[Recorded] = []
        self.lost = False
        self.over = False
        self._fence = act.fence
        self._opened: Any = act.opened
        self._clock = clock
        self._read_clock = read_clock
        self._mapper = mapper

    @cached_property
    def row(self) -> Snapshot:
        """The row as the step found it."""
        return Snapshot(self.facts.entity, self.facts.values, self._mapper)

    def check(self) -> None:
        """Leave the action at once if its claim is gone; refuse a step that is kept after its end."""
        if self.over:
            raise error("SEMEL-STEP-5", step=self.facts.step_key)
        if self.lost:
            raise ClaimLeft

    def _fence_off(self, connection: sa.Connection) -> None:
        """Run the fenced lock as the first statement of the transaction that has just begun on this connection."""
        protocol: Callable[[], Asking[None]] | None = self._fence
        if protocol is None:
            return
        conductor = JoinedConductor(SqlalchemyWire(connection.dialect), self._clock, self._read_clock, connection)
        try:
            take_steps(conductor.conduct(protocol()))
        except ClaimLostError:
            self.lost = True
            raise ClaimLeft from None
        connection.exec_driver_sql(SET_TOKEN)

    @property
    def asked_for(self) -> Any:
        """The transaction, if the step has opened it or the action has asked for its session."""
        return self.__dict__.get("opened", self._opened)

    @property
    def is_in_transaction(self) -> bool:
        """Whether a statement of the action has opened the transaction, or the step has."""
        return self.asked_for is not None and self.asked_for.has_begun

    @property
    def has_rest(self) -> bool:
        """Whether something of what the action wrote is still to be sent."""
        return self.asked_for is not None and self.asked_for.has_rest

    def session_of(self, opened: Any) -> Any:
        """Answer the session of an open transaction; a raw handle that was lent has none."""
        if opened.session is None:
            raise error("SEMEL-STEP-6", step=self.facts.step_key)
        return opened.session


class SyncStage(Stage):
    """The stage of a `def` action."""

    def __init__(
        self, act: Act, mapper: Mapper[Any] | None, clock: Clock, read_clock: Any, engine: Callable[[], sa.Engine]
    ) -> None:
        """Keep where connections come from."""
        super().__init__(act, mapper, clock, read_clock)
        self._engine = engine

    @cached_property
    def opened(self) -> SyncOpened:
        """The transaction the action writes in."""
        if self._opened is not None:
            return self._opened  # type: ignore[no-any-return] # made by this performer
        return SyncOpened(StepSession(self._engine()), self._fence_off)

    @property
    def session(self) -> Session:
        """The session the action writes through."""
        self.check()
        session: Any = self.session_of(self.opened)
        return session  # type: ignore[no-any-return] # of the colour of its stage

    def read(self, statement: Any, params: Any) -> Sequence[Any]:
        """Read beside the finishing transaction, or in it if it is open."""
        self.check()
        if self.is_in_transaction:
            session: Session = self.session_of(self.opened)
            return session.execute(statement, params).all()
        with Session(self._engine().execution_options(**READING)) as session:
            return session.execute(statement, params).all()


class AsyncStage(Stage):
    """The stage of an `async def` action."""

    def __init__(
        self, act: Act, mapper: Mapper[Any] | None, clock: Clock, read_clock: Any, engine: Callable[[], AsyncEngine]
    ) -> None:
        """Keep where connections come from."""
        super().__init__(act, mapper, clock, read_clock)
        self._engine = engine

    @cached_property
    def opened(self) -> AsyncOpened:
        """The transaction the action writes in."""
        if self._opened is not None:
            return self._opened  # type: ignore[no-any-return] # made by this performer
        return AsyncOpened(AsyncSession(self._engine(), sync_session_class=StepSession), self._fence_off)

    @property
    def session(self) -> AsyncSession:
        """The session the action writes through."""
        self.check()
        session: Any = self.session_of(self.opened)
        return session  # type: ignore[no-any-return] # of the colour of its stage

    async def read(self, statement: Any, params: Any) -> Sequence[Any]:
        """Read beside the finishing transaction, or in it if it is open."""
        self.check()
        if self.is_in_transaction:
            session: AsyncSession = self.session_of(self.opened)
            return (await session.execute(statement, params)).all()
        async with AsyncSession(self._engine().execution_options(**READING)) as session:
            return (await session.execute(statement, params)).all()
