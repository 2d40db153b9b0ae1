"""Letting a status column hold more: the enum, CHECK or length change for new statuses, per dialect. Printed, never run.

A CHECK is never written anew from what was understood of it: it is kept as it stands, and the new statuses are let past it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql

from semel.store.ddl import find_checks, lists_words, relax, relax_checks, rename_in
from semel.store.declared import Declared
from semel.store.dialects import Family
from semel.store.quoted import quote_name, quote_table, quote_words

SPARE_CHARACTERS = 32
"""How long a text column is made at least where it is too short: the next status will not be the last one."""


@dataclass(frozen=True)
class Change:
    """Statements that belong together, and why they are needed."""

    why: str
    sql: tuple[str, ...]


@dataclass(frozen=True)
class Narrow:
    """A status column of a table, and the statuses it is to hold as well."""

    declared: Declared
    column: Mapping[str, Any]
    family: Family
    wanted: tuple[str, ...]

    @property
    def table(self) -> str:
        """The table's name in SQL."""
        return quote_table(self.declared.name, self.declared.schema, self.family)

    @property
    def status(self) -> str:
        """The column's name in SQL."""
        return quote_name(self.declared.status, self.family)

    @property
    def room(self) -> int | None:
        """How many characters the column must hold. None: it holds enough."""
        length = getattr(self.column["type"], "length", None)
        longest = max((len(status) for status in self.wanted), default=0)
        is_too_short = isinstance(length, int) and length < longest and not isinstance(self.column["type"], sa.Enum)
        return max(longest, SPARE_CHARACTERS) if is_too_short else None


def widen(connection: sa.Connection, narrow: Narrow) -> list[Change]:
    """Answer what must change before the column can hold the wanted statuses; nothing, if it can already."""
    return list(WIDENERS[narrow.family](connection, narrow)) if narrow.wanted else []


def list_demands(connection: sa.Connection, narrow: Narrow) -> list[str]:
    """List the CHECKs that say which words the column may hold."""
    if narrow.family == "postgresql":
        found = [demand for _, demand in find_constraints(connection, narrow)]
    elif narrow.family == "mariadb":
        lines = read_lines(connection, narrow)
        found = [check.demand for line in lines for check in find_checks(line, "mariadb")]
    else:
        found = [check.demand for check in find_checks(read_sqlite(connection, narrow.declared)[0], "sqlite")]
    return [demand for demand in found if lists_words(demand, narrow.declared.status, narrow.family)]


# PostgreSQL


def widen_postgresql(connection: sa.Connection, narrow: Narrow) -> Iterator[Change]:
    """Add labels to the enum, make the text longer, and let the new statuses past the CHECKs."""
    kind = narrow.column["type"]
    if isinstance(kind, postgresql.ENUM):
        missing = [status for status in narrow.wanted if status not in kind.enums]
        name = quote_table(kind.name or "", kind.schema, narrow.family)
        added = (f"ALTER TYPE {name} ADD VALUE IF NOT EXISTS {quote_words((status,))}" for status in missing)
        yield Change("The enum must know them. A label that was added can be used after its commit.", tuple(added))
    if narrow.room is not None:
        longer = f"ALTER TABLE {narrow.table} ALTER COLUMN {narrow.status} TYPE varchar({narrow.room})"
        yield Change("The column is too short for them.", (longer,))
    for name, demand in find_constraints(connection, narrow):
        relaxed = relax(demand, narrow.declared.status, narrow.wanted, narrow.family)
        if relaxed != demand:
            constraint = quote_name(name, narrow.family)
            alter = f"ALTER TABLE {narrow.table}"
            yield Change(
                f"The constraint {name} must let them pass. Whatever else it demands is kept for the other statuses.",
                (
                    f"{alter} DROP CONSTRAINT {constraint}",
                    # Not validated at once, so that writers wait for a moment only.
                    f"{alter} ADD CONSTRAINT {constraint} CHECK ({relaxed}) NOT VALID",
                    f"{alter} VALIDATE CONSTRAINT {constraint}",
                ),
            )


def find_constraints(connection: sa.Connection, narrow: Narrow) -> list[tuple[str, str]]:
    """Find the CHECKs of a table: name and demand."""
    declared = narrow.declared
    found = sa.inspect(connection).get_check_constraints(declared.name, schema=declared.schema)
    return [(str(each["name"]), str(each["sqltext"])) for each in found]


# MariaDB

CONSTRAINT_LINE = re.compile(r"\s*CONSTRAINT `(?P<name>(?:[^`]|``)*)` CHECK ")


