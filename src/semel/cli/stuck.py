"""`semel stuck`: what waits, since when, and what to do about it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from semel.cli.answers import FINE, FOUND, Answer, answering
from semel.cli.naming import Named, naming_options

if TYPE_CHECKING:
    from semel.cli.application import Place
    from semel.cli.waits import Wait

LATE_SECONDS = 300
"""A courier, like every keeper, looks every five seconds: five minutes late means that none has it in hand, or none runs."""

LIMIT = 100
"""How many of each kind are shown: a person reads fewer, and a program may ask for more."""

LIMIT_MOST = 10_000
"""More than this is not read, it is counted; and the answer has to fit into memory."""


@click.command()
@naming_options
@click.option(
    "--limit",
    type=click.IntRange(1, LIMIT_MOST),
    default=LIMIT,
    show_default=True,
    help="How many of each kind to show.",
)
@click.option(
    "--late-seconds",
    type=click.IntRange(min=1),
    default=LATE_SECONDS,
    show_default=True,
    help="How long an after-effect may be due, or a keeper silent.",
)
@answering
def stuck(named: Named, limit: int, late_seconds: int) -> Answer:
    """List what waits, since when, and what to do.

    Overdue claims, claims in review, foreign rows, parked and late after-effects, keepers that fell silent, and rows in
    statuses that no loaded file knows. Without an app, rows of your tables are not looked at. Exit status 1: something is
    stuck. No row is changed.
    """
    from semel.cli.application import find_place
    from semel.cli.waits import describe_wait, describe_waits
    from semel.protocols.sight import see_waiting

    place = find_place(named)
    waiting = place.target.perform(see_waiting(place.sights, limit, late_seconds * 1_000_000))
    waits = describe_waits(waiting, late_seconds)
    rows, not_checked = look_at_rows(place, limit)
    waits += rows
    stuck_count = sum(wait.is_stuck for wait in waits)
    document = {
        "database": place.target.shown,
        "ok": stuck_count == 0,
        "limit": limit,
        "stuck": [describe_wait(wait, waiting.now_us) for wait in waits],
        "more": sorted({wait.kind for wait in waits if wait.more}),
        "not_checked": not_checked,
    }
    text = write_waits(place.target.shown, waits, not_checked, waiting.now_us)
    return Answer(document, text, FOUND if stuck_count else FINE)


def look_at_rows(place: Place, limit: int) -> tuple[list[Wait], list[str]]:
    """Look for rows where nobody put them; answer them, and what could not be looked at."""
    from semel.cli.application import bind_tables
    from semel.cli.waits import describe_foreign, describe_unknown
    from semel.errors import SemelError
    from semel.protocols.sight import see_foreign, see_unknown
    from semel.store.strays import Strays

    kinds = "foreign rows, and rows in statuses that no file knows"
    if place.setup is None:
        return [], [f"{kinds}: only an app knows the workflows; pass --app."]
    try:
        tables = bind_tables(place)
    except SemelError as problem:
        return [], [f"{kinds}: the app refuses to boot. {problem}"]
    waits: list[Wait] = []
    for table in tables:
        workflow, strays = table.workflow, Strays(table.entity)
        if workflow is None:
            continue
        foreign = place.target.perform(see_foreign(place.sights, strays, workflow.name, workflow.claim_statuses))
        waits += describe_foreign(foreign, workflow, table.entity.name, limit)
        unknown = place.target.perform(see_unknown(strays, workflow.statuses, limit))
        waits += describe_unknown(unknown, workflow, table.entity.name)
    return waits, []


def write_waits(shown: str, waits: list[Wait], not_checked: list[str], now_us: int) -> str:
    """Write what waits for people, kind by kind."""
    from semel.cli.listing import Line, Listing, write_listings
    from semel.cli.times import show_age
    from semel.cli.waits import TITLES

    listings = []
    for kind, title in TITLES.items():
        alike = [wait for wait in waits if wait.kind == kind]
        lines = tuple(
            Line((wait.about, "?" if wait.since_us is None else show_age(wait.since_us, now_us), wait.why), wait.remedy)
            for wait in alike
        )
        note = "There are more; ask for them with --limit." if any(wait.more for wait in alike) else ""
        listings.append(Listing(title, ("what", "age", "why"), lines, note))
    count = sum(wait.is_stuck for wait in waits)
    unseen = "".join(f"\nNot looked at: {each}" for each in not_checked)
    verdict = f"{count} thing{' is' if count == 1 else 's are'} stuck" if count else "nothing is stuck"
    return write_listings(listings, f"{shown}: {verdict}.{unseen}")
