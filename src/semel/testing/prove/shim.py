"""A DBAPI connection whose statements are deeds: SQLAlchemy and the user's ORM code run on it as on any SQLite database.

Whoever has no life (boot, which looks around before anybody acts) gets the real connection at once.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any

import sqlalchemy as sa
from sqlalchemy.pool import NullPool

from semel.performers import engines
from semel.testing.prove.deeds import Query
from semel.testing.prove.greens import is_dead, perform_deed
from semel.testing.prove.life import STAGE, Token

NAMES: dict[str, str] = {}
"""What the product's own statements are called, by their text."""

IGNORED = ("PRAGMA",)
"""What an engine says to a new connection: a database in memory has no log, and the prover's has its own settings."""


class ShimConnection:
    """One connection of an actor."""

    isolation_level = None

    def __init__(self, real: Callable[[], sqlite3.Connection]) -> None:
        """Open it in the life of whoever asks."""
        self._real = real
        self._life = STAGE.life
        self.token = Token(0) if self._life is None else self._life.wire.open()
        self.reading = False

    @property
    def in_transaction(self) -> bool:
        """Whether a transaction is open."""
        return not self.token.idle or self.reading

    def cursor(self, *_factory: Any) -> ShimCursor:
        """Answer a cursor."""
        return ShimCursor(self)

    def create_function(self, *_named: Any, **_how: Any) -> None:
        """SQLAlchemy's own function is there already, or is not needed."""

    def execute(self, text: str, params: Sequence[Any] = ()) -> ShimCursor:
        """Run a statement on a new cursor."""
        return self.cursor().execute(text, params)

    def commit(self) -> None:
        """Commit, if anything is open."""
        self._end("commit")

    def rollback(self) -> None:
        """Roll back, if anything is open."""
        self._end("rollback")

    def close(self) -> None:
        """Close; what is open is rolled back."""
        self._end("rollback")

    def _end(self, verb: str) -> None:
        self.reading = False
        if self.token.idle:
            return
        if self._life is None:
            self.token.idle = True
            getattr(self._real(), verb)()
            return
        if is_dead():
            return  # whoever died ends nothing; the database does
        perform_deed(getattr(self._life.wire, verb)(self.token))

    def run(self, text: str, params: Sequence[Any]) -> tuple[Any, Any, int, int | None]:
        """Run a statement; answer its rows, what they are called, how many were matched, and the last rowid."""
        word = text.lstrip().upper()
        if word.startswith(IGNORED) and self._life is not None:
            return (), None, -1, None
        if word.startswith("BEGIN"):
            self._begin(word)
            return (), None, -1, None
        if word.startswith(("COMMIT", "ROLLBACK")) and not word.startswith("ROLLBACK TO"):
            self._end("commit" if word.startswith("COMMIT") else "rollback")
            return (), None, -1, None
        if self._life is None:
            cursor = self._real().execute(text, params)
            return cursor.fetchall(), cursor.description, cursor.rowcount, cursor.lastrowid
        answer: Any = perform_deed(
            Query(self.token.number, NAMES.get(text) or name_text(text), text, tuple(params), wants="all")
        )
        rows, names, counted, last = answer
        return list(rows), None if names is None else [(name, *([None] * 6)) for name in names], counted, last

    def _begin(self, word: str) -> None:
        if "IMMEDIATE" not in word:
            self.reading = True
        elif self._life is None:
            self._real().execute("BEGIN IMMEDIATE")
            self.token.idle = False
        else:
            perform_deed(self._life.wire.begin(self.token))


class ShimCursor:
    """A cursor."""

    arraysize = 1

    def __init__(self, connection: ShimConnection) -> None:
        """Have run nothing yet."""
        self.connection = connection
        self.description: Any = None
        self.rowcount = -1
        self.lastrowid: int | None = None
        self._rows: list[Any] = []

    def execute(self, text: str, params: Sequence[Any] = ()) -> ShimCursor:
        """Run a statement."""
        rows, self.description, self.rowcount, self.lastrowid = self.connection.run(text, params)
        self._rows = list(rows)
        return self

    def executemany(self, text: str, many: Sequence[Sequence[Any]]) -> ShimCursor:
        """Run a statement several times."""
        counted = 0
        for params in many:
            self.execute(text, params)
            counted += max(self.rowcount, 0)
        self.rowcount = counted
        return self

    def fetchone(self) -> Any:
        """Answer the next row, or None."""
        return self._rows.pop(0) if self._rows else None

    def fetchmany(self, size: int | None = None) -> list[Any]:
        """Answer the next rows."""
        count = self.arraysize if size is None else size
        taken, self._rows = self._rows[:count], self._rows[count:]
        return taken

    def fetchall(self) -> list[Any]:
        """Answer the rows that are left."""
        taken, self._rows = self._rows, []
        return taken

    def __iter__(self) -> Iterator[Any]:
        return iter(self.fetchall())

    def close(self) -> None:
        """Forget the rows."""
        self._rows = []


def name_text(text: str) -> str:
    """Name a statement of the user's in a few words."""
    words = text.split()
    table = next((later for word, later in pairwise(words) if word.upper() in _BEFORE_TABLE), "")
    return f"{words[0].lower()} {table.partition('(')[0]}".strip()


_BEFORE_TABLE = {"INTO", "UPDATE", "FROM"}


def make_engine(real: Callable[[], sqlite3.Connection]) -> sa.Engine:
    """Make the engine of a scenario: SQLAlchemy's own, prepared as the product prepares it, over deeds."""
    engine = sa.create_engine("sqlite://", creator=lambda: ShimConnection(real), poolclass=NullPool)
    engines._prepare(engine, sa.make_url("sqlite://"))  # noqa: SLF001 - the same promises as in production
    with engine.connect():
        pass  # SQLAlchemy asks a database about itself once; nobody's life must hold that question
    return engine
