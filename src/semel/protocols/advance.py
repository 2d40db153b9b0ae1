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

from semel.asks import (
    Act,
    Acted,
    Asking,
    ClaimName,
    Drop,
    Fetch,
)
from semel.errors import ClaimLostError, OutcomeUnknownError, SemelError, StoreError, error
from semel.outcomes import Done, NotAllowed, Outcome, Pending, Rejected
from semel.protocols.alone import advance_alone
from semel.protocols.claim import (
    Held,
    Leave,
    Wish,
    give_lease_up,
    leave_claim,
    park_claim,
    take_claim,
)
from semel.protocols.errand import TORN, Errand, facts_of, name_effects, read_finish, read_status, refuse
from semel.protocols.wording import printable
from semel.workflow.model import Step

DETAIL_CHARACTERS = 500
"""How much of a reason the journal keeps."""

CHOICES_LIMIT = 3
"""How often a step is chosen anew because the row moved meanwhile; a row that moves faster is busy."""


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
        # This process may go on beating for other claims, and must not keep this one alive with them.
        yield from give_lease_up(held)
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
        yield from give_lease_up(held)
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
