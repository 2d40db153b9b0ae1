"""What `semel stuck` says about each thing that waits: since when, why, and what to do."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from semel.cli.times import MICROSECONDS, count_seconds, show_span, show_time
from semel.protocols.sight import ClaimSeen, EffectSeen, KeeperSeen, RowSeen, Some, Waiting
from semel.workflow.model import Workflow

TITLES: Mapping[str, str] = {
    "claim": "Claims whose lease is over",
    "review": "Claims that wait for a person",
    "foreign": "Rows in a claim status that nobody claimed",
    "parked": "Parked after-effects",
    "late": "After-effects that are due and not delivered",
    "keeper": "Keepers that fell silent",
    "unknown": "Rows in a status that no loaded file knows",
}

KEEPERS = {
    "revert": "A janitor releases it",
    "resume": "A resumer runs the step again",
    "review": "A janitor parks it for a person",
}


@dataclass(frozen=True)
class Wait:
    """One thing that waits. `more`: there are more of its kind. `is_stuck` is false for what is only worth knowing."""

    kind: str
    about: str
    since_us: int | None
    why: str
    remedy: str
    facts: Mapping[str, Any] = field(default_factory=dict)
    more: bool = False
    is_stuck: bool = True


def describe_wait(wait: Wait, now_us: int) -> dict[str, Any]:
    """Answer it as JSON."""
    since = wait.since_us
    return {
        "kind": wait.kind,
        "stuck": wait.is_stuck,
        **wait.facts,
        "since": None if since is None else show_time(since),
        "age_seconds": None if since is None else count_seconds(since, now_us),
        "why": wait.why,
        "remedy": wait.remedy,
    }


def describe_waits(waiting: Waiting, late_seconds: int) -> list[Wait]:
    """Answer everything that Semel's own tables tell of."""
    return [
        *(describe_overdue(claim, waiting) for claim in waiting.overdue.found),
        *(describe_review(claim, waiting) for claim in waiting.in_review.found),
        *(describe_parked(effect, more=waiting.parked.more) for effect in waiting.parked.found),
        *(describe_late(effect, more=waiting.late.more) for effect in waiting.late.found),
        *describe_keepers(waiting, late_seconds),
    ]


def describe_overdue(claim: ClaimSeen, waiting: Waiting) -> Wait:
    """A claim whose holder has not said in time that it lives."""
    over = show_span((waiting.now_us - claim.next_look_us) / MICROSECONDS)
    holder = f"{claim.owner} is silent" if claim.owner else "nobody works on it"
    why = f"step {claim.step_key}, {claim.recovery}, overdue for {over}, run again {claim.resumes} times: {holder}"
    remedy = f"{KEEPERS[claim.recovery]}, if one runs (semel worker); by hand: {release_of(claim)}"
    return Wait("claim", name_claim(claim), claim.claimed_us, why, remedy, facts_of(claim), waiting.overdue.more)


def describe_review(claim: ClaimSeen, waiting: Waiting) -> Wait:
    """A claim that was parked."""
    why = f"step {claim.step_key}: {claim.review}"
    remedy = f"Look at {why_of(claim)}, then {release_of(claim)}"
    return Wait("review", name_claim(claim), claim.claimed_us, why, remedy, facts_of(claim), waiting.in_review.more)


def describe_parked(effect: EffectSeen, *, more: bool) -> Wait:
    """An after-effect that no courier tries any more."""
    held_up = f", holds up {effect.blocked} later of its row" if effect.blocked else ""
    why = f"{effect.attempts} attempts{held_up}: {effect.problem or 'no reason was kept'}"
    remedy = f"Mend the cause, then semel effects retry {effect.effect_id} --reason TEXT"
    facts = {**facts_of_effect(effect), "blocked": effect.blocked}
    return Wait("parked", name_effect(effect), effect.recorded_us, why, remedy, facts, more)


def describe_late(effect: EffectSeen, *, more: bool) -> Wait:
    """An after-effect that a courier should have delivered."""
    last = f", last: {effect.problem}" if effect.problem else ""
    why = f"{effect.state}, {effect.attempts} attempts{last}"
    remedy = f"Does a worker run, and does its app register @once.effect({effect.name!r})?"
    return Wait("late", name_effect(effect), effect.next_look_us, why, remedy, facts_of_effect(effect), more)


def describe_keepers(waiting: Waiting, late_seconds: int) -> Iterator[Wait]:
    """Keepers that have not looked lately. Where another of the same duty looks, nothing is stuck because of it."""
    oldest = waiting.now_us - late_seconds * MICROSECONDS
    alive = {keeper.duty for keeper in waiting.keepers.found if keeper.looked_us >= oldest}
    for keeper in waiting.keepers.found:
        if keeper.looked_us < oldest:
            yield describe_keeper(keeper, is_covered=keeper.duty in alive, more=waiting.keepers.more)


