"""A transaction that is open because an action writes in it, and the session it writes through."""

from __future__ import annotations

from typing import Any, NoReturn

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import Session

from semel.errors import error
from semel.performers.wires.borrowed import AsyncSqlalchemyWire, SqlalchemyWire
from semel.performers.wires.wire import Wire


class StepSession(Session):
    """The session of a step. Only the step ends its transaction."""

    def __init__(self, bind: Any = None, **options: Any) -> None:
        """On a connection that somebody else has begun, be a savepoint in it."""
        super().__init__(bind, **{"join_transaction_mode": "create_savepoint", **options})

    def commit(self) -> NoReturn:
        """Refuse: what is written belongs to the step's own commit."""
        raise error("SEMEL-STEP-2", verb="commit")

    def rollback(self) -> NoReturn:
        """Refuse: leave the action by an exception or by returning Rejected."""
        raise error("SEMEL-STEP-2", verb="rollback")


class SyncOpened:
    """An open transaction of a sync action."""

    def __init__(self, session: StepSession) -> None:
        """Keep the session."""
        self.session = session

    def wire(self, connection: sa.Connection) -> Wire:
        """Answer how Semel's own statements travel in it."""
        return SqlalchemyWire(connection.dialect)

    def connection(self) -> sa.Connection:
        """Answer its connection, beginning it if nothing has."""
        return self.session.connection()

    def commit(self) -> None:
        """Commit it, and be done with the session."""
        Session.commit(self.session)
        self.session.close()

    def rollback(self) -> None:
        """Roll it back, and be done with the session."""
        try:
            Session.rollback(self.session)
        finally:
            self.session.close()


class AsyncOpened:
    """An open transaction of an async action."""

    def __init__(self, session: AsyncSession) -> None:
        """Keep the session."""
        self.session = session

    def wire(self, connection: Any) -> Wire:
        """Answer how Semel's own statements travel in it."""
        return AsyncSqlalchemyWire(connection.dialect)

    async def connection(self) -> Any:
        """Answer its connection, beginning it if nothing has."""
        return await self.session.connection()

    async def commit(self) -> None:
        """Commit it, and be done with the session."""
        await self.session.run_sync(Session.commit)
        await self.session.close()

    async def rollback(self) -> None:
        """Roll it back, and be done with the session."""
        try:
            await self.session.run_sync(Session.rollback)
        finally:
            await self.session.close()
