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
    by_name: bool
    slots: tuple[tuple[str, str, Processor | None], ...]  # name in the text, name in `params`, how the driver wants it
    readers: tuple[Processor | None, ...]

    def bind(self, params: Mapping[str, object]) -> Any:
        """Answer the parameters as the driver takes them: by name, or in the order of the text."""
        if self.by_name:
            return {name: write(params[given]) if write else params[given] for name, given, write in self.slots}
        return tuple([write(params[given]) if write else params[given] for _, given, write in self.slots])

    def read(self, rows: Sequence[Sequence[Any]]) -> list[Row]:
        """Answer the driver's rows as plain tuples of Python values."""
        if not any(self.readers):
            return [tuple(row) for row in rows]
        return [
            tuple(read(value) if read else value for read, value in zip(self.readers, row, strict=True)) for row in rows
        ]


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
    names = compiled.positiontup if compiled.positional else compiled.bind_names.values()
    slots = tuple((name, name.removeprefix(_PREFIX), _writer(compiled.binds[name], dialect)) for name in names)
    assert all(name.startswith(_PREFIX) for name, _, _ in slots), (
        f"a value was built into the statement as a parameter: {slots}"
    )
    readers = tuple(_reader(column.type, dialect) for column in _answered_columns(construct))
    return Rendered(text=str(compiled), by_name=not compiled.positional, slots=slots, readers=readers)


def _answered_columns(construct: Any) -> Sequence[Any]:
    if construct.is_select:
        return tuple(construct.selected_columns)
    return tuple(construct.exported_columns) if construct.is_dml and construct._returning else ()  # noqa: SLF001 - has no public name


def _writer(parameter: sa.BindParameter[Any], dialect: Dialect) -> Processor | None:
    return parameter.type.dialect_impl(dialect).bind_processor(dialect)


def _reader(kind: sa.types.TypeEngine[Any], dialect: Dialect) -> Processor | None:
    return kind.dialect_impl(dialect).result_processor(dialect, None)


_PREFIX = "s_"


def bind(name: str, kind: Any) -> sa.BindParameter[Any]:
    """Make a named parameter. The prefix keeps it apart from the user's column names, which SQLAlchemy reserves."""
    return sa.bindparam(_PREFIX + name, type_=kind)


ZERO: sa.ColumnElement[int] = sa.literal_column("0", sa.BigInteger)
ONE: sa.ColumnElement[int] = sa.literal_column("1", sa.BigInteger)


def text_constant(word: str) -> sa.ColumnElement[str]:
    """Make a word of Semel's own part of the statement's text."""
    assert word.replace("_", "").isalnum(), word
    return sa.literal_column(f"'{word}'", sa.String)


def named(params: Mapping[str, object]) -> dict[str, object]:
    """Answer the parameters under the names that SQLAlchemy knows them by."""
    return {_PREFIX + name: value for name, value in params.items()}
