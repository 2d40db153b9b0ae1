from __future__ import annotations

import uuid
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from semel import Missed, Moved, UsageError
from tests.conformance.faces import Once
from tests.conformance.shop import read_moves
from tests.databases import Database

KEYS = [uuid.UUID(int=1), uuid.UUID("f" * 32), uuid.uuid4()]


class Base(DeclarativeBase):
    pass


class Parcel(Base):
    __tablename__ = "parcels"
    id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    status: Mapped[str] = mapped_column(sa.String(40))
    version: Mapped[int] = mapped_column(sa.BigInteger, server_default="0")


class Note(Base):
    __tablename__ = "notes"
    id: Mapped[str] = mapped_column(sa.String(40), primary_key=True)
    status: Mapped[str] = mapped_column(sa.String(40))
    version: Mapped[int] = mapped_column(sa.BigInteger, server_default="0")


class Small(Base):
    __tablename__ = "smalls"
    id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    status: Mapped[str] = mapped_column(sa.String(40))
    version: Mapped[int] = mapped_column(sa.Integer, server_default="0")


def lay_rows(database: Database, kind: Any, ids: list[Any]) -> None:
    """Create a table with pending rows."""
    Base.metadata.create_all(database.engine(), tables=[kind.__table__])
    with database.engine().begin() as connection:
        for each in ids:
            connection.execute(sa.insert(kind).values(id=each, status="pending"))


def test_a_row_is_found_by_its_id(database: Database, once: Once) -> None:
    """Singly and many at once, whatever kind the id is; the journal holds it as text."""
    kinds: list[tuple[Any, list[Any]]] = [
        (Small, [1, 0, -5]),
        (Note, ["a", "b'c%s", "ü"]),
        (Parcel, KEYS),
    ]
    for kind, ids in kinds:
        lay_rows(database, kind, ids)
        table = once.table(kind)
        assert table.transition(ids[0], "pending", to="paid") == Moved(1)
        moved = table.transition_many(iter(ids[::-1]), "pending", to="paid")
        assert list(moved.items()) == [(ids[2], Moved(1)), (ids[1], Moved(1)), (ids[0], Missed("paid"))]
        journaled = {entry.row_id for entry in read_moves(database) if entry.entity == kind.__tablename__}
        assert journaled == {str(each) for each in ids}


def test_the_largest_numbers_are_ids(database: Database, once: Once) -> None:
    """Both ends of 64 bits, in a column that holds them."""
    with database.engine().begin() as connection:
        big = "CREATE TABLE big (id BIGINT PRIMARY KEY, status VARCHAR(9), version BIGINT NOT NULL DEFAULT 0)"
        connection.execute(sa.text(big))
        for each in (2**63 - 1, -(2**63)):
            connection.execute(sa.text("INSERT INTO big (id, status) VALUES (:id, 'new')"), {"id": each})
    big_ones = once.table("big")
    assert big_ones.transition(2**63 - 1, "new", to="old") == Moved(1)
    assert big_ones.transition_many([-(2**63)], "new", to="old") == {-(2**63): Moved(1)}


def test_a_uuid_may_be_given_as_text(database: Database, once: Once) -> None:
    """Whatever way a UUID is written, it is the same row."""
    lay_rows(database, Parcel, KEYS)
    parcels = once.table(Parcel)
    assert parcels.transition(str(KEYS[0]), "pending", to="paid") == Moved(1)
    assert parcels.transition(KEYS[1].hex.upper(), "pending", to="paid") == Moved(1)
    assert parcels.transition(f"{{{KEYS[0]}}}", "pending", to="paid") == Missed("paid")


def test_a_reflected_uuid_column_is_known(database: Database, once: Once) -> None:
    """A table given by name: a uuid column where there is one, text of the user's own form elsewhere."""
    kind = {"postgresql": "UUID", "mariadb": "UUID", "sqlite": "CHAR(32)"}[database.family]
    key = KEYS[2]
    with database.engine().begin() as connection:
        connection.execute(
            sa.text(f"CREATE TABLE keyed (id {kind} PRIMARY KEY, status VARCHAR(9), version BIGINT NOT NULL DEFAULT 0)")
        )
        connection.execute(sa.text("INSERT INTO keyed (id, status) VALUES (:id, 'new')"), {"id": key.hex})
    keyed = once.table("keyed")
    given: Any = key.hex if database.family == "sqlite" else key
    assert keyed.transition(given, "new", to="old") == Moved(1)
    assert keyed.transition_many([given], "new", to="old") == {given: Missed("old")}
    assert read_moves(database)[0].row_id == str(given)


def test_an_id_of_another_kind_is_refused(database: Database, once: Once) -> None:
    """Singly and among many; the error names what the column holds."""
    for kind in (Small, Note, Parcel):
        lay_rows(database, kind, [])
    for table, given in ((once.table(Small), "1"), (once.table(Note), 1), (once.table(Parcel), "no uuid")):
        with pytest.raises(UsageError, match="does not fit") as caught:
            table.transition(given, "pending", to="paid")
        assert caught.value.code == "SEMEL-ROW-3"
        with pytest.raises(UsageError, match="does not fit"):
            table.transition_many([given], "pending", to="paid")


def test_an_id_is_compared_letter_by_letter(database: Database, once: Once) -> None:
    """A collation that ignores case or trailing blanks finds another row than the one that was named: that is none."""
    lay_rows(database, Note, ["abc"])
    notes = once.table(Note)
    for wrong in ("ABC", "abc "):
        with pytest.raises(UsageError) as caught:
            notes.transition(wrong, "pending", to="paid")
        assert caught.value.code == "SEMEL-ROW-1"
    assert read_moves(database) == []
