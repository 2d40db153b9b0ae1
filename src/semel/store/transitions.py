"""The statements of a transition: lock the row, check status and guards, move it and write the journal.

PostgreSQL does all of it in one statement, so one round trip. Elsewhere it is three statements of one transaction. In
both, the row is locked first: what is decided is decided about the row as it is now, and `Missed(now)` is the truth.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import sqlalchemy as sa

from semel.store.dialects import FAMILIES, bounded_lock, keep_others_out, lock_bound, lock_unbound
from semel.store.entity import Entity, Id
from semel.store.ground import Ground
from semel.store.journal import TRANSITION, Journal
from semel.store.meta import Meta
from semel.store.statements import ONE, ZERO, Statement, bind

SHAPES_LIMIT = 256
"""How many shapes of sources and guards keep their statements: an application has a handful, a hostile one has no more."""


@dataclass(frozen=True)
class GuardShape:
    """How many values a column may have, and whether NULL will do; no value and no NULL is a guard that never holds."""

    column: str
    values: int
    null: bool


@dataclass(frozen=True)
class Shape:
    """What makes two transitions of one table share their statements."""

    sources: int
    guards: tuple[GuardShape, ...]


@dataclass(frozen=True)
class Move:
    """A transition to attempt: its words were checked, its values are as the database holds them."""

    statements: MoveStatements
    sources: tuple[str, ...]
    target: str
    requester: str | None
    decided: Mapping[str, object]

    @property
    def entity(self) -> Entity:
        """The table it happens in."""
        return self.statements.entity


class MoveStatements:
    """The statements of one shape of transitions, built when first needed."""

    def __init__(self, entity: Entity, ground: Ground, journal: Journal, shape: Shape) -> None:
        """Keep what they are built from."""
        self.entity = entity
        self.ground = ground
        self.journal = journal
        self.shape = shape
        self._locks: dict[tuple[int, bool], Statement] = {}
        self._updates: dict[int, Statement] = {}

    @property
    def in_one_statement(self) -> bool:
        """Whether the database can do all of a transition at once."""
        return FAMILIES[self.ground.family].one_statement

    @cached_property
    def take_write_lock(self) -> Statement | None:
        """Take SQLite's only write lock before reading: a borrowed transaction that has read cannot always write later."""
        if self.ground.family != "sqlite":
            return None
        return Meta(self.ground).touch_installation

    def lock_rows(self, count: int, *, joined: bool) -> Statement:
        """Answer (id, status, version, whether the guards hold) of each row that exists, locked in the order of ids."""
        if (count, joined) not in self._locks:
            columns = [self.entity.id, self.entity.status, self.entity.version, self._fits().label("fits")]
            select = sa.select(*columns).where(self._is_one_of(count)).order_by(self.entity.id)
            if self.ground.family == "postgresql":
                select = self._within_bound(select, joined=joined)
            else:
                select = bounded_lock(select, self.ground.family)
            self._locks[count, joined] = Statement(f"lock_{count}_rows", select, writes=False)
        return self._locks[count, joined]

    def move_locked_rows_if_in_source(self, count: int) -> Statement:
        """Move rows that were locked and found fitting; the guards are repeated."""
        if count not in self._updates:
            # Inside CASE no index can serve the conditions: one on status, walked for its dead entries, is slower than the key.
            update = self._update().where(self._is_one_of(count), self._fits() == ONE)
            self._updates[count] = Statement(f"move_{count}_locked_rows_if_in_source", update, writes=True)
        return self._updates[count]

    def move_row_if_in_source(self, *, joined: bool) -> Statement:
        """Lock, check, move and journal one row; answer (id, status, whether it fits, version after the move or NULL)."""
        return self._move_joined if joined else self._move_own

    @cached_property
    def _move_own(self) -> Statement:
        # The bound on lock waits ends with the statement, after the last trigger and foreign key.
        return Statement("move_row_if_in_source", self._move_row([]), writes=True)

    @cached_property
    def _move_joined(self) -> Statement:
        bounded = lock_bound()
        return Statement("move_row_if_in_source_joined", self._move_row([lock_unbound(bounded)], bounded), writes=True)

    def _move_row(self, unbound: list[Any], bounded: sa.CTE | None = None) -> sa.Select[Any]:
        entity, table = self.entity, self.entity.table
        bounded = lock_bound() if bounded is None else bounded
        locking = (
            sa.select(entity.id.label("id"), entity.status.label("status"), self._fits().label("fits"))
            .select_from(table.join(bounded, sa.true()))
            .where(entity.id == bind("id0", entity.id.type))
        )
        locked = keep_others_out(locking, table).cte("locked")
        # The UPDATE sees the row as it was when the statement began. A condition on its columns here would miss a row that
        # changed while the lock was waited for; `locked` has judged the row as it is.
        moved = (
            self._update()
            .where(entity.id == locked.c.id, locked.c.fits == ONE)
            .returning(entity.version.label("version"))
            .cte("moved")
        )
        source = locked.join(moved, sa.true())
        from_status = self._status_name(locked.c.status)
        journaled = self.journal.insert_from(
            source, version=moved.c.version, kind=TRANSITION, from_status=from_status
        ).cte("journaled")
        return (
            sa.select(locked.c.id, locked.c.status, locked.c.fits, moved.c.version, *unbound)
            .select_from(bounded.outerjoin(locked, sa.true()).outerjoin(moved, sa.true()))
            .add_cte(journaled)
        )

    def _status_name(self, held: sa.ColumnElement[Any]) -> sa.ColumnElement[str]:
        """The journal keeps names, also of statuses that the table keeps as numbers or enum labels."""
        names = self.entity.codec.held
        if names is None:
            return sa.cast(held, sa.String)
        return sa.case(*((held == sa.literal_column(str(int(value))), _quoted(name)) for name, value in names.items()))

    def _within_bound(self, select: sa.Select[Any], *, joined: bool) -> sa.Select[Any]:
        bounded = lock_bound()
        columns = {"id": self.entity.id, "status": self.entity.status, "version": self.entity.version}
        labelled = [column.label(name) for name, column in columns.items()]
        locking = select.with_only_columns(*labelled, self._fits().label("fits"))
        locking = locking.select_from(self.entity.table.join(bounded, sa.true()))
        inner = keep_others_out(locking, self.entity.table).cte("locked")
        # In a transaction of our own the bound stays until its end, for the foreign keys and triggers of the moves.
        unbound = [lock_unbound(bounded)] if joined else []
        outer = sa.select(inner.c.id, inner.c.status, inner.c.version, inner.c.fits, *unbound)
        return outer.select_from(bounded.outerjoin(inner, sa.true()))

    def _update(self) -> sa.Update:
        entity = self.entity
        target = bind("target", entity.status.type)
        return sa.update(entity.table).values({entity.status.name: target, entity.version.name: entity.version + ONE})

    def _is_one_of(self, count: int) -> sa.ColumnElement[bool]:
        ids = [bind(f"id{number}", self.entity.id.type) for number in range(count)]
        return self.entity.id == ids[0] if count == 1 else self.entity.id.in_(ids)

    def _conditions(self) -> list[sa.ColumnElement[bool]]:
        status = self.entity.status
        sources = [bind(f"source{number}", status.type) for number in range(self.shape.sources)]
        return [status == sources[0] if len(sources) == 1 else status.in_(sources), *self._guards()]

    def _fits(self) -> sa.ColumnElement[bool]:
        return sa.case((sa.and_(*self._conditions()), ONE), else_=ZERO)

    def _guards(self) -> list[sa.ColumnElement[bool]]:
        return [self._guard(number, shape) for number, shape in enumerate(self.shape.guards)]

    def _guard(self, number: int, shape: GuardShape) -> sa.ColumnElement[bool]:
        column = self.entity.guard_column(shape.column)
        values = [bind(f"guard{number}_{each}", column.type) for each in range(shape.values)]
        allowed: list[sa.ColumnElement[bool]] = [column.is_(None)] if shape.null else []
        if values:
            allowed.append(column == values[0] if len(values) == 1 else column.in_(values))
        return sa.or_(sa.false(), *allowed)


