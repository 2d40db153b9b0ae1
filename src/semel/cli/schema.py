"""`semel schema`: Semel's own tables, as SQL to read and as tables in a database."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from semel.cli.answers import Answer, answering
from semel.cli.naming import Named, naming_options
from semel.errors import error

if TYPE_CHECKING:
    from semel.store.dialects import Family
    from semel.store.scripts import Half, Script
    from semel.store.tables import OwnTables


@click.group()
def schema() -> None:
    """Semel's own tables and files: print, apply, check, config."""


@schema.command("print")
@naming_options
@click.option(
    "--dialect", type=click.Choice(["postgresql", "mariadb", "sqlite"]), help="Whose SQL. Default: that of --db."
)
@click.option("--from", "start", metavar="N", type=click.IntRange(min=0), help="The version that is there. Default: 0.")
@click.option(
    "--half", type=click.Choice(["pre", "post"]), help="Only what runs before, or after, the new code is there."
)
@click.option("--drop", is_flag=True, help="Print what removes every table of Semel's instead.")
@answering
def print_schema(  # a command takes what its options say
    named: Named, dialect: Family | None, start: int | None, half: Half | None, *, drop: bool
) -> Answer:
    """Print the SQL that makes or upgrades Semel's tables. Never connects.

    Each version has two halves: pre only adds and runs before the new code is deployed, post takes away and runs when no
    older code is left. Every statement can be run again.
    """
    from semel.store.scripts import write_drop, write_scripts

    if drop and (start is not None or half is not None):
        raise click.UsageError("--drop removes everything; it goes with neither --from nor --half.")
    family, tables = find_dialect(named, dialect)
    document = {"dialect": family, "prefix": tables.prefix, "schema": tables.schema}
    if drop:
        statements = write_drop(tables)
        return Answer({**document, "drop": statements}, write_sql(statements))
    scripts = [script for script in write_scripts(family, tables, start=start or 0) if half in (None, script.half)]
    text = "\n".join(f"{write_title(script)}\n{write_sql(script.statements)}" for script in scripts)
    return Answer({**document, "scripts": list(map(describe, scripts))}, text or "-- Nothing to run.")


@schema.command()
@naming_options
@answering
def apply(named: Named) -> Answer:
    """Create Semel's tables, or upgrade them. Yours are never touched.

    Does only what is missing, so it may be run again, and by several processes at once. It runs the pre halves; review the
    post ones with: semel schema print --half post.
    """
    import sqlalchemy as sa

    from semel.cli.target import find_target
    from semel.store.schema import apply_schema, read_versions
    from semel.store.server import check_server

    target = find_target(named)

    def change(connection: sa.Connection) -> tuple[list[Script], dict[str, int]]:
        check_server(connection, target.family)
        return apply_schema(connection, target.family, target.tables), read_versions(connection, target.tables)

    scripts, versions = target.look(change)
    done = [
        f"Applied part {script.part}, version {script.version}: {len(script.statements)} statements."
        for script in scripts
    ]
    text = "\n".join([*(done or ["Nothing to do."]), f"{target.shown} has {show_versions(versions)}."])
    document = {"database": target.shown, "applied": list(map(describe, scripts)), "versions": versions}
    return Answer(document, text)


@schema.command()
@naming_options
@answering
def check(named: Named) -> Answer:
    """Check that Semel's tables are what this Semel needs, as every boot does. Exit status 1: they are not."""
    import sqlalchemy as sa

    from semel.cli.target import find_target, refuse_missing_file
    from semel.store.schema import check_schema, read_versions

    target = find_target(named)
    refuse_missing_file(target)

    def look(connection: sa.Connection) -> dict[str, int]:
        check_schema(connection, target.tables)
        return read_versions(connection, target.tables)

    versions = target.look(look)
    return Answer(
        {"database": target.shown, "versions": versions},
        f"{target.shown} has {show_versions(versions)}, as this Semel needs it.",
    )


@schema.command("config")
@answering
def print_config() -> Answer:
    """Print the JSON Schema of a workflow file, for editors: each key, with what it means."""
    import json

    from semel.workflow.schema import json_schema

    made = json_schema()
    return Answer(made, json.dumps(made, indent=2))


def find_dialect(named: Named, dialect: Family | None) -> tuple[Family, OwnTables]:
    """Answer whose SQL is wanted, and the names of the tables in it."""
    from semel.cli.target import find_named, name_tables

    if dialect is not None and named.db is None and named.app is None:
        return dialect, name_tables(named, dialect)
    target = find_named(named)
    if target is None:
        raise error("SEMEL-CLI-3")
    if dialect not in (None, target.family):
        raise click.UsageError(f"--dialect says {dialect}, but the database is {target.family}.")
    return target.family, target.tables


def write_title(script: Script) -> str:
    """Write the comment above a script."""
    return f"-- Semel: part {script.part}, version {script.version}, half {script.half}."


def write_sql(statements: list[str] | tuple[str, ...]) -> str:
    """Write statements so that a database's own client can read them."""
    return "\n".join(f"{statement};\n" for statement in statements)


def describe(script: Script) -> dict[str, Any]:
    """Answer a script as JSON."""
    return {
        "part": script.part,
        "version": script.version,
        "half": script.half,
        "statements": list(script.statements),
    }


def show_versions(versions: dict[str, int]) -> str:
    """Write the versions of the parts in a sentence."""
    return ", ".join(f"part {part} at version {version}" for part, version in sorted(versions.items()))
