"""What a session believes about rows that were moved behind its back.

A joined transition writes with Semel's own statement, so the user's objects still hold the old status and version. They
forget both; the next access reads them again, in the user's transaction. A later flush cannot write them back, because a
session writes only what was changed on the object. An async session cannot read on access, so it reads again at once.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import Mapper, Session
from sqlalchemy.orm.exc import UnmappedColumnError

from semel.store.declared import Declared
from semel.store.entity import Id

Held = tuple[Any, list[str]]
"""An object of the session, and the names of its status and version attributes."""

_NOT_LOADED = object()


def forget_moved(session: Session, declared: Declared, id_column: str, moved: Collection[Id]) -> list[Held]:
    """Make the session's objects of the moved rows forget their status and version; answer them."""
    found = list(find_held(session, declared, id_column, set(moved)))
    for held, names in found:
        session.expire(held, names)
        # Rolling back to a savepoint expires only what the session knows was altered since.
        session._register_altered([sa.inspect(held)])  # noqa: SLF001 - what SQLAlchemy's own bulk UPDATE does
    return found


async def reload_moved(session: AsyncSession, declared: Declared, id_column: str, moved: Collection[Id]) -> None:
    """Make them forget, and read both again: one SELECT for each object that the session holds."""
    for held, names in forget_moved(session.sync_session, declared, id_column, moved):
        await session.refresh(held, names)


def find_held(session: Session, declared: Declared, id_column: str, rows: Collection[Id]) -> Iterator[Held]:
    """Find the session's objects of these rows: by their key if that is the id, else among all of them."""
    mapper = declared.mapper
    if mapper is not None and [column.name for column in mapper.primary_key] == [id_column]:
        names = name_moved_attributes(mapper, declared)
        for row in rows:
            held = session.identity_map.get(mapper.identity_key_from_primary_key((row,)))
            if held is not None and names:
                yield held, names
    else:
        yield from find_among_all(session, declared, id_column, rows)


def find_among_all(session: Session, declared: Declared, id_column: str, rows: Collection[Id]) -> Iterator[Held]:
    """Find the objects of these rows whatever class of the user's is mapped to the table."""
    known: dict[Mapper[Any], tuple[str | None, list[str]]] = {}
    for held in list(session.identity_map.values()):
        mapper: Mapper[Any] = sa.inspect(held).mapper
        if mapper not in known:
            known[mapper] = name_attribute(mapper, declared, id_column), name_moved_attributes(mapper, declared)
        attribute, names = known[mapper]
        if attribute is not None and names:
            row = held.__dict__.get(attribute, _NOT_LOADED)
            # One that has not loaded its id may be one of them, and forgetting costs it nothing but a read.
            if row is _NOT_LOADED or row in rows:
                yield held, names


def name_moved_attributes(mapper: Mapper[Any], declared: Declared) -> list[str]:
    """Answer a class's attributes of status and version; it need not have both."""
    found = (name_attribute(mapper, declared, column) for column in (declared.status, declared.version))
    return [name for name in found if name is not None]


def name_attribute(mapper: Mapper[Any], declared: Declared, column: str) -> str | None:
    """Answer a class's attribute of one column of the declared table, or None if it has none."""
    for table in mapper.tables:
        if isinstance(table, sa.Table) and (table.name, table.schema) == (declared.name, declared.schema):
            try:
                return mapper.get_property_by_column(table.c[column]).key
            except (KeyError, UnmappedColumnError):
                return None
    return None
