"""The statements by which keepers look for work, say that they live, and see who else does."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import sqlalchemy as sa

from semel.store.claims import NAME
from semel.store.ground import Ground
from semel.store.statements import ONE, ZERO, Statement, bind

HELD_LIMIT = 100_000
"""How many claims one process can hold at most; more than this is not one process."""


class Keeping:
    """Statements over all claims of one database."""

    def __init__(self, ground: Ground) -> None:
        """Build the few that do not depend on how many workflows there are."""
        self.ground = ground
        claims = ground.tables.claims
        is_mine = (claims.c.owner == bind("owner", claims.c.owner.type), claims.c.held == ONE)
        again = {"beats": claims.c.beats + ONE, "next_look_us": ground.now + claims.c.lease_us}
        self.beat_claims_of_owner = Statement(
            "beat_claims_of_owner", sa.update(claims).values(again).where(*is_mine), writes=True
        )
        names = [claims.c[name] for name in NAME]
        self.list_claims_of_owner = Statement(
            "list_claims_of_owner", sa.select(*names, claims.c.fence).where(*is_mine), writes=False
        )
        is_named = [claims.c[name] == bind(name, claims.c[name].type) for name in NAME]
        # A finish leaves the fence as it was, so a claim that has ended is told by not being held.
        is_fenced = sa.and_(claims.c.fence == bind("fence", sa.BigInteger), claims.c.held == ONE)
        parked = {"review": bind("review", sa.Text())}
        self.park_claim = Statement(
            "park_claim", sa.update(claims).values(parked).where(*is_named, is_fenced), writes=True
        )
        keepers = ground.tables.keepers
        is_keeper = (
            keepers.c.keeper_id == bind("keeper_id", sa.String(64)),
            keepers.c.duty == bind("duty", sa.String(16)),
        )
        look = {
            "looked_us": ground.now,
            "beats": keepers.c.beats + ONE,
            "done": keepers.c.done + bind("done", sa.BigInteger),
        }
        look |= {"problem": bind("problem", sa.Text())}
        self.note_look = Statement("note_look", sa.update(keepers).values(look).where(*is_keeper), writes=True)
        first: dict[str, Any] = {
            name: bind(name, keepers.c[name].type) for name in ("keeper_id", "duty", "problem", "done")
        }
        first |= {"started_us": ground.now, "looked_us": ground.now, "beats": ZERO}
        self.write_keeper = Statement("write_keeper", sa.insert(keepers).values(first), writes=True)
        self.find_due_claims = lru_cache(64)(self._find_due_claims)

    def _find_due_claims(self, workflows: int) -> Statement:
        """Answer claims of some workflows whose lease is over: (name…, fence, beats, lease, owner, claim status, resumes)."""
        c = self.ground.tables.claims.c
        columns = [
            *(c[name] for name in NAME),
            c.fence,
            c.beats,
            c.lease_us,
            c.owner,
            c.claim_status,
            c.back_to,
            c.resumes,
        ]
        select = (
            sa.select(*columns)
            .where(c.held == ONE, c.next_look_us <= self.ground.now, c.review.is_(None))
            .where(c.recovery == bind("recovery", c.recovery.type))
            .where(c.workflow.in_([bind(f"workflow{number}", c.workflow.type) for number in range(workflows)]))
            .order_by(c.next_look_us)
            .limit(bind("sweep_limit", sa.Integer))
            .offset(ZERO)
        )
        return Statement("find_due_claims", select, writes=False)
