"""Taking a claim away from a holder that stopped answering: back to where it was, or on to somebody who goes on.

The crash argument, gap by gap
- Everything here is one transaction: the row is locked first, then its claim row, and both are judged as they are now. A
  holder that finishes, or another keeper that was first, has changed the fence or closed the claim; then nothing is done.
- The holder may still be alive (slow is not dead). Taking over raises the row's version under its lock, so the holder's
  finish, its release and its finishing transaction's first statement all miss from here on.
- A foreign edit of the version is a takeover like any other: what is compared is the claim row, and the row is locked.
- The row left its claim status by other hands, or is gone: there is nothing to recover, and the claim row is closed.
- Dying after the commit: a release is done; a takeover is a claim with a new owner, whose lease runs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from semel.asks import Asking, ClaimName, Execute, Fetch, Statement, Together
from semel.errors import error
from semel.protocols.claim import Held, Leave, Wish, expect_one, leave_in_steps, row_values, vars_of
from semel.protocols.operation import Mark, run_once
from semel.store.claims import Claims
from semel.store.entity import Id

Recovered: TypeAlias = Literal["released", "closed", "gone"]


@dataclass(frozen=True)
class Stranded:
    """A claim as a keeper saw it at both of its looks."""

    claims: Claims
    name: ClaimName
    row: Id
    fence: int
    beats: int
    claim_status: str
    back_to: str


@dataclass(frozen=True)
class Found:
    """A stranded claim, locked together with its row."""

    stranded: Stranded
    version: int
    values: dict[str, object]


def release_stranded(stranded: Stranded, keeper: str) -> Asking[Recovered]:
    """Move a stranded row back. "gone": somebody else was first, and nothing was written."""

    def attempt(operation: str) -> Asking[Recovered]:
        done: Recovered = yield Together(lambda: release_locked(stranded, keeper, operation))
        return done

    def recall(_mark: Mark) -> Recovered:
        return "released"

    return (yield from run_once(attempt, recall, _abandon(stranded)))


def release_locked(stranded: Stranded, keeper: str, operation: str) -> Asking[Recovered]:
    """Lock, judge and release, inside a transaction that is already open."""
    found = yield from lock_stranded(stranded)
    if not isinstance(found, Found):
        return found
    held = Held(wish_of(stranded, keeper), fence=found.version, pass_number=0, values={})
    leave = Leave(stranded.back_to, 0, detail=f"the holder of fence {stranded.fence} stopped answering")
    if not (yield from leave_in_steps(held, leave, operation, claim_fence=stranded.fence)):
        # The row is locked and was judged: only a trigger of the user's can have swallowed the UPDATE.
        moving = stranded.claims.move_row_out_of_claim_if_fenced
        raise error("SEMEL-STORE-6", statement=moving.name, counted=0, expected=1)
    return "released"


def take_over(stranded: Stranded, owner: str, requester: str) -> Asking[Held | Recovered]:
    """Take a stranded claim, to run its step again. "gone": somebody else was first, and nothing was written."""
    taken: list[Held] = []

    def attempt(operation: str) -> Asking[Held | Recovered]:
        taken.clear()

        def begin() -> Asking[Held | Recovered]:
            answer = yield from take_locked(stranded, owner, requester, operation)
            if isinstance(answer, Held):
                taken.append(answer)
            return answer

        answer: Held | Recovered = yield Together(begin)
        return answer

    def recall(_mark: Mark) -> Held | Recovered:
        # A commit whose answer was lost was the last one tried, so what it took is what we hold.
        return taken[0]

    return (yield from run_once(attempt, recall, _abandon(stranded)))


def take_locked(stranded: Stranded, owner: str, requester: str, operation: str) -> Asking[Held | Recovered]:
    """Lock, judge and take, inside a transaction that is already open."""
    found = yield from lock_stranded(stranded)
    if not isinstance(found, Found):
        return found
    claims, codec = stranded.claims, stranded.claims.entity.codec
    fence = found.version + 1
    yield from expect_one(
        Execute(claims.raise_fence, {"id0": stranded.row, "into": codec.encode(stranded.claim_status)})
    )
    yield from expect_one(Execute(claims.retake_claim, {**vars_of(stranded.name), "fence": fence, "owner": owner}))
    params: dict[str, object] = {
        **vars_of(stranded.name),
        "operation_id": operation,
        "kind": "takeover",
        "version": fence,
    }
    params |= {"from_status": stranded.claim_status, "to_status": stranded.claim_status, "requester": requester}
    params |= {"detail": f"the holder of fence {stranded.fence} stopped answering"}
    yield Execute(claims.journal.write_move, params)
    values = found.values | {claims.entity.version.name: fence}
    return Held(wish_of(stranded, requester, owner), fence=fence, pass_number=0, values=values)


def lock_stranded(stranded: Stranded) -> Asking[Found | Recovered]:
    """Lock the row, then its claim, and see whether both still are as the keeper saw them."""
    claims = stranded.claims
    rows = yield Fetch(claims.lock_row, {"id0": stranded.row})
    lines = yield Fetch(claims.lock_claim, vars_of(stranded.name))
    if not lines:
        return "gone"
    ((held, fence, beats, *_),) = lines
    if not held or (fence, beats) != (stranded.fence, stranded.beats):
        return "gone"
    values = row_values(claims, rows[0]) if rows else {}
    status = claims.entity.codec.decode(values[claims.entity.status.name]) if rows else None
    if status != stranded.claim_status:
        yield Execute(claims.close_claim_if_fenced, {**vars_of(stranded.name), "fence": fence, "passes": 0})
        return "closed"
    version = values[claims.entity.version.name]
    assert isinstance(version, int), "the version column is a whole number; boot checked it"
    return Found(stranded, version, values)


def wish_of(stranded: Stranded, requester: str, owner: str = "") -> Wish:
    """Make the wish that a stranded claim once was, as far as leaving it needs."""
    return Wish(
        claims=stranded.claims,
        name=stranded.name,
        row=stranded.row,
        into=stranded.claim_status,
        back_to=stranded.back_to,
        requester=requester,
        input=None,
        recovery="",
        owner=owner,
        lease_us=0,
        workflow_hash="",
        claim_statuses=frozenset(),
    )


def _abandon(stranded: Stranded) -> Statement:
    return stranded.claims.journal.abandon_operation_unless_committed
