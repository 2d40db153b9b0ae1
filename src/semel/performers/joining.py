"""Steps inside a transaction that the user lent: a savepoint stands for the transaction of the step.

What an action says no to, or raises, is rolled back to the savepoint, and the user's transaction is as it was. Nothing here
commits. Where the handle is a session, the savepoint is the session's own, so that its objects are told what was undone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncSession

from semel.asks import Act
from semel.performers.actors import AsyncActors, SyncActors
from semel.performers.handles import Borrowed
from semel.performers.opened import StepSession
from semel.performers.wires.wire import Wire

SAVEPOINT = "semel_step"

KEEP_OUTSIDE = "rollback_only"
"""How a step's session treats the user's transaction: it never commits it, and closing the session leaves it alone."""


class JoinedOpened:
    """What a borrowed transaction of either colour is to a step."""

    session: Any = None

    def __init__(self, borrowed: Borrowed) -> None:
        """Keep what was lent."""
        self.borrowed = borrowed

    def wire(self, _connection: Any) -> Wire:
        """Answer how Semel's own statements travel on it."""
        return self.borrowed.wire


class SyncJoined(JoinedOpened):
    """A savepoint on a sync handle."""

    def begin(self) -> SyncJoined:
        """Set the savepoint."""
        handle = self.borrowed.handle
        if self.borrowed.session is not None:
            self.session = self.borrowed.session
        elif isinstance(handle, sa.Connection):
            self.session = StepSession(handle, expire_on_commit=False, join_transaction_mode=KEEP_OUTSIDE)  # type: ignore[arg-type] # one of its modes
        else:
            self._say(f"SAVEPOINT {SAVEPOINT}")
            return self
        self._nested = self.session.begin_nested()
        return self

    def _say(self, text: str) -> None:
        self.borrowed.wire.execute(self.borrowed.handle, text, ())

    def connection(self) -> Any:
        """Answer the handle that statements run on."""
        return self.borrowed.handle

    def commit(self) -> None:
        """Release the savepoint; the commit is the user's."""
        if self.session is None:
            self._say(f"RELEASE SAVEPOINT {SAVEPOINT}")
            return
        self.session.flush()
        self._nested.commit()

    def rollback(self) -> None:
        """Go back to the savepoint."""
        if self.session is None:
            self._say(f"ROLLBACK TO SAVEPOINT {SAVEPOINT}")
            self._say(f"RELEASE SAVEPOINT {SAVEPOINT}")
        elif self._nested.is_active:
            self._nested.rollback()


class AsyncJoined(JoinedOpened):
    """A savepoint on an async handle."""

    async def begin(self) -> AsyncJoined:
        """Set the savepoint."""
        handle, session = self.borrowed.handle, self.borrowed.session
        if session is not None:
            self.session = session
        elif isinstance(handle, AsyncConnection):
            options: dict[str, Any] = {"join_transaction_mode": KEEP_OUTSIDE, "expire_on_commit": False}
            self.session = AsyncSession(handle, sync_session_class=StepSession, **options)
        else:
            await self._say(f"SAVEPOINT {SAVEPOINT}")
            return self
        self._nested = await self.session.begin_nested()
        return self

    async def _say(self, text: str) -> None:
        await self.borrowed.wire.execute(self.borrowed.handle, text, ())

    async def connection(self) -> Any:
        """Answer the handle that statements run on."""
        return self.borrowed.handle

    async def commit(self) -> None:
        """Release the savepoint; the commit is the user's."""
        if self.session is None:
            await self._say(f"RELEASE SAVEPOINT {SAVEPOINT}")
            return
        await self.session.flush()
        await self._nested.commit()

    async def rollback(self) -> None:
        """Go back to the savepoint."""
        if self.session is None:
            await self._say(f"ROLLBACK TO SAVEPOINT {SAVEPOINT}")
            await self._say(f"RELEASE SAVEPOINT {SAVEPOINT}")
        elif self._nested.is_active:
            await self._nested.rollback()


class JoinedActors:
    """Runs the user's functions inside a borrowed transaction."""

    def __init__(self, actors: SyncActors | AsyncActors, open_: Callable[[], Any]) -> None:
        """Keep who really runs them, and how the savepoint is set."""
        self._actors = actors
        self.open = open_

    def act(self, act: Act) -> Any:
        """Run validators and action; for an async actor this is something to await."""
        return self._actors.act(act)
