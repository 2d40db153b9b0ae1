"""Taking a step: claim, validate, act, finish; or, without a claim, one transaction.

The crash argument, gap by gap
- With a claim: see `claim` for everything before the action and from the finish on. While the action runs, nothing it
  wrote is committed: its transaction opens with the fenced lock of the row, and ends with the finish or not at all.
- The action returned, and the process dies before the finish: the claim stays, a keeper releases it or runs the step
  again; the action's transaction rolls back with its connection.
- The action said no or raised: first its transaction is rolled back, then the claim is released. Dying between the two
  leaves a claim without an owner, which is the case above.
- The claim was lost while the action ran: what it wrote is rolled back, and the caller hears `Pending`, never `Done`.
- Without a claim: one transaction whose first statement locks and judges the row. Dying anywhere leaves all or nothing.
- After-effects are rows of the finishing commit: owed if, and only if, the step is finished.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from semel.asks import (
    Act,
    Acted,
    Asking,
    ClaimName,
    Drop,
    Execute,
    Fetch,
    Fresh,
    Open,
    OpenFinish,
    Recorded,
    StepFacts,
    Together,
)
from semel.errors import ClaimLostError, OutcomeUnknownError, SemelError, StoreError, error
from semel.outcomes import Done, Finish, NotAllowed, Outcome, Pending, Rejected
from semel.protocols.claim import (
    Held,
    Leave,
    Wish,
    expect_one,
    give_lease_up,
    leave_claim,
    park_claim,
    row_values,
    take_claim,
)
from semel.protocols.operation import Mark, run_once, settle_operation
from semel.protocols.wording import printable
from semel.store.claims import Claims
from semel.store.dialects import Fault, classify
from semel.store.entity import Id
from semel.store.journal import shared_values
from semel.workflow.model import Step, Workflow

HIDDEN = "semel_secret"
"""The key of what stands for a secret in a stored input. Nothing of the secret is kept: a digest of three digits is guessed."""

TORN = "SEMEL-STEP-8"
"""The error of a transaction that its action has ended."""

DETAIL_CHARACTERS = 500
"""How much of a reason the journal keeps."""

CHOICES_LIMIT = 3
"""How often a step is chosen anew because the row moved meanwhile; a row that moves faster is busy."""


@dataclass(frozen=True)
class Errand:
    """A step that somebody asked to take on a row."""

    claims: Claims
    workflow: Workflow
    row: Id
    key: str
    requester: str
    input_text: str | None
    input: object
    owner: str
    lease_us: int
    request: str | None = None
    steps: Mapping[str, Step] = field(default_factory=dict)

    @property
    def row_id(self) -> str:
        """The row's id as text, as Semel's own tables keep it."""
        return str(self.row)


def advance(errand: Errand) -> Asking[Outcome]:
    """Take the step that fits the row's status and the requester, on connections of Semel's own."""
    only = next(iter(errand.steps), "")
    status = only if len(errand.steps) == 1 else (yield from read_status(errand))
    outcome: Outcome = NotAllowed(status)
    for _ in range(CHOICES_LIMIT):
        step = errand.steps.get(status)
        if step is None:
            return NotAllowed(status)
        outcome = yield from (
            advance_claimed(errand, step) if step.claim_for(errand.requester) else advance_alone(errand, step)
        )
        if not isinstance(outcome, NotAllowed) or outcome.now == status:
            return outcome
        status = outcome.now
    return outcome


def read_status(errand: Errand) -> Asking[str]:
    """Read which status the row has, to choose among steps of one key."""
    rows = yield Fetch(errand.claims.read_status, {"id0": errand.row})
    if not rows:
        raise error("SEMEL-ROW-1", ids=repr(errand.row), table=errand.claims.entity.name)
    return errand.claims.entity.codec.decode(rows[0][0])


# With a claim


def advance_claimed(errand: Errand, step: Step) -> Asking[Outcome]:
    """Claim the row, then act under the claim."""
    taken = yield from take_claim(wish_for(errand, step))
    return (yield from act_under_claim(errand, step, taken)) if isinstance(taken, Held) else taken


def wish_for(errand: Errand, step: Step) -> Wish:
    """Make the claim that a step declares for this requester."""
    claim = step.claim_for(errand.requester)
    assert claim is not None, "only a step with a claim is claimed"
    return Wish(
        claims=errand.claims,
        name=ClaimName(errand.workflow.name, errand.claims.entity.name, errand.row_id, step.key, step.status),
        row=errand.row,
        into=claim.into,
        back_to=claim.back_to,
        requester=errand.requester,
        input=errand.input_text,
        recovery=step.recovery,
        owner=errand.owner,
        lease_us=int(step.lease_seconds * 1_000_000) if step.lease_seconds else errand.lease_us,
        workflow_hash=errand.workflow.hash,
        claim_statuses=errand.workflow.claim_statuses,
        request=errand.request,
    )


def act_under_claim(errand: Errand, step: Step, held: Held) -> Asking[Outcome]:
    """Run the action under a claim that is held, and end the claim one way or the other."""
    acted: Acted = yield Act(
        facts_of(errand, step, held.values, fence=held.fence, attempt=held.resumes),
        action=step.action_for(errand.requester),
        validators=step.validators_for(errand.requester),
        fence=lambda: lock_if_fenced(held),
        claim=held.wish.name,
        lease_us=held.wish.lease_us,
    )
    if acted.lost:
        return (yield from lose_claim(held, acted))
    refusal = refuse(step, errand.requester, acted)
    if refusal is not None:
        return (yield from release(held, acted, refusal))
    finish = read_finish(step, errand.requester, acted.value)
    effects = yield from name_effects(step, errand.requester, acted)
    try:
        left = yield from leave_claim(held, Leave(str(finish.status), 1, effects), acted.open)
    except ClaimLostError:
        left = False
    except OutcomeUnknownError:
        raise
    except SemelError as problem:
        # The performer has rolled back whatever could be rolled back; what could not, a person has to look at.
        whole = problem.code != TORN
        return (yield from release(held, Acted(problem=problem), problem, whole=whole))
    return Done(finish.status or "", finish.result) if left else (yield from lose_claim(held, Acted()))


def lock_if_fenced(held: Held) -> Asking[None]:
    """Lock the row as the first statement of the finishing transaction, or learn that the claim is lost."""
    wish = held.wish
    params = {"id0": wish.row, "into": wish.claims.entity.codec.encode(wish.into), "version": held.fence}
    if not (yield Fetch(wish.claims.lock_row_if_fenced, params)):
        raise error("SEMEL-CLAIM-1", table=wish.name.entity, id=wish.name.row_id)


def refuse(step: Step, requester: str, acted: Acted) -> Rejected | BaseException | None:
    """Answer why the step is not to be finished, if it is not."""
    if acted.problem is not None:
        return acted.problem
    if isinstance(acted.value, Rejected):
        return acted.value
    try:
        read_finish(step, requester, acted.value)
    except Exception as problem:  # noqa: BLE001 - what the action returned is judged like what it raised
        return problem
    return None


def read_finish(step: Step, requester: str, value: Any) -> Finish:
    """Read what an action returned: the first successful state, unless it picked another."""
    successes = step.successes_for(requester)
    finish = value if isinstance(value, Finish) else Finish(result=value)
    # The workflow's own text is what is written: an enum member that equals it may print as something else.
    picked = next((status for status in successes if finish.status in (None, status)), None)
    if picked is None:
        raise error("SEMEL-STEP-1", step=step.key, status=finish.status, known=", ".join(successes))
    return Finish(picked, finish.result)


def release(
    held: Held, acted: Acted, why: Rejected | BaseException, *, whole: bool = True
) -> Asking[Rejected | Pending]:
    """Roll back, move the row back, and pass on why. A claim that was lost meanwhile is not released, and not rejected."""
    if acted.open is not None:
        whole = yield Drop(acted.open)
    if not whole:
        return (yield from park_torn(held, why))
    detail = why.reason if isinstance(why, Rejected) else type(why).__name__
    try:
        left = yield from leave_claim(held, Leave(held.wish.back_to, 0, detail=printable(detail, DETAIL_CHARACTERS)))
        if not left:
            yield from give_lease_up(held)
            if isinstance(why, Rejected):
                return Pending(None)
            why.add_note("The claim was lost meanwhile: somebody else goes on with the row.")
    except StoreError as problem:
        if isinstance(why, Rejected):
            raise
        why.add_note(
            f"Semel could not release its claim on {held.wish.name.entity} {held.wish.name.row_id}: {problem.happened}"
        )
        why.add_note(f"The row stays in {held.wish.into!r} until a keeper recovers it ({held.wish.recovery}).")
    if isinstance(why, Rejected):
        return why
    raise why


def park_torn(held: Held, why: Rejected | BaseException) -> Asking[Pending]:
    """Leave the row where it is: half a step may be there, and releasing it would let the other half happen twice."""
    yield from park_claim(held, "the action ended the transaction of its step itself")
    if isinstance(why, Rejected):
        return Pending(None)
    why.add_note(
        f"The row stays in {held.wish.into!r} for a person: the action ended the transaction of its step itself."
    )
    raise why


def lose_claim(held: Held, acted: Acted) -> Asking[Pending]:
    """Roll back what was written without a claim; if the claim row still is ours, let a keeper have it at once."""
    if acted.open is not None:
        yield Drop(acted.open)
    yield from give_lease_up(held)
    return Pending(None)


# Without a claim


def advance_alone(errand: Errand, step: Step) -> Asking[Outcome]:
    """Take a step that is one transaction, on a connection of Semel's own."""
    if step.action_for(errand.requester) is None and not step.validators_for(errand.requester):
        effects = yield from name_effects(step, errand.requester, Acted())

        def attempt(operation: str) -> Asking[Outcome]:
            outcome: Outcome = yield Together(lambda: step_in_one(errand, step, operation, effects))
            return outcome

        def recall(_mark: Mark) -> Outcome:
            return Done(step.successes_for(errand.requester)[0])

        return (yield from run_once(attempt, recall, errand.claims.journal.abandon_operation_unless_committed))
    return (yield from act_alone(errand, step))


