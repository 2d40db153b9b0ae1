"""SQLite for `AsyncSession`, on threads: the small part of aiosqlite that SQLAlchemy's async dialect asks for.

aiosqlite itself is not needed, and each connection has one thread of its own, as sqlite3 likes it.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

Answer = TypeVar("Answer")


class ThreadCursor:
    """A cursor whose every call happens on the connection's thread."""

    def __init__(self, connection: ThreadConnection, cursor: sqlite3.Cursor) -> None:
        """Keep both."""
        self._connection = connection
        self._cursor = cursor

    async def execute(self, text: str, params: Any = ()) -> ThreadCursor:
        """Run a statement."""
        await self._connection.call(self._cursor.execute, text, params or ())
        return self

    async def executemany(self, text: str, params: Any) -> ThreadCursor:
        """Run a statement for each of many parameters."""
        await self._connection.call(self._cursor.executemany, text, params)
        return self

    async def fetchall(self) -> list[Any]:
        """Answer the rows that are left."""
        return await self._connection.call(self._cursor.fetchall)

    async def fetchone(self) -> Any:
        """Answer the next row."""
        return await self._connection.call(self._cursor.fetchone)

    async def fetchmany(self, size: int | None = None) -> list[Any]:
        """Answer the next few rows."""
        return await self._connection.call(self._cursor.fetchmany, size or self._cursor.arraysize)

    async def close(self) -> None:
        """Close the cursor."""
        await self._connection.call(self._cursor.close)

    @property
    def description(self) -> Any:
        """The columns of the rows."""
        return self._cursor.description

    @property
    def lastrowid(self) -> int | None:
        """The id of the row inserted last."""
        return self._cursor.lastrowid

    @property
    def rowcount(self) -> int:
        """How many rows were matched."""
        return self._cursor.rowcount

    @property
    def row_factory(self) -> Any:
        """How rows are made."""
        return self._cursor.row_factory

    @row_factory.setter
    def row_factory(self, factory: Any) -> None:
        self._cursor.row_factory = factory


class ThreadCursorMaker:
    """What `cursor()` answers: await it, or enter it."""

    def __init__(self, connection: ThreadConnection) -> None:
        """Make nothing yet."""
        self._connection = connection
        self._cursor: ThreadCursor | None = None

    def __await__(self) -> Any:
        """Make the cursor."""
        return self._connection.make_cursor().__await__()

    async def __aenter__(self) -> ThreadCursor:
        """Make the cursor."""
        self._cursor = await self._connection.make_cursor()
        return self._cursor

    async def __aexit__(self, *_: object) -> None:
        """Close it."""
        if self._cursor is not None:
            await self._cursor.close()


class ThreadConnection:
    """A connection that lives on one thread."""

    def __init__(self, *where: Any, **options: Any) -> None:
        """Open nothing yet; awaiting the connection opens it."""
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="semel-sqlite")
        self._where = where
        self._options = options | {"check_same_thread": False}
        self._connection: Any = None
        self._ending = False

    def __await__(self) -> Any:
        """Open it."""
        return self._open().__await__()

    async def _open(self) -> ThreadConnection:
        self._connection = await self.call(lambda: sqlite3.connect(*self._where, **self._options))
        return self

    async def call(self, function: Callable[..., Answer], *arguments: Any) -> Answer:
        """Call a function on the thread. A caller that is cancelled leaves; the call ends by itself."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, function, *arguments)

    def cursor(self) -> ThreadCursorMaker:
        """Make a cursor, to be awaited or entered."""
        return ThreadCursorMaker(self)

    async def make_cursor(self) -> ThreadCursor:
        """Make a cursor on the thread."""
        return ThreadCursor(self, await self.call(self._connection.cursor))

    async def execute(self, text: str, params: Any = ()) -> ThreadCursor:
        """Run a statement."""
        return await (await self.make_cursor()).execute(text, params)

    async def commit(self) -> None:
        """Commit."""
        await self.call(self._connection.commit)

    async def rollback(self) -> None:
        """Roll back."""
        await self.call(self._connection.rollback)

    async def create_function(self, *arguments: Any, **options: Any) -> None:
        """Give SQLite a function; SQLAlchemy adds regexp."""
        await self.call(lambda: self._connection.create_function(*arguments, **options))

    async def close(self) -> None:
        """Close it, and let the thread end."""
        if self._is_first_to_end():
            await self.call(self._end)
            self._thread.shutdown(wait=False)

    def _is_first_to_end(self) -> bool:
        """Answer once whether it is to be ended, and interrupt what a cancelled caller left running.

        Interrupting a connection that is being closed would reach into memory that is gone.
        """
        if self._ending:
            return False
        self._ending = True
        self._connection.interrupt()
        return True

    def _end(self) -> None:
        """Roll back before closing: SQLite keeps the transaction of a connection that is closed with an open cursor."""
        if self._connection.in_transaction:
            self._connection.rollback()
        self._connection.close()

    def stop(self) -> None:
        """Close it without waiting."""
        if self._is_first_to_end():
            self._thread.submit(self._end)
            self._thread.shutdown(wait=False)

    @property
    def in_transaction(self) -> bool:
        """Whether a transaction is open."""
        return bool(self._connection.in_transaction)

    @property
    def _conn(self) -> Any:
        """sqlite3's own connection, as SQLAlchemy asks for it to set an isolation level."""
        return self._connection

    @property
    def _tx(self) -> ThreadConnection:
        """Where SQLAlchemy puts that call: a queue, as far as it knows."""
        return self

    def put_nowait(self, item: tuple[asyncio.Future[Any], Callable[[], Any]]) -> None:
        """Make a call on the thread whose end answers a future."""
        waiting, function = item
        loop = waiting.get_loop()

        def answer(called: Future[Any]) -> None:
            if not waiting.done():
                waiting.set_result(called.result())

        self._thread.submit(function).add_done_callback(lambda called: loop.call_soon_threadsafe(answer, called))

    @property
    def isolation_level(self) -> Any:
        """sqlite3's own way of beginning transactions; None leaves that to us."""
        return self._connection.isolation_level


class _Module:
    """What SQLAlchemy asks of the package aiosqlite."""

    Connection = ThreadConnection
    Error = sqlite3.Error
    DatabaseError = sqlite3.DatabaseError
    IntegrityError = sqlite3.IntegrityError
    InterfaceError = sqlite3.InterfaceError
    NotSupportedError = sqlite3.NotSupportedError
    OperationalError = sqlite3.OperationalError
    ProgrammingError = sqlite3.ProgrammingError
    InternalError = sqlite3.InternalError
    sqlite_version = sqlite3.sqlite_version
    sqlite_version_info = sqlite3.sqlite_version_info

    @staticmethod
    def connect(*where: Any, **options: Any) -> ThreadConnection:
        """Answer a connection to await."""
        return ThreadConnection(*where, **options)


def sqlite_module() -> Any:
    """Answer what create_async_engine takes as the module of its driver."""
    from sqlalchemy.dialects.sqlite.aiosqlite import AsyncAdapt_aiosqlite_dbapi

    return AsyncAdapt_aiosqlite_dbapi(_Module(), sqlite3)  # type: ignore[arg-type] # the part of the module it uses
