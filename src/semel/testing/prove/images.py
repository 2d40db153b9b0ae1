"""Images: every database that can come about, each kept once, with what can be read in it.

Two databases are the same if every table has the same rows in the order of their rowids; the journal is a set, because
protocols read it by operation id only. `sqlite_sequence` counts as a table.
"""

from __future__ import annotations

import hashlib
import marshal
import sqlite3
import zlib
from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

Content: TypeAlias = dict[str, tuple[tuple[Any, ...], ...]]

PAGE_BYTES = 512
"""The smallest page SQLite has: an image of a few rows is a few kilobytes."""

HASH_BYTES = 16
"""128 bits: two databases of one search share a digest by accident never."""

STATEMENTS_KEPT = 512
"""More texts than any scenario runs, so that none is prepared twice."""

CLOCK_TABLE = "semel_prove_clock"
START_US = 1_000_000_000_000_000
"""Where the database's clock starts: a day in 2001, far from zero and from every actor's own clock."""


class Image:
    """One database."""

    __slots__ = ("content", "number", "packed")

    def __init__(self, number: int, packed: bytes, content: Content) -> None:
        """Keep it small: packed as SQLite holds it, and the rows of every table, each with its rowid first."""
        self.number = number
        self.packed = packed
        self.content = content


class Images:
    """All databases of one search, and the one connection they are looked at through."""

    def __init__(self, build: Callable[[sqlite3.Connection], None], journal: str) -> None:
        """Build the first one."""
        connection = sqlite3.connect(
            ":memory:", isolation_level=None, check_same_thread=False, cached_statements=STATEMENTS_KEPT
        )
        connection.execute(f"PRAGMA page_size = {PAGE_BYTES}")
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute(f"CREATE TABLE {CLOCK_TABLE} (us INTEGER NOT NULL)")
        connection.execute(f"INSERT INTO {CLOCK_TABLE} VALUES ({START_US})")
        build(connection)
        self.connection = connection
        self.journal = journal
        self.tables = tuple(row[0] for row in connection.execute(_LIST_TABLES))
        self.columns = {name: _columns_of(connection, name) for name in self.tables}
        self._reads = [f"SELECT rowid, * FROM {name} ORDER BY rowid" for name in self.tables]
        self._by_digest: dict[bytes, Image] = {}
        self.all: list[Image] = []
        self.first = self.keep()

    def keep(self) -> Image:
        """Answer the image of the database as it is now on the connection."""
        content = self._read()
        digest = hashlib.blake2b(marshal.dumps(tuple(content.values())), digest_size=HASH_BYTES).digest()
        found = self._by_digest.get(digest)
        if found is None:
            packed = zlib.compress(self.connection.serialize(), 1)
            found = Image(len(self.all), packed, content)
            self._by_digest[digest] = found
            self.all.append(found)
        return found

    def restore(self, image: Image) -> sqlite3.Connection:
        """Put an image on the connection."""
        self.connection.deserialize(zlib.decompress(image.packed))
        return self.connection

    def _read(self) -> Content:
        execute = self.connection.execute
        content = {
            name: tuple(execute(read).fetchall()) for name, read in zip(self.tables, self._reads, strict=True)
        }
        # A set: by operation id and ordinal, without the order in which the rows came.
        content[self.journal] = tuple(sorted(row[1:] for row in content[self.journal]))
        return content

    def move_clock(self, image: Image, now_us: int) -> Image:
        """Answer the same database at another time."""
        self.restore(image).execute(f"UPDATE {CLOCK_TABLE} SET us = ?", (now_us,))  # noqa: S608 - a name of our own
        return self.keep()

    def now_of(self, image: Image) -> int:
        """Answer an image's time."""
        return int(image.content[CLOCK_TABLE][0][1])

    def values(self, image: Image, table: str) -> Iterable[dict[str, Any]]:
        """Go through the rows of a table by column name."""
        columns = self.columns[table]
        rows = image.content[table]
        if table != self.journal:
            rows = tuple(row[1:] for row in rows)
        return (dict(zip(columns, row, strict=True)) for row in rows)


_LIST_TABLES = "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY rowid"


def _columns_of(connection: sqlite3.Connection, table: str) -> tuple[str, ...]:
    return tuple(row[1] for row in connection.execute(f"PRAGMA table_info({table})"))
