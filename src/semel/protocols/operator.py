"""What a person does by hand: release a claim or a foreign row, make a parked after-effect due again.

The crash argument, gap by gap
- Everything is one transaction: the row is locked first, then every claim that is held on it, and all are judged as they are
  now. A holder that finished, or a keeper that was first, has closed the claim; then there is nothing to release.
- The holder may still be alive. Releasing raises the row's version under its lock, so the holder's finish, its own release
  and the first statement of its finishing transaction all miss from here on, and what it wrote rolls back. It is told so.
  Because its work is lost, a claim whose holder gave a sign of life within its lease is released only if that is meant.
- The holder's finishing transaction is open: it holds the row's lock, and this waits for it in bounds. Then it has finished,
  and there is nothing to release; or it is gone, and nothing it wrote is there.
- A foreign row has no claim row that could say where it goes back to, so the workflow says it. The row is locked when it is
  judged foreign: a claim is taken only under the same lock, and its claim row is written in the same commit.
- Dying before the commit: nothing was written. After it: done, and the journal says by whom and why, in the same commit.
- The commit's answer was lost: its mark is found, and what the last attempt decided is what happened.
- A parked after-effect belongs to no courier, so nobody else writes it; it is locked, judged and made due in one commit.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias, TypeVar

from semel.asks import Asking, ClaimName, Execute, Fetch, Now, Together
from semel.errors import error
from semel.protocols.claim import Held, Leave, expect_one, leave_in_steps, row_values, vars_of
from semel.protocols.operation import Mark, run_once
from semel.protocols.sight import ClaimSeen, EffectSeen
from semel.protocols.takeover import Stranded, wish_of
from semel.store.claims import Claims
from semel.store.entity import Id
from semel.store.journal import Journal, shared_values
from semel.store.outbox import Outbox
from semel.store.sights import Sights
from semel.workflow.model import Workflow

OPERATOR = "operator"
"""The requester under which a person acts who gave no other name."""

Answer = TypeVar("Answer")


@dataclass(frozen=True)
class Release:
    """What an operator wants released, and why. Without a workflow only a claim can be, not a foreign row."""

    claims: Claims
    sights: Sights
    workflow: Workflow | None
    row: Id
    reason: str
    by: str = OPERATOR
    force: bool = False

    @property
    def row_id(self) -> str:
        """The row's id as text, as Semel's own tables keep it."""
        return str(self.row)


@dataclass(frozen=True, slots=True)
class Freed:
    """What was done. "claim" and "foreign": the row moved back; "closed": it was elsewhere already, only claims were closed."""

    what: Literal["claim", "foreign", "closed"]
    from_status: str
    to_status: str | None
    version: int | None


@dataclass(frozen=True, slots=True)
class Kept:
    """Nothing was written. "alive": the holder is; "free": no claim is held; "unclear": only a workflow could tell."""

    why: Literal["alive", "free", "unclear", "absent"]
    status: str | None
    claim: ClaimSeen | None = None
    seconds_left: float | None = None


Released: TypeAlias = Freed | Kept


@dataclass(frozen=True)
class Judged:
    """A row and its held claims, locked. `claim` is the one that holds the row where it is; `stale` ones do not."""

    status: str | None
    version: int | None
    claim: ClaimSeen | None
    stale: tuple[ClaimSeen, ...]


def release_by_hand(wanted: Release) -> Asking[Released]:
    """Move a row out of its claim, because a person said so."""
    return (yield from decide_once(lambda operation: release_locked(wanted, operation), wanted.claims.journal))


def decide_once(begin: Callable[[str], Asking[Answer]], journal: Journal) -> Asking[Answer]:
    """Run one transaction until it is known what became of it, and answer what it decided."""
    decided: list[Answer] = []

    def attempt(operation: str) -> Asking[Answer]:
        decided.clear()

        def together() -> Asking[Answer]:
            answer = yield from begin(operation)
            decided.append(answer)
            return answer

        answer: Answer = yield Together(together)
        return answer

    def recall(_mark: Mark) -> Answer:
        return decided[0]

    return (yield from run_once(attempt, recall, journal.abandon_operation_unless_committed))


def release_locked(wanted: Release, operation: str) -> Asking[Released]:
    """Lock, judge and release, inside a transaction that is already open."""
    judged = yield from lock_and_judge(wanted)
    now: int = yield Now()
    claim = judged.claim
    if claim is not None:
        if claim.is_alive(now) and not wanted.force:
            return Kept("alive", judged.status, claim, (claim.next_look_us - now) / 1_000_000)
        yield from leave_by_hand(wanted, judged, claim, operation)
        return Freed("claim", claim.claim_status, claim.back_to, after(judged))
    if judged.stale and wanted.workflow is not None:
        yield from close_stale(wanted, judged, operation)
        return Freed("closed", judged.stale[0].claim_status, judged.status, judged.version)
    if judged.status is None:
        return Kept("absent", None)
    if wanted.workflow is None:
        return Kept("unclear", judged.status, judged.stale[0] if judged.stale else None)
    back_to = find_way_back(wanted.workflow, judged.status)
    if back_to is None:
        return Kept("free", judged.status)
    yield from move_foreign(wanted, judged, back_to, operation)
    return Freed("foreign", judged.status, back_to, after(judged))


def lock_and_judge(wanted: Release) -> Asking[Judged]:
    """Lock the row, then the claims held on it, and tell the one that counts from those that the row has left behind."""
    claims = wanted.claims
    entity = claims.entity
    rows = yield Fetch(claims.lock_row, {"id0": wanted.row})
    lines = yield Fetch(wanted.sights.lock_held_claims_of_row, {"entity": entity.name, "row_id": wanted.row_id})
    # Another workflow over another status column of the same table has claims of its own, which are none of ours.
    held = [
        claim
        for claim in (ClaimSeen(*line) for line in lines)
        if wanted.workflow is None or claim.workflow == wanted.workflow.name
    ]
    if not rows:
        return Judged(None, None, None, tuple(held))
    values = row_values(claims, rows[0])
    status = entity.codec.decode(values[entity.status.name])
    version = values[entity.version.name]
    assert isinstance(version, int), "the version column is a whole number; boot checked it"
    # The one taken last comes first: an older one in the same status was left behind by a raw UPDATE.
    holding = next((claim for claim in held if claim.claim_status == status), None)
    return Judged(status, version, holding, tuple(claim for claim in held if claim is not holding))


def leave_by_hand(wanted: Release, judged: Judged, claim: ClaimSeen, operation: str) -> Asking[None]:
    """Move the row back to where its claim row says, and close the claim; the journal says by whom and why."""
    assert judged.version is not None, "a row that is there has a version"
    wish = wish_of(stranded_of(wanted, claim), wanted.by)
    held = Held(wish, fence=judged.version, pass_number=0, values={})
    leave = Leave(claim.back_to, 0, detail=wanted.reason)
    if not (yield from leave_in_steps(held, leave, operation, claim_fence=claim.fence)):
        # The row is locked and was judged, so only a trigger of the user's can have swallowed the UPDATE.
        moving = wanted.claims.move_row_out_of_claim_if_fenced
        raise error("SEMEL-STORE-6", statement=moving.name, counted=0, expected=1)


def stranded_of(wanted: Release, claim: ClaimSeen) -> Stranded:
    """Answer a claim as the pieces of a takeover know it."""
    return Stranded(
        claims=wanted.claims,
        name=name_of(claim),
        row=wanted.row,
        fence=claim.fence,
        beats=claim.beats,
        claim_status=claim.claim_status,
        back_to=claim.back_to,
    )


def name_of(claim: ClaimSeen) -> ClaimName:
    """Answer which claim it is."""
    return ClaimName(claim.workflow, claim.entity, claim.row_id, claim.step_key, claim.status)


def close_stale(wanted: Release, judged: Judged, operation: str) -> Asking[None]:
    """Close the claims of a row that is elsewhere by now, or is gone. The row stays where it is."""
    claims = wanted.claims
    for claim in judged.stale:
        fenced = {**vars_of(name_of(claim)), "fence": claim.fence, "passes": 0}
        yield from expect_one(Execute(claims.close_claim_if_fenced, fenced))
    first = judged.stale[0]
    moved = {"from_status": first.claim_status, "to_status": judged.status, "version": judged.version}
    yield from journal_release(wanted, operation, step_key=first.step_key, **moved)


def find_way_back(workflow: Workflow, status: str) -> str | None:
    """Answer where claims into a status go back to: all of them to one place. None: it is no claim status."""
    claims = (claim for step in workflow.steps for _, claim in step.claims)
    return next((claim.back_to for claim in claims if claim.into == status), None)


def move_foreign(wanted: Release, judged: Judged, back_to: str, operation: str) -> Asking[None]:
    """Move a row back that is in a claim status without a claim."""
    claims, codec, status = wanted.claims, wanted.claims.entity.codec, judged.status
    assert status is not None, "a foreign row is there"
    assert judged.version is not None, "a row that is there has a version"
    params = {"id0": wanted.row, "into": codec.encode(status), "target": codec.encode(back_to)}
    yield from expect_one(Execute(claims.move_row_out_of_claim_if_fenced, {**params, "version": judged.version}))
    moved = {"from_status": status, "to_status": back_to, "version": after(judged)}
    yield from journal_release(wanted, operation, step_key=None, **moved)


def journal_release(wanted: Release, operation: str, *, step_key: str | None, **moved: object) -> Asking[None]:
    """Write down that a person released the row, and why."""
    workflow = wanted.workflow.name if wanted.workflow is not None else None
    shared = shared_values(
        operation, wanted.claims.entity.name, "", requester=wanted.by, workflow=workflow, step_key=step_key
    )
    params = {**shared, "kind": "release", "row_id": wanted.row_id, "detail": wanted.reason, **moved}
    yield Execute(wanted.claims.journal.write_move, params)


def after(judged: Judged) -> int | None:
    """Answer the version that the row has after one more move."""
    return None if judged.version is None else judged.version + 1


# After-effects


@dataclass(frozen=True)
class Retry:
    """A parked after-effect that an operator wants delivered, and why."""

    sights: Sights
    outbox: Outbox
    journal: Journal
    effect_id: str
    reason: str
    by: str = OPERATOR


@dataclass(frozen=True, slots=True)
class Retried:
    """How it went. `done` is false, and nothing was written, where there is no such after-effect or it is not parked."""

    done: bool
    effect: EffectSeen | None


def retry_by_hand(wanted: Retry) -> Asking[Retried]:
    """Make a parked after-effect due again, because a person said so."""
    return (yield from decide_once(lambda operation: retry_locked(wanted, operation), wanted.journal))


def retry_locked(wanted: Retry, operation: str) -> Asking[Retried]:
    """Lock, judge and make due, inside a transaction that is already open."""
    lines = yield Fetch(wanted.sights.lock_effect, {"effect_id": wanted.effect_id})
    effect = EffectSeen(*lines[0]) if lines else None
    if effect is None or effect.state != "parked":
        return Retried(done=False, effect=effect)
    yield from expect_one(Execute(wanted.outbox.retry_effect_if_parked, {"effect_id": wanted.effect_id}))
    shared = shared_values(operation, effect.entity, "", requester=wanted.by)
    told = f"{effect.name} {effect.effect_id}: {wanted.reason}"
    params = {**shared, "kind": "retry", "row_id": effect.row_id, "version": effect.version, "detail": told}
    # It is the after-effect that moves, not the row.
    yield Execute(wanted.journal.write_move, {**params, "from_status": None, "to_status": None})
    return Retried(done=True, effect=effect)
