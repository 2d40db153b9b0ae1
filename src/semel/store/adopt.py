"""Adopting a table: what it is like, what Semel needs of it, and a first workflow file for it. Everything is only read.

What has to change is answered as SQL to review; the first file lists every status as `outside`, which is true: so far, other
code enters and leaves all of them. Steps are then added one by one, and their statuses taken out of the list.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql

from semel.errors import SemelError, error
from semel.store.ddl import list_literals
from semel.store.declared import Declared
from semel.store.dialects import Family, now_microseconds
from semel.store.quoted import NAME_CHARACTERS, quote_name, quote_table
from semel.store.reflect import Columns, find_id, no_column, read_columns, read_status_type
from semel.store.widening import Change, Narrow, list_demands, widen

STATUSES_LIMIT = 500
"""How many statuses a workflow file may name; a column with more is no status."""

STATUS_CHARACTERS = 100
"""How long a status may be in a workflow file and in Semel's own tables."""

OWN_VERSION = "semel_version"
"""What the version column is called where the table has a `version` that may be somebody else's."""

TRANSIENT = re.compile(
    r"(?i)(\w*ing|.*[_ -]ing|in[_ -]?progress|started|queued|submitted|requested|claimed|locked|reserved|busy|wip)\Z"
)
"""What a status is called in which a row should not stay: processing, pending, in_progress."""

TOUCHED = (
    "status_changed_at",
    "status_updated_at",
    "updated_at",
    "modified_at",
    "changed_at",
    "last_updated",
    "last_modified",
    "date_updated",
    "date_modified",
    "updated_on",
    "modified_on",
    "updated",
    "modified",
)
"""Columns that tell when a row was last written, the most telling first."""

BORN = ("new", "draft", "created", "pending", "open", "initial", "submitted")
"""What the status of a new row is often called, if the column has no default."""

MICROSECONDS = 1_000_000


@dataclass(frozen=True)
class Wanted:
    """What is to be adopted. `version`: the column that was named for Semel; `claims`: statuses to make room for."""

    declared: Declared
    family: Family
    version: str | None = None
    claims: tuple[str, ...] = ()
    module: str | None = None


@dataclass(frozen=True)
class Transient:
    """Rows in a status in which they should not stay. `since_us`: when the first of them was last written, if that shows."""

    status: str
    rows: int
    since_us: int | None


@dataclass(frozen=True)
class Adoption:
    """What was found, what has to change, and the first file."""

    changes: tuple[Change, ...]
    notes: tuple[str, ...]
    statuses: Mapping[str, int]
    transient: tuple[Transient, ...]
    touched: str | None
    draft: Mapping[str, Any]
    now_us: int


def adopt_table(connection: sa.Connection, wanted: Wanted) -> Adoption:
    """Read a table and answer what its adoption takes."""
    declared, inspector = wanted.declared, sa.inspect(connection)
    columns = read_columns(declared, inspector)
    if declared.status not in columns:
        raise no_column(declared, declared.status, "status")
    narrow = Narrow(declared, columns[declared.status], wanted.family, wanted.claims)
    counts = count_statuses(connection, wanted, columns)
    demands = list_demands(connection, narrow)
    statuses = {status: count for status, count in counts.items() if is_nameable(status)}
    named = list(dict.fromkeys([*list_known(narrow, demands, statuses), *statuses, *wanted.claims]))
    version, version_changes = find_version(wanted, columns)
    touched = next((name for name in TOUCHED if name in columns), None)
    return Adoption(
        changes=(*widen(connection, narrow), *version_changes, *find_index(wanted, inspector)),
        notes=tuple(list_notes(wanted, inspector, columns, counts, demands)),
        statuses=statuses,
        transient=tuple(list_transient(connection, wanted, columns, statuses, touched)),
        touched=touched,
        draft=draft_workflow(wanted, named or ["pending"], columns, version),
        now_us=int(connection.execute(sa.select(now_microseconds(wanted.family))).scalar_one()),
    )


def is_nameable(status: str) -> bool:
    """Whether a workflow file can name a status."""
    return 0 < len(status) <= STATUS_CHARACTERS and status == status.strip() and status.isprintable()


# What it is like


def select_from(declared: Declared, **columns: Any) -> tuple[sa.TableClause, Any]:
    """Answer a table as far as it is asked about, and its columns."""
    table = sa.table(declared.name, *(sa.column(name, kind) for name, kind in columns.items()), schema=declared.schema)
    return table, table.c


def count_statuses(connection: sa.Connection, wanted: Wanted, columns: Columns) -> dict[str, int]:
    """Count the rows of each status; a row without one counts under the empty text."""
    declared = wanted.declared
    kind, codec = read_status_type(declared, columns[declared.status])
    _, c = select_from(declared, **{declared.status: kind})
    status = c[declared.status]
    select = sa.select(status, sa.func.count()).group_by(status).order_by(status).limit(STATUSES_LIMIT + 1)
    rows = connection.execute(select).all()
    if len(rows) > STATUSES_LIMIT:
        raise error("SEMEL-TABLE-8", table=declared.qualified, column=declared.status, limit=STATUSES_LIMIT)
    counts: dict[str, int] = {}
    for value, count in rows:
        counts[codec.decode(value)] = counts.get(codec.decode(value), 0) + int(count)
    return counts


