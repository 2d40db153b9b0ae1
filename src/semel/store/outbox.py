"""The outbox's statements: after-effects, recorded in the commit that owes them, delivered in the order of their row."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import mysql, postgresql, sqlite

from semel.store.ground import Ground
from semel.store.statements import ONE, ZERO, Statement, bind, text_constant

EFFECTS_LIMIT = 100
"""How many after-effects one finish may record; more than this is a job."""

_PER_EFFECT = ("effect_id", "name", "payload")


def is_before(earlier: Any, later: Any) -> sa.ColumnElement[bool]:
    """Whether an after-effect is to be delivered first: it was recorded earlier by the same workflow for the same row.

    Time comes before the version, which begins anew where a deleted row's id is used again; one row's moves wait for each
    other's locks. Two moves of one clock tick are told apart by their version, two effects of one move by their ordinal.
    """
    e, c = earlier.c, later.c
    same_row = sa.and_(e.entity == c.entity, e.row_id == c.row_id, e.workflow == c.workflow)
    in_move = sa.and_(e.version == c.version, e.ordinal < c.ordinal)
    in_tick = sa.and_(e.recorded_us == c.recorded_us, sa.or_(e.version < c.version, in_move))
    return sa.and_(same_row, sa.or_(e.recorded_us < c.recorded_us, in_tick))


class Outbox:
    """Statements over the after-effects of one database."""

    def __init__(self, ground: Ground) -> None:
        """Build nothing yet."""
        self.ground = ground
        self._writes: dict[int, Statement] = {}
        self._finds: dict[int, Statement] = {}

    @property
    def table(self) -> sa.Table:
        """The outbox itself."""
        return self.ground.tables.outbox

    def write_effects(self, count: int) -> Statement:
        """Answer the statement that records `count` after-effects of one move."""
        if count not in self._writes:
            rows = [self._row(number) for number in range(count)]
            self._writes[count] = Statement(f"write_{count}_effects", sa.insert(self.table).values(rows), writes=True)
        return self._writes[count]

    def insert_from(self, moved: sa.CTE, count: int) -> sa.Insert:
        """Make the INSERT that records `count` after-effects if, and only if, the row moved."""
        selects = []
        for number in range(count):
            row = self._row(number) | {"version": moved.c.version}
            typed = [
                (sa.cast(value, self.table.c[name].type) if isinstance(value, sa.BindParameter) else value).label(name)
                for name, value in row.items()
            ]
            selects.append(sa.select(*typed).select_from(moved))
        return sa.insert(self.table).from_select(
            list(self._row(0)), sa.union_all(*selects) if count > 1 else selects[0]
        )

    def _row(self, number: int) -> dict[str, Any]:
        columns = self.table.c
        row: dict[str, Any] = {name: bind(f"{name}_{number}", columns[name].type) for name in _PER_EFFECT}
        row |= {name: bind(name, columns[name].type) for name in ("entity", "row_id", "workflow", "version")}
        row |= {"ordinal": sa.literal_column(str(number), sa.BigInteger), "state": text_constant("due")}
        return row | {"next_look_us": self.ground.now, "recorded_us": self.ground.now}

    def find_due_effects(self, names: int) -> Statement:
        """Answer effects that are due and whose row owes no earlier one: (id, name, entity, row, payload, attempts)."""
        if names not in self._finds:
            self._finds[names] = self._find_due(names)
        return self._finds[names]

    def _find_due(self, names: int) -> Statement:
        table, earlier = self.table, self.table.alias("earlier")
        c = table.c
        is_blocked = (
            sa.select(ONE)
            .select_from(earlier)
            .where(is_before(earlier, table), earlier.c.state != text_constant("delivered"))
            .exists()
        )
        select = (
            sa.select(c.effect_id, c.name, c.entity, c.row_id, c.payload, c.attempts)
            .where(c.name.in_([bind(f"name{number}", c.name.type) for number in range(names)]))
            .where(
                c.state.in_([text_constant("due"), text_constant("taken")]),
                c.next_look_us <= self.ground.now,
                ~is_blocked,
            )
            .order_by(c.next_look_us)
            .limit(bind("sweep_limit", sa.Integer))
            .offset(ZERO)
        )
        return Statement("find_due_effects", select, writes=False)

    @cached_property
    def take_effect_if_due(self) -> Statement:
        """Take an effect for one attempt, unless another courier has taken it since it was found."""
        c = self.table.c
        values = {
            "state": text_constant("taken"),
            "owner": bind("owner", c.owner.type),
            "attempts": c.attempts + ONE,
            "lease_us": bind("lease_us", sa.BigInteger),
            "next_look_us": self.ground.now + bind("lease_us", sa.BigInteger),
        }
        states = [text_constant("due"), text_constant("taken")]
        update = sa.update(self.table).values(values).where(*self._is_attempt(), c.state.in_(states))
        return Statement("take_effect_if_due", update, writes=True)

    @cached_property
    def deliver_effect_if_taken(self) -> Statement:
        """Write down that an attempt delivered the effect."""
        values = {
            "state": text_constant("delivered"),
            "delivered_us": self.ground.now,
            "owner": sa.null(),
            "problem": sa.null(),
        }
        return self._end_attempt("deliver_effect_if_taken", values)

    @cached_property
    def postpone_effect_if_taken(self) -> Statement:
        """Write down why an attempt failed, and when the next one is."""
        pause = bind("pause_us", sa.BigInteger)
        values = {"state": text_constant("due"), "next_look_us": self.ground.now + pause, "owner": sa.null()}
        return self._end_attempt("postpone_effect_if_taken", values | {"problem": bind("problem", sa.Text())})

    @cached_property
    def park_effect_if_taken(self) -> Statement:
        """Set an effect aside for a person, with the reason."""
        values = {"state": text_constant("parked"), "owner": sa.null(), "problem": bind("problem", sa.Text())}
        return self._end_attempt("park_effect_if_taken", values)

    @cached_property
    def retry_effect_if_parked(self) -> Statement:
        """Make a parked effect due again."""
        c = self.table.c
        values = {"state": text_constant("due"), "attempts": sa.literal_column("0"), "next_look_us": self.ground.now}
        where = (c.effect_id == bind("effect_id", c.effect_id.type), c.state == text_constant("parked"))
        return Statement("retry_effect_if_parked", sa.update(self.table).values(values).where(*where), writes=True)

    @cached_property
    def note_delivery_once(self) -> Statement:
        """Note in the journal that a consumer has handled an effect; matches nothing if it had before."""
        journal = self.ground.tables.journal
        values = {
            "operation_id": bind("effect_id", journal.c.operation_id.type),
            "ordinal": bind("consumer", sa.BigInteger),
            "kind": text_constant("delivery"),
            "at_us": self.ground.now,
        }
        insert: Any = {"postgresql": postgresql.insert, "mariadb": mysql.insert, "sqlite": sqlite.insert}[
            self.ground.family
        ](journal)
        if self.ground.family == "mariadb":
            statement = insert.values(values).prefix_with("IGNORE")
        else:
            statement = insert.values(values).on_conflict_do_nothing(index_elements=["operation_id", "ordinal"])
        return Statement("note_delivery_once", statement, writes=True)

    def _is_attempt(self) -> list[sa.ColumnElement[bool]]:
        c = self.table.c
        return [c.effect_id == bind("effect_id", c.effect_id.type), c.attempts == bind("attempts", sa.BigInteger)]

    def _end_attempt(self, name: str, values: dict[str, Any]) -> Statement:
        c = self.table.c
        # A retry by hand counts the attempts anew, so their number alone would let a very old one end a new one.
        is_mine = (c.state == text_constant("taken"), c.owner == bind("owner", c.owner.type))
        return Statement(name, sa.update(self.table).values(values).where(*self._is_attempt(), *is_mine), writes=True)
