"""Images: every database that can come about, each kept once, as the rows of its tables.

Two databases are the same if every table has the same rows in the order of their rowids; the journal is a set, because
protocols read it by operation id only. `sqlite_sequence` counts as a table.

To go back to a database, the tables that differ are filled anew. `deserialize()` would be as quick, but SQLite (3.40) keeps
prepared statements across it which point into the schema that it has freed; in STRICT tables they crash.
"""

from __future__ import annotations

import hashlib
import marshal
import sqlite3
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

Row: TypeAlias = tuple[Any, ...]
Content: TypeAlias = dict[str, tuple[Row, ...]]

HASH_BYTES = 16
"""128 bits: two databases of one search share a digest by accident never."""

STATEMENTS_KEPT = 512
"""More texts than any scenario runs, so that none is prepared twice."""

CLOCK_TABLE = "semel_prove_clock"
START_US = 1_000_000_000_000_000
"""Where the database's clock starts: a day in 2001, far from zero and from every actor's own clock."""


class Image:
    """One database: a number, and the rows of every table, each with its rowid first."""

    __slots__ = ("content", "number")

    def __init__(self, number: int, content: Content) -> None:
        """Keep it."""
        self.number = number
        self.content = content


class Images:
    """All databases of one search, and the one connection they are looked at through."""

    def __init__(self, build: Callable[[sqlite3.Connection], None], journal: str) -> None:
        """Build the first one."""
        connection = sqlite3.connect(
            ":memory:", isolation_level=None, check_same_thread=False, cached_statements=STATEMENTS_KEPT
        )
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute(f"CREATE TABLE {CLOCK_TABLE} (us INTEGER NOT NULL)")
        connection.execute(f"INSERT INTO {CLOCK_TABLE} VALUES (?)", (START_US,))  # noqa: S608 - a name of our own
        build(connection)
        self.connection = connection
        self.journal = journal
        names = [row[0] for row in connection.execute(_LIST_TABLES)]
        # An INSERT with AUTOINCREMENT writes sqlite_sequence, so that is filled last.
        names.sort(key=lambda name: name == "sqlite_sequence")
        self.tables = tuple(Table(connection, name) for name in names)
        self.columns = {table.name: table.columns for table in self.tables}
        self._by_digest: dict[bytes, Image] = {}
        self.all: list[Image] = []
        self._now: Content = {}
        self._beside: sqlite3.Connection | None = None
        self.first = self.keep()

    def keep(self) -> Image:
        """Answer the image of the database as it is now on the connection."""
        content = {table.name: table.read(self.connection) for table in self.tables}
        self._now = content
        # A set: by operation id and ordinal, without the order in which the rows came.
        journal = tuple(sorted(row[1:] for row in content[self.journal]))
        hashed = marshal.dumps((journal, *(rows for name, rows in content.items() if name != self.journal)), 2)
        digest = hashlib.blake2b(hashed, digest_size=HASH_BYTES).digest()
        found = self._by_digest.get(digest)
        if found is None:
            found = self._by_digest[digest] = Image(len(self.all), content)
            self.all.append(found)
        return found

    def restore(self, image: Image) -> sqlite3.Connection:
        """Put an image on the connection."""
        if self._now is not image.content:
            connection = self.connection
            connection.execute("BEGIN")
            for table in self.tables:
                rows = image.content[table.name]
                if self._now.get(table.name) != rows:
                    table.fill(connection, rows)
            connection.execute("COMMIT")
            self._now = image.content
        return self.connection

    def aside(self, image: Image) -> sqlite3.Connection:
        """Put an image on another connection, for somebody who reads beside an open transaction."""
        if self._beside is None:
            self._beside = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
            for (text,) in self.connection.execute(_LIST_CREATED).fetchall():
                self._beside.execute(text)
        for table in self.tables:
            table.fill(self._beside, image.content[table.name])
        return self._beside

    def forget(self) -> None:
        """Know that the connection holds something that was not kept."""
        self._now = {}

    def move_clock(self, image: Image, now_us: int) -> Image:
        """Answer the same database at another time."""
        self.restore(image).execute(f"UPDATE {CLOCK_TABLE} SET us = ?", (now_us,))  # noqa: S608 - a name of our own
        return self.keep()

    def now_of(self, image: Image) -> int:
        """Answer an image's time."""
        return int(image.content[CLOCK_TABLE][0][1])

    def values(self, image: Image, table: str) -> Iterator[dict[str, Any]]:
        """Go through the rows of a table by column name."""
        columns = self.columns[table]
        return (dict(zip(columns, row[1:], strict=True)) for row in image.content[table])


_LIST_TABLES = "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY rowid"

_LIST_CREATED = "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND name <> 'sqlite_sequence' ORDER BY rowid"


class Table:
    """One table: how it is read, and how it is filled again, rowids included."""

    def __init__(self, connection: sqlite3.Connection, name: str) -> None:
        """Look at its columns."""
        quoted = '"' + name.replace('"', '""') + '"'
        self.name = name
        self.columns = tuple(row[1] for row in connection.execute(f"PRAGMA table_info({quoted})"))
        names = ", ".join('"' + column.replace('"', '""') + '"' for column in self.columns)
        marks = ", ".join("?" * (len(self.columns) + 1))
        self._select = f"SELECT rowid, * FROM {quoted} ORDER BY rowid"  # noqa: S608 - a name out of the schema
        self._delete = f"DELETE FROM {quoted}"  # noqa: S608 - as above
        self._insert = f"INSERT INTO {quoted} (rowid, {names}) VALUES ({marks})"  # noqa: S608 - as above

    def read(self, connection: sqlite3.Connection) -> tuple[Row, ...]:
        """Answer the rows."""
        return tuple(connection.execute(self._select).fetchall())

    def fill(self, connection: sqlite3.Connection, rows: tuple[Row, ...]) -> None:
        """Make these the rows."""
        connection.execute(self._delete)
        for row in rows:
            connection.execute(self._insert, row)
