"""`semel guard`: a trigger against moves that go past Semel, as SQL to read and run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from semel.cli.answers import Answer, answering
from semel.cli.naming import Named
from semel.cli.options import APP_HELP
from semel.errors import error

if TYPE_CHECKING:
    from collections.abc import Iterator

    from semel.app.setup import Setup
    from semel.cli.target import Target
    from semel.store.declared import Declared
    from semel.store.dialects import Family
    from semel.store.guard import Guarded, Mode
    from semel.workflow.model import Workflow


@click.command()
@click.argument("table")
@click.option("--mode", type=click.Choice(["record", "refuse"]), help="Note breaches in the journal, or refuse them.")
@click.option("--app", metavar="MODULE:NAME", help=APP_HELP)
@click.option(
    "--dialect", type=click.Choice(["postgresql", "mariadb", "sqlite"]), help="Whose SQL. Default: that of the app."
)
@click.option("--id-column", metavar="NAME", help="What identifies a row. Default: the app's, or the primary key.")
@click.option("--drop", is_flag=True, help="Print what takes the guard away instead.")
@answering
def guard(
    *, table: str, mode: Mode | None, app: str | None, dialect: Family | None, id_column: str | None, drop: bool
) -> Answer:
    """Print triggers that refuse or note moves which go past Semel.

    A breach is a terminal status that is left, a status that changes while the version does not grow, and a version that
    changes while the status does not; raw SQL is held to it too, and Semel's own verbs pass. Nothing is run. It connects
    only where it must look up the primary key.
    """
    from semel.cli.application import import_modules, need_once
    from semel.cli.target import find_target
    from semel.store.guard import write_drop, write_guard

    if (mode is None) != drop:
        raise click.UsageError("Pass --mode record or --mode refuse, or --drop.")
    named = Named(None, app, None, None)
    _, once = need_once(named, "its workflow says which statuses are terminal")
    target, setup = find_target(named), once._setup  # noqa: SLF001 - the command line is a composition root too
    import_modules(setup)
    family = dialect or target.family
    wanted = list(find_guarded(target, setup, table, family, id_column, with_id=mode == "record"))
    statements = [
        statement for each in wanted for statement in (write_drop(each) if mode is None else write_guard(each, mode))
    ]
    document = {"table": table, "dialect": family, "mode": mode, "sql": statements}
    return Answer(document, write_text(statements, mode, wanted))


def find_guarded(
    target: Target, setup: Setup, table: str, family: Family, id_column: str | None, *, with_id: bool
) -> Iterator[Guarded]:
    """Find every status column of a table that has a workflow, as its guard has to know it."""
    from semel.app.boot import read_workflows
    from semel.app.setup import is_of
    from semel.store.entity import StatusCodec
    from semel.store.guard import Guarded, find_resting

    workflows = read_workflows(setup)
    setup.declare_tables_of(workflows)
    found = [
        (workflow, declared, allow)
        for workflow in workflows
        for declared, allow in setup.declared
        if is_of(workflow, declared) and table in (declared.name, declared.qualified)
    ]
    if not found:
        known = ", ".join(sorted({workflow.table for workflow in workflows})) or "none"
        raise error("SEMEL-CLI-7", table=table, known=known)
    # A table may have been declared twice; its guard is one.
    once_each: dict[str, tuple[Workflow, Declared, Any]] = {}
    for workflow, declared, allow in found:
        once_each.setdefault(workflow.name, (workflow, declared, allow))
    for workflow, declared, allow in once_each.values():
        yield Guarded(
            family=family,
            tables=target.tables,
            name=declared.name,
            schema=declared.schema,
            id=(id_column or find_id_column(target, declared, workflow, family)) if with_id else "",
            status=workflow.status_column,
            version=workflow.version_column,
            terminal=workflow.terminal,
            resting=find_resting(workflow, allow),
            codec=StatusCodec(held=declared.status_values),
        )


def find_id_column(target: Target, declared: Declared, workflow: Workflow, family: Family) -> str:
    """Find what identifies a row: as it was declared, as it is mapped, or as the database says."""
    import sqlalchemy as sa

    from semel.store.reflect import find_id, read_columns

    told = declared.id or workflow.id_column
    if told is not None:
        return told
    if declared.table is not None and len(declared.table.primary_key.columns) == 1:
        return str(next(iter(declared.table.primary_key.columns)).name)
    if family != target.family:
        raise click.UsageError(f"The app's database is not {family}; pass --id-column, it cannot be looked up there.")

    def look(connection: sa.Connection) -> str:
        inspector = sa.inspect(connection)
        return find_id(declared, inspector, read_columns(declared, inspector))

    return target.look(look)


def write_text(statements: list[str], mode: Mode | None, wanted: list[Guarded]) -> str:
    """Write the statements so that the database's own client can read them."""
    from semel.store.guard import needs_delimiter

    if mode is not None and any(needs_delimiter(each, mode) for each in wanted):
        return "\n".join(["DELIMITER //", *(f"{statement} //" for statement in statements), "DELIMITER ;"])
    return "\n\n".join(f"{statement};" for statement in statements)
