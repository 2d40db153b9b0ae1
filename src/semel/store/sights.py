"""The statements by which a person sees what waits and what became of a row; and those that lock it, before they act on it.

No payload and no input is read here: what is shown to people is who, what, when and why.
"""

from __future__ import annotations

from functools import cached_property, lru_cache
from typing import Any

import sqlalchemy as sa

from semel.store.claims import NAME
from semel.store.ground import Ground
from semel.store.outbox import is_before
from semel.store.statements import ONE, ZERO, Statement, bind, text_constant

CLAIM_COLUMNS = (
    *NAME,
    "held",
    "fence",
    "beats",
    "claim_status",
    "back_to",
    "requester",
    "recovery",
    "owner",
    "lease_us",
    "resumes",
    "next_look_us",
    "review",
    "pass_number",
    "claimed_us",
)
EFFECT_COLUMNS = (
    "effect_id",
    "name",
    "entity",
    "row_id",
    "version",
    "ordinal",
    "state",
    "owner",
    "attempts",
    "next_look_us",
    "problem",
    "recorded_us",
    "delivered_us",
)
MOVE_COLUMNS = (
    "operation_id",
    "ordinal",
    "kind",
    "from_status",
    "to_status",
    "version",
    "workflow",
    "step_key",
    "requester",
    "detail",
    "at_us",
)
KEEPER_COLUMNS = ("keeper_id", "duty", "started_us", "looked_us", "done", "problem")


