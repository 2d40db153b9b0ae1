"""Semel's own tables as reviewed SQL: what to run, what is there, and whether the two agree.

One file per dialect, part, version and half in `store/sql/`. The *pre* half only adds and runs before the new code is
deployed; the *post* half takes away and runs when the old code is gone.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files
from typing import Literal, TypeAlias

import sqlalchemy as sa

from semel.errors import error
from semel.store.dialects import Family
from semel.store.tables import PARTS, OwnTables

Half: TypeAlias = Literal["pre", "post"]

VERSIONS: dict[str, int] = {"core": 1}
"""The version of each part that this Semel needs."""

INSTALLATION = "installation"


@dataclass(frozen=True)
class Script:
    """One half of one version of one part."""

    part: str
    version: int
    half: Half
    statements: tuple[str, ...]


def write_scripts(family: Family, tables: OwnTables, *, start: int = 0, parts: tuple[str, ...] = PARTS) -> list[Script]:
    """Answer the SQL that leads from version `start` of each part to the one this Semel needs."""
    scripts = []
    for part in parts:
        for version in range(start + 1, VERSIONS[part] + 1):
            for half in ("pre", "post"):
                statements = tuple(_read_statements(family, tables, f"{part}_{version}_{half}.sql"))
                if half == "pre":
                    statements += (_write_version(tables, part, version),)
                if statements:
                    scripts.append(Script(part=part, version=version, half=half, statements=statements))
    return scripts


def write_drop(tables: OwnTables) -> list[str]:
    """Answer the SQL that removes every table of Semel's, and with them what they remember."""
    return [f"DROP TABLE {tables.named(name)}" for name in ("keepers", "outbox", "claims", "journal", "meta")]


def _read_statements(family: Family, tables: OwnTables, name: str) -> Iterator[str]:
    found = files("semel.store") / "sql" / family / name
    if not found.is_file():
        return
    text = found.read_text(encoding="utf-8").replace("{p}", tables.named("")).replace("{i}", tables.prefix)
    for statement in text.split(";\n"):
        if statement.strip():
            yield statement.strip()


def _write_version(tables: OwnTables, part: str, version: int) -> str:
    meta = tables.named("meta")
    if version == 1:
        return f"INSERT INTO {meta} (name, value) VALUES ('part:{part}', '1')"  # noqa: S608 - names of our own
    return f"UPDATE {meta} SET value = '{version}' WHERE name = 'part:{part}'"  # noqa: S608 - names of our own


def read_versions(connection: sa.Connection, tables: OwnTables) -> dict[str, int]:
    """Answer the version of each part in the database; empty if there is nothing of Semel's."""
    if not sa.inspect(connection).has_table(tables.meta.name, schema=tables.schema):
        return {}
    meta = tables.meta
    rows = connection.execute(sa.select(meta.c.name, meta.c.value).where(meta.c.name.like("part:%")))
    return {str(name).removeprefix("part:"): int(str(value)) for name, value in rows}


def apply_schema(connection: sa.Connection, family: Family, tables: OwnTables) -> list[Script]:
    """Run what is missing and answer it. Several processes may try at once: PostgreSQL and SQLite do it in one transaction."""
    _lock_schema(connection, family, tables)
    versions = read_versions(connection, tables)
    _refuse_newer(versions)
    done = []
    for part in PARTS:
        for script in write_scripts(family, tables, start=versions.get(part, 0), parts=(part,)):
            for statement in script.statements:
                connection.exec_driver_sql(statement)
            done.append(script)
    _draw_installation(connection, tables)
    return done


def _lock_schema(connection: sa.Connection, family: Family, tables: OwnTables) -> None:
    """Let one process at a time create tables."""
    name = tables.named("schema")
    if family == "postgresql":
        connection.execute(sa.select(sa.func.pg_advisory_xact_lock(sa.func.hashtext(name))))
    elif family == "mariadb":
        # MariaDB commits with every CREATE, so the lock is the session's; the connection is closed after this.
        connection.execute(sa.select(sa.func.get_lock(name, _LOCK_SECONDS)))
    else:
        connection.exec_driver_sql("PRAGMA busy_timeout = 30000")
        connection.exec_driver_sql("BEGIN IMMEDIATE")


_LOCK_SECONDS = 30


def _draw_installation(connection: sa.Connection, tables: OwnTables) -> None:
    """Draw the id of this installation once: two databases may share one account at a provider."""
    meta = tables.meta
    there = connection.execute(sa.select(meta.c.value).where(meta.c.name == INSTALLATION)).first()
    if there is None:
        connection.execute(sa.insert(meta).values(name=INSTALLATION, value=secrets.token_hex(16)))


def check_schema(connection: sa.Connection, tables: OwnTables) -> None:
    """Refuse to start on tables that are missing, older, newer or damaged."""
    versions = read_versions(connection, tables)
    if not versions:
        raise error("SEMEL-SCHEMA-1", table=tables.named("meta"))
    _refuse_newer(versions)
    for part, needed in VERSIONS.items():
        found = versions.get(part, 0)
        if found < needed:
            raise error("SEMEL-SCHEMA-2", found=found, part=part, needed=needed)
    inspector = sa.inspect(connection)
    for table in tables.core:
        there = (
            {column["name"] for column in inspector.get_columns(table.name, schema=tables.schema)}
            if inspector.has_table(table.name, schema=tables.schema)
            else set()
        )
        missing = [column.name for column in table.columns if column.name not in there]
        if missing:
            raise error(
                "SEMEL-SCHEMA-4", table=table.name, missing=", ".join(missing), part="core", version=versions["core"]
            )


def _refuse_newer(versions: dict[str, int]) -> None:
    for part, found in versions.items():
        if found > VERSIONS.get(part, 0):
            raise error("SEMEL-SCHEMA-3", found=found, part=part, needed=VERSIONS.get(part, 0))
