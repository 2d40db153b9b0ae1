"""The journal's statements: what moved, and the mark by which an operation that lost its answer is found again."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import mysql, postgresql, sqlite

from semel.store.dialects import lock_bound
from semel.store.ground import Ground
from semel.store.statements import ZERO, Statement, bind, text_constant

ABANDONED = "abandoned"
TRANSITION = "transition"

WRITE_SIZES = (100, 10, 1)
"""How many journal rows one statement may write: any number is a few statements, and only three texts exist."""

_PER_ROW = ("row_id", "from_status", "version")


class Journal:
    """Statements over the journal of one database."""

    def __init__(self, ground: Ground) -> None:
        """Build nothing yet."""
        self.ground = ground
        self._writes: dict[int, Statement] = {}

    @property
    def table(self) -> sa.Table:
        """The journal itself."""
        return self.ground.tables.journal

    @cached_property
    def abandon_operation_unless_committed(self) -> Statement:
        """Answer (kind, version) of the operation's first row, writing it as abandoned if there was none.

        One statement decides for good: a committed operation has its row, and one that is still on its way to the
        database finds the id taken. The row is rewritten in both cases, so that this commit has to be replicated after
        the one it asks about.
        """
        table = self.table
        values = {
            "operation_id": bind("operation", table.c.operation_id.type),
            "ordinal": ZERO,
            "kind": text_constant(ABANDONED),
            "at_us": self.ground.now,
        }
        statement: Any
        if self.ground.family == "postgresql":
            # The row may be there, not yet committed, by the very transaction that is asked about.
            bounded = lock_bound()
            select = sa.select(*(values[name].label(name) for name in values)).select_from(bounded)
            statement = postgresql.insert(table).from_select(list(values), select)
            statement = statement.on_conflict_do_update(
                index_elements=["operation_id", "ordinal"], set_={"kind": table.c.kind}
            )
        elif self.ground.family == "mariadb":
            statement = mysql.insert(table).values(values).on_duplicate_key_update(kind=table.c.kind)
        else:
            statement = sqlite.insert(table).values(values)
            statement = statement.on_conflict_do_update(
                index_elements=["operation_id", "ordinal"], set_={"kind": table.c.kind}
            )
        statement = statement.returning(table.c.kind, table.c.version)
        return Statement("abandon_operation_unless_committed", statement, writes=True)

    @cached_property
    def write_move(self) -> Statement:
        """Write one move of any kind."""
        values = self.row_values(ordinal=ZERO, kind=bind("kind", self.table.c.kind.type))
        return Statement("write_move", sa.insert(self.table).values(values), writes=True)

    def write_rows(self, count: int) -> Statement:
        """Answer the statement that writes `count` moves of one operation."""
        if count not in self._writes:
            rows = [self.row_values(str(number)) for number in range(count)]
            self._writes[count] = Statement(
                f"write_{count}_journal_rows", sa.insert(self.table).values(rows), writes=True
            )
        return self._writes[count]

    def row_values(self, number: str = "", **instead: Any) -> dict[str, Any]:
        """Answer the columns of one move, as parameters or as the expressions given instead."""
        columns = self.table.c
        values: dict[str, Any] = {
            "kind": text_constant(TRANSITION),
            "at_us": self.ground.now,
            "ordinal": bind("ordinal" + number, sa.BigInteger),
        }
        for name in ("operation_id", "entity", "to_status", "workflow", "step_key", "requester", "detail"):
            values[name] = bind(name, columns[name].type)
        for name in _PER_ROW:
            values[name] = bind(name + number, columns[name].type)
        return values | instead

    def insert_from(self, source: sa.FromClause, *, version: Any, kind: str | None = None, **instead: Any) -> sa.Insert:
        """Make the INSERT of one move per line of a CTE; `kind` is a parameter where none is given."""
        columns = self.table.c
        word = text_constant(kind) if kind else bind("kind", columns.kind.type)
        given = self.row_values(ordinal=ZERO, version=version, kind=word, **instead)
        typed = {
            name: sa.cast(value, columns[name].type) if isinstance(value, sa.BindParameter) else value
            for name, value in given.items()
        }
        select = sa.select(*(value.label(name) for name, value in typed.items())).select_from(source)
        return sa.insert(self.table).from_select(list(typed), select)


def shared_values(  # the columns that all moves of one operation have in common
    operation: str,
    entity: str,
    to_status: str,
    *,
    requester: str | None = None,
    workflow: str | None = None,
    step_key: str | None = None,
) -> Mapping[str, object]:
    """Answer the parameters that every move of one operation shares."""
    return {
        "operation_id": operation,
        "entity": entity,
        "to_status": to_status,
        "workflow": workflow,
        "step_key": step_key,
        "requester": requester,
        "detail": None,
    }
