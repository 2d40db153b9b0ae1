"""A claim: one transition that takes a row for one operation, and one that lets it go.

The crash argument, gap by gap
- Before the claim committed: nothing happened; the row is in its status.
- The claim's answer was lost: see `operation`. What committed is found by its mark, and the claim is ours if the row still
  is where it put it: nobody's heart beat meanwhile, so a keeper may have taken it since. Then nothing is run.
- The caller was cancelled while the claim's answer was on its way: the answer is awaited, and the claim released.
- Claimed, and the process dies: the row is in its claim status with a claim row that says whose, since when, and how to
  recover. A keeper sees the same heartbeat counter at two looks one lease apart and releases it (`revert`) or runs the
  step again (`resume`). Nothing the step wrote was committed, because all of it commits with the finish.
- Between the finishing transaction's first statement and its commit: the row is locked under the fence. A takeover waits
  for that lock; when it gets it, either the finish committed (the claim is closed) or it did not (nothing was written).
- The finish's answer was lost: found by its mark. A finish that finds the fence raised wrote nothing, and says so.
- A release is a finish that goes back: the same statement, the same argument.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TypeAlias

from semel.asks import Asking, ClaimName, Execute, Fetch, Fresh, Open, Recorded, Row, Together
from semel.errors import OutcomeUnknownError, StoreError, error
from semel.outcomes import Busy, NotAllowed, Pending
from semel.protocols.operation import Mark, run_once, settle_operation
from semel.store.claims import Claims
from semel.store.entity import Id
from semel.store.journal import shared_values

HELD_BY_LOCK = "lock"


@dataclass(frozen=True)
class Wish:
    """A claim somebody wants to take."""

    claims: Claims
    name: ClaimName
    row: Id
    into: str
    back_to: str
    requester: str
    input: str | None
    recovery: str
    owner: str
    lease_us: int
    workflow_hash: str
    claim_statuses: frozenset[str]
    request: str | None = None


@dataclass(frozen=True)
class Held:
    """A claim that was taken: who holds this fence may write the row."""

    wish: Wish
    fence: int
    pass_number: int
    values: Mapping[str, object]
    resumes: int = 0


Taken: TypeAlias = Held | Busy | NotAllowed | Pending


def take_claim(wish: Wish) -> Asking[Taken]:
    """Take a claim, on a connection of Semel's own."""

    def attempt(operation: str) -> Asking[Taken]:
        if wish.claims.in_one_statement:
            return (yield from take_at_once(wish, operation))
        found: Taken = yield Together(lambda: take_in_steps(wish, operation), whole=True)
        return found

    def recall(mark: Mark) -> Taken:
        return Held(wish, fence=_fence(mark), pass_number=0, values={})

    taken = yield from run_once(attempt, recall, wish.claims.journal.abandon_operation_unless_committed)
    if isinstance(taken, Held) and not taken.values:
        return (yield from recall_claim(taken))
    return taken


def _fence(mark: Mark) -> int:
    assert mark.version is not None, "a claim's mark carries its fence"
    return mark.version


def recall_claim(held: Held) -> Asking[Held | Pending]:
    """Read again what the lost answer to a claim said. Pending: it is somebody else's by now, or it cannot be read.

    Nobody's heart beat while the answer was looked for, so a keeper may have been here. What cannot be read is no reason to
    say that nothing was written, because the claim was.
    """
    found: Held | None = None
    with suppress(StoreError):
        abandon = held.wish.claims.journal.abandon_operation_unless_committed
        found = yield from run_once(lambda _operation: read_held(held), lambda _mark: None, abandon)
    if found is None:
        yield from give_lease_up(held)
        return Pending(None)
    return found


def read_held(held: Held) -> Asking[Held | None]:
    """Read the row under its lock, and its pass. None: the row is not where the claim put it."""
    wish, claims = held.wish, held.wish.claims
    rows = yield Fetch(claims.lock_row, {"id0": wish.row})
    lines = yield Fetch(claims.read_claim, vars_of(wish.name))
    if not rows or not lines:
        return None
    values = row_values(claims, rows[0])
    status = claims.entity.codec.decode(values[claims.entity.status.name])
    if (status, _version(claims, values)) != (wish.into, held.fence):
        return None
    (_requester, _input, pass_number, *_) = lines[0]
    return replace(held, pass_number=pass_number, values=values)


