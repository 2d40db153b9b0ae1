"""Wires that only ever run statements on what a user lent: they cannot open, begin, commit, roll back or close."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from semel.errors import error
from semel.performers.quoting import name_of, quote
from semel.performers.wires.sqlite import reading_text

if TYPE_CHECKING:
    from sqlalchemy.engine import Dialect


class BorrowedWire:
    """What the wires of borrowed handles have in common: nothing but a dialect, and what they may not do."""

    def __init__(self, dialect: Dialect) -> None:
        """Keep how statements are rendered."""
        self.dialect = dialect

    def _refuse(self, *_: Any) -> Any:
        raise AssertionError("a borrowed handle is only the user's to begin, commit, roll back, close or wait on")

    open = begin = commit = rollback = close = pause = _refuse

    def is_idle(self, _connection: Any) -> bool:
        """A borrowed handle is in the user's transaction."""
        return False

    def is_open(self, _connection: Any) -> bool:
        """Its user will notice when it is gone."""
        return True

    def doubts(self, _connection: Any) -> bool:
        """The commit is the user's, and so are its warnings."""
        return False


class SqlalchemyWire(BorrowedWire):
    """A SQLAlchemy Connection, through SQLAlchemy: its transaction, its events and its log see every statement."""

    def fetch(self, connection: Any, text: str, bound: Any) -> Sequence[Any]:
        """Run a statement; answer its rows."""
        with refusing_misuse(connection):
            return connection.exec_driver_sql(text, bound).all()  # type: ignore[no-any-return]

    def execute(self, connection: Any, text: str, bound: Any) -> int:
        """Run a statement; answer how many rows it matched."""
        with refusing_misuse(connection):
            return int(connection.exec_driver_sql(text, bound).rowcount)


class AsyncSqlalchemyWire(BorrowedWire):
    """A SQLAlchemy AsyncConnection."""

    async def fetch(self, connection: Any, text: str, bound: Any) -> Sequence[Any]:
        """Run a statement; answer its rows."""
        with refusing_misuse(connection):
            return (await connection.exec_driver_sql(text, bound)).all()  # type: ignore[no-any-return]

    async def execute(self, connection: Any, text: str, bound: Any) -> int:
        """Run a statement; answer how many rows it matched."""
        with refusing_misuse(connection):
            return int((await connection.exec_driver_sql(text, bound)).rowcount)


@contextmanager
def refusing_misuse(connection: Any) -> Iterator[None]:
    """Tell what SQLAlchemy itself refuses, before any statement is sent, from what the database refuses."""
    try:
        yield
    except sa.exc.PendingRollbackError as problem:
        raise error("SEMEL-ON-5", given=name_of(connection)) from problem
    except sa.exc.InvalidRequestError as problem:
        raise error("SEMEL-ON-7", given=name_of(connection), reason=quote(problem)) from problem


class AsyncCursorWire(BorrowedWire):
    """Any async driver with cursors of the common kind: psycopg's AsyncConnection and aiosqlite."""

    async def fetch(self, connection: Any, text: str, bound: Any) -> Sequence[Any]:
        """Run a statement; answer its rows."""
        cursor = await self._run(connection, text, bound)
        try:
            return await cursor.fetchall()  # type: ignore[no-any-return]
        finally:
            await cursor.close()

    async def execute(self, connection: Any, text: str, bound: Any) -> int:
        """Run a statement; answer how many rows it matched."""
        cursor = await self._run(connection, text, bound)
        try:
            return int(cursor.rowcount)
        finally:
            await cursor.close()

    async def _run(self, connection: Any, text: str, bound: Any) -> Any:
        raise NotImplementedError


class PsycopgAsyncWire(AsyncCursorWire):
    """psycopg's AsyncConnection, whatever cursors and rows its user chose."""

    async def _run(self, connection: Any, text: str, bound: Any) -> Any:
        from psycopg import AsyncCursor
        from psycopg.rows import tuple_row

        cursor = AsyncCursor(connection, row_factory=tuple_row)
        await cursor.execute(text, bound)
        return cursor


class AiosqliteWire(AsyncCursorWire):
    """aiosqlite, whatever row factory its user chose."""

    async def _run(self, connection: Any, text: str, bound: Any) -> Any:
        cursor = await connection.cursor()
        cursor.row_factory = None
        await cursor.execute(text, bound)
        return cursor

    async def fetch(self, connection: Any, text: str, bound: Any) -> Sequence[Any]:
        """Run a statement; answer its rows, with text as text."""
        with reading_text(connection):
            return await super().fetch(connection, text, bound)


class DjangoWire(BorrowedWire):
    """A connection of Django's, through Django. After an error its atomic block can only be rolled back, like after Django's."""

    def fetch(self, connection: Any, text: str, bound: Any) -> Sequence[Any]:
        """Run a statement; answer its rows."""
        with marking_for_rollback(connection), connection.cursor() as cursor:
            cursor.execute(text, bound)
            return cursor.fetchall()  # type: ignore[no-any-return]

    def execute(self, connection: Any, text: str, bound: Any) -> int:
        """Run a statement; answer how many rows it matched."""
        with marking_for_rollback(connection), connection.cursor() as cursor:
            if text.startswith("ROLLBACK TO SAVEPOINT") and connection.in_atomic_block:
                connection.set_rollback(False)  # the savepoint undoes what failed, as it does for Django's inner blocks
            cursor.execute(text, bound)
            return int(cursor.rowcount)


@contextmanager
def marking_for_rollback(connection: Any) -> Iterator[None]:
    """Tell Django that a statement failed: it would send a COMMIT, and PostgreSQL would answer with a silent ROLLBACK."""
    try:
        yield
    except Exception as problem:
        if connection.in_atomic_block:
            connection.set_rollback(True)
            connection.rollback_exc = problem
        raise
