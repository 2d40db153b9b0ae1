"""`step.row`: the row as the claim found it. It reads like the mapped object, and refuses to be written."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy.orm import Mapper

from semel.errors import error


class Snapshot:
    """A frozen, detached row. Columns are attributes; methods and properties of the mapped class work on them."""

    __slots__ = ("_entity", "_mapped", "_values")

    def __init__(self, entity: str, values: Mapping[str, object], mapper: Mapper[Any] | None) -> None:
        """Name the columns as the mapped class does."""
        named = dict(values)
        if mapper is not None:
            for attribute in mapper.column_attrs:
                name = attribute.columns[0].name
                if name in values:
                    named[attribute.key] = values[name]
        object.__setattr__(self, "_entity", entity)
        object.__setattr__(self, "_values", named)
        object.__setattr__(self, "_mapped", None if mapper is None else mapper.class_)

    def __getattr__(self, name: str) -> Any:
        """Answer a column, or what the mapped class computes from columns."""
        if name in self._values:
            return self._values[name]
        if self._mapped is not None and not name.startswith("_"):
            for kind in self._mapped.__mro__:
                found = vars(kind).get(name)
                if found is not None and hasattr(found, "__get__"):
                    return found.__get__(self, self._mapped)
        raise AttributeError(f"the row of {self._entity!r} has no column {name!r}")

    def __setattr__(self, name: str, value: object) -> None:
        """Refuse: what is written here would be lost."""
        raise error("SEMEL-STEP-3", name=name, table=self._entity)

    def __repr__(self) -> str:
        return f"<row of {self._entity} {self._values!r}>"
