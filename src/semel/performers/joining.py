"""Steps inside a transaction that the user lent: a savepoint stands for the transaction of the step.

What an action says no to, or raises, is rolled back to the savepoint, and the user's transaction is as it was. Nothing here
commits. The action writes through a session of its own, which is a savepoint too: a flush that fails there leaves the
user's session and its objects alone.

An action may itself lend its step's transaction to another step. MariaDB forgets a savepoint when another of its name is
set, so each of them has a name of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncSession

from semel.asks import Act
from semel.performers.actors import AsyncActors, SyncActors
from semel.performers.handles import Borrowed
from semel.performers.opened import Opened, StepSession
from semel.performers.wires.wire import Wire

_DEPTH = ContextVar("depth of joined steps", default=0)
"""How many joined steps this thread or task is in. Names are few, because drivers keep the statements they have prepared."""


class JoinedOpened(Opened):
    """What a borrowed transaction of either colour is to a step. A raw driver connection has no session."""

    session: Any = None
    borrowed = True
    has_begun = True

    def __init__(self, lent: Borrowed) -> None:
        """Keep what was lent."""
        self.lent = lent
        self._depth = 0

    def enter(self) -> None:
        """Be one deeper in this thread or task."""
        self._depth = _DEPTH.get()
        _DEPTH.set(self._depth + 1)

    def leave(self) -> None:
        """Let the user's connection go on without the step."""
        self.ending = True
        _DEPTH.set(self._depth)
        self.forget()

    def named(self, text: str) -> str:
        """Answer a statement about a savepoint with the name that it has at this depth."""
        return f"{text}_{self._depth}"

    def wire(self, _connection: Any) -> Wire:
        """Answer how Semel's own statements travel on it."""
        return self.lent.wire


class SyncJoined(JoinedOpened):
    """A savepoint on a sync handle."""

    def begin(self) -> SyncJoined:
        """Make the session; the savepoints are set by the step."""
        self.enter()
        if isinstance(self.lent.handle, sa.Connection):
            self.session = StepSession(self.lent.handle)
            self.keep(self.session)
        return self

    def connection(self) -> Any:
        """Answer the handle that statements run on."""
        return self.lent.handle

    def say(self, text: str) -> None:
        """Run a statement about a savepoint."""
        self.lent.wire.execute(self.lent.handle, self.named(text), ())

    def commit(self) -> None:
        """Be done with the session. The commit is the user's."""
        if self.session is not None:
            self.refuse_what_is_spoilt()
            self.ending = True
            self.session.commit()
            self.session.close()
        self.leave()

    def rollback(self) -> None:
        """Be done with the session, and with what it wrote."""
        self.ending = True
        try:
            if self.session is not None:
                self.session.rollback()
                self.session.close()
        finally:
            self.leave()


class AsyncJoined(JoinedOpened):
    """A savepoint on an async handle."""

    async def begin(self) -> AsyncJoined:
        """Make the session; the savepoints are set by the step."""
        self.enter()
        if isinstance(self.lent.handle, AsyncConnection):
            self.session = AsyncSession(self.lent.handle, sync_session_class=StepSession)
            self.keep(self.session.sync_session)
        return self

    async def connection(self) -> Any:
        """Answer the handle that statements run on."""
        return self.lent.handle

    async def say(self, text: str) -> None:
        """Run a statement about a savepoint."""
        await self.lent.wire.execute(self.lent.handle, self.named(text), ())

    async def commit(self) -> None:
        """Be done with the session. The commit is the user's."""
        if self.session is not None:
            self.refuse_what_is_spoilt()
            self.ending = True
            await self.session.commit()
            await self.session.close()
        self.leave()

    async def rollback(self) -> None:
        """Be done with the session, and with what it wrote."""
        self.ending = True
        try:
            if self.session is not None:
                await self.session.rollback()
                await self.session.close()
        finally:
            self.leave()


class JoinedActors:
    """Runs the user's functions inside a borrowed transaction."""

    def __init__(self, actors: SyncActors | AsyncActors, open_: Callable[[], Any]) -> None:
        """Keep who really runs them, and how the session is made."""
        self._actors = actors
        self.open = open_

    def act(self, act: Act) -> Any:
        """Run validators and action; for an async actor this is something to await."""
        return self._actors.act(act)