def _quoted(name: str) -> sa.ColumnElement[str]:
    """A status name of the user's, escaped: one statement has as many of them as the table has statuses."""
    return sa.literal_column("'" + name.replace("'", "''") + "'", sa.String)


class Moves:
    """Makes the moves of one table."""

    def __init__(self, entity: Entity, ground: Ground, journal: Journal) -> None:
        """Build nothing yet."""
        self.entity = entity
        self._statements = lru_cache(SHAPES_LIMIT)(lambda shape: MoveStatements(entity, ground, journal, shape))

    def plan(self, sources: Sequence[str], target: str, guards: Mapping[str, object], requester: str | None) -> Move:
        """Make a move of words that were read before: statuses by name, guards by column."""
        codec = self.entity.codec
        decided: dict[str, object] = {"target": codec.encode(target)}
        decided |= {f"source{number}": codec.encode(name) for number, name in enumerate(sources)}
        shapes: list[GuardShape] = []
        for number, (name, given) in enumerate(guards.items()):
            allowed = given if isinstance(given, list | tuple | set | frozenset) else (given,)
            values = [value for value in allowed if value is not None]
            shapes.append(GuardShape(column=name, values=len(values), null=len(values) < len(allowed)))
            decided |= {f"guard{number}_{each}": value for each, value in enumerate(values)}
        statements = self._statements(Shape(sources=len(sources), guards=tuple(shapes)))
        return Move(statements=statements, sources=tuple(sources), target=target, requester=requester, decided=decided)


def ids_as_params(ids: Sequence[Id]) -> dict[str, object]:
    """Answer ids under the names that the statements have for them."""
    return {f"id{number}": each for number, each in enumerate(ids)}
