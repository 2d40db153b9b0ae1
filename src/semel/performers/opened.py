"""A transaction that is open because an action writes in it, and the session it writes through.

A savepoint is the token that the transaction still is the one that was fenced. User code can end a transaction in many ways
(a COMMIT as text, MariaDB's DDL, a deadlock that was caught); each takes the token away, and the finish asks for it first.
What can be refused before it happens is refused: the session's own verbs, and a commit of its connection.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NoReturn
from weakref import ref

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import Session, SessionTransaction
from sqlalchemy.util.concurrency import greenlet_spawn

from semel.errors import SemelError, error
from semel.performers.wires.borrowed import AsyncSqlalchemyWire, SqlalchemyWire
from semel.performers.wires.wire import Wire
from semel.store.dialects import Fault, classify

GAVE_WAY = "semel_gave_way"
"""Where a connection remembers that the database rolled its transaction back by itself."""

OPENED = "semel_opened"
"""Where a connection of Semel's own engine remembers whose it is."""

TOKEN = "semel_step"  # noqa: S105 - the name of a savepoint
"""The name of the savepoint."""

SET_TOKEN = f"SAVEPOINT {TOKEN}"
GIVE_TOKEN_UP = f"RELEASE SAVEPOINT {TOKEN}"
BACK_TO_TOKEN = f"ROLLBACK TO SAVEPOINT {TOKEN}"

JOINED = "semel_joined"
"""The name of another savepoint, before the first statement of a step that has joined a transaction of the user's."""

SET_JOINED = f"SAVEPOINT {JOINED}"
GIVE_JOINED_UP = f"RELEASE SAVEPOINT {JOINED}"
BACK_TO_JOINED = f"ROLLBACK TO SAVEPOINT {JOINED}"


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
    """Whether SQLAlchemy has rolled it back already: after a flush that failed, or because the action found a way."""

    torn = False
    """Whether the token was missing when SQLAlchemy rolled back: something had ended the transaction before."""

    problem: BaseException | None = None
    """Why it must not be finished, whatever the action makes of the error."""

    raw: sa.Connection | None = None
    """The connection it began on."""

    borrowed = False

    fence: Callable[[sa.Connection], None] | None = None
    """What locks the row as the first statement."""

    def keep(self, session: StepSession) -> None:
        """Be what the session tells when it begins and when it is rolled back; it may begin only once."""
        session.opened = self
        bind = session.bind
        assert bind is not None, "the session of a step is bound when it is made"
        self._home, self._is_ours = bind.engine, isinstance(bind, sa.Engine)

    def begin_on(self, connection: sa.Connection) -> None:
        """Keep the connection that the session has just begun on, and fence it. What fails here fails for good."""
        try:
            self._take(connection)
        except SemelError as problem:
            self.problem = problem
            raise
        try:
            if self.fence is not None:
                self.fence(connection)
        except BaseException as problem:
            self.problem = problem
            if self._is_ours:
                connection.invalidate()  # an action that swallows the error must not write without a fence
            raise

    def _take(self, connection: sa.Connection) -> None:
        if self.problem is not None:
            raise self.problem
        if connection.engine is not self._home:
            raise error("SEMEL-STEP-9", reason="was bound to another engine")
        if self._is_ours and connection.get_execution_options().get("isolation_level") == "AUTOCOMMIT":
            raise error("SEMEL-STEP-9", reason="was to be committed at once (AUTOCOMMIT)")
        if self.raw is not None:
            raise error("SEMEL-STEP-2", verb="rollback")
        self.raw = connection
        connection.info.pop(GAVE_WAY, None)
        if self._is_ours:
            connection.info[OPENED] = ref(self)
        else:
            sa.event.listen(connection, "commit", self.refuse_commit)
            sa.event.listen(connection, "rollback", self.note_rollback)

    def refuse_commit(self, _connection: sa.Connection) -> None:
        """Refuse what went past the session: `get_transaction().commit()`, `connection().commit()`."""
        if not self.ending:
            self.problem = error("SEMEL-STEP-2", verb="commit")
            raise self.problem

    def note_rollback(self, connection: sa.Connection) -> None:
        """See whether what is rolled back here still is what was fenced: afterwards nobody can tell."""
        if self.ending or connection.invalidated:
            return
        self.rolled_back = True
        if sys.exc_info()[1] is None:
            self.problem = error("SEMEL-STEP-2", verb="rollback")
        try:
            say_to_driver(connection, self.named(BACK_TO_TOKEN))
        except Exception as problem:  # noqa: BLE001 - what it means is looked up
            self.torn = not (self.gave_way or classify(problem) is Fault.LOST)

    def named(self, text: str) -> str:
        """Answer a statement about the token with the name that the token has here."""
        return text

    def forget(self) -> None:
        """Listen no more to a connection that goes on without the step."""
        if self.raw is not None and not self._is_ours:
            with suppress(sa.exc.InvalidRequestError):
                sa.event.remove(self.raw, "commit", self.refuse_commit)
                sa.event.remove(self.raw, "rollback", self.note_rollback)

    def check(self, text: str) -> None:
        """Refuse to say something about a token that is known to be gone, or to give one up that must not be."""
        if text == GIVE_TOKEN_UP:
            self.refuse_what_is_spoilt()
        if self.raw is None or self.raw.closed or self.raw.invalidated:
            raise ConnectionResetError("the connection of the step is gone")
        if self.rolled_back:
            raise error("SEMEL-STEP-7")

    def refuse_what_is_spoilt(self) -> None:
        """Refuse to finish what the action has ended, or what an error has ended that the action did not let go."""
        if self.torn:
            raise error("SEMEL-STEP-8")
        if self.problem is not None:
            raise self.problem
        if self.rolled_back:
            raise error("SEMEL-STEP-7")

    @property
    def has_rest(self) -> bool:
        """Whether the session holds writes that were not sent yet. A session that is spoilt says why, in its own words."""
        session = getattr(self, "session", None)
        session = getattr(session, "sync_session", session)
        if session is None or not (session.new or session.dirty or session.deleted):
            return False
        self.refuse_what_is_spoilt()
        return True

    @property
    def has_begun(self) -> bool:
        """Whether there is something to finish or to undo: a transaction, or an error that the action must not hide."""
        return self.raw is not None or self.problem is not None

    @property
    def gave_way(self) -> bool:
        """Whether the database has rolled all of it back by itself, as MariaDB does after a deadlock."""
        raw = self.raw
        return raw is not None and not (raw.closed or raw.invalidated) and GAVE_WAY in raw.info

    @property
    def is_gone_by_itself(self) -> bool:
        """Whether the token is missing for a reason that leaves nothing behind."""
        is_lost = self.raw is None or self.raw.invalidated
        return not self.torn and (self.rolled_back or self.gave_way or is_lost)


