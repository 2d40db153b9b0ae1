"""The user's table that most of the suite moves rows of, and how a test reads what became of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from tests.databases import Database


class Base(DeclarativeBase):
    pass


class Order(Base):
    __tablename__ = "orders"

    id: Mapped[int] = mapped_column(sa.BigInteger, primary_key=True, autoincrement=False)
    status: Mapped[str] = mapped_column(sa.String(40))
    version: Mapped[int] = mapped_column(sa.BigInteger, server_default="0")
    total: Mapped[int] = mapped_column(sa.BigInteger, server_default="0")
    note: Mapped[str | None] = mapped_column(sa.String(40))
    remark: Mapped[str | None] = mapped_column("note_of_staff", sa.String(40))


def lay_orders(database: Database, ids: Iterable[int] = range(1, 21), **columns: Any) -> None:
    """Create the table if it is missing, and insert pending orders; columns go by their names in the table."""
    engine = database.engine()
    Base.metadata.create_all(engine)
    with engine.begin() as connection:
        rows = [{"id": each, "status": "pending", **columns} for each in ids]
        if rows:
            connection.execute(sa.insert(Order.__table__), rows)


def read_rows(database: Database, table: str = "orders") -> dict[Any, tuple[str, int]]:
    """Answer (status, version) of every row by its id."""
    with database.engine().connect() as connection:
        rows = connection.execute(sa.text(f"SELECT id, status, version FROM {table} ORDER BY id"))
        return {row: (status, version) for row, status, version in rows}


def read_row(database: Database, row: int) -> tuple[str, int]:
    """Answer (status, version) of one order."""
    return read_rows(database)[row]


@dataclass(frozen=True)
class Entry:
    """What a test looks at in a row of the journal."""

    kind: str
    row_id: str | None
    from_status: str | None
    to_status: str | None
    version: int | None
    requester: str | None
    operation_id: str
    ordinal: int
    entity: str | None
    at_us: int

    @property
    def move(self) -> tuple[str | None, str | None, str | None, int | None]:
        """Answer which row it moved from where to where, and its version then."""
        return self.row_id, self.from_status, self.to_status, self.version


def read_journal(database: Database, journal: str = "semel_journal") -> list[Entry]:
    """Answer the journal in the order of its operations."""
    names = ", ".join(Entry.__dataclass_fields__)
    with database.engine().connect() as connection:
        rows = connection.execute(sa.text(f"SELECT {names} FROM {journal} ORDER BY operation_id, ordinal"))
        return [Entry(*row) for row in rows]


def read_moves(database: Database, journal: str = "semel_journal") -> list[Entry]:
    """Answer the moves in the journal."""
    return [entry for entry in read_journal(database, journal) if entry.kind == "transition"]


def read_abandoned(database: Database) -> list[str]:
    """Answer the operation ids that were asked for and had not committed."""
    return [entry.operation_id for entry in read_journal(database) if entry.kind == "abandoned"]
