"""What the user declared with `once.table(…)`, before the database was asked: a mapped class, a Table, or a name."""

from __future__ import annotations

import enum
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Mapper
from sqlalchemy.orm.attributes import QueryableAttribute

from semel.errors import error

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_$]{0,62}(\.[A-Za-z_][A-Za-z0-9_$]{0,62})?\Z")


@dataclass(frozen=True)
class Declared:
    """The user's own words about a table."""

    given: Any
    name: str
    schema: str | None
    status: str
    version: str
    id: str | None
    status_values: Mapping[str, int] | None
    mapper: Mapper[Any] | None = None
    table: sa.Table | None = None

    @property
    def qualified(self) -> str:
        """The name as the journal keeps it."""
        return f"{self.schema}.{self.name}" if self.schema else self.name

    @property
    def shown(self) -> str:
        """The name that the user would recognise in an error."""
        return self.mapper.class_.__name__ if self.mapper is not None else self.name

    @property
    def status_attribute(self) -> str | None:
        """The ORM attribute of the status column."""
        return self._attribute(self.status)

    @property
    def version_attribute(self) -> str | None:
        """The ORM attribute of the version column, which the class need not map."""
        return self._attribute(self.version)

    def _attribute(self, column: str) -> str | None:
        if self.mapper is None or self.table is None or column not in self.table.c:
            return None
        found = self.mapper._columntoproperty.get(self.table.c[column])  # noqa: SLF001 - the public look-up raises for unmapped columns
        return None if found is None else found.key

    def members(self) -> dict[enum.Enum, str]:
        """Answer the enum members that stand for statuses, with the label the database holds."""
        if self.table is None or self.status not in self.table.c:
            return {}
        kind = self.table.c[self.status].type
        if not isinstance(kind, sa.Enum) or kind.enum_class is None:
            return {}
        return {member: str(label) for label, member in kind._object_lookup.items() if isinstance(member, enum.Enum)}  # noqa: SLF001 - the only place that knows values_callable


def declare(given: Any, *, status: Any, version: Any, id: Any, status_values: Mapping[str, int] | None) -> Declared:  # noqa: A002 - the public word
    """Read what `once.table` was given, without asking a database."""
    mapper: Mapper[Any] | None = None
    table: sa.Table | None = None
    if isinstance(given, str) and _NAME.match(given):
        schema, _, name = given.rpartition(".")
    elif isinstance(given, sa.Table):
        table, name, schema = given, given.name, given.schema or ""
    else:
        mapper = _mapper_of(given)
        if not isinstance(mapper.local_table, sa.Table):
            raise error("SEMEL-TABLE-7", given=given)
        table = mapper.local_table
        name, schema = table.name, table.schema or ""
    column = _ColumnNames(mapper)
    declared = Declared(
        given=given,
        name=name,
        schema=schema or None,
        status=column.read(status),
        version=column.read(version),
        id=None if id is None else column.read(id),
        status_values=None if status_values is None else dict(status_values),
        mapper=mapper,
        table=table,
    )
    refuse_shared_version(declared)
    refuse_child(declared)
    return declared


def refuse_shared_version(declared: Declared) -> None:
    """A mapper that counts its own writes in Semel's column would fence its own claims out."""
    if declared.mapper is None or declared.table is None:
        return
    theirs = declared.mapper.version_id_col
    if theirs is not None and declared.version in declared.table.c and declared.table.c[declared.version] is theirs:
        raise error("SEMEL-TABLE-4", mapper=declared.shown, table=declared.name, column=declared.version)


def refuse_child(declared: Declared) -> None:
    """With joined tables a child's status is in its parent's: a handle on the child would move its siblings too."""
    if declared.mapper is None or declared.table is None or declared.status in declared.table.c:
        return
    for parent in declared.mapper.iterate_to_root():
        if declared.status in parent.local_table.c:
            home = parent.class_.__name__
            remedy = f"{home} has it, in a table of its own: once.table({home}) moves the rows of {declared.shown} too."
            raise error("SEMEL-TABLE-2", table=declared.name, column=declared.status, role="status", remedy=remedy)


def _mapper_of(given: Any) -> Mapper[Any]:
    found: object = sa.inspect(given, raiseerr=False) if isinstance(given, type) else None
    if not isinstance(found, Mapper):
        raise error("SEMEL-TABLE-7", given=given)
    return found


@dataclass(frozen=True)
class _ColumnNames:
    """Reads a column given as a name, an ORM attribute (by name or itself), or a Column."""

    mapper: Mapper[Any] | None

    def read(self, given: Any) -> str:
        if isinstance(given, QueryableAttribute):
            return str(given.property.columns[0].name)
        if isinstance(given, sa.Column):
            return given.name
        name = str(given)
        if self.mapper is not None and name in self.mapper.column_attrs:
            return str(self.mapper.column_attrs[name].columns[0].name)
        return name
