"""Taking a step without a claim: one transaction, on a connection of Semel's own or in one that the user lent.

The crash argument, gap by gap
- The first statement locks and judges the row; everything else happens under that lock, in the same transaction. Dying
  anywhere leaves all of it or nothing.
- The commit's answer was lost: see `operation`. A step with an action cannot be run again without it, so one that has not
  committed is the caller's to repeat.
- In a transaction that the user lent, a savepoint stands for the transaction: what an action says no to goes back to it,
  and the commit is the user's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from semel.asks import (
    Act,
    Acted,
    Asking,
    Drop,
    Execute,
    Fetch,
    Fresh,
    Open,
    OpenFinish,
    Recorded,
    Together,
)
from semel.errors import OutcomeUnknownError, error
from semel.outcomes import Busy, Done, NotAllowed, Outcome, Rejected
from semel.protocols.claim import (
    expect_one,
    row_values,
)
from semel.protocols.errand import TORN, Errand, facts_of, name_effects, read_finish, read_status, refuse
from semel.protocols.operation import Mark, run_once, settle_operation
from semel.store.dialects import Fault, classify
from semel.store.journal import shared_values
from semel.workflow.model import Step


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
    if isinstance(judged, NotAllowed | Busy):
        return judged
    status = step.successes_for(errand.requester)[0]
    yield from move_alone(errand, step, judged, Ending(operation, status, effects))
    return Done(status)


def act_alone(errand: Errand, step: Step) -> Asking[Outcome]:
    """Lock and judge the row, run the action in the same transaction, move the row, commit."""
    opened, judged = yield OpenFinish(lambda: lock_and_judge(errand, step))
    if isinstance(judged, NotAllowed | Busy):
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


def lock_and_judge(errand: Errand, step: Step) -> Asking[dict[str, object] | NotAllowed | Busy]:
    """Lock the row first of all; answer its columns, or where it is if it is not where the step begins."""
    claims = errand.claims
    rows = yield Fetch(claims.lock_row, {"id0": errand.row})
    if not rows:
        raise error("SEMEL-ROW-1", ids=repr(errand.row), table=claims.entity.name)
    values = row_values(claims, rows[0])
    status = claims.entity.codec.decode(values[claims.entity.status.name])
    if status in errand.workflow.claim_statuses:
        holders = yield Fetch(claims.read_holder, errand.name_of_claim(step))
        return Busy(next((step_key for _owner, step_key, *_ in holders), status))
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
