"""`semel why`: one row's story, from the journal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from semel.cli.answers import FINE, FOUND, Answer, answering
from semel.cli.naming import Named, naming_options
from semel.cli.options import Columns, column_options

if TYPE_CHECKING:
    from collections.abc import Iterator

    from semel.cli.application import Place
    from semel.cli.listing import Listing
    from semel.protocols.sight import ClaimSeen, EffectSeen, MoveSeen, Story
    from semel.store.strays import Strays

LIMIT = 1_000
"""How many moves, claims and after-effects are told: a row that has more is told from its end."""

LIMIT_MOST = 100_000
"""More than this is not read by anybody."""

MOVE_TITLES = ("when", "what", "move", "version", "step", "requester", "operation", "detail")
CLAIM_TITLES = ("status", "step", "requester", "holder", "age", "sign of life", "review")
EFFECT_TITLES = ("recorded", "after-effect", "state", "attempts", "what became of it")


@click.command()
@click.argument("table")
@click.argument("row", metavar="ID")
@naming_options
@column_options
@click.option(
    "--limit", type=click.IntRange(1, LIMIT_MOST), default=LIMIT, show_default=True, help="How many lines of each."
)
@answering
def why(table: str, row: str, named: Named, columns: Columns, limit: int) -> Answer:
    """Tell one row's story: what moved it, when, for whom.

    Transitions, steps, claims, takeovers, releases and finishes in their order, then the claim that is held now, then the
    after-effects. Exit status 1: nothing is known of such a row.
    """
    from semel.cli.application import find_place
    from semel.protocols.sight import see_story

    place = find_place(named)
    present, note = find_present(place, table, row, columns)
    row_id = row if present is None else str(present[1])
    story = place.target.perform(see_story(place.sights, table, row_id, limit, present))
    document = {"table": table, "row": row_id, **describe_story(story), "note": note}
    if story.is_empty:
        return Answer(document, f"Nothing is known of {table} {row_id}: no move, no claim, no row.{note}", FOUND)
    return Answer(document, write_story(story, f"{table} {row_id}", note), FINE)


def find_present(place: Place, table: str, row: str, columns: Columns) -> tuple[tuple[Strays, Any] | None, str]:
    """Answer how the row itself is read; or None, and why nobody can: the story can be told without it."""
    from semel.cli.application import find_table, read_row_id
    from semel.errors import SemelError
    from semel.store.strays import Strays

    try:
        found = find_table(place, table, columns, pick_any=True)
        return (Strays(found.entity), read_row_id(found.entity, row)), ""
    except SemelError as problem:
        return None, f" The row itself was not read: {problem.happened}"


def describe_story(story: Story) -> dict[str, Any]:
    """Answer a story as JSON."""
    from semel.cli.times import show_time
    from semel.cli.waits import facts_of, facts_of_effect

    row = story.row
    return {
        "now": show_time(story.now_us),
        "status": None if row is None else row.status,
        "version": None if row is None else row.version,
        "moves": [describe_move(move) for move in story.moves.found],
        "claims": [
            {**facts_of(claim), "held": bool(claim.held), "pass": claim.pass_number} for claim in story.claims.found
        ],
        "effects": [
            {
                **facts_of_effect(effect),
                "handled": [show_time(at) for id_, at in story.deliveries if id_ == effect.effect_id],
            }
            for effect in story.effects.found
        ],
        "more": [name for name in ("moves", "claims", "effects") if getattr(story, name).more],
    }


def describe_move(move: MoveSeen) -> dict[str, Any]:
    """Answer one line of the journal as JSON."""
    from semel.cli.times import show_time

    return {
        "at": show_time(move.at_us),
        "kind": move.kind,
        "from": move.from_status,
        "to": move.to_status,
        "version": move.version,
        "workflow": move.workflow,
        "step": move.step_key,
        "requester": move.requester,
        "detail": move.detail,
        "operation": move.operation_id,
        "ordinal": move.ordinal,
    }


def write_story(story: Story, subject: str, note: str) -> str:
    """Write a story for people."""
    from semel.cli.listing import write_listings

    row = story.row
    now = (
        f"{subject} is {row.status!r} at version {row.version}."
        if row is not None
        else f"{subject} is not there.{note}"
    )
    return write_listings(list_parts(story, subject), now if row is not None or not note else f"{subject}.{note}")


def list_parts(story: Story, subject: str) -> Iterator[Listing]:
    """List the parts of a story: its moves, the claims that are held, the after-effects."""
    from semel.cli.listing import Line, Listing

    moves = tuple(Line(tell_move(move)) for move in story.moves.found)
    held = tuple(Line(tell_claim(claim, story.now_us)) for claim in story.claims.found if claim.held)
    effects = tuple(Line(tell_effect(effect, story)) for effect in story.effects.found)
    older = "There are older ones; ask for them with --limit."
    yield Listing(f"The story of {subject}", MOVE_TITLES, moves, older if story.moves.more else "")
    yield Listing("The claim that is held", CLAIM_TITLES, held)
    yield Listing("After-effects", EFFECT_TITLES, effects, older if story.effects.more else "")


def tell_move(move: MoveSeen) -> tuple[str, ...]:
    """Tell one line of the journal in cells."""
    from semel.cli.times import show_time

    way = "" if move.to_status is None else f"{move.from_status} -> {move.to_status}"
    version = "" if move.version is None else str(move.version)
    words = (move.step_key or "", move.requester or "", move.operation_id, move.detail or "")
    return (show_time(move.at_us), move.kind, way, version, *words)


def tell_claim(claim: ClaimSeen, now_us: int) -> tuple[str, ...]:
    """Tell a claim that is held in cells."""
    from semel.cli.times import show_age

    life = "within its lease" if claim.is_alive(now_us) else "lease over"
    age = show_age(claim.claimed_us, now_us)
    return (claim.claim_status, claim.step_key, claim.requester, claim.owner or "nobody", age, life, claim.review or "")


def tell_effect(effect: EffectSeen, story: Story) -> tuple[str, ...]:
    """Tell an after-effect, and what became of it, in cells."""
    from semel.cli.times import show_time

    handled = [at for id_, at in story.deliveries if id_ == effect.effect_id]
    became = [f"handled {show_time(handled[0])}"] if handled else []
    if effect.delivered_us is not None:
        became.append(f"delivered {show_time(effect.delivered_us)}")
    elif effect.problem:
        became.append(effect.problem)
    told = ", ".join(became) or f"next look {show_time(effect.next_look_us)}"
    return (show_time(effect.recorded_us), effect.name, effect.state, str(effect.attempts), told)