@sa.event.listens_for(StepSession, "after_begin")
def tell_begin(session: StepSession, transaction: SessionTransaction, connection: sa.Connection) -> None:
    """Tell a step that its session has begun. Listeners of a class cost nothing for each of its sessions."""
    if not transaction.nested and not session.opened.ending:
        session.opened.begin_on(connection)


@sa.event.listens_for(StepSession, "after_rollback")
def tell_rollback(session: StepSession) -> None:
    """Tell a step that its session, and not only a savepoint in it, was rolled back."""
    if not session.opened.ending and not session.in_nested_transaction():
        session.opened.rolled_back = True


def listen_to_engine(engine: sa.Engine) -> None:
    """Tell steps what happens to the connections of Semel's own engine."""

    def before_commit(connection: sa.Connection) -> None:
        opened = find_opened(connection)
        if opened is not None:
            opened.refuse_commit(connection)

    def before_rollback(connection: sa.Connection) -> None:
        opened = find_opened(connection)
        if opened is not None:
            opened.note_rollback(connection)

    sa.event.listen(engine, "commit", before_commit)
    sa.event.listen(engine, "rollback", before_rollback)


def find_opened(connection: sa.Connection) -> Opened | None:
    """Answer the step whose transaction is open on a connection, if there is one."""
    if connection.closed or connection.invalidated:
        return None
    kept = connection.info.get(OPENED)
    opened: Opened | None = None if kept is None else kept()
    return opened if opened is not None and opened.raw is connection else None


def say_to_driver(connection: sa.Connection, text: str) -> None:
    """Run a statement past SQLAlchemy, which refuses every statement after some errors."""
    cursor = connection.connection.cursor()
    try:
        cursor.execute(text)
    finally:
        cursor.close()


class SyncOpened(Opened):
    """An open transaction of a sync action."""

    def __init__(self, session: StepSession, fence: Callable[[sa.Connection], None] | None = None) -> None:
        """Keep the session."""
        self.session = session
        self.fence = fence
        self.keep(session)

    def wire(self, connection: sa.Connection) -> Wire:
        """Answer how Semel's own statements travel in it."""
        return SqlalchemyWire(connection.dialect)

    def connection(self) -> sa.Connection:
        """Answer its connection, beginning it if nothing has."""
        return self.session.connection()

    def say(self, text: str) -> None:
        """Run a statement about the token."""
        self.check(text)
        assert self.raw is not None, "only what has begun has a token"
        say_to_driver(self.raw, text)

    def commit(self) -> None:
        """Commit it, and be done with the session."""
        self.ending = True
        self.session.commit()
        self.session.close()
        self.forget()

    def rollback(self) -> None:
        """Roll it back, and be done with the session."""
        self.ending = True
        try:
            self.session.rollback()
        finally:
            self.session.close()
            self.forget()


class AsyncOpened(Opened):
    """An open transaction of an async action."""

    def __init__(self, session: AsyncSession, fence: Callable[[sa.Connection], None] | None = None) -> None:
        """Keep the session."""
        self.session = session
        sync_session = session.sync_session
        assert isinstance(sync_session, StepSession), "the session of a step"
        self.fence = fence
        self.keep(sync_session)

    def wire(self, connection: Any) -> Wire:
        """Answer how Semel's own statements travel in it."""
        return AsyncSqlalchemyWire(connection.dialect)

    async def connection(self) -> Any:
        """Answer its connection, beginning it if nothing has."""
        return await self.session.connection()

    async def say(self, text: str) -> None:
        """Run a statement about the token."""
        self.check(text)
        assert self.raw is not None, "only what has begun has a token"
        await greenlet_spawn(say_to_driver, self.raw, text)

    async def commit(self) -> None:
        """Commit it, and be done with the session."""
        self.ending = True
        await self.session.commit()
        await self.session.close()
        self.forget()

    async def rollback(self) -> None:
        """Roll it back, and be done with the session."""
        self.ending = True
        try:
            await self.session.rollback()
        finally:
            await self.session.close()
            self.forget()