def advance_joined(errand: Errand) -> Asking[Outcome]:
    """Take a step without a claim in the user's transaction."""
    if errand.claims.take_write_lock is not None:
        # A savepoint before the first write would be sqlite3's whole transaction, and its release a commit.
        yield Execute(errand.claims.take_write_lock, {})
    status = yield from read_status(errand)
    step = errand.steps.get(status)
    if step is None:
        return NotAllowed(status)
    if step.claim_for(errand.requester) is not None or step.calls:
        raise error("SEMEL-ON-6", step=step.key)
    return (yield from act_alone(errand, step))


def step_in_one(
    errand: Errand, step: Step, operation: str, effects: tuple[tuple[str, Recorded], ...]
) -> Asking[Outcome]:
    """Lock, judge, move, journal and record, inside a transaction that is already open."""
    judged = yield from lock_and_judge(errand, step)
    if isinstance(judged, NotAllowed):
        return judged
    status = step.successes_for(errand.requester)[0]
    yield from move_alone(errand, step, judged, Ending(operation, status, effects))
    return Done(status)


def act_alone(errand: Errand, step: Step) -> Asking[Outcome]:
    """Lock and judge the row, run the action in the same transaction, move the row, commit."""
    opened, judged = yield OpenFinish(lambda: lock_and_judge(errand, step))
    if isinstance(judged, NotAllowed):
        yield Drop(opened)
        return judged
    facts = facts_of(errand, step, judged, fence=None, attempt=0)
    acted: Acted = yield Act(
        facts, action=step.action_for(errand.requester), validators=step.validators_for(errand.requester), opened=opened
    )
    refusal = refuse(step, errand.requester, acted)
    if refusal is not None:
        whole = yield Drop(opened)
        return tell_refusal(refusal, whole=whole)
    finish = read_finish(step, errand.requester, acted.value)
    effects = yield from name_effects(step, errand.requester, acted)
    operation = yield Fresh()
    yield from finish_alone(errand, step, judged, Ending(operation, finish.status or "", effects), opened)
    return Done(finish.status or "", finish.result)