def describe_keeper(keeper: KeeperSeen, *, is_covered: bool, more: bool) -> Wait:
    """One keeper that fell silent."""
    last = f"; its last look met: {keeper.problem}" if keeper.problem else ""
    why = f"others do its duty{last}" if is_covered else f"nobody does its duty{last}"
    remedy = "" if is_covered else "Start one: semel worker, or the lifespan with keepers=True."
    facts = {"keeper": keeper.keeper_id, "duty": keeper.duty, "covered": is_covered}
    about = f"{keeper.duty} {keeper.keeper_id}"
    return Wait("keeper", about, keeper.looked_us, why, remedy, facts, more, is_stuck=not is_covered)


def describe_foreign(foreign: Some[RowSeen], workflow: Workflow, table: str, limit: int) -> Iterator[Wait]:
    """Rows that a timer may never release, because nobody knows what happened in them."""
    more = foreign.more or len(foreign.found) > limit
    for row in foreign.found[:limit]:
        facts = {"table": table, "row": row.row_id, "status": row.status, "workflow": workflow.name}
        why = f"version {row.version}; no claim row says who works on it, so no keeper touches it"
        where = f"{table} {row.row_id}"
        remedy = f"Find out what became of it (semel why {where}), then semel release {where} --reason TEXT"
        yield Wait("foreign", f"{where}: {row.status}", None, why, remedy, facts, more)


def describe_unknown(unknown: Some[RowSeen], workflow: Workflow, table: str) -> Iterator[Wait]:
    """Statuses that the file does not name, each with how many rows have it and an example."""
    rows: dict[str, list[RowSeen]] = defaultdict(list)
    for row in unknown.found:
        rows[row.status].append(row)
    for status, alike in sorted(rows.items()):
        count = f"at least {len(alike)}" if unknown.more else str(len(alike))
        facts = {"table": table, "status": status, "workflow": workflow.name, "rows": len(alike)}
        why = f"{count} rows, for example {alike[0].row_id}; {workflow.file or workflow.name} does not name it"
        remedy = "Add it to status_types, with a way out; or to outside, if other code enters or leaves it."
        yield Wait("unknown", f"{table}: {status or 'NULL'}", None, why, remedy, facts, unknown.more)


def name_claim(claim: ClaimSeen) -> str:
    """Name a claim in a list."""
    return f"{claim.entity} {claim.row_id}: {claim.claim_status}"


def name_effect(effect: EffectSeen) -> str:
    """Name an after-effect in a list."""
    return f"{effect.name} of {effect.entity} {effect.row_id}"


def why_of(claim: ClaimSeen) -> str:
    """Answer the command that tells a claim's row's story."""
    return f"semel why {claim.entity} {claim.row_id}"


def release_of(claim: ClaimSeen) -> str:
    """Answer the command that releases a claim."""
    return f"semel release {claim.entity} {claim.row_id} --reason TEXT"


def facts_of(claim: ClaimSeen) -> dict[str, Any]:
    """Answer a claim as JSON."""
    return {
        "table": claim.entity,
        "row": claim.row_id,
        "workflow": claim.workflow,
        "step": claim.step_key,
        "status": claim.claim_status,
        "back_to": claim.back_to,
        "requester": claim.requester,
        "recovery": claim.recovery,
        "owner": claim.owner,
        "fence": claim.fence,
        "resumes": claim.resumes,
        "lease_seconds": claim.lease_us / MICROSECONDS,
        "next_look": show_time(claim.next_look_us),
        "claimed": show_time(claim.claimed_us),
        "review": claim.review,
    }


def facts_of_effect(effect: EffectSeen) -> dict[str, Any]:
    """Answer an after-effect as JSON."""
    delivered = effect.delivered_us
    return {
        "effect": effect.effect_id,
        "name": effect.name,
        "table": effect.entity,
        "row": effect.row_id,
        "version": effect.version,
        "ordinal": effect.ordinal,
        "state": effect.state,
        "attempts": effect.attempts,
        "problem": effect.problem,
        "recorded": show_time(effect.recorded_us),
        "next_look": show_time(effect.next_look_us),
        "delivered": None if delivered is None else show_time(delivered),
    }


def list_claims(claims: Iterable[ClaimSeen]) -> list[dict[str, Any]]:
    """Answer claims as JSON."""
    return [facts_of(claim) for claim in claims]
