"""`semel release`: a person lets go of a claim, or of a row that nobody claimed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from semel.cli.answers import FINE, FOUND, Answer, answering
from semel.cli.naming import Named, naming_options
from semel.cli.options import Columns, acting_options, column_options

if TYPE_CHECKING:
    from semel.protocols.operator import Freed, Kept, Released


@click.command()
@click.argument("table")
@click.argument("row", metavar="ID")
@acting_options
@click.option("--force", is_flag=True, help="Also from a holder that lives: what it is doing will be rolled back.")
@click.option("--workflow", metavar="NAME", help="Which workflow, if the table has several.")
@naming_options
@column_options
@answering
def release(
    *, table: str, row: str, named: Named, columns: Columns, workflow: str | None, reason: str, by: str, force: bool
) -> Answer:
    """Move a row out of its claim by hand, and write down why.

    A claim goes back to where its claim row says. A row in a claim status that nobody claimed goes back to where the
    workflow says, so that needs an app. A holder that gave a sign of life within its lease keeps its claim, unless you
    --force it: it may be a moment from its end, and its work would be rolled back. Exit status 1: nothing was released.
    """
    from semel.cli.application import find_place, find_table, read_row_id
    from semel.protocols.operator import Release, release_by_hand

    place = find_place(named)
    found = find_table(place, table, columns, workflow)
    id_ = read_row_id(found.entity, row)
    wanted = Release(found.claims, place.sights, found.workflow, id_, reason, by, force)
    released = place.target.perform(release_by_hand(wanted))
    return tell(released, f"{table} {wanted.row_id}", {"table": table, "row": wanted.row_id})


def tell(released: Released, subject: str, about: dict[str, Any]) -> Answer:
    """Answer what was done, or why nothing was."""
    from semel.protocols.operator import Freed

    if isinstance(released, Freed):
        done = {
            "released": released.what,
            "from": released.from_status,
            "to": released.to_status,
            "version": released.version,
        }
        return Answer({**about, **done}, tell_freed(released, subject), FINE)
    kept = {"released": None, "why": released.why, "status": released.status}
    return Answer({**about, **kept}, tell_kept(released, subject), FOUND)


def tell_freed(freed: Freed, subject: str) -> str:
    """Say what was done."""
    if freed.what == "closed":
        where = f"is {freed.to_status!r}" if freed.to_status is not None else "is gone"
        return f"The claim on {subject} ({freed.from_status!r}) was closed; the row {where}, and was left so."
    whose = "its claim" if freed.what == "claim" else "a claim status that nobody held"
    return (
        f"{subject} was released from {whose}: {freed.from_status!r} -> {freed.to_status!r}, version {freed.version}."
    )


def tell_kept(kept: Kept, subject: str) -> str:
    """Say why nothing was done, and what can be."""
    if kept.why == "absent":
        return f"There is no row {subject}, and no claim on it."
    if kept.why == "alive" and kept.claim is not None:
        lives = f"{kept.claim.owner} gave a sign of life, and its lease lasts {kept.seconds_left:.0f} s more"
        remedy = (
            "If it is dead after all, a keeper recovers the row then. With --force, what it is doing is rolled back."
        )
        return f"{subject} was not released: {lives}.\n  {remedy}"
    if kept.why == "free":
        return f"{subject} is {kept.status!r}, which is no claim; there is nothing to release."
    claimed = "no claim is held on it" if kept.claim is None else f"a claim on it says {kept.claim.claim_status!r}"
    remedy = "If that is a claim status that nobody claimed, pass --app: its workflow says where the row goes back to."
    return f"{subject} is {kept.status!r}, and {claimed}; nothing was released.\n  {remedy}"