def tell_refusal(why: Rejected | BaseException, *, whole: bool) -> Rejected:
    """Pass on why; there is no claim to be parked if the action has ended its transaction, so its caller is told."""
    if whole and isinstance(why, Rejected):
        return why
    if isinstance(why, Rejected):
        raise error(TORN)
    if not whole and classify(why) is not Fault.GAVE_WAY:  # a deadlock on MariaDB has taken all of it back
        why.add_note("The action ended the transaction of its step itself: what it wrote may have been kept.")
    raise why


@dataclass(frozen=True)
class Ending:
    """How a step without a claim ends: under which operation id, in which status, and what is owed afterwards."""

    operation: str
    status: str
    effects: tuple[tuple[str, Recorded], ...]


def finish_alone(
    errand: Errand, step: Step, values: Mapping[str, object], ending: Ending, opened: Open
) -> Asking[None]:
    """Move and commit; a commit whose answer was lost is looked up, and one that did not happen is the caller's to repeat."""
    try:
        yield Together(lambda: move_alone(errand, step, values, ending), opened)
    except OutcomeUnknownError as problem:
        abandon = errand.claims.journal.abandon_operation_unless_committed
        if (yield from settle_operation(ending.operation, abandon, problem)) is None:
            raise error("SEMEL-STORE-4", reason=problem.reason) from problem


