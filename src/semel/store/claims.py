"""The statements of a claim: take it, leave it, fence what is written under it.

A claim is a transition into a claim status together with its claim row. As everywhere, locks are taken entity first, then
claim row; PostgreSQL does each in one statement, the others in a few statements of one transaction.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import mysql, postgresql, sqlite

from semel.store.dialects import FAMILIES, bounded_lock, keep_others_out, lock_bound, lock_unbound, skip_locked
from semel.store.entity import Entity
from semel.store.ground import Ground
from semel.store.journal import Journal
from semel.store.meta import Meta
from semel.store.outbox import Outbox
from semel.store.statements import ONE, ZERO, Statement, bind, text_constant

NAME = ("workflow", "entity", "row_id", "step_key", "status")
_GIVEN = ("claim_status", "back_to", "requester", "input", "recovery", "owner", "lease_us", "request", "workflow_hash")


class Claims:
    """Statements over the claims on the rows of one table."""

    def __init__(self, entity: Entity, ground: Ground, journal: Journal, outbox: Outbox) -> None:
        """Build nothing yet."""
        self.entity = entity
        self.ground = ground
        self.journal = journal
        self.outbox = outbox
        self._leaves: dict[int, Statement] = {}

    @property
    def in_one_statement(self) -> bool:
        """Whether the database can take or leave a claim at once."""
        return FAMILIES[self.ground.family].one_statement

    @property
    def columns(self) -> tuple[sa.ColumnClause[Any], ...]:
        """All columns of the user's table, in the order in which rows are answered."""
        return tuple(self.entity.table.c)

    @property
    def _id(self) -> sa.BindParameter[Any]:
        return bind("id0", self.entity.id.type)

    # Taking

    @cached_property
    def take_claim_if_in_status(self) -> Statement:
        """Lock, claim and journal at once; answer (seen, locked status, pass, then the row's columns after the move)."""
        entity, table = self.entity, self.entity.table
        fits = sa.case((entity.status == bind("from", entity.status.type), ONE), else_=ZERO)
        seen = sa.select(entity.id.label("id")).where(entity.id == self._id).cte("seen")
        locking = sa.select(entity.id.label("id"), entity.status.label("status"), fits.label("fits"))
        locked = keep_others_out(locking.where(entity.id == self._id), table, skip=True).cte("locked")
        labelled = [column.label(f"row_{number}") for number, column in enumerate(self.columns)]
        # As in a transition, `locked` has judged the row as it is; the UPDATE still sees it as it was.
        moved = (
            self._move("into")
            .where(entity.id == locked.c.id, locked.c.fits == ONE)
            .returning(entity.version.label("fence"), *labelled)
            .cte("moved")
        )
        claimed = self._upsert_from(moved).returning(self._table.c.pass_number.label("pass_number")).cte("claimed")
        journaled = self.journal.insert_from(moved, kind="claim", version=moved.c.fence).cte("journaled")
        row = [moved.c[f"row_{number}"] for number in range(len(self.columns))]
        one = sa.select(ONE.label("one")).subquery("one")
        joined = (
            one.outerjoin(seen, sa.true())
            .outerjoin(locked, sa.true())
            .outerjoin(moved, sa.true())
            .outerjoin(claimed, sa.true())
        )
        answer = (
            sa.select(seen.c.id, locked.c.status, claimed.c.pass_number, *row).select_from(joined).add_cte(journaled)
        )
        return Statement("take_claim_if_in_status", answer, writes=True)

    @cached_property
    def lock_row_or_skip(self) -> Statement:
        """Answer the row's columns, locked; nothing if it is not there or somebody holds it."""
        select = sa.select(*self.columns).where(self.entity.id == self._id)
        return Statement("lock_row_or_skip", skip_locked(select, self.entity.table, self.ground.family), writes=False)

    @cached_property
    def lock_row(self) -> Statement:
        """Answer the row's columns, locked, waiting a bounded time."""
        if self.ground.family != "postgresql":
            select = sa.select(*self.columns).where(self.entity.id == self._id)
            return Statement("lock_row", bounded_lock(select, self.ground.family), writes=False)
        bounded = lock_bound()
        labelled = [column.label(f"row_{number}") for number, column in enumerate(self.columns)]
        locking = sa.select(*labelled).select_from(self.entity.table.join(bounded, sa.true()))
        locked = keep_others_out(locking.where(self.entity.id == self._id), self.entity.table).cte("locked")
        row = [locked.c[f"row_{number}"] for number in range(len(self.columns))]
        # The inner join answers no line for no row; a bound that then stays is that of a transaction that ends.
        answer = sa.select(*row, lock_unbound(bounded)).select_from(bounded.join(locked, sa.true()))
        return Statement("lock_row", answer, writes=False)

    @cached_property
    def take_write_lock(self) -> Statement | None:
        """Take SQLite's only write lock, as the first statement in a borrowed transaction; None where rows have locks."""
        return Meta(self.ground).touch_installation if self.ground.family == "sqlite" else None

    @cached_property
    def read_status(self) -> Statement:
        """Answer the row's status as last committed, unlocked."""
        return Statement("read_status", sa.select(self.entity.status).where(self.entity.id == self._id), writes=False)

    @cached_property
    def read_holder(self) -> Statement:
        """Answer (owner, step key, claim status, request) of the claim that a workflow holds on the row, if any."""
        table = self._table
        select = sa.select(table.c.owner, table.c.step_key, table.c.claim_status, table.c.request).where(
            table.c.workflow == bind("workflow", table.c.workflow.type),
            table.c.entity == bind("entity", table.c.entity.type),
            table.c.row_id == bind("row_id", table.c.row_id.type),
            table.c.held == ONE,
        )
        return Statement("read_holder", select, writes=False)

    @cached_property
    def move_row_into_claim_if_in_status(self) -> Statement:
        """Move a row that is locked into the claim status."""
        entity = self.entity
        update = self._move("into").where(entity.id == self._id, entity.status == bind("from", entity.status.type))
        return Statement("move_row_into_claim_if_in_status", update, writes=True)

    @cached_property
    def write_claim(self) -> Statement:
        """Write the claim row, new or again; answer its pass."""
        values = self._claim_values(bind("fence", sa.BigInteger))
        insert: Any = {"postgresql": postgresql.insert, "mariadb": mysql.insert, "sqlite": sqlite.insert}[
            self.ground.family
        ](self._table)
        statement = self._on_conflict(insert.values(values), values).returning(self._table.c.pass_number)
        return Statement("write_claim", statement, writes=True)

    # Leaving

    def leave_claim_if_fenced(self, effects: int) -> Statement:
        """Move the row out of the claim, close the claim row, journal and record effects at once; answer the new version."""
        if effects not in self._leaves:
            entity, bounded = self.entity, lock_bound()
            moved = (
                self._move("target")
                .where(*self._is_fenced(), bounded.c.bound.is_not(None))
                .returning(entity.version.label("version"))
                .cte("moved")
            )
            unheld = self._unhold().where(moved.c.version.is_not(None)).cte("unheld")
            journaled = self.journal.insert_from(moved, version=moved.c.version).cte("journaled")
            # The bound on lock waits ends with the statement, after the last trigger and foreign key.
            answer = sa.select(moved.c.version).select_from(bounded.outerjoin(moved, sa.true()))
            answer = answer.add_cte(unheld, journaled)
            if effects:
                answer = answer.add_cte(self.outbox.insert_from(moved, effects).cte("recorded"))
            self._leaves[effects] = Statement(f"leave_claim_if_fenced_{effects}", answer, writes=True)
        return self._leaves[effects]

    @cached_property
    def move_row_out_of_claim_if_fenced(self) -> Statement:
        """Move the row out of the claim."""
        return Statement("move_row_out_of_claim_if_fenced", self._move("target").where(*self._is_fenced()), writes=True)

    @cached_property
    def close_claim_if_fenced(self) -> Statement:
        """Close the claim row; a finish also counts its pass."""
        return Statement("close_claim_if_fenced", self._unhold(), writes=True)

    @cached_property
    def lock_row_if_fenced(self) -> Statement:
        """Answer the row's id, locked for the finishing transaction; nothing if the claim is somebody else's by now."""
        select = sa.select(self.entity.id).where(*self._is_fenced())
        if self.ground.family != "postgresql":
            return Statement("lock_row_if_fenced", bounded_lock(select, self.ground.family), writes=False)
        bounded = lock_bound()
        locking = select.select_from(self.entity.table.join(bounded, sa.true()))
        locked = keep_others_out(locking, self.entity.table).cte("locked")
        found = sa.select(locked.c[self.entity.id.name], lock_unbound(bounded))
        return Statement("lock_row_if_fenced", found.select_from(bounded.join(locked, sa.true())), writes=False)

    # Keeping

    @cached_property
    def lock_claim(self) -> Statement:
        """Answer (held, fence, beats, claim status, back_to, recovery, review) of one claim, locked after its row."""
        table = self._table
        columns = (
            table.c.held,
            table.c.fence,
            table.c.beats,
            table.c.claim_status,
            table.c.back_to,
            table.c.recovery,
            table.c.review,
        )
        select = sa.select(*columns).where(*self._is_named()).with_for_update()
        return Statement("lock_claim", select, writes=False)

    @cached_property
    def raise_fence(self) -> Statement:
        """Raise the version of a row that is locked and claimed: whoever held the claim is fenced out."""
        entity = self.entity
        update = sa.update(entity.table).values({entity.version.name: entity.version + ONE})
        return Statement(
            "raise_fence",
            update.where(entity.id == self._id, entity.status == bind("into", entity.status.type)),
            writes=True,
        )

    @cached_property
    def retake_claim(self) -> Statement:
        """Give a claim that is locked to a new owner, and count the resume."""
        table = self._table
        values = {
            "fence": bind("fence", sa.BigInteger),
            "owner": bind("owner", table.c.owner.type),
            "beats": ZERO,
            "resumes": table.c.resumes + ONE,
            "next_look_us": self.ground.now + table.c.lease_us,
        }
        return Statement("retake_claim", sa.update(table).values(values).where(*self._is_named()), writes=True)

    @cached_property
    def read_claim(self) -> Statement:
        """Answer what a re-run needs of a claim: (requester, input, pass, resumes, lease, claim status, back_to, hash)."""
        c = self._table.c
        columns = (
            c.requester,
            c.input,
            c.pass_number,
            c.resumes,
            c.lease_us,
            c.claim_status,
            c.back_to,
            c.workflow_hash,
        )
        return Statement("read_claim", sa.select(*columns).where(*self._is_named()), writes=False)

    @cached_property
    def give_lease_up(self) -> Statement:
        """Say that nobody works on a claim any more: a keeper need not wait for a lease."""
        values = {"owner": sa.null(), "next_look_us": self.ground.now}
        update = sa.update(self._table).values(values).where(*self._is_ours())
        return Statement("give_lease_up", update, writes=True)

    @cached_property
    def park_own_claim(self) -> Statement:
        """Set a claim aside for a person, with the reason: no keeper touches it again."""
        values = {"review": bind("review", sa.Text()), "owner": sa.null()}
        update = sa.update(self._table).values(values).where(*self._is_ours())
        return Statement("park_own_claim", update, writes=True)

    # Pieces

    @property
    def _table(self) -> sa.Table:
        return self.ground.tables.claims

    def _move(self, target: str) -> sa.Update:
        entity = self.entity
        values = {entity.status.name: bind(target, entity.status.type), entity.version.name: entity.version + ONE}
        return sa.update(entity.table).values(values)

    def _is_fenced(self) -> list[sa.ColumnElement[bool]]:
        entity = self.entity
        version = entity.version == bind("version", sa.BigInteger)
        return [entity.id == self._id, entity.status == bind("into", entity.status.type), version]

    def _is_named(self) -> list[sa.ColumnElement[bool]]:
        return [self._table.c[name] == bind(name, self._table.c[name].type) for name in NAME]

    def _is_ours(self) -> list[sa.ColumnElement[bool]]:
        # A release leaves the fence as it was, so a claim that has ended is told by not being held.
        table = self._table
        return [*self._is_named(), table.c.fence == bind("fence", sa.BigInteger), table.c.held == ONE]

    def _unhold(self) -> sa.Update:
        table = self._table
        values = {
            "held": ZERO,
            "owner": sa.null(),
            "review": sa.null(),
            "input": sa.null(),
            "pass_number": table.c.pass_number + bind("passes", sa.BigInteger),
        }
        return sa.update(table).values(values).where(*self._is_named(), table.c.fence == bind("fence", sa.BigInteger))

    def _claim_values(self, fence: Any) -> dict[str, Any]:
        columns = self._table.c
        values: dict[str, Any] = {name: bind(name, columns[name].type) for name in (*NAME, *_GIVEN)}
        values |= {"held": ONE, "fence": fence, "beats": ZERO, "resumes": ZERO, "pass_number": ONE, "review": sa.null()}
        values |= {"claimed_us": self.ground.now, "next_look_us": self.ground.now + bind("lease_us", sa.BigInteger)}
        return values

    def _on_conflict(self, insert: Any, values: dict[str, Any]) -> Any:
        kept = (*NAME, "pass_number")
        if self.ground.family == "mariadb":
            return insert.on_duplicate_key_update({name: insert.inserted[name] for name in values if name not in kept})
        again = {name: insert.excluded[name] for name in values if name not in kept}
        return insert.on_conflict_do_update(index_elements=list(NAME), set_=again)

    def _upsert_from(self, moved: sa.CTE) -> Any:
        values = self._claim_values(moved.c.fence)
        typed = [self._typed(name, value).label(name) for name, value in values.items()]
        insert = postgresql.insert(self._table).from_select(list(values), sa.select(*typed).select_from(moved))
        return self._on_conflict(insert, values)

    def _typed(self, name: str, value: Any) -> sa.ColumnElement[Any]:
        return (
            sa.cast(value, self._table.c[name].type) if isinstance(value, sa.BindParameter) or value is None else value
        )


def kind_of(passes: int) -> sa.ColumnElement[str]:
    """Answer what the journal calls leaving a claim: a finish counts its pass, a release does not."""
    return text_constant("finish" if passes else "release")
