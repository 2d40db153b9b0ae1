"""Find a declared table in the database and check it: what boot believes is what the database says, never the mapping."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from typing import Any, TypeGuard

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql
from sqlalchemy.engine import Dialect
from sqlalchemy.engine.interfaces import ReflectedColumn, ReflectedIndex

from semel.errors import SemelError, error
from semel.store.declared import Declared
from semel.store.dialects import Family
from semel.store.entity import Entity, StatusCodec

Columns = dict[str, ReflectedColumn]


def bind_table(declared: Declared, inspector: sa.Inspector, family: Family) -> Entity:
    """Answer the table as the database has it, or say what is missing."""
    columns = read_columns(declared, inspector)
    for role, name in (("status", declared.status), ("version", declared.version)):
        if name not in columns:
            raise no_column(declared, name, role)
    check_version(declared, columns[declared.version])
    id_name = find_id(declared, inspector, columns)
    typed = {name: _guard_type(declared, name, column) for name, column in columns.items()}
    typed = {name: sa.BigInteger() if isinstance(kind, sa.Integer) else kind for name, kind in typed.items()}
    typed[declared.status], codec = read_status_type(declared, columns[declared.status])
    typed[declared.version] = sa.BigInteger()
    table = sa.table(declared.name, *(sa.column(name, kind) for name, kind in typed.items()), schema=declared.schema)
    return Entity(
        name=declared.qualified,
        family=family,
        table=table,
        id=table.c[id_name],
        status=table.c[declared.status],
        version=table.c[declared.version],
        id_kind=read_id_kind(declared, id_name, typed[id_name]),
        codec=codec,
        guards=name_guards(declared, table),
        members=declared.members(),
    )


def read_columns(declared: Declared, inspector: sa.Inspector) -> Columns:
    """Answer the table's columns by name."""
    try:
        return {column["name"]: column for column in inspector.get_columns(declared.name, schema=declared.schema)}
    except sa.exc.NoSuchTableError:
        raise error("SEMEL-TABLE-1", table=declared.qualified) from None


def no_column(declared: Declared, name: str, role: str) -> SemelError:
    """Make the error for a missing column, with the way out for its role."""
    remedy = f"Name the right one: once.table(…, {role}='…')."
    if role == "version":
        remedy = f"Add one that only Semel writes: ALTER TABLE {declared.qualified} ADD COLUMN {name} BIGINT NOT NULL DEFAULT 0."
    return error("SEMEL-TABLE-2", table=declared.qualified, column=name, role=role, remedy=remedy)


def check_version(declared: Declared, column: ReflectedColumn) -> None:
    """Refuse a version column that could be NULL or could overflow soon."""
    kind = column["type"]
    found = ""
    if not isinstance(kind, sa.Integer) or isinstance(kind, sa.SmallInteger):
        found = str(kind)
    elif column["nullable"]:
        found = f"{kind} that may be NULL"
    if found:
        raise error("SEMEL-TABLE-3", table=declared.qualified, column=declared.version, found=found)


def find_id(declared: Declared, inspector: sa.Inspector, columns: Columns) -> str:
    """Answer the one column by which a row is found; it must be unique."""
    key = inspector.get_pk_constraint(declared.name, schema=declared.schema)["constrained_columns"]
    if declared.id is None:
        if len(key) != 1:
            found = f"composite ({', '.join(key)})" if key else "missing"
            raise error("SEMEL-TABLE-5", table=declared.qualified, found=found)
        return key[0]
    if declared.id not in columns:
        raise no_column(declared, declared.id, "id")
    if [declared.id] != key and declared.id not in _unique_columns(declared, inspector):
        raise error(
            "SEMEL-TABLE-5",
            table=declared.qualified,
            found=f"{', '.join(key) or 'missing'}, and {declared.id} is not unique",
        )
    return declared.id


