"""The statements of a transition: lock the row, check status and guards, move it and write the journal.

PostgreSQL does all of it in one statement, so one round trip. Elsewhere it is three statements of one transaction. In
both, the row is locked first: what is decided is decided about the row as it is now, and `Missed(now)` is the truth.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, Literal, TypeAlias

import sqlalchemy as sa

from semel.store.dialects import FAMILIES, bounded_lock, lock_bound, lock_unbound
from semel.store.entity import Entity, Id
from semel.store.ground import Ground
from semel.store.journal import Journal
from semel.store.meta import Meta
from semel.store.statements import ONE, ZERO, Statement, bind

SHAPES_LIMIT = 256
"""How many shapes of sources and guards keep their statements: an application has a handful, a hostile one has no more."""

GuardKind: TypeAlias = Literal["equals", "is_null"] | int


@dataclass(frozen=True)
class Shape:
    """What makes two transitions of one table share their statements."""

    sources: int
    guards: tuple[tuple[str, GuardKind], ...]


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
        self._locks: dict[int, Statement] = {}
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

    def lock_rows(self, count: int) -> Statement:
        """Answer (id, status, version, whether the guards hold) of each row that exists, locked in the order of ids."""
        if count not in self._locks:
            columns = [self.entity.id, self.entity.status, self.entity.version, self._fits().label("fits")]
            select = sa.select(*columns).where(self._is_one_of(count)).order_by(self.entity.id)
            if self.ground.family == "postgresql":
                select = self._within_bound(select)
            else:
                select = bounded_lock(select, self.ground.family)
            self._locks[count] = Statement(f"lock_{count}_rows", select, writes=False)
        return self._locks[count]

    def move_locked_rows_if_in_source(self, count: int) -> Statement:
        """Move rows that were locked and found fitting; the guards are repeated."""
        if count not in self._updates:
            update = self._update().where(self._is_one_of(count), *self._conditions())
            self._updates[count] = Statement(f"move_{count}_locked_rows_if_in_source", update, writes=True)
        return self._updates[count]

    @cached_property
    def move_row_if_in_source(self) -> Statement:
        """Lock, check, move and journal one row; answer (id, status, version after the move or NULL)."""
        entity, table = self.entity, self.entity.table
        bounded = lock_bound()
        locked = (
            sa.select(entity.id.label("id"), entity.status.label("status"), entity.version.label("version"))
            .select_from(table.join(bounded, sa.true()))
            .where(entity.id == bind("id0", entity.id.type))
            .with_for_update(of=table)
            .cte("locked")
        )
        moved = (
            self._update()
            .where(entity.id == locked.c.id, entity.version == locked.c.version, *self._conditions())
            .returning(entity.version.label("version"))
            .cte("moved")
        )
        journaled = self._journal_insert(locked, moved).cte("journaled")
        answer = (
            sa.select(locked.c.id, locked.c.status, moved.c.version, lock_unbound(bounded))
            .select_from(bounded.outerjoin(locked, sa.true()).outerjoin(moved, sa.true()))
            .add_cte(journaled)
        )
        return Statement("move_row_if_in_source", answer, writes=True)

    def _journal_insert(self, locked: sa.CTE, moved: sa.CTE) -> sa.Insert:
        from_status = self._status_name(locked.c.status)
        values = self.journal.row_values(ordinal=ZERO, from_status=from_status, version=moved.c.version)
        values = {
            name: sa.cast(value, self.journal.table.c[name].type) if isinstance(value, sa.BindParameter) else value
            for name, value in values.items()
        }
        select = sa.select(*(value.label(name) for name, value in values.items())).select_from(
            locked.join(moved, sa.true())
        )
        return sa.insert(self.journal.table).from_select(list(values), select)

    def _status_name(self, held: sa.ColumnElement[Any]) -> sa.ColumnElement[str]:
        """The journal keeps names, also of statuses that the table keeps as numbers or enum labels."""
        names = self.entity.codec.held
        if names is None:
            return sa.cast(held, sa.String)
        return sa.case(*((held == sa.literal_column(str(int(value))), _quoted(name)) for name, value in names.items()))

    def _within_bound(self, select: sa.Select[Any]) -> sa.Select[Any]:
        bounded = lock_bound()
        columns = {"id": self.entity.id, "status": self.entity.status, "version": self.entity.version}
        inner = (
            select.with_only_columns(
                *(column.label(name) for name, column in columns.items()), self._fits().label("fits")
            )
            .select_from(self.entity.table.join(bounded, sa.true()))
            .with_for_update(of=self.entity.table)
            .cte("locked")
        )
        outer = sa.select(inner.c.id, inner.c.status, inner.c.version, inner.c.fits, lock_unbound(bounded))
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
        found: list[sa.ColumnElement[bool]] = []
        for number, (name, kind) in enumerate(self.shape.guards):
            column = self.entity.guard_column(name)
            if kind == "is_null":
                found.append(column.is_(None))
            elif kind == "equals":
                found.append(column == bind(f"guard{number}", column.type))
            else:
                found.append(column.in_([bind(f"guard{number}_{each}", column.type) for each in range(int(kind))]))
        return found


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
        kinds: list[tuple[str, GuardKind]] = []
        for number, (name, value) in enumerate(guards.items()):
            if value is None:
                kinds.append((name, "is_null"))
            elif isinstance(value, list | tuple | set | frozenset):
                kinds.append((name, len(value)))
                decided |= {f"guard{number}_{each}": one for each, one in enumerate(value)}
            else:
                kinds.append((name, "equals"))
                decided[f"guard{number}"] = value
        statements = self._statements(Shape(sources=len(sources), guards=tuple(kinds)))
        return Move(statements=statements, sources=tuple(sources), target=target, requester=requester, decided=decided)


def ids_as_params(ids: Sequence[Id]) -> dict[str, object]:
    """Answer ids under the names that the statements have for them."""
    return {f"id{number}": each for number, each in enumerate(ids)}
