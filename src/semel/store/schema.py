"""Semel's own tables in a database: make what is missing, and refuse to start on what does not fit.

The crash argument of `apply_schema`
- PostgreSQL and SQLite: one transaction holds the lock, every CREATE and the marks. A death leaves all of it or nothing.
- MariaDB commits with every CREATE, and each CREATE is whole or absent by itself. The marks (installation and version) are one
  transaction after the last CREATE. So a death leaves the first few statements done and no mark: the next apply begins at the
  same version, every statement says IF NOT EXISTS (or can otherwise be run again), and what was missing is made. No
  process starts in between, because `check_schema` asks for the mark.
- The answer to the last commit never came: the tables are marked or they are not; the next apply sees which.
- Two at once: the second waits for the first one's lock and then finds nothing to do. The lock saves the second from errors, it
  is not what makes this safe: on a MariaDB cluster it holds on one node only, and there the same statements meet tables
  that exist, and marks that are conditional.
- A death releases every lock here: they belong to the transaction or to the connection.
"""

from __future__ import annotations

from collections.abc import Iterable

import sqlalchemy as sa

from semel.errors import SemelError, error
from semel.store.dialects import Family, Fault, classify
from semel.store.lacks import find_lacks, find_strangers
from semel.store.scripts import INSTALLATION, VERSIONS, Script, write_scripts
from semel.store.tables import PARTS, OwnTables

LOCK_SECONDS = 30
"""How long one process waits for another that is creating tables: a dozen statements take less than a second of it."""

WAL_ATTEMPTS = 100
"""How often a new SQLite file is asked to change to WAL: one process of those that start at once succeeds in each round."""


def apply_schema(connection: sa.Connection, family: Family, tables: OwnTables) -> list[Script]:
    """Run what is missing and answer it: an empty list, if there was nothing to do. Several processes may try at once.

    Only what adds is run; what takes away (`post`) waits for the day on which no older process runs any more.
    """
    _refuse_missing_schema(connection, tables)
    _lock_schema(connection, family, tables)
    versions = read_versions(connection, tables)
    _refuse_newer(versions)
    scripts = [
        script
        for part in PARTS
        for script in write_scripts(family, tables, start=versions.get(part, 0), parts=(part,))
        if script.half == "pre"
    ]
    if not scripts:
        check_schema(connection, tables)
        return []
    if not versions:
        _refuse_strangers(connection, tables.core)
    _run(connection, [statement for script in scripts for statement in script.changes])
    # IF NOT EXISTS would take anybody's table under one of our names, so the marks wait for a look at it.
    for table, missing in find_lacks(connection, tables):
        raise _stranger(table, missing)
    _run(connection, [statement for script in scripts for statement in script.marks])
    return scripts


def _run(connection: sa.Connection, statements: list[str]) -> None:
    for statement in statements:
        connection.exec_driver_sql(statement)


def _refuse_strangers(connection: sa.Connection, tables: Iterable[sa.Table]) -> None:
    for table, missing in find_strangers(connection, tables):
        raise _stranger(table, missing)


def _stranger(table: str, missing: str) -> SemelError:
    return error("SEMEL-SCHEMA-7", table=table, missing=missing)


def _refuse_missing_schema(connection: sa.Connection, tables: OwnTables) -> None:
    if tables.schema is not None and not sa.inspect(connection).has_schema(tables.schema):
        raise error("SEMEL-SCHEMA-6", schema=tables.schema)


def _lock_schema(connection: sa.Connection, family: Family, tables: OwnTables) -> None:
    """Let one process at a time create tables, and wait for it in bounds."""
    try:
        if family == "postgresql":
            _lock_postgresql(connection, tables)
        elif family == "mariadb":
            _lock_mariadb(connection, tables)
        else:
            _lock_sqlite(connection)
    except sa.exc.DBAPIError as problem:
        if classify(problem) is Fault.LOCKED:
            raise _locked(str(problem.orig)) from problem
        raise


def _lock_postgresql(connection: sa.Connection, tables: OwnTables) -> None:
    name = tables.named("schema")
    connection.execute(sa.select(sa.func.set_config("lock_timeout", f"{LOCK_SECONDS}s", sa.true())))
    connection.execute(sa.select(sa.func.pg_advisory_xact_lock(sa.func.hashtext(name))))


