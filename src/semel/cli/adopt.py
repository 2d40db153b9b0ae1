"""`semel adopt`: what an existing table needs before Semel moves its rows."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from semel.cli.answers import Answer, answering
from semel.cli.naming import Named, naming_options
from semel.cli.options import Columns, column_options

if TYPE_CHECKING:
    from collections.abc import Iterator

    from semel.cli.application import Place
    from semel.store.adopt import Adoption
    from semel.store.declared import Declared


@click.command()
@click.argument("table")
@naming_options
@column_options
@click.option(
    "--claim", "claims", multiple=True, metavar="STATUS", help="Make room for this claim status. May be repeated."
)
@click.option("--module", metavar="NAME", help="The module that owns the workflow.")
@answering
def adopt(*, table: str, named: Named, columns: Columns, claims: tuple[str, ...], module: str | None) -> Answer:
    """Read a table of yours and print what Semel needs of it.

    Nothing is changed. It prints the SQL for the version column, an index on the status, and room for claim statuses in an
    enum or CHECK; a first workflow file, in which every status is `outside`; and the rows that stand in a status like
    processing, with how long they have.
    """
    from semel.cli.application import declare_named, find_any_place
    from semel.store.adopt import Wanted, adopt_table

    place = find_any_place(named)
    told = find_declared(place, table, columns)
    declared = told or declare_named(table, columns)
    # The application's handle says which column is Semel's; without one, a column called version may be anybody's.
    version = columns.version if told is None else told.version
    wanted = Wanted(declared, place.target.family, version, claims, module)
    adoption = place.target.look(lambda connection: adopt_table(connection, wanted))
    document = {"table": table, "dialect": place.target.family, **describe_adoption(adoption)}
    return Answer(document, "\n".join(write_adoption(adoption, table)))


def find_declared(place: Place, table: str, columns: Columns) -> Declared | None:
    """Answer the table as the application has declared it, by a handle or a file. None: it has not, or columns were named."""
    from semel.workflow.load import load

    if place.setup is None or columns.given:
        return None
    workflows = load(place.setup.settings.workflows).workflows if place.setup.settings.workflows else ()
    place.setup.declare_tables_of(workflows)
    told = (declared for declared, _ in place.setup.declared)
    return next((declared for declared in told if table in (declared.name, declared.qualified)), None)


def describe_adoption(adoption: Adoption) -> dict[str, Any]:
    """Answer what was found as JSON."""
    from semel.cli.times import count_seconds, show_time

    now = adoption.now_us
    return {
        "sql": [statement for change in adoption.changes for statement in change.sql],
        "changes": [{"why": change.why, "sql": list(change.sql)} for change in adoption.changes],
        "notes": list(adoption.notes),
        "statuses": dict(adoption.statuses),
        "transient": [
            {
                "status": each.status,
                "rows": each.rows,
                "since": None if each.since_us is None else show_time(each.since_us),
                "age_seconds": None if each.since_us is None else count_seconds(each.since_us, now),
            }
            for each in adoption.transient
        ],
        "touched_column": adoption.touched,
        "workflow": dict(adoption.draft),
    }


def write_adoption(adoption: Adoption, table: str) -> Iterator[str]:
    """Write what was found for people: the SQL, the file, the rows, and what else to know."""
    from semel.cli.times import show_age

    yield "-- Review this SQL and run it; Semel does not."
    for change in adoption.changes:
        yield f"\n-- {change.why}"
        yield from (f"{statement};" for statement in change.sql)
    if not adoption.changes:
        yield "\n-- Nothing has to change."
    yield f"\nworkflows/{table}.json:\n"
    yield json.dumps(adoption.draft, indent=2, ensure_ascii=False)
    if adoption.transient:
        yield "\nRows that stand where they should not stay:"
    for each in adoption.transient:
        age = f", the oldest for {show_age(each.since_us, adoption.now_us)}" if each.since_us is not None else ""
        yield f"  {each.status}: {each.rows}{age}{f' (by {adoption.touched}, as UTC)' if age else ''}"
    if adoption.transient:
        yield "  Find out what became of each, and move it, before a step claims into its status."
    for note in adoption.notes:
        yield f"\nNote: {note}"
