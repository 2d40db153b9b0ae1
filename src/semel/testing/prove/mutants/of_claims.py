"""Mutants of taking, keeping and leaving a claim."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import sqlalchemy as sa

from semel.asks import Asking, Execute, Fetch
from semel.keepers.duty import Looks
from semel.protocols import advance, claim, takeover
from semel.protocols.claim import Held, Leave, Wish, row_values, take_params
from semel.store.claims import Claims
from semel.store.keeping import Keeping
from semel.store.statements import Statement, bind
from semel.testing.prove.mutants.mutant import Change, Mutant
from semel.testing.prove.shipped.claims import ClaimWithRevert


def take_without_condition(wish: Wish, operation: str) -> Asking[Any]:
    """Claim a row whatever its status is."""
    claims, params = wish.claims, take_params(wish, operation)
    rows = yield Fetch(claims.lock_row, {"id0": wish.row})
    values = dict(row_values(claims, rows[0]))
    fence = int(str(values[claims.entity.version.name])) + 1
    yield Execute(move_into_claim(claims), params)
    ((pass_number,),) = yield Fetch(claims.write_claim, params | {"fence": fence})
    yield Execute(claims.journal.write_move, params | {"version": fence, "kind": "claim"})
    values |= {claims.entity.status.name: params["into"], claims.entity.version.name: fence}
    return Held(wish, fence=fence, pass_number=pass_number, values=values)


def move_into_claim(claims: Claims) -> Statement:
    """Make the UPDATE without its condition."""
    update = claims._move("into").where(claims.entity.id == claims._id)  # noqa: SLF001 - a mutant changes the inside
    return Statement("move_row_into_claim", update, writes=True)


def leave_without_looking(held: Held, leave: Leave, operation: str, claim_fence: int | None = None) -> Asking[bool]:
    """Go on although no row moved."""
    claims, params = held.wish.claims, claim.leave_params(held, leave, operation)
    params["fence"] = held.fence if claim_fence is None else claim_fence
    yield Execute(claims.move_row_out_of_claim_if_fenced, params)
    yield Execute(claims.close_claim_if_fenced, params)
    yield Execute(claims.journal.write_move, params | {"version": held.fence + 1})
    return True


def is_in_claim_status(self: Claims) -> list[sa.ColumnElement[bool]]:
    """Compare the status, and not the version."""
    return [self.entity.id == self._id, self.entity.status == bind("into", self.entity.status.type)]  # noqa: SLF001 - as above


def find_all_claims(self: Keeping) -> Any:
    """Find claims whether their lease is over or not."""
    found = self._find_due_claims

    def find(workflows: int) -> Statement:
        statement = found(workflows)
        criteria = [
            each for each in statement.construct._where_criteria if "next_look_us" not in str(each)  # noqa: SLF001 - as above
        ]
        select = statement.construct.with_only_columns(*statement.construct.selected_columns)
        select._where_criteria = tuple(criteria)  # noqa: SLF001 - as above
        return Statement("find_due_claims", select, writes=False)

    return find


def _first_look(self: Looks, name: Any, fence: int, beats: int, *, seconds: float, now: float) -> bool:  # noqa: ARG001 - as the product's
    return True


class NoJanitor(ClaimWithRevert):
    """The same shop without a janitor."""

    keepers = ()


MUTANTS = (
    Mutant(
        "unconditional claim",
        "claim",
        ClaimWithRevert,
        (Change(claim, "take_in_steps", take_without_condition),),
    ),
    Mutant("rowcount ignored", "claim", ClaimWithRevert, (Change(claim, "leave_in_steps", leave_without_looking), Change(takeover, "leave_in_steps", leave_without_looking))),
    Mutant("no fence on finish", "claim", ClaimWithRevert, (Change(Claims, "_is_fenced", is_in_claim_status),)),
    Mutant("janitor takes over after one look", "janitor", ClaimWithRevert, (Change(Looks, "is_stranded", _first_look),)),
    Mutant("no janitor", "janitor", NoJanitor),
)

__all__ = ["MUTANTS", "advance", "cached_property"]
