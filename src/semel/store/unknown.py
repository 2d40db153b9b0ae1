"""Statuses in a table that no loaded workflow knows: boot says so, because no step will ever take such a row on."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from semel.store.entity import Entity

STATUSES_LIMIT = 100
"""How many statuses are looked at: a column with more of them is no status column."""


def find_unknown_statuses(connection: sa.Connection, entity: Entity, known: tuple[str, ...]) -> list[str]:
    """Answer statuses that rows have and the workflow has not, if an index makes it cheap to find out.

    One probe of the index for each status: the smallest, then the next larger, and so on. Without an index every probe
    would read the whole table at every start; then nothing is looked at, and `semel stuck` is the place to ask.
    """
    if not has_status_index(connection, entity):
        return []
    unknown: list[str] = []
    largest: Any = None
    for _ in range(STATUSES_LIMIT):
        smallest = sa.select(sa.func.min(entity.status, type_=entity.status.type))
        largest = connection.scalar(smallest if largest is None else smallest.where(entity.status > largest))
        if largest is None:
            break
        if (status := entity.codec.decode(largest)) not in known:
            unknown.append(status)
    return unknown


def has_status_index(connection: sa.Connection, entity: Entity) -> bool:
    """Whether an index begins with the status column."""
    indexes = sa.inspect(connection).get_indexes(entity.table.name, schema=getattr(entity.table, "schema", None))
    return any(index["column_names"][:1] == [entity.status.name] for index in indexes)
