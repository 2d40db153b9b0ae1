"""What a table of Semel's lacks in a database: what its statements rely on, and no more.

A column too many, an index of somebody else's or another default harm nobody and are not looked at.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine.interfaces import ReflectedColumn

from semel.store.dialects import Family, family_of
from semel.store.tables import OwnTables


def find_lacks(connection: sa.Connection, tables: OwnTables) -> Iterator[tuple[str, str]]:
    """Answer (table, what it lacks) for each table of ours that could not be trusted; nothing, if all can."""
    inspector = sa.inspect(connection)
    family = family_of(connection.dialect)
    for table in tables.core:
        lacks = list(_list_lacks(inspector, family, table))
        if lacks:
            yield table.name, "; ".join(lacks)


def find_strangers(connection: sa.Connection, tables: Iterable[sa.Table]) -> Iterator[tuple[str, str]]:
    """Answer (table, what it lacks) for each table that has one of our names but never was ours: it has another key.

    A table of ours is made whole, in whatever version, so one that was left half upgraded still has its key.
    """
    inspector = sa.inspect(connection)
    for table in tables:
        if inspector.has_table(table.name, schema=table.schema):
            for missing in _list_key_lacks(inspector, table):
                yield table.name, missing


def _list_key_lacks(inspector: sa.Inspector, table: sa.Table) -> Iterator[str]:
    key = [column.name for column in table.primary_key.columns]
    if inspector.get_pk_constraint(table.name, schema=table.schema)["constrained_columns"] != key:
        yield f"primary key ({', '.join(key)})"


def _list_lacks(inspector: sa.Inspector, family: Family, table: sa.Table) -> Iterator[str]:
    if not inspector.has_table(table.name, schema=table.schema):
        yield "everything: it is not there"
        return
    found = {column["name"]: column for column in inspector.get_columns(table.name, schema=table.schema)}
    missing = [column.name for column in table.columns if column.name not in found]
    if missing:
        yield "column " + ", ".join(missing)
        return
    for column in table.columns:
        yield from _list_column_lacks(column, found[column.name], family)
    yield from _list_key_lacks(inspector, table)
    if family == "mariadb":
        yield from _list_option_lacks(inspector.get_table_options(table.name, schema=table.schema))


def _list_column_lacks(ours: sa.Column[Any], theirs: ReflectedColumn, family: Family) -> Iterator[str]:
    kind = theirs["type"]
    if isinstance(ours.type, sa.BigInteger):
        # SQLite's INTEGER holds 64 bits, the others' does not.
        if not isinstance(kind, sa.BigInteger if family != "sqlite" else sa.Integer):
            yield f"whole numbers of 64 bits in {ours.name} (it is {kind})"
    elif not isinstance(kind, sa.String):
        yield f"text in {ours.name} (it is {kind})"
    elif kind.length is not None and kind.length < (_length_of(ours) or kind.length + 1):
        # A server that is not strict would cut a longer text off, and two rows could become one.
        yield f"room in {ours.name} (it holds {kind.length} characters)"
    elif family == "mariadb" and kind.collation not in (None, COLLATION):
        yield f"comparison byte by byte in {ours.name} (it is {kind.collation})"


def _length_of(column: sa.Column[Any]) -> int | None:
    assert isinstance(column.type, sa.String), f"{column.name} is text"
    return column.type.length


COLLATION = "utf8mb4_nopad_bin"
"""Where upper and lower case, or trailing spaces, do not count, two claims would share one row."""


def _list_option_lacks(options: Mapping[str, Any]) -> Iterator[str]:
    engine, collation = options.get("mariadb_engine"), options.get("mariadb_collate")
    if engine != "InnoDB":
        yield f"transactions (its engine is {engine}, not InnoDB)"
    if collation != COLLATION:
        yield f"comparison byte by byte (its collation is {collation}, not {COLLATION})"