def take_at_once(wish: Wish, operation: str) -> Asking[Taken]:
    """Lock, claim and journal in one statement."""
    claims = wish.claims
    taking = Fetch(claims.take_claim_if_in_status, take_params(wish, operation), whole=True)
    ((seen, locked, pass_number, *row),) = yield taking
    if seen is None:
        raise error("SEMEL-ROW-1", ids=repr(wish.row), table=claims.entity.name)
    if pass_number is None:
        status = None if locked is None else claims.entity.codec.decode(locked)
        if status == wish.name.status:
            # The row was there to be claimed, and still did not move: a trigger of the user's has swallowed the UPDATE.
            raise error("SEMEL-STORE-6", statement=claims.take_claim_if_in_status.name, counted=0, expected=1)
        return (yield from why_missed(wish, status))
    values = row_values(claims, row)
    return Held(wish, fence=_version(claims, values), pass_number=pass_number, values=values)


def take_in_steps(wish: Wish, operation: str) -> Asking[Taken]:
    """Lock, claim and journal inside a transaction that is already open."""
    claims, params = wish.claims, take_params(wish, operation)
    rows = yield Fetch(claims.lock_row_or_skip, {"id0": wish.row})
    if not rows:
        return (yield from why_missed(wish, None))
    values = dict(row_values(claims, rows[0]))
    status = claims.entity.codec.decode(values[claims.entity.status.name])
    if status != wish.name.status:
        return (yield from why_missed(wish, status))
    fence = _version(claims, values) + 1
    yield from expect_one(Execute(claims.move_row_into_claim_if_in_status, params))
    ((pass_number,),) = yield Fetch(claims.write_claim, params | {"fence": fence})
    yield Execute(claims.journal.write_move, params | {"version": fence, "kind": "claim"})
    values[claims.entity.status.name] = params["into"]
    values[claims.entity.version.name] = fence
    return Held(wish, fence=fence, pass_number=pass_number, values=values)


def take_params(wish: Wish, operation: str) -> dict[str, object]:
    """Answer every parameter of taking a claim."""
    codec = wish.claims.entity.codec
    name = wish.name
    shared = shared_values(
        operation, name.entity, wish.into, requester=wish.requester, workflow=name.workflow, step_key=name.step_key
    )
    claim = {"claim_status": wish.into, "back_to": wish.back_to, "recovery": wish.recovery, "input": wish.input}
    claim |= {"owner": wish.owner, "request": wish.request, "workflow_hash": wish.workflow_hash, "status": name.status}
    row = {"id0": wish.row, "row_id": name.row_id, "from_status": name.status}
    moves = {"into": codec.encode(wish.into), "from": codec.encode(name.status), "lease_us": wish.lease_us}
    return {**shared, **claim, **row, **moves}


def why_missed(wish: Wish, status: str | None) -> Asking[Busy | NotAllowed]:
    """Say why the row was not to be had. `status` is None where somebody held its lock."""
    if status is not None and status not in wish.claim_statuses:
        return NotAllowed(status)
    holders = yield Fetch(wish.claims.read_holder, vars_of(wish.name))
    for _owner, step_key, _claim_status, _request in holders:
        return Busy(step_key)
    # Whoever held the lock may have deleted the row by now.
    if status is None and not (yield Fetch(wish.claims.read_status, {"id0": wish.row})):
        raise error("SEMEL-ROW-1", ids=repr(wish.row), table=wish.claims.entity.name)
    return Busy(HELD_BY_LOCK if status is None else status)


@dataclass(frozen=True)
class Leave:
    """How a claim ends: where the row goes, whether the pass is counted, and what is owed afterwards."""

    target: str
    passes: int
    effects: tuple[tuple[str, Recorded], ...] = ()
    detail: str | None = None


def leave_claim(held: Held, leave: Leave, within: Open | None = None) -> Asking[bool]:
    """End a claim and answer whether it was still ours. False: nothing was written, it is somebody else's now."""
    if within is not None:
        return (yield from leave_within(held, leave, within))

    def attempt(operation: str) -> Asking[bool]:
        if held.wish.claims.in_one_statement:
            return (yield from leave_at_once(held, leave, operation))
        left: bool = yield Together(lambda: leave_in_steps(held, leave, operation), whole=True)
        return left

    return (
        yield from run_once(attempt, lambda _mark: True, held.wish.claims.journal.abandon_operation_unless_committed)
    )


