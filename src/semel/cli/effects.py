"""`semel effects`: after-effects, to look at and to try again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from semel.cli.answers import FINE, FOUND, Answer, answering
from semel.cli.naming import Named, naming_options
from semel.cli.options import acting_options

if TYPE_CHECKING:
    from semel.protocols.sight import EffectSeen, Some

LIMIT = 100
"""How many are listed: a person reads fewer."""

LIMIT_MOST = 10_000
"""More than this is a question for the table itself."""


@click.group()
def effects() -> None:
    """After-effects: list, retry."""


@effects.command("list")
@naming_options
@click.option("--state", type=click.Choice(["due", "taken", "delivered", "parked"]), help="Only those. Default: all.")
@click.option("--limit", type=click.IntRange(1, LIMIT_MOST), default=LIMIT, show_default=True, help="How many at most.")
@answering
def list_effects(named: Named, state: str | None, limit: int) -> Answer:
    """List after-effects, the newest first; their payloads are not shown."""
    from semel.cli.application import find_place
    from semel.cli.waits import facts_of_effect
    from semel.protocols.sight import see_effects

    place = find_place(named)
    now_us, found = place.target.perform(see_effects(place.sights, state, limit))
    document = {
        "database": place.target.shown,
        "effects": [facts_of_effect(effect) for effect in found.found],
        "more": found.more,
        "limit": limit,
    }
    return Answer(document, write_effects(found, now_us, state))


def write_effects(found: Some[EffectSeen], now_us: int, state: str | None) -> str:
    """Write after-effects for people."""
    from semel.cli.listing import Line, Listing, write_listings
    from semel.cli.times import show_age

    lines = tuple(
        Line(
            (
                effect.effect_id,
                effect.name,
                f"{effect.entity} {effect.row_id}",
                effect.state,
                str(effect.attempts),
                show_age(effect.recorded_us, now_us),
                effect.problem or "",
            )
        )
        for effect in found.found
    )
    titles = ("id", "name", "row", "state", "attempts", "age", "problem")
    note = "There are older ones; ask for them with --limit." if found.more else ""
    count = f"{len(lines) or 'no'} {f'{state} ' if state else ''}after-effect{'' if len(lines) == 1 else 's'}."
    return write_listings([Listing("After-effects", titles, lines, note)], count)


@effects.command()
@click.argument("effect", metavar="EFFECT_ID")
@acting_options
@naming_options
@answering
def retry(effect: str, named: Named, reason: str, by: str) -> Answer:
    """Make a parked after-effect due again, and write down why. Exit status 1: it is not parked."""
    from semel.cli.application import find_place
    from semel.cli.waits import facts_of_effect
    from semel.protocols.operator import Retry, retry_by_hand

    place = find_place(named)
    wanted = Retry(place.sights, place.outbox, place.journal, effect, reason, by)
    retried = place.target.perform(retry_by_hand(wanted))
    was = retried.effect
    document = {"effect": effect, "retried": retried.done, "was": None if was is None else facts_of_effect(was)}
    if was is None:
        return Answer(document, f"There is no after-effect {effect}.", FOUND)
    if not retried.done:
        return Answer(document, f"{was.name} {effect} is {was.state}, not parked; nothing was done.", FOUND)
    return Answer(document, f"{was.name} {effect} is due again; a courier takes it at its next look.", FINE)
