"""A transaction that is open because an action writes in it, and the session it writes through.

A savepoint is the token that the transaction still is the one that was fenced. User code can end a transaction in many ways
(a COMMIT as text, MariaDB's DDL, a deadlock that was caught); each takes the token away, and the finish asks for it first.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import Session, SessionTransaction
from sqlalchemy.util.concurrency import greenlet_spawn

from semel.errors import error
from semel.performers.wires.borrowed import AsyncSqlalchemyWire, SqlalchemyWire
from semel.performers.wires.wire import Wire

GAVE_WAY = "semel_gave_way"
"""Where a connection remembers that the database rolled its transaction back by itself."""

TOKEN = "semel_step"  # noqa: S105 - the name of a savepoint
"""The name of the savepoint."""


class StepSession(Session):
    """The session of a step. Only the step begins and ends its transaction."""

    opened: Opened

    def __init__(self, bind: Any = None, **options: Any) -> None:
        """On a connection that somebody else has begun, be a savepoint in it."""
        super().__init__(bind, **{"join_transaction_mode": "create_savepoint", "expire_on_commit": False, **options})

    def _refuse(self, verb: str) -> NoReturn:
        raise error("SEMEL-STEP-2", verb=verb)

    def commit(self) -> None:
        """Refuse, unless it is the step that commits."""
        if not self.opened.ending:
            self._refuse("commit")
        super().commit()

    def rollback(self) -> None:
        """Refuse, unless it is the step that rolls back."""
        if not self.opened.ending:
            self._refuse("rollback")
        super().rollback()

    def close(self) -> None:
        """Refuse, unless the step is over: what was not flushed would be forgotten."""
        if not self.opened.ending:
            self._refuse("close")
        super().close()

    def reset(self) -> None:
        """Refuse, as `close`."""
        self._refuse("reset")

    def invalidate(self) -> None:
        """Refuse, as `close`."""
        self._refuse("invalidate")

    def begin(self, nested: bool = False) -> SessionTransaction:  # noqa: FBT001, FBT002 - SQLAlchemy's own signature
        """Refuse, except for a savepoint: the step begins with the first statement."""
        if not nested:
            self._refuse("begin")
        return super().begin(nested=nested)


class Opened:
    """What both colours of open transactions have in common."""

    ending = False
    """Whether the step is ending it now."""

    rolled_back = False
    """Whether SQLAlchemy has rolled it back already, after a flush that failed."""

    raw: sa.Connection | None = None
    """The connection it began on."""

    borrowed = False

    def listen(self, session: StepSession, fence: Callable[[sa.Connection], None] | None) -> None:
        """Be told when the session begins and when it is rolled back; it may begin only once."""
        session.opened = self

        def after_begin(_session: Session, transaction: SessionTransaction, connection: sa.Connection) -> None:
            if transaction.nested or self.ending:
                return
            if self.raw is not None:
                raise error("SEMEL-STEP-2", verb="rollback")
            self.raw = connection
            connection.info.pop(GAVE_WAY, None)
            if fence is not None:
                fence(connection)

        def after_rollback(_session: Session) -> None:
            self.rolled_back = self.rolled_back or not self.ending

        sa.event.listen(session, "after_begin", after_begin)
        sa.event.listen(session, "after_rollback", after_rollback)

    @property
    def gave_way(self) -> bool:
        """Whether the database has rolled all of it back by itself, as MariaDB does after a deadlock."""
        return self.raw is not None and not self.raw.closed and GAVE_WAY in self.raw.info

    @property
    def is_gone_by_itself(self) -> bool:
        """Whether the token is missing for a reason that leaves nothing behind."""
        thrown_away = self.raw is not None and (self.raw.invalidated or self.raw.closed)
        return self.rolled_back or self.gave_way or thrown_away


class SyncOpened(Opened):
    """An open transaction of a sync action."""

    def __init__(self, session: StepSession, fence: Callable[[sa.Connection], None] | None = None) -> None:
        """Keep the session."""
        self.session = session
        self.listen(session, fence)

    def wire(self, connection: sa.Connection) -> Wire:
        """Answer how Semel's own statements travel in it."""
        return SqlalchemyWire(connection.dialect)

    def connection(self) -> sa.Connection:
        """Answer its connection, beginning it if nothing has."""
        return self.session.connection()

    def say(self, text: str) -> None:
        """Run a statement about the token."""
        assert self.raw is not None, "only what has begun has a token"
        self.raw.exec_driver_sql(text)

    def commit(self) -> None:
        """Commit it, and be done with the session."""
        self.ending = True
        self.session.commit()
        self.session.close()

    def rollback(self) -> None:
        """Roll it back, and be done with the session."""
        self.ending = True
        try:
            self.session.rollback()
        finally:
            self.session.close()


class AsyncOpened(Opened):
    """An open transaction of an async action."""

    def __init__(self, session: AsyncSession, fence: Callable[[sa.Connection], None] | None = None) -> None:
        """Keep the session."""
        self.session = session
        sync_session = session.sync_session
        assert isinstance(sync_session, StepSession), "the session of a step"
        self.listen(sync_session, fence)

    def wire(self, connection: Any) -> Wire:
        """Answer how Semel's own statements travel in it."""
        return AsyncSqlalchemyWire(connection.dialect)

    async def connection(self) -> Any:
        """Answer its connection, beginning it if nothing has."""
        return await self.session.connection()

    async def say(self, text: str) -> None:
        """Run a statement about the token."""
        assert self.raw is not None, "only what has begun has a token"
        await greenlet_spawn(self.raw.exec_driver_sql, text)

    async def commit(self) -> None:
        """Commit it, and be done with the session."""
        self.ending = True
        await self.session.commit()
        await self.session.close()

    async def rollback(self) -> None:
        """Roll it back, and be done with the session."""
        self.ending = True
        try:
            await self.session.rollback()
        finally:
            await self.session.close()
