"""`semel drain`: what has to end before a table's workflow can be taken out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from semel.cli.answers import FINE, FOUND, Answer, answering
from semel.cli.naming import Named, naming_options

if TYPE_CHECKING:
    from semel.protocols.sight import Left

LIMIT = 100
"""How many claims are named; what is left is counted down, not read."""

TIMEOUT_SECONDS = 300.0
"""How long --wait waits by default: the worst wait for a stranded row is about a minute, and a step rarely takes longer."""

TIMEOUT_SECONDS_MOST = 86_400.0
"""A day: whoever waits longer has something to release by hand."""


@click.command()
@click.argument("table")
@naming_options
@click.option("--wait", is_flag=True, help="Look again until nothing is left.")
@click.option(
    "--timeout",
    type=click.FloatRange(0, TIMEOUT_SECONDS_MOST),
    default=TIMEOUT_SECONDS,
    show_default=True,
    metavar="SECONDS",
    help="How long to wait at most.",
)
@answering
def drain(table: str, named: Named, timeout: float, *, wait: bool) -> Answer:
    """Say what is left of a table's work before it can be taken out.

    That is claims that are held, and after-effects that are not delivered. Before a workflow is taken out, mark its steps
    `retired` so that nobody enters it, and run this until nothing is left. Exit status 0: nothing is; 1: something is. No
    row is changed.
    """
    from semel.cli.application import find_place
    from semel.protocols.sight import wait_until_drained

    place = find_place(named)
    asking = wait_until_drained(place.sights, table, LIMIT, timeout if wait else 0.0)
    left = place.target.perform(asking)
    return Answer(describe_left(left, table), write_left(left, table), FINE if left.is_drained else FOUND)


def describe_left(left: Left, table: str) -> dict[str, Any]:
    """Answer what is left as JSON."""
    from semel.cli.waits import list_claims

    return {
        "table": table,
        "drained": left.is_drained,
        "claims": list_claims(left.claims.found),
        "more": left.claims.more,
        "effects": dict(left.effects),
    }


def write_left(left: Left, table: str) -> str:
    """Write what is left for people."""
    from semel.cli.listing import Line, Listing, write_listings
    from semel.cli.times import show_age

    if left.is_drained:
        return f"{table} is drained: no claim is held, and no after-effect is owed."
    claims = tuple(
        Line(
            (
                claim.row_id,
                claim.claim_status,
                claim.step_key,
                claim.owner or "nobody",
                show_age(claim.claimed_us, left.now_us),
            )
        )
        for claim in left.claims.found
    )
    note = f"There are more than these {LIMIT}." if left.claims.more else ""
    effects = tuple(Line((state, str(count))) for state, count in left.effects.items())
    listings = [
        Listing("Claims that are held", ("row", "status", "step", "holder", "age"), claims, note),
        Listing("After-effects that are not delivered", ("state", "how many"), effects),
    ]
    return write_listings(listings, f"{table} is not drained.")
