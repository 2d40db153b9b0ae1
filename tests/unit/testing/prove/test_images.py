"""Databases are kept once, and come back exactly as they were."""

from __future__ import annotations

import sqlite3

from semel.testing.prove.images import Images

TABLES = (
    "CREATE TABLE journal (operation_id TEXT PRIMARY KEY, kind TEXT) STRICT",
    "CREATE TABLE receipts (id INTEGER PRIMARY KEY AUTOINCREMENT, order_id INTEGER) STRICT",
    "CREATE TABLE notes (note TEXT) STRICT",
)


def build(connection: sqlite3.Connection) -> None:
    """Create the tables."""
    for text in TABLES:
        connection.execute(text)


def make_images() -> Images:
    """Make a new collection."""
    return Images(build, "journal")


def test_the_order_of_the_journal_makes_no_difference() -> None:
    """The journal is a set: the same rows in another order are the same database."""
    images = make_images()
    made = []
    for order in (("a", "b"), ("b", "a")):
        connection = images.restore(images.first)
        for operation in order:
            connection.execute("INSERT INTO journal VALUES (?, 'claim')", (operation,))
        made.append(images.keep())
    assert made[0] is made[1]


def test_the_order_of_any_other_table_does() -> None:
    """A SELECT without ORDER BY may answer in the order of the rowids, so that order is part of the database."""
    images = make_images()
    made = []
    for order in (("a", "b"), ("b", "a")):
        connection = images.restore(images.first)
        for note in order:
            connection.execute("INSERT INTO notes VALUES (?)", (note,))
        made.append(images.keep())
    assert made[0] is not made[1]


def test_the_next_id_is_part_of_a_database() -> None:
    """Equal rows with another next id are another database: `sqlite_sequence` counts."""
    images = make_images()
    connection = images.restore(images.first)
    connection.execute("INSERT INTO receipts (order_id) VALUES (1)")
    connection.execute("DELETE FROM receipts")
    assert images.keep() is not images.first


def test_a_database_comes_back_with_rowids_and_next_id() -> None:
    """Whatever was on the connection meanwhile, an image that is put back is the same database again."""
    images = make_images()
    connection = images.restore(images.first)
    connection.execute("INSERT INTO notes (rowid, note) VALUES (7, 'seven')")
    connection.execute("INSERT INTO receipts (order_id) VALUES (1)")
    full = images.keep()
    images.restore(images.first)
    assert images.keep() is images.first
    connection = images.restore(full)
    assert images.keep() is full
    assert connection.execute("SELECT rowid FROM notes").fetchall() == [(7,)]
    connection.execute("INSERT INTO receipts (order_id) VALUES (2)")
    assert connection.execute("SELECT max(id) FROM receipts").fetchone() == (2,)