def _lock_mariadb(connection: sa.Connection, tables: OwnTables) -> None:
    # MariaDB commits with every CREATE, so the lock is the connection's, which is closed after this. Its name is the whole
    # server's and has a bounded length.
    place = sa.func.concat_ws(" ", sa.func.database(), tables.named("schema"))
    name = sa.func.concat("semel ", sa.func.md5(place))
    # The statements themselves wait for whoever still uses a table, by default for a whole day.
    connection.exec_driver_sql(f"SET SESSION lock_wait_timeout = {LOCK_SECONDS}")
    if connection.scalar(sa.select(sa.func.get_lock(name, LOCK_SECONDS))) != 1:
        raise _locked("GET_LOCK gave up")


def _lock_sqlite(connection: sa.Connection) -> None:
    connection.exec_driver_sql(f"PRAGMA busy_timeout = {LOCK_SECONDS * 1000}")
    # Changing to WAL does not wait for the lock as other statements do, so whoever holds it is waited for by asking for it.
    # The file stays in WAL, so this is done once, before anybody could open it for a verb.
    for _ in range(WAL_ATTEMPTS):
        try:
            connection.exec_driver_sql("PRAGMA journal_mode = WAL")
            break
        except sa.exc.OperationalError as problem:
            if classify(problem) is not Fault.LOCKED:
                raise
        connection.exec_driver_sql("BEGIN IMMEDIATE")
        connection.exec_driver_sql("ROLLBACK")
    connection.exec_driver_sql("BEGIN IMMEDIATE")


def _locked(reason: str) -> SemelError:
    return error("SEMEL-SCHEMA-5", seconds=LOCK_SECONDS, reason=reason)


def read_versions(connection: sa.Connection, tables: OwnTables) -> dict[str, int]:
    """Answer the version of each part in the database; empty if there is nothing of Semel's."""
    return _versions_of(tables, _read_marks(connection, tables))


def _read_marks(connection: sa.Connection, tables: OwnTables) -> dict[str, str]:
    meta = tables.meta
    if not sa.inspect(connection).has_table(meta.name, schema=tables.schema):
        return {}
    _refuse_strangers(connection, [meta])
    wanted = meta.c.name.like("part:%") | (meta.c.name == INSTALLATION)
    rows = connection.execute(sa.select(meta.c.name, meta.c.value).where(wanted))
    return {str(name): str(value) for name, value in rows}


def _versions_of(tables: OwnTables, marks: dict[str, str]) -> dict[str, int]:
    versions = {name.removeprefix("part:"): value for name, value in marks.items() if name != INSTALLATION}
    for part, value in versions.items():
        if not value.isdecimal():
            missing = "a version that is a number"
            raise error("SEMEL-SCHEMA-4", table=tables.meta.name, missing=missing, part=part, version=repr(value))
    return {part: int(value) for part, value in versions.items()}


def check_schema(connection: sa.Connection, tables: OwnTables) -> None:
    """Refuse to start on tables that are missing, older, newer or damaged."""
    marks = _read_marks(connection, tables)
    versions = _versions_of(tables, marks)
    if not versions:
        _refuse_missing_schema(connection, tables)
        raise error("SEMEL-SCHEMA-1", table=tables.named("meta"))
    _refuse_newer(versions)
    for part, needed in VERSIONS.items():
        found = versions.get(part, 0)
        if found < needed:
            raise error("SEMEL-SCHEMA-2", found=found, part=part, needed=needed)
    lacks = list(find_lacks(connection, tables))
    if INSTALLATION not in marks:
        lacks.append((tables.meta.name, f"its row {INSTALLATION!r}"))
    for table, missing in lacks:
        raise error("SEMEL-SCHEMA-4", table=table, missing=missing, part="core", version=versions["core"])


def _refuse_newer(versions: dict[str, int]) -> None:
    for part, found in versions.items():
        if found > VERSIONS.get(part, 0):
            raise error("SEMEL-SCHEMA-3", found=found, part=part, needed=VERSIONS.get(part, 0))
