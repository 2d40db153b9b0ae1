"""sqlite3 of the standard library: one file, one writer."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from semel.clock import Clock
from semel.errors import error
from semel.store import dialects

if TYPE_CHECKING:
    from sqlalchemy.engine import URL, Dialect

PRAGMAS = ("PRAGMA journal_mode = WAL", "PRAGMA synchronous = FULL", "PRAGMA foreign_keys = ON")
"""Readers beside the writer; a commit is on the disk when it returns; the user's foreign keys hold for Semel's writes too."""


def refuse_without_log(mode: str) -> None:
    """Refuse a file whose readers would block its writer."""
    if mode != "wal":
        raise error("SEMEL-DB-6", mode=mode)


class SqliteWire:
    """Runs statements over sqlite3 connections, Semel's own or borrowed ones."""

    def __init__(self, dialect: Dialect, url: URL | None = None, *, pooled: bool = False) -> None:
        """Keep how to connect; a wire for borrowed connections needs no URL."""
        self.dialect: Any = dialect
        self.url = url
        self.pooled = pooled

    def open(self) -> sqlite3.Connection:
        """Open a connection in autocommit. Any thread may use it, one after the other: the pool lends it to one at a time."""
        where, options = self.dialect.create_connect_args(self.url)
        options |= {"isolation_level": None, "check_same_thread": False, "timeout": dialects.LOCK_WAIT_SECONDS}
        connection: sqlite3.Connection = sqlite3.connect(*where, **options)
        try:
            answers = [self.fetch(connection, pragma, ()) for pragma in PRAGMAS]
            refuse_without_log(answers[0][0][0])
        except BaseException:
            connection.close()
            raise
        return connection

    def fetch(self, connection: sqlite3.Connection, text: str, bound: Any) -> Sequence[Any]:
        """Run a statement; answer its rows."""
        cursor = connection.cursor()
        cursor.row_factory = None
        try:
            with reading_text(connection):
                return cursor.execute(text, bound).fetchall()
        finally:
            cursor.close()

    def execute(self, connection: sqlite3.Connection, text: str, bound: Any) -> int:
        """Run a statement; answer how many rows it matched."""
        cursor = connection.cursor()
        try:
            return cursor.execute(text, bound).rowcount
        finally:
            cursor.close()

    def begin(self, connection: sqlite3.Connection) -> None:
        """Begin a transaction that may write from its first statement on: a later upgrade could fail."""
        connection.execute("BEGIN IMMEDIATE")

    def commit(self, connection: sqlite3.Connection) -> None:
        """Commit it."""
        connection.execute("COMMIT")

    def rollback(self, connection: sqlite3.Connection) -> None:
        """Roll it back."""
        connection.execute("ROLLBACK")

    def close(self, connection: sqlite3.Connection) -> None:
        """Close it; what was open is rolled back."""
        connection.close()

    def pause(self, clock: Clock, seconds: float) -> None:
        """Block for a while."""
        clock.wait(seconds)

    def is_idle(self, connection: sqlite3.Connection) -> bool:
        """Whether no transaction is open."""
        return not connection.in_transaction

    def is_open(self, connection: sqlite3.Connection) -> bool:  # noqa: ARG002 - a file does not go away by itself
        """A SQLite connection lasts until it is closed."""
        return True

    def doubts(self, connection: sqlite3.Connection) -> bool:  # noqa: ARG002 - there is no other server
        """There is no standby."""
        return False


@contextmanager
def reading_text(connection: Any) -> Iterator[None]:
    """Read text as text, whatever its user makes of it: a status in bytes would be no status."""
    chosen, connection.text_factory = connection.text_factory, str
    try:
        yield
    finally:
        connection.text_factory = chosen