def lock_and_judge(errand: Errand, step: Step) -> Asking[dict[str, object] | NotAllowed]:
    """Lock the row first of all; answer its columns, or where it is if it is not where the step begins."""
    claims = errand.claims
    rows = yield Fetch(claims.lock_row, {"id0": errand.row})
    if not rows:
        raise error("SEMEL-ROW-1", ids=repr(errand.row), table=claims.entity.name)
    values = row_values(claims, rows[0])
    status = claims.entity.codec.decode(values[claims.entity.status.name])
    return values if status == step.status else NotAllowed(status)


def move_alone(errand: Errand, step: Step, values: Mapping[str, object], ending: Ending) -> Asking[None]:
    """Move a row that this transaction has locked and judged, journal it, and record what it owes."""
    status, effects = ending.status, ending.effects
    claims, codec = errand.claims, errand.claims.entity.codec
    version = values[claims.entity.version.name]
    assert isinstance(version, int), "the version column is a whole number; boot checked it"
    shared = shared_values(
        ending.operation,
        claims.entity.name,
        status,
        requester=errand.requester,
        workflow=errand.workflow.name,
        step_key=step.key,
    )
    params: dict[str, object] = {
        **shared,
        "kind": "step",
        "id0": errand.row,
        "row_id": errand.row_id,
        "from_status": step.status,
    }
    params |= {"into": codec.encode(step.status), "target": codec.encode(status), "version": version}
    yield from expect_one(Execute(claims.move_row_out_of_claim_if_fenced, params))
    params["version"] = version + 1
    yield Execute(claims.journal.write_move, params)
    if effects:
        for number, (effect_id, effect) in enumerate(effects):
            params |= {
                f"effect_id_{number}": effect_id,
                f"name_{number}": effect.name,
                f"payload_{number}": effect.payload,
            }
        yield Execute(claims.outbox.write_effects(len(effects)), params, rows_limit=len(effects))


# Pieces


def facts_of(errand: Errand, step: Step, values: Mapping[str, object], *, fence: int | None, attempt: int) -> StepFacts:
    """Answer what the action is told."""
    return StepFacts(
        workflow=errand.workflow.name,
        step_key=step.key,
        status=step.status,
        requester=errand.requester,
        entity=errand.claims.entity.name,
        row=errand.row,
        input=errand.input,
        fence=fence,
        values=values,
        attempt=attempt,
    )


def name_effects(step: Step, requester: str, acted: Acted) -> Asking[tuple[tuple[str, Recorded], ...]]:
    """Give every after-effect its id: the declared ones first, then those the action asked for."""
    declared = [Recorded(name, "{}") for name in step.after_effects_for(requester)]
    named = []
    for effect in (*declared, *acted.effects):
        effect_id = yield Fresh()
        named.append((effect_id, effect))
    return tuple(named)
