"""A statement: built once with SQLAlchemy Core, rendered once per driver, sent as text.

Building a statement costs 80–140 µs and SQLAlchemy's own way through a connection costs as much again, so own connections
get text and ready parameters. A borrowed SQLAlchemy handle gets the construct itself, and its own machinery does the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import sqlalchemy as sa

if TYPE_CHECKING:
    from sqlalchemy.engine import Dialect

    from semel.asks import Row

Processor: TypeAlias = Callable[[Any], Any]


@dataclass(frozen=True, slots=True)
class Rendered:
    """A statement as one driver receives it."""

    text: str
    order: tuple[str, ...] | None  # None: the driver takes parameters by name
    names: tuple[str, ...]
    writers: Mapping[str, Processor]
    readers: tuple[Processor | None, ...]

    def bind(self, params: Mapping[str, object]) -> Any:
        """Answer the parameters as the driver takes them."""
        writers = self.writers
        if self.order is None:
            return {name: writers[name](params[name]) if name in writers else params[name] for name in self.names}
        return tuple(writers[name](params[name]) if name in writers else params[name] for name in self.order)

    def read(self, rows: Sequence[Sequence[Any]]) -> list[Row]:
        """Answer the driver's rows as plain tuples of Python values."""
        if not any(self.readers):
            return [tuple(row) for row in rows]
        return [tuple(read(value) if read else value for read, value in zip(self.readers, row, strict=True)) for row in rows]


class Statement:
    """One SQL statement of Semel; its `name` says what it does and under which guard."""

    __slots__ = ("_rendered", "construct", "name", "writes")

    def __init__(self, name: str, construct: sa.sql.expression.ClauseElement, *, writes: bool) -> None:
        """Keep the construct; rendering waits for the first driver that needs it."""
        self.name = name
        self.construct: Any = construct
        self.writes = writes
        self._rendered: dict[Dialect, Rendered] = {}

    def __repr__(self) -> str:
        return f"<Statement {self.name}>"

    def render(self, dialect: Dialect) -> Rendered:
        """Answer the text for this driver. Two threads may render it twice; both get the same text."""
        rendered = self._rendered.get(dialect)
        if rendered is None:
            rendered = self._rendered[dialect] = _render(self.construct, dialect)
        return rendered


def _render(construct: Any, dialect: Dialect) -> Rendered:
    compiled = construct.compile(dialect=dialect)
    writers = {}
    for name, bind in compiled.binds.items():
        writer = bind.type.dialect_impl(dialect).bind_processor(dialect)
        if writer is not None:
            writers[name] = writer
    columns = getattr(construct, "selected_columns", ()) if construct.is_select else getattr(construct, "returning_columns", ())
    readers = tuple(_reader(column.type, dialect) for column in columns)
    order = tuple(compiled.positiontup) if compiled.positional else None
    return Rendered(text=str(compiled), order=order, names=tuple(compiled.binds), writers=writers, readers=readers)


def _reader(kind: sa.types.TypeEngine[Any], dialect: Dialect) -> Processor | None:
    return kind.dialect_impl(dialect).result_processor(dialect, None)


def bind(name: str, kind: Any) -> sa.BindParameter[Any]:
    """Make a named parameter. The prefix keeps it apart from the user's column names, which SQLAlchemy reserves."""
    return sa.bindparam("s_" + name, type_=kind)
