"""Mutants of taking and leaving a claim."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import sqlalchemy as sa

from semel.asks import Asking, Execute, Fetch, Tick, Together
from semel.outcomes import NotAllowed
from semel.protocols import advance, claim
from semel.protocols.claim import Held, Leave, Wish
from semel.store.claims import Claims
from semel.store.statements import Statement, bind
from semel.testing.prove.budgets import Budgets
from semel.testing.prove.mutants.mutant import Change, Mutant
from semel.testing.prove.mutants.tampering import believing, instead, is_named, run_tampered, tampered, with_params
from semel.testing.prove.shipped.claims import ClaimWithRejection, ClaimWithResume, ClaimWithRevert

CLAIM = "claim"


def move_into_claim(claims: Claims) -> Statement:
    """Make the UPDATE into the claim status without its condition."""
    update = claims._move("into").where(claims.entity.id == claims._id)  # noqa: SLF001 - a mutant changes the inside
    return Statement("move_row_into_claim", update, writes=True)


def take_whatever(wish: Wish, operation: str) -> Asking[Any]:
    """Believe that the row is in the status that is wished for."""
    claims = wish.claims
    place = [column.name for column in claims.columns].index(claims.entity.status.name)

    def meddle(ask: Any) -> Asking[Any]:
        if is_named(ask, "move_row_into_claim"):
            return (yield replace(ask, statement=move_into_claim(claims)))
        reply = yield ask
        if is_named(ask, "lock_row") and reply:
            row = list(reply[0])
            row[place] = claims.entity.codec.encode(wish.name.status)
            return [tuple(row)]
        return reply

    return run_tampered(_take_in_steps(wish, operation), meddle)


_take_in_steps = claim.take_in_steps


def read_then_take(wish: Wish) -> Asking[Any]:
    """Look at the row first, and then claim it whatever it is by now."""
    rows = yield Fetch(wish.claims.read_status, {"id0": wish.row})
    status = wish.claims.entity.codec.decode(rows[0][0])
    if status != wish.name.status:
        return NotAllowed(status)

    def meddle(ask: Any) -> Asking[Any]:
        if isinstance(ask, Together):
            return (yield Together(lambda: take_whatever(wish, "0" * 31 + wish.owner[-1])))
        return (yield ask)

    return (yield from run_tampered(_take_claim(wish), meddle))


_take_claim = claim.take_claim


def is_in_claim_status(self: Claims) -> list[sa.ColumnElement[bool]]:
    """Compare the status, and not the version."""
    return [self.entity.id == self._id, self.entity.status == bind("into", self.entity.status.type)]


def is_the_row(self: Claims) -> list[sa.ColumnElement[bool]]:
    """Compare nothing."""
    return [self.entity.id == self._id]


def release_by_status(held: Held, leave: Leave, operation: str, claim_fence: int | None = None) -> Asking[Any]:
    """Release by the status alone; finish as ever."""
    claims = held.wish.claims
    update = claims._move("target").where(*is_in_claim_status(claims))  # noqa: SLF001 - as above
    blind = Statement("move_row_out_of_claim", update, writes=True)

    def meddle(ask: Any) -> Asking[Any]:
        if is_named(ask, "move_row_out_of_claim") and not leave.passes:
            return (yield replace(ask, statement=blind))
        return (yield ask)

    return run_tampered(_leave_in_steps(held, leave, operation, claim_fence), meddle)


_leave_in_steps = claim.leave_in_steps


def lease_by_own_clock(ask: Any) -> Asking[Any]:
    """Write down when to look by the clock of this process."""
    reply = yield ask
    if is_named(ask, "write_claim"):
        now = yield Tick()
        params = {name: ask.params[name] for name in ("workflow", "entity", "row_id", "step_key", "status")}
        yield Execute(write_look(ask.statement), {**params, "look": int(now * 1_000_000) + ask.params["lease_us"]})
    return reply


def write_look(statement: Any) -> Statement:
    """Make the UPDATE that overwrites when to look."""
    table = statement.construct.table
    named = [
        table.c[name] == bind(name, table.c[name].type)
        for name in ("workflow", "entity", "row_id", "step_key", "status")
    ]
    update = sa.update(table).values(next_look_us=bind("look", sa.BigInteger)).where(*named)
    return Statement("write_look", update, writes=True)


def act_and_release_finally(errand: Any, step: Any, held: Held) -> Asking[Any]:
    """Release in `finally`, and have nobody else who does."""
    outcome = None
    try:
        outcome = yield from _act_under_claim(errand, step, held)
    finally:
        if outcome is None:
            yield from claim.leave_claim(held, Leave(held.wish.back_to, 0))
    return outcome


_act_under_claim = advance.act_under_claim


class NoJanitor(ClaimWithRevert):
    """The same shop without a janitor."""

    keepers: ClassVar[tuple[str, ...]] = ()


class NoResumer(ClaimWithResume):
    """The same shop without a resumer."""

    keepers: ClassVar[tuple[str, ...]] = ()


def leaving(meddle: Any) -> tuple[Change, ...]:
    """Change how a claim is left, wherever it is."""
    changed = tampered(_leave_in_steps, meddle)
    return (Change(claim, "leave_in_steps", changed),)


MUTANTS = (
    Mutant("unconditional claim", CLAIM, ClaimWithRevert, (Change(claim, "take_in_steps", take_whatever),)),
    Mutant("read then claim", CLAIM, ClaimWithRevert, (Change(advance, "take_claim", read_then_take),)),
    Mutant("rowcount ignored", CLAIM, ClaimWithRevert, leaving(believing("move_row_out_of_claim", 1))),
    Mutant("finish unconditional", CLAIM, ClaimWithRevert, (Change(Claims, "_is_fenced", is_the_row),)),
    Mutant("no fence on finish", CLAIM, ClaimWithRevert, (Change(Claims, "_is_fenced", is_in_claim_status),)),
    Mutant("release by status only", CLAIM, ClaimWithRejection, (Change(claim, "leave_in_steps", release_by_status),)),
    Mutant("the claim row stays held", CLAIM, ClaimWithRevert, leaving(instead("close_claim", 1))),
    Mutant(
        "the pass is not counted",
        CLAIM,
        ClaimWithRevert,
        leaving(with_params("close_claim", lambda params: {**params, "passes": 0})),
    ),
    Mutant(
        "app clock for leases",
        CLAIM,
        ClaimWithRevert,
        (Change(claim, "take_in_steps", tampered(_take_in_steps, lease_by_own_clock)),),
    ),
    Mutant("no janitor", "janitor", NoJanitor, budgets=Budgets(1, 0, 0, 0)),
    Mutant("no resumer", "resumer", NoResumer, budgets=Budgets(1, 0, 0, 0)),
    Mutant(
        "release in finally only",
        CLAIM,
        NoJanitor,
        (Change(advance, "act_under_claim", act_and_release_finally),),
        Budgets(1, 0, 0, 0),
    ),
)
