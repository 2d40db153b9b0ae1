"""Mutants of operation ids, journal rows and lost commits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from semel.asks import Asking, Fetch, Fresh
from semel.errors import ConflictedError, OutcomeUnknownError
from semel.protocols import advance, claim, operation, transition
from semel.protocols.operation import Mark
from semel.testing.prove.mutants.mutant import Change, Mutant
from semel.testing.prove.mutants.tampering import later, tampered
from semel.testing.prove.shipped.claims import ClaimWithRevert
from semel.testing.prove.shipped.transitions import BulkTransitions, Transitions

OPERATION = "operation"
TRIES = 3


def act_before_commit(attempt: Any, recall: Any, _abandon: Any) -> Asking[Any]:
    """Take what was counted before the COMMIT for what happened."""
    chosen = yield Fresh()
    try:
        return (yield from attempt(chosen))
    except OutcomeUnknownError:
        return recall(Mark(version=1))


def retry_blindly(attempt: Callable[[str], Asking[Any]], _recall: Any, _abandon: Any) -> Asking[Any]:
    """Run it again when the answer was lost, as if nothing had happened."""
    for _ in range(TRIES):
        chosen = yield Fresh()
        try:
            return (yield from attempt(chosen))
        except (OutcomeUnknownError, ConflictedError) as problem:
            trouble = problem
    raise trouble


def look_it_up(chosen: str, abandon: Any, _problem: Any) -> Asking[Any]:
    """Read whether the operation is there, without forbidding it to come later."""
    rows = yield Fetch(read_operation(abandon), {"operation": chosen})
    return Mark(version=rows[0][1]) if rows else None


def read_operation(abandon: Any) -> Any:
    """Make the SELECT that takes the INSERT's place."""
    import sqlalchemy as sa

    from semel.store.statements import Statement, bind

    table = abandon.construct.table
    select = sa.select(table.c.kind, table.c.version).where(
        table.c.operation_id == bind("operation", table.c.operation_id.type)
    )
    return Statement("read_operation", select, writes=False)


MUTANTS = (
    Mutant(
        "act on rowcount before COMMIT",
        OPERATION,
        BulkTransitions,
        (Change(transition, "run_once", act_before_commit),),
    ),
    Mutant("retry a commit blindly", OPERATION, Transitions, (Change(transition, "run_once", retry_blindly),)),
    Mutant("retry a claim blindly", OPERATION, ClaimWithRevert, (Change(claim, "run_once", retry_blindly),)),
    Mutant("look a lost commit up", OPERATION, Transitions, (Change(operation, "settle_operation", look_it_up),)),
    Mutant(
        "journal outside the commit",
        "transition",
        Transitions,
        (Change(transition, "move_one", tampered(transition.move_one, later("write_1_journal_rows"))),),
    ),
    Mutant(
        "journal of a claim outside the commit",
        "claim",
        ClaimWithRevert,
        (Change(advance, "leave_claim", tampered(claim.leave_claim, later("write_move"))),),
    ),
)
