"""The statements that look for rows where nobody put them: in a claim status, or in a status that no file knows."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import sqlalchemy as sa

from semel.store.entity import Entity
from semel.store.statements import ZERO, Statement, bind


class Strays:
    """Statements over the rows of one table; each answers (id, status, version)."""

    def __init__(self, entity: Entity) -> None:
        """Build nothing yet."""
        self.entity = entity
        self.find_rows_in = lru_cache(8)(self._find_rows_in)
        self.find_rows_outside = lru_cache(8)(self._find_rows_outside)
        self.read_rows = lru_cache(8)(self._read_rows)

    def _find_rows_in(self, statuses: int) -> Statement:
        """Answer rows in one of some statuses, in the order of their ids, at most `sight_limit`."""
        return self._find(f"find_rows_in_{statuses}_statuses", self.entity.status.in_(self._given(statuses)))

    def _find_rows_outside(self, statuses: int) -> Statement:
        """Answer rows in none of some statuses, in the order of their ids, at most `sight_limit`."""
        status = self.entity.status
        is_outside = sa.or_(status.is_(None), status.not_in(self._given(statuses)))
        return self._find(f"find_rows_outside_{statuses}_statuses", is_outside)

    def _read_rows(self, rows: int) -> Statement:
        """Answer some rows as last committed, unlocked."""
        ids = [bind(f"id{number}", self.entity.id.type) for number in range(rows)]
        return Statement(f"read_{rows}_rows", self._select().where(self.entity.id.in_(ids)), writes=False)

    def _find(self, name: str, where: sa.ColumnElement[bool]) -> Statement:
        limit = bind("sight_limit", sa.Integer)
        select = self._select().where(where).order_by(self.entity.id).limit(limit).offset(ZERO)
        return Statement(name, select, writes=False)

    def _select(self) -> sa.Select[Any]:
        return sa.select(self.entity.id, self.entity.status, self.entity.version)

    def _given(self, statuses: int) -> list[sa.BindParameter[Any]]:
        return [bind(f"status{number}", self.entity.status.type) for number in range(statuses)]