def _unique_columns(declared: Declared, inspector: sa.Inspector) -> set[str]:
    constraints = [
        found["column_names"] for found in inspector.get_unique_constraints(declared.name, schema=declared.schema)
    ]
    # SQLite's constraints are read from the text of CREATE TABLE, which misses some; each has an index made for it.
    every_index = inspector.get_indexes(declared.name, schema=declared.schema, include_auto_indexes=True)
    indexes = [found["column_names"] for found in every_index if found["unique"] and not _is_partial(found)]
    found: list[Sequence[str | None]] = [*constraints, *indexes]
    return {str(columns[0]) for columns in found if len(columns) == 1 and columns[0] is not None}


def _is_partial(index: ReflectedIndex) -> bool:
    """A partial index promises nothing about the rows it leaves out."""
    return any(option.endswith("_where") for option in index.get("dialect_options", {}))


class PlainEnum(postgresql.ENUM):
    """A PostgreSQL enum whose labels are plain text: one that was added after boot is read like the others."""

    cache_ok = True

    def bind_processor(self, dialect: Dialect) -> None:  # noqa: ARG002 - SQLAlchemy's own signature
        """Write the label as it is."""
        return

    def result_processor(self, dialect: Dialect, coltype: object) -> None:  # noqa: ARG002 - SQLAlchemy's own signature
        """Read the label as it is."""
        return


def read_status_type(declared: Declared, column: ReflectedColumn) -> tuple[sa.types.TypeEngine[Any], StatusCodec]:
    """Answer how the status column is written and read: as plain text wherever the database allows it."""
    kind = column["type"]
    values = declared.status_values
    if isinstance(kind, postgresql.DOMAIN):
        kind = kind.data_type
    if isinstance(kind, sa.Integer) and not isinstance(kind, sa.Boolean) and _is_one_to_one(values):
        return sa.BigInteger(), StatusCodec(held=values)
    if values is None and isinstance(kind, postgresql.ENUM):
        labels = tuple(kind.enums)
        plain = PlainEnum(*labels, name=kind.name or "", schema=kind.schema, create_type=False)
        return plain, StatusCodec(known=labels)
    if values is None and isinstance(kind, sa.Enum):
        return sa.String(), StatusCodec(known=tuple(str(label) for label in kind.enums))
    if values is None and isinstance(kind, sa.String):
        return sa.String(), StatusCodec(known=_mapped_labels(declared), padded=isinstance(kind, sa.CHAR))
    raise error("SEMEL-TABLE-6", table=declared.qualified, column=declared.status, found=kind)


def _is_one_to_one(values: Mapping[str, int] | None) -> TypeGuard[Mapping[str, int]]:
    return values is not None and len(values) > 0 and len(set(values.values())) == len(values)


def _mapped_labels(declared: Declared) -> tuple[str, ...] | None:
    """A text column under a mapped Enum holds its labels and nothing else."""
    if declared.table is None or declared.status not in declared.table.c:
        return None
    kind = declared.table.c[declared.status].type
    return tuple(kind.enums) if isinstance(kind, sa.Enum) else None


def read_id_kind(declared: Declared, name: str, kind: sa.types.TypeEngine[Any]) -> type[int | str | uuid.UUID]:
    """Answer the Python type of an id."""
    if isinstance(kind, sa.Uuid):
        return uuid.UUID if kind.as_uuid else str
    if isinstance(kind, sa.Integer):
        return int
    if isinstance(kind, sa.String):
        return str
    raise error("SEMEL-TABLE-5", table=declared.qualified, found=f"{name} of type {kind}")


def _guard_type(declared: Declared, name: str, column: ReflectedColumn) -> sa.types.TypeEngine[Any]:
    """The mapping knows best how a value is written, except where it and the database could differ in kind."""
    if declared.table is not None and name in declared.table.c:
        return declared.table.c[name].type
    return column["type"]


def name_guards(declared: Declared, table: sa.TableClause) -> dict[str, sa.ColumnClause[Any]]:
    """Answer the columns a guard may name: by column, and by ORM attribute."""
    guards = {column.name: column for column in table.c}
    if declared.mapper is not None:
        for attribute in declared.mapper.column_attrs:
            name = attribute.columns[0].name
            if name in table.c:
                guards.setdefault(attribute.key, table.c[name])
    return guards