def widen_mariadb(connection: sa.Connection, narrow: Narrow) -> Iterator[Change]:
    """Say the column again with what it must hold, and let the new statuses past the table's CHECKs."""
    own = f"  `{narrow.declared.status.replace('`', '``')}` "
    for line in read_lines(connection, narrow):
        constraint = CONSTRAINT_LINE.match(line)
        relaxed = relax_checks(line.rstrip(","), narrow.declared.status, narrow.wanted, "mariadb").strip()
        if line.startswith(own):
            said = widen_type(relaxed, narrow)
            if said != line.rstrip(",").strip():
                modify = f"ALTER TABLE {narrow.table} MODIFY COLUMN {said}"
                yield Change("The column must hold them; all else of it is said again as it is.", (modify,))
        elif constraint is not None and relaxed != line.rstrip(",").strip():
            name = f"`{constraint['name']}`"
            # In one statement, so that there is no moment without it.
            yield Change(
                f"The constraint {constraint['name']} must let them pass; whatever else it demands is kept for the others.",
                (f"ALTER TABLE {narrow.table} DROP CONSTRAINT {name}, ADD {relaxed}",),
            )


def read_lines(connection: sa.Connection, narrow: Narrow) -> list[str]:
    """Read the lines of SHOW CREATE TABLE."""
    table = quote_table(narrow.declared.name, narrow.declared.schema, "mariadb")
    return str(connection.exec_driver_sql(f"SHOW CREATE TABLE {table}").one()[1]).splitlines()


def widen_type(said: str, narrow: Narrow) -> str:
    """Widen the type in the text of a column."""
    kind = narrow.column["type"]
    if isinstance(kind, sa.Enum):
        labels = tuple(str(label) for label in kind.enums)
        added = tuple(status for status in narrow.wanted if status not in labels)
        if added:
            # The column begins with its name and its type, and a label may hold any sign but an unpaired quote.
            return re.sub(
                r"enum\((?:'(?:[^']|'')*',?)+", lambda found: f"{found[0]},{quote_words(added)}", said, count=1
            )
    if narrow.room is not None:
        return re.sub(r"\b((?:var)?char)\(\d+\)", rf"\1({narrow.room})", said, count=1)
    return said


# SQLite


def widen_sqlite(connection: sa.Connection, narrow: Narrow) -> Iterator[Change]:
    """Copy the table into a new one whose CHECKs let the new statuses pass: SQLite cannot change a CHECK."""
    declared = narrow.declared
    text, others = read_sqlite(connection, declared)
    relaxed = relax_checks(text, declared.status, narrow.wanted, "sqlite")
    if relaxed == text:
        return
    old, new = narrow.table, quote_name(f"{declared.name}_widened", "sqlite")
    columns = sa.inspect(connection).get_columns(declared.name)
    names = ", ".join(quote_name(each["name"], "sqlite") for each in columns if "computed" not in each)
    keep_counter = (  # so that no id is given out twice
        f"UPDATE sqlite_sequence SET seq = (SELECT seq FROM sqlite_sequence WHERE name = {quote_words((declared.name,))})"  # noqa: S608 - quoted, printed, and never run here
        f" WHERE name = {quote_words((f'{declared.name}_widened',))}"
    )
    yield Change(
        "The table's CHECK must let them pass, which takes a new table. Run it while nobody else uses the file, outside a"
        " transaction; views and foreign keys find the new table under the old name.",
        (
            "PRAGMA foreign_keys = OFF",
            "PRAGMA legacy_alter_table = ON",
            "BEGIN IMMEDIATE",
            rename_in(relaxed, new),
            f"INSERT INTO {new} ({names}) SELECT {names} FROM {old}",  # noqa: S608 - as above
            *([keep_counter] if "AUTOINCREMENT" in text.upper() else []),
            f"DROP TABLE {old}",
            f"ALTER TABLE {new} RENAME TO {old}",
            *others,
            "COMMIT",
            "PRAGMA legacy_alter_table = OFF",
            "PRAGMA foreign_keys = ON",
        ),
    )


def read_sqlite(connection: sa.Connection, declared: Declared) -> tuple[str, list[str]]:
    """Read the text of a table, and of its indexes and triggers, which fall with it."""
    schema = sa.table("sqlite_master", *map(sa.column, ("type", "name", "tbl_name", "sql")))
    is_ours = sa.func.lower(schema.c.tbl_name) == declared.name.lower()
    select = sa.select(schema.c.type, schema.c.sql).where(is_ours, schema.c.sql.is_not(None))
    found = connection.execute(select.order_by(schema.c.name)).all()
    text = next(str(sql) for kind, sql in found if kind == "table")
    return text, [str(sql) for kind, sql in found if kind in ("index", "trigger")]


WIDENERS: Mapping[Family, Callable[[sa.Connection, Narrow], Iterator[Change]]] = {
    "postgresql": widen_postgresql,
    "mariadb": widen_mariadb,
    "sqlite": widen_sqlite,
}