def list_known(narrow: Narrow, demands: Sequence[str], seen: Mapping[str, int]) -> list[str]:
    """List the statuses that the column says it may hold: labels of its enum, or the words of its CHECKs."""
    kind = narrow.column["type"]
    if isinstance(kind, postgresql.DOMAIN):
        kind = kind.data_type
    if isinstance(kind, sa.Enum):
        return [str(label) for label in kind.enums]
    lists = (list_literals(demand, narrow.family) for demand in demands)
    # A CHECK that misses a status that is there says something else than which there are.
    fitting = (words for words in lists if all(status in words for status in seen))
    return [word for words in fitting for word in words if is_nameable(word)]


def list_transient(
    connection: sa.Connection, wanted: Wanted, columns: Columns, statuses: Mapping[str, int], touched: str | None
) -> Iterator[Transient]:
    """List statuses in which rows should not stay and do, with how long the first has been there."""
    declared = wanted.declared
    kind, codec = read_status_type(declared, columns[declared.status])
    for status, count in statuses.items():
        if TRANSIENT.match(status) and count:
            since: Any = None
            if touched is not None:
                # SQLite keeps times as text of any form, which is read here and not by SQLAlchemy.
                time = sa.String() if wanted.family == "sqlite" else columns[touched]["type"]
                _, c = select_from(declared, **{declared.status: kind, touched: time})
                held = sa.literal(codec.encode(status), kind)
                since = connection.execute(
                    sa.select(sa.func.min(c[touched])).where(c[declared.status] == held)
                ).scalar()
            yield Transient(status, count, read_time(since))


def read_time(value: Any) -> int | None:
    """Read a time in microseconds, UTC; one without a zone is taken for UTC. None: it is no time that could be read."""
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value)
        except ValueError:
            return None
    if not isinstance(value, datetime):
        return None
    zoned = value if value.tzinfo is not None else value.replace(tzinfo=UTC)
    return int(zoned.timestamp() * MICROSECONDS)


# What has to change


def find_version(wanted: Wanted, columns: Columns) -> tuple[str, list[Change]]:
    """Answer the name of the version column, and what adds it. A `version` that is there may be somebody else's."""
    version = wanted.version or (OWN_VERSION if "version" in columns else "version")
    if version in columns:
        return version, []
    table = quote_table(wanted.declared.name, wanted.declared.schema, wanted.family)
    added = f"ALTER TABLE {table} ADD COLUMN {quote_name(version, wanted.family)} BIGINT NOT NULL DEFAULT 0"
    return version, [Change("The version is Semel's own: nothing else may write it.", (added,))]


def find_index(wanted: Wanted, inspector: sa.Inspector) -> list[Change]:
    """Answer the index by which people find rows of a status, unless one begins with it."""
    declared = wanted.declared
    indexes = inspector.get_indexes(declared.name, schema=declared.schema)
    if any(index["column_names"][:1] == [declared.status] for index in indexes):
        return []
    name = f"ix_{declared.name}_{declared.status}"[:NAME_CHARACTERS]
    table = quote_table(declared.name, declared.schema, wanted.family)
    columns = f"{table} ({quote_name(declared.status, wanted.family)})"
    why = "Semel's own statements find rows by their id; semel stuck looks for rows by status."
    if wanted.family == "postgresql":
        why += " On a large busy table write CREATE INDEX CONCURRENTLY, outside a transaction."
    return [Change(why, (f"CREATE INDEX IF NOT EXISTS {quote_name(name, wanted.family)} ON {columns}",))]


# What a person should know


def list_notes(
    wanted: Wanted, inspector: sa.Inspector, columns: Columns, counts: Mapping[str, int], demands: Sequence[str]
) -> Iterator[str]:
    """List what the SQL and the file do not say."""
    declared = wanted.declared
    try:
        find_id(declared, inspector, columns)
    except SemelError as problem:
        yield f"{problem.happened} {problem.remedy}"
    if wanted.version is None and "version" in columns:
        yield f"The column version is there and may be somebody else's, so Semel's is {OWN_VERSION}: once.table(…, version=…)."
    if counts.get("", 0):
        yield f"{counts['']} rows have no status; Semel never moves them."
    odd = [status for status in counts if status and not is_nameable(status)]
    if odd:
        yield f"A workflow file cannot name these statuses: {', '.join(map(repr, odd))}. Mend the rows first."
    if not any(counts.values()):
        yield "The table is empty; name the statuses in the file before you use it."
    is_enum = isinstance(columns[declared.status]["type"], sa.Enum)
    if not wanted.claims and (is_enum or demands):
        what = "enum" if is_enum else "CHECK"
        yield f"The column's {what} lists its statuses. For a claim, name the new status: --claim NAME prints the change."


# The first file


def draft_workflow(wanted: Wanted, statuses: Sequence[str], columns: Columns, version: str) -> dict[str, Any]:
    """Draft the file: every status is there and is left to other code."""
    declared = wanted.declared
    draft: dict[str, Any] = {"$schema": "semel.schema.json", "workflow": declared.name}
    if wanted.module is not None:
        draft["owning_module"] = wanted.module
    draft |= {"entity_table": declared.qualified, "status_column": declared.status, "version_column": version}
    if declared.id is not None:
        draft["id_column"] = declared.id
    initial = guess_initial(statuses, columns[declared.status].get("default"), wanted.family)
    return draft | {
        "status_types": list(statuses),
        "initial": initial,
        "terminal": [],
        "outside": list(statuses),
        "steps": [],
    }


def guess_initial(statuses: Sequence[str], default: object, family: Family) -> str:
    """Guess in which status a row is born: the column's default, or what it is often called, or the first."""
    words = list_literals(str(default), family) if default is not None else ()
    return next((status for status in (*words, *BORN) if status in statuses), statuses[0])
