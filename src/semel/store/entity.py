"""The user's table as Semel needs to know it: one id, one status, one version column, and columns to guard by."""

from __future__ import annotations

import enum
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import sqlalchemy as sa

from semel.errors import error
from semel.store.dialects import Family
from semel.store.tables import ROW_ID_CHARACTERS

Id: TypeAlias = int | str | uuid.UUID

_INT64 = 2**63


@dataclass(frozen=True)
class StatusCodec:
    """How a status is named by people and how the database holds it.

    `known` lists the names when the column can only hold these; None means any text. `held` maps a name to an integer.
    """

    known: tuple[str, ...] | None = None
    held: Mapping[str, int] | None = None
    padded: bool = False
    names: Mapping[int, str] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        """Turn the mapping around once."""
        if self.held is not None:
            object.__setattr__(self, "names", {value: name for name, value in self.held.items()})

    def encode(self, name: str) -> object:
        """Answer what the database holds for a status."""
        return name if self.held is None else self.held[name]

    def decode(self, value: Any) -> str:
        """Answer the status that the database holds; a number outside the mapping is shown as it is, NULL as nothing."""
        if value is None:
            return ""
        if self.held is not None:
            return self.names.get(value, str(value))
        text = value.name if isinstance(value, enum.Enum) else str(value)
        return text.rstrip(" ") if self.padded else text


@dataclass(frozen=True)
class Entity:
    """A bound table: found in the database, checked, ready for statements."""

    name: str
    family: Family
    table: sa.TableClause
    id: sa.ColumnClause[Any]
    status: sa.ColumnClause[Any]
    version: sa.ColumnClause[Any]
    id_kind: type[int | str | uuid.UUID]
    codec: StatusCodec
    guards: Mapping[str, sa.ColumnClause[Any]]
    members: Mapping[enum.Enum, str] = field(default_factory=dict)

    def read_id(self, given: object) -> Id:
        """Answer the id as its column holds it, or refuse it by name."""
        kind = self.id_kind
        if kind is uuid.UUID and isinstance(given, str):
            try:
                return uuid.UUID(given)
            except ValueError:
                pass
        elif isinstance(given, kind) and not isinstance(given, bool):
            if isinstance(given, int) and -_INT64 <= given < _INT64:
                return given
            if isinstance(given, str) and 0 < len(given) <= ROW_ID_CHARACTERS and "\0" not in given:
                return given
            if isinstance(given, uuid.UUID):
                return given
        expected = {
            int: "whole numbers of 64 bits",
            str: f"text of 1 to {ROW_ID_CHARACTERS} characters",
            uuid.UUID: "UUIDs",
        }[kind]
        raise error("SEMEL-ROW-3", id=_shown(given), table=self.name, column=self.id.name, expected=expected)

    def parse_id(self, text: str) -> Id:
        """Answer an id that Semel's own tables kept as text."""
        if self.id_kind is int:
            return int(text)
        return uuid.UUID(text) if self.id_kind is uuid.UUID else text

    def read_status(self, given: object) -> str:
        """Answer the name of a status, given as text or as a member of the column's own enum."""
        if isinstance(given, enum.Enum) and given in self.members:
            return self.members[given]
        name = (
            str.__str__(given) if isinstance(given, str) else ""
        )  # a text enum's member is its text, not its Python name
        known = self.known_statuses
        if not name or "\0" in name or (known is not None and name not in known):
            shown = ", ".join(known) if known is not None else "any text that is not empty"
            raise error("SEMEL-ROW-2", status=_shown(given), table=self.name, column=self.status.name, known=shown)
        return name

    @property
    def known_statuses(self) -> tuple[str, ...] | None:
        """The only names the column can hold, if it is so strict."""
        return tuple(self.codec.held) if self.codec.held is not None else self.codec.known

    def guard_column(self, name: str) -> sa.ColumnClause[Any]:
        """Answer the column that a guard names, or refuse it with the names that exist."""
        if name not in self.guards:
            raise error("SEMEL-ROW-4", guard=name, table=self.name, known=", ".join(sorted(self.guards)))
        return self.guards[name]


def _shown(given: object) -> object:
    text = repr(given)
    return given if len(text) <= ROW_ID_CHARACTERS else text[:ROW_ID_CHARACTERS] + "…"