def give_lease_up(held: Held) -> Asking[None]:
    """Let a keeper have the claim at its next look, if it still has our fence. Failing to say so only costs a lease."""
    with suppress(StoreError):
        yield Execute(held.wish.claims.give_lease_up, {**vars_of(held.wish.name), "fence": held.fence}, whole=True)


def park_claim(held: Held, review: str) -> Asking[None]:
    """Leave a claim to a person, with the reason."""
    yield Execute(
        held.wish.claims.park_own_claim, {**vars_of(held.wish.name), "fence": held.fence, "review": review}, whole=True
    )


def leave_within(held: Held, leave: Leave, within: Open) -> Asking[bool]:
    """End a claim in the transaction that the action wrote in. It cannot be run again without the action."""
    operation = yield Fresh()

    def begin() -> Asking[bool]:
        if not (yield from leave_in_steps(held, leave, operation)):
            # The row is locked under our fence, so it is the action itself that has moved it.
            raise error("SEMEL-STEP-10", table=held.wish.name.entity, id=held.wish.name.row_id)
        return True

    try:
        left: bool = yield Together(begin, within, whole=True)
    except OutcomeUnknownError as problem:
        journal = held.wish.claims.journal
        mark = yield from settle_operation(operation, journal.abandon_operation_unless_committed, problem)
        if mark is None:
            raise error("SEMEL-STORE-4", reason=problem.reason) from problem
        left = True
    return left


def leave_at_once(held: Held, leave: Leave, operation: str) -> Asking[bool]:
    """Move, close, journal and record in one statement."""
    statement = held.wish.claims.leave_claim_if_fenced(len(leave.effects))
    ((version,),) = yield Fetch(statement, leave_params(held, leave, operation), whole=True)
    return version is not None


def leave_in_steps(held: Held, leave: Leave, operation: str, claim_fence: int | None = None) -> Asking[bool]:
    """Move, close, journal and record inside a transaction that is already open.

    `claim_fence` is given where the row's version is no longer the one that the claim took.
    """
    claims, params = held.wish.claims, leave_params(held, leave, operation)
    params["fence"] = held.fence if claim_fence is None else claim_fence
    moved = yield Execute(claims.move_row_out_of_claim_if_fenced, params)
    if not moved:
        return False
    yield Execute(claims.close_claim_if_fenced, params)
    written = params | {"version": held.fence + 1}
    yield Execute(claims.journal.write_move, written)
    if leave.effects:
        count = len(leave.effects)
        yield Execute(claims.outbox.write_effects(count), written, rows_limit=count)
    return True


def leave_params(held: Held, leave: Leave, operation: str) -> dict[str, object]:
    """Answer every parameter of leaving a claim."""
    wish, name, codec = held.wish, held.wish.name, held.wish.claims.entity.codec
    shared = shared_values(
        operation, name.entity, leave.target, requester=wish.requester, workflow=name.workflow, step_key=name.step_key
    )
    params: dict[str, object] = {**shared, "detail": leave.detail, "kind": "finish" if leave.passes else "release"}
    params |= {"id0": wish.row, "row_id": name.row_id, "status": name.status, "from_status": wish.into}
    params |= {"into": codec.encode(wish.into), "target": codec.encode(leave.target)}
    params |= {"version": held.fence, "fence": held.fence, "passes": leave.passes}
    for number, (effect_id, effect) in enumerate(leave.effects):
        params |= {f"effect_id_{number}": effect_id, f"name_{number}": effect.name, f"payload_{number}": effect.payload}
    return params


def row_values(claims: Claims, row: Sequence[object] | Row) -> dict[str, object]:
    """Answer the row's columns by name."""
    return {column.name: value for column, value in zip(claims.columns, row, strict=False)}


def vars_of(name: ClaimName) -> dict[str, object]:
    """Answer the parameters that name a claim."""
    return {
        "workflow": name.workflow,
        "entity": name.entity,
        "row_id": name.row_id,
        "step_key": name.step_key,
        "status": name.status,
    }


def expect_one(ask: Execute) -> Asking[None]:
    """Ask for a write to a row that is locked and was judged: anything but one row is a broken promise."""
    counted = yield ask
    if counted != 1:
        raise error("SEMEL-STORE-6", statement=ask.statement.name, counted=counted, expected=1)


def _version(claims: Claims, values: Mapping[str, object]) -> int:
    version = values[claims.entity.version.name]
    assert isinstance(version, int), "the version column is a whole number; boot checked it"
    return version
