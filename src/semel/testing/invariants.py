"""What must hold in every database of Semel's: written once, for `prove`, crash tests and property tests.

A `Picture` is what a test read from a database. Each invariant answers sentences about what is wrong with it; none, if it
holds. `ALWAYS` holds at every moment, `BETWEEN` between any moment and a later one, `AT_REST` when every actor has ended
and the keepers have had their time.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from semel.workflow.model import Step, Workflow

FINISHES = frozenset({"finish", "step"})
"""What the journal calls the end of a pass: with a claim, and without one."""

NO_MOVES = frozenset({"abandoned", "delivery", "retry"})
"""What the journal keeps beside moves."""


@dataclass(frozen=True)
class MovedRow:
    """One line of the journal."""

    operation_id: str
    kind: str
    entity: str | None
    row_id: str | None
    from_status: str | None
    to_status: str | None
    version: int | None
    step_key: str | None = None


@dataclass(frozen=True)
class ClaimRow:
    """One claim row."""

    workflow: str
    entity: str
    row_id: str
    step_key: str
    status: str
    held: bool
    fence: int
    claim_status: str
    pass_number: int
    review: str | None = None
    owner: str | None = None


@dataclass(frozen=True)
class EffectRow:
    """One after-effect."""

    effect_id: str
    name: str
    entity: str
    row_id: str
    version: int
    state: str


@dataclass(frozen=True)
class Picture:
    """A database at one moment. `rows` are the users' rows by table and id: (status, version)."""

    rows: Mapping[str, Mapping[str, tuple[str, int]]]
    journal: Collection[MovedRow]
    claims: Collection[ClaimRow]
    effects: Collection[EffectRow]
    workflows: Collection[Workflow]
    delivered: frozenset[str] = field(default_factory=frozenset)
    """The ids of the after-effects that their handlers have seen."""

    def workflow_of(self, entity: str) -> Workflow | None:
        """Answer the workflow of a table."""
        return next((each for each in self.workflows if each.table == entity), None)

    def moves_of(self, entity: str, row_id: str) -> list[MovedRow]:
        """Answer the moves of one row in the order of their versions."""
        moves = [
            each
            for each in self.journal
            if each.kind not in NO_MOVES and (each.entity, each.row_id) == (entity, row_id)
        ]
        return sorted(moves, key=lambda each: each.version or 0)


Check: TypeAlias = Callable[[Picture], Iterator[str]]
Change: TypeAlias = Callable[[Picture, Picture], Iterator[str]]


def claims_agree_with_rows(picture: Picture) -> Iterator[str]:
    """A held claim's row is in its claim status, and a row in a claim status has exactly one held claim."""
    held: dict[tuple[str, str], list[ClaimRow]] = {}
    for claim in picture.claims:
        if claim.held:
            held.setdefault((claim.entity, claim.row_id), []).append(claim)
    for entity, rows in picture.rows.items():
        workflow = picture.workflow_of(entity)
        for row_id, (status, version) in rows.items():
            claims = held.get((entity, row_id), [])
            if len(claims) > 1:
                yield f"{entity} {row_id} has {len(claims)} held claims"
            if workflow and status in workflow.claim_statuses and not claims:
                yield f"{entity} {row_id} is in {status!r}, and nobody holds a claim on it"
            for claim in claims:
                if claim.claim_status != status:
                    yield f"{entity} {row_id} is in {status!r}, and a claim into {claim.claim_status!r} is held on it"
                elif claim.fence != version:
                    yield f"{entity} {row_id} has version {version}, and its claim has fence {claim.fence}"


def the_journal_is_a_chain(picture: Picture) -> Iterator[str]:
    """Every version of a row has one journal row, each begins where the one before ended, and the last is the row."""
    for entity, rows in picture.rows.items():
        for row_id, (status, version) in rows.items():
            moves = picture.moves_of(entity, row_id)
            for earlier, later in itertools.pairwise(moves):
                if later.version != (earlier.version or 0) + 1:
                    yield f"the journal of {entity} {row_id} has version {later.version} after {earlier.version}"
                elif later.from_status != earlier.to_status:
                    yield (
                        f"the journal of {entity} {row_id} moves on from {later.from_status!r} after it came to"
                        f" {earlier.to_status!r}"
                    )
            last = moves[-1] if moves else None
            if last is None and version:
                yield f"{entity} {row_id} has version {version} and no journal row"
            if last is not None and (last.to_status, last.version) != (status, version):
                yield (
                    f"{entity} {row_id} is {status!r} at version {version}; its last journal row says {last.to_status!r}"
                    f" at {last.version}"
                )


def a_pass_finishes_once(picture: Picture) -> Iterator[str]:
    """A claim's pass is one more than the finishes of its step in the journal."""
    for claim in picture.claims:
        workflow = picture.workflow_of(claim.entity)
        step = workflow.step_at(claim.step_key, claim.status) if workflow else None
        if step is None:
            continue
        finishes = [
            each
            for each in picture.moves_of(claim.entity, claim.row_id)
            if each.kind == "finish" and (each.step_key, each.from_status) == (claim.step_key, claim.claim_status)
        ]
        if len(finishes) != claim.pass_number - 1:
            yield (
                f"step {claim.step_key!r} of {claim.entity} {claim.row_id} was finished {len(finishes)} times and is in"
                f" pass {claim.pass_number}"
            )