class Sights:
    """Statements over everything of Semel's own in one database. Each answers at most `sight_limit` lines."""

    def __init__(self, ground: Ground) -> None:
        """Build nothing yet."""
        self.ground = ground
        self.find_held_rows = lru_cache(8)(self._find_held_rows)

    # What waits

    @cached_property
    def find_overdue_claims(self) -> Statement:
        """Answer claims whose lease is over and that no person has to look at, the longest over first."""
        c = self._claims.c
        where = (c.held == ONE, c.next_look_us <= self.ground.now, c.review.is_(None))
        return self._see("find_overdue_claims", self._claims, CLAIM_COLUMNS, where, c.next_look_us)

    @cached_property
    def find_claims_in_review(self) -> Statement:
        """Answer claims that were parked for a person, the oldest first."""
        c = self._claims.c
        where = (c.held == ONE, c.review.is_not(None))
        return self._see("find_claims_in_review", self._claims, CLAIM_COLUMNS, where, c.claimed_us)

    @cached_property
    def find_parked_effects(self) -> Statement:
        """Answer parked after-effects, the oldest first, each with how many later ones of its row it holds up."""
        table, later = self._outbox, self._outbox.alias("later")
        blocked = (
            sa.select(sa.func.count())
            .select_from(later)
            .where(is_before(table, later), later.c.state != text_constant("delivered"))
            .scalar_subquery()
        )
        columns = [*(table.c[name] for name in EFFECT_COLUMNS), sa.type_coerce(blocked, sa.BigInteger).label("blocked")]
        select = sa.select(*columns).where(table.c.state == text_constant("parked"))
        return self._bounded("find_parked_effects", select, table.c.recorded_us)

    @cached_property
    def find_late_effects(self) -> Statement:
        """Answer after-effects that have been due for longer than `late_us` and that no earlier one of their row holds up."""
        table, earlier = self._outbox, self._outbox.alias("earlier")
        is_blocked = (
            sa.select(ONE)
            .select_from(earlier)
            .where(is_before(earlier, table), earlier.c.state != text_constant("delivered"))
            .exists()
        )
        where = (
            table.c.state.in_([text_constant("due"), text_constant("taken")]),
            table.c.next_look_us <= self.ground.now - bind("late_us", sa.BigInteger),
            ~is_blocked,
        )
        return self._see("find_late_effects", table, EFFECT_COLUMNS, where, table.c.next_look_us)

    @cached_property
    def find_keepers(self) -> Statement:
        """Answer the keepers that have run, the one that looked last first."""
        keepers = self.ground.tables.keepers
        return self._see("find_keepers", keepers, KEEPER_COLUMNS, (), keepers.c.looked_us.desc())

    def _find_held_rows(self, rows: int) -> Statement:
        """Answer (row id, claim status) of the claims that a workflow holds on some rows of a table."""
        c = self._claims.c
        ids = [bind(f"row_id{number}", c.row_id.type) for number in range(rows)]
        select = sa.select(c.row_id, c.claim_status).where(
            c.workflow == bind("workflow", c.workflow.type),
            c.entity == bind("entity", c.entity.type),
            c.row_id.in_(ids),
            c.held == ONE,
        )
        return Statement(f"find_{rows}_held_rows", select, writes=False)

    # What a table still owes

    @cached_property
    def find_held_claims_of_table(self) -> Statement:
        """Answer the claims that are held on rows of a table, the oldest first."""
        c = self._claims.c
        where = (c.entity == bind("entity", c.entity.type), c.held == ONE)
        return self._see("find_held_claims_of_table", self._claims, CLAIM_COLUMNS, where, c.claimed_us)

    @cached_property
    def count_effects_owed_by_table(self) -> Statement:
        """Answer (state, how many) of the after-effects of a table that are not delivered."""
        c = self._outbox.c
        select = (
            sa.select(c.state, sa.func.count().label("how_many"))
            .where(c.entity == bind("entity", c.entity.type), c.state != text_constant("delivered"))
            .group_by(c.state)
        )
        return Statement("count_effects_owed_by_table", select, writes=False)

    # One row's story

    @cached_property
    def read_moves_of_row(self) -> Statement:
        """Answer the journal's lines about a row, the newest first."""
        journal = self.ground.tables.journal
        where = self._is_row(journal)
        # Time before version, which begins anew where the id of a deleted row is used again.
        order = (journal.c.at_us.desc(), journal.c.version.desc(), journal.c.operation_id, journal.c.ordinal.desc())
        return self._see("read_moves_of_row", journal, MOVE_COLUMNS, where, *order)

    @cached_property
    def read_claims_of_row(self) -> Statement:
        """Answer every claim row of a row, held or not, the newest first."""
        order = self._claims.c.claimed_us.desc()
        return self._see("read_claims_of_row", self._claims, CLAIM_COLUMNS, self._is_row(self._claims), order)

    @cached_property
    def read_effects_of_row(self) -> Statement:
        """Answer the after-effects of a row, the newest first."""
        c = self._outbox.c
        order = (c.recorded_us.desc(), c.version.desc(), c.ordinal.desc())
        return self._see("read_effects_of_row", self._outbox, EFFECT_COLUMNS, self._is_row(self._outbox), *order)

    @cached_property
    def read_deliveries_of_row(self) -> Statement:
        """Answer (effect id, when) each time a consumer noted that it had handled an after-effect of a row."""
        journal, outbox = self.ground.tables.journal, self._outbox
        select = (
            sa.select(journal.c.operation_id, journal.c.at_us)
            .select_from(journal.join(outbox, outbox.c.effect_id == journal.c.operation_id))
            .where(*self._is_row(outbox), journal.c.kind == text_constant("delivery"))
        )
        return self._bounded("read_deliveries_of_row", select, journal.c.at_us)

    # After-effects by themselves

    @cached_property
    def find_effects(self) -> Statement:
        """Answer after-effects, the newest first."""
        return self._see("find_effects", self._outbox, EFFECT_COLUMNS, (), self._outbox.c.recorded_us.desc())

    @cached_property
    def find_effects_in_state(self) -> Statement:
        """Answer after-effects in one state, the newest first."""
        c = self._outbox.c
        where = (c.state == bind("state", c.state.type),)
        return self._see("find_effects_in_state", self._outbox, EFFECT_COLUMNS, where, c.recorded_us.desc())

    # Before a person acts

    @cached_property
    def lock_held_claims_of_row(self) -> Statement:
        """Answer the claims that are held on a row, locked after the row; the one that was taken last comes first."""
        c = self._claims.c
        select = (
            sa.select(*(c[name] for name in CLAIM_COLUMNS))
            .where(*self._is_row(self._claims), c.held == ONE)
            .order_by(c.fence.desc())
            .with_for_update()
        )
        return Statement("lock_held_claims_of_row", select, writes=False)

    @cached_property
    def lock_effect(self) -> Statement:
        """Answer one after-effect, locked."""
        c = self._outbox.c
        select = sa.select(*(c[name] for name in EFFECT_COLUMNS)).where(
            c.effect_id == bind("effect_id", c.effect_id.type)
        )
        return Statement("lock_effect", select.with_for_update(), writes=False)

    # Pieces

    @property
    def _claims(self) -> sa.Table:
        return self.ground.tables.claims

    @property
    def _outbox(self) -> sa.Table:
        return self.ground.tables.outbox

    def _is_row(self, table: sa.Table) -> tuple[sa.ColumnElement[bool], ...]:
        c = table.c
        return c.entity == bind("entity", c.entity.type), c.row_id == bind("row_id", c.row_id.type)

    def _see(self, name: str, table: sa.Table, columns: tuple[str, ...], where: Any, *order: Any) -> Statement:
        return self._bounded(name, sa.select(*(table.c[column] for column in columns)).where(*where), *order)

    def _bounded(self, name: str, select: sa.Select[Any], *order: Any) -> Statement:
        limit = bind("sight_limit", sa.Integer)
        return Statement(name, select.order_by(*order).limit(limit).offset(ZERO), writes=False)