def effects_follow_finishes(picture: Picture) -> Iterator[str]:
    """An after-effect is owed if, and only if, the journal says that its step was finished at that version."""
    moves = {(each.entity, each.row_id, each.version): each for each in picture.journal if each.kind not in NO_MOVES}
    owed: dict[tuple[str | None, str | None, int | None], set[str]] = {}
    for effect in picture.effects:
        place: tuple[str | None, str | None, int | None] = (effect.entity, effect.row_id, effect.version)
        owed.setdefault(place, set()).add(effect.name)
        move = moves.get(place)
        if move is None or move.kind == "claim":
            yield f"{effect.name} is owed by {effect.entity} {effect.row_id} at version {effect.version}, and nothing moved"
    for place, move in moves.items():
        step = step_of(picture, move)
        if step is None:
            continue
        for name in {name for _, names in step.after_effects for name in names}:
            if name not in owed.get(place, set()):
                yield f"{place[0]} {place[1]} finished {step.key!r} at version {place[2]} and does not owe {name}"


def step_of(picture: Picture, move: MovedRow) -> Step | None:
    """Answer the step that a journal row finished. None: it finished none."""
    if move.kind not in FINISHES or move.entity is None:
        return None
    workflow = picture.workflow_of(move.entity)
    steps = [step for step in workflow.steps if step.key == move.step_key] if workflow else []
    for step in steps:
        begins = {step.status} | {claim.into for _, claim in step.claims}
        if move.from_status in begins:
            return step
    return None


def handed_effects_are_owed(picture: Picture) -> Iterator[str]:
    """No handler saw an after-effect that no commit owes."""
    for effect_id in sorted(picture.delivered - {effect.effect_id for effect in picture.effects}):
        yield f"the after-effect {effect_id} was delivered, and nothing that was committed owes it"


def delivered_effects_were_handed(picture: Picture) -> Iterator[str]:
    """An effect that is written down as delivered was seen by its handler."""
    for effect in picture.effects:
        if effect.state == "delivered" and effect.effect_id not in picture.delivered:
            yield f"{effect.name} of {effect.entity} {effect.row_id} counts as delivered, and no handler saw it"


def nothing_is_stranded(picture: Picture) -> Iterator[str]:
    """No row waits in a claim status, except for a person, with the reason."""
    parked = {(claim.entity, claim.row_id) for claim in picture.claims if claim.held and claim.review}
    for entity, rows in picture.rows.items():
        workflow = picture.workflow_of(entity)
        for row_id, (status, _) in rows.items():
            if workflow and status in workflow.claim_statuses and (entity, row_id) not in parked:
                yield f"{entity} {row_id} is stranded in {status!r}"


def every_claim_ends(picture: Picture) -> Iterator[str]:
    """No claim is held, except for a person, with the reason."""
    for claim in picture.claims:
        if claim.held and not claim.review:
            yield f"the claim of step {claim.step_key!r} on {claim.entity} {claim.row_id} never ends"


def every_effect_is_delivered(picture: Picture) -> Iterator[str]:
    """Every after-effect that is owed was delivered, or is parked for a person."""
    for effect in picture.effects:
        if effect.state not in {"delivered", "parked"}:
            yield f"{effect.name} of {effect.entity} {effect.row_id} is owed and never delivered"


def terminal_rows_never_change(before: Picture, after: Picture) -> Iterator[str]:
    """A row in a terminal status stays in it."""
    for entity, rows in before.rows.items():
        workflow = before.workflow_of(entity)
        for row_id, (status, _) in rows.items():
            now = after.rows[entity].get(row_id, (None, None))[0]
            if workflow and status in workflow.terminal and now != status:
                yield f"{entity} {row_id} was {status!r}, which is terminal, and is now {now!r}"


def versions_only_grow(before: Picture, after: Picture) -> Iterator[str]:
    """A status that changed has a higher version, and no version ever falls."""
    for entity, rows in before.rows.items():
        for row_id, (status, version) in rows.items():
            now = after.rows[entity].get(row_id)
            if now is not None and (now[1] < version or (now[0] != status and now[1] == version)):
                yield f"{entity} {row_id} went from {status!r} at version {version} to {now[0]!r} at {now[1]}"


def a_new_owner_has_a_new_fence(before: Picture, after: Picture) -> Iterator[str]:
    """A claim that somebody else holds now has a higher fence: whoever held it before is fenced out."""
    owners = {key_of(claim): claim for claim in before.claims if claim.held and claim.owner}
    for claim in after.claims:
        old = owners.get(key_of(claim))
        if old and claim.held and claim.owner and claim.owner != old.owner and claim.fence <= old.fence:
            yield (
                f"the claim of step {claim.step_key!r} on {claim.entity} {claim.row_id} went from {old.owner} to"
                f" {claim.owner} under fence {claim.fence}"
            )


def key_of(claim: ClaimRow) -> tuple[str, str, str, str, str]:
    """Answer which claim it is."""
    return claim.workflow, claim.entity, claim.row_id, claim.step_key, claim.status


ALWAYS: tuple[Check, ...] = (
    claims_agree_with_rows,
    the_journal_is_a_chain,
    a_pass_finishes_once,
    effects_follow_finishes,
    handed_effects_are_owed,
)
SETTLED: tuple[Check, ...] = (delivered_effects_were_handed,)
"""What holds at rest even if a keeper is missing."""
AT_REST: tuple[Check, ...] = (nothing_is_stranded, every_claim_ends, every_effect_is_delivered)
BETWEEN: tuple[Change, ...] = (terminal_rows_never_change, versions_only_grow, a_new_owner_has_a_new_fence)


def name_of(check: Callable[..., object]) -> str:
    """Answer an invariant's name as people read it."""
    return check.__name__.replace("_", " ")
