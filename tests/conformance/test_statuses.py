from __future__ import annotations

import enum
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from semel import ConfigError, Missed, Moved, UsageError
from tests.conformance.conftest import Open
from tests.conformance.faces import Once, Orders
from tests.conformance.shop import Entry, read_moves
from tests.databases import Database


class Mood(enum.Enum):
    WAITING = "is waiting"
    PAID = "was paid"
    SENT = "it's sent"


class Word(str, enum.Enum):  # noqa: UP042 - the older way, whose str() is a Python name
    PENDING = "pending"
    PAID = "paid"


class Base(DeclarativeBase):
    pass


class ByName(Base):
    __tablename__ = "by_name"
    id: Mapped[int] = mapped_column(primary_key=True)
    status: Mapped[Mood] = mapped_column(sa.Enum(Mood, name="Mood of orders"))
    version: Mapped[int] = mapped_column(sa.BigInteger, server_default="0")


class ByValue(Base):
    __tablename__ = "by_value"
    id: Mapped[int] = mapped_column(primary_key=True)
    status: Mapped[Mood] = mapped_column(
        sa.Enum(Mood, name="mood_value", values_callable=lambda kind: [member.value for member in kind])
    )
    version: Mapped[int] = mapped_column(sa.BigInteger, server_default="0")


class AsText(Base):
    __tablename__ = "as_text"
    id: Mapped[int] = mapped_column(primary_key=True)
    status: Mapped[Mood] = mapped_column(sa.Enum(Mood, native_enum=False, length=40))
    version: Mapped[int] = mapped_column(sa.BigInteger, server_default="0")


def lay(database: Database, *statements: str) -> None:
    """Run statements of the test's own."""
    with database.engine().begin() as connection:
        for statement in statements:
            connection.execute(sa.text(statement))


def read_steps(entries: list[Entry]) -> list[tuple[str | None, str | None]]:
    """Answer from where to where each move of one row led, in their order."""
    return [(entry.from_status, entry.to_status) for entry in sorted(entries, key=lambda entry: entry.version or 0)]


def lay_mapped(database: Database, kind: Any) -> None:
    """Create a mapped table with one waiting row."""
    Base.metadata.create_all(database.engine(), tables=[kind.__table__])
    with database.engine().begin() as connection:
        connection.execute(sa.insert(kind).values(id=1, status=Mood.WAITING))


def read_status(database: Database, table: str) -> object:
    """Answer the status of the only row, as the database shows it."""
    with database.engine().connect() as connection:
        return connection.exec_driver_sql(f"SELECT status FROM {table}").scalar_one()


MAPPED: list[tuple[Any, tuple[str, str, str]]] = [
    (ByName, ("WAITING", "PAID", "SENT")),
    (ByValue, ("is waiting", "was paid", "it's sent")),
    (AsText, ("WAITING", "PAID", "SENT")),
]


def test_members_of_a_mapped_enum_and_their_labels_mean_the_same(database: Database, once: Once) -> None:
    """Members or labels go in; labels come out of `Missed`, the journal and the column itself."""
    for kind, (waiting, paid, sent) in MAPPED:
        lay_mapped(database, kind)
        moods = once.table(kind)
        assert moods.transition(1, [Mood.WAITING, sent], to=Mood.PAID) == Moved(1)
        assert moods.transition(1, Mood.SENT, to=Mood.WAITING) == Missed(paid)
        assert moods.transition_many([1], paid, to=sent) == {1: Moved(2)}
        assert read_status(database, kind.__tablename__) == sent
        entries = [entry for entry in read_moves(database) if entry.entity == kind.__tablename__]
        assert read_steps(entries) == [(waiting, paid), (paid, sent)]


def test_a_word_that_is_no_member_is_refused(database: Database, once: Once) -> None:
    """The error lists what the column can hold, and a member of another enum is no status either."""
    for kind, _ in MAPPED:
        lay_mapped(database, kind)
        moods = once.table(kind)
        for word in ("nonsense", Word.PAID, 7):
            with pytest.raises(UsageError, match="Its statuses are: ") as caught:
                moods.transition(1, Mood.WAITING, to=word)
            assert caught.value.code == "SEMEL-ROW-2"


def test_a_native_enum_is_known_without_a_mapping(database: Database, once: Once) -> None:
    """A reflected table knows its labels; a domain over text takes any."""
    native = {
        "postgresql": ("CREATE TYPE \"Mood\" AS ENUM ('pending', 'it''s paid', 'sent')", '"Mood"'),
        "mariadb": ("SELECT 1", "ENUM('pending', 'it''s paid', 'sent')"),
        "sqlite": ("SELECT 1", "VARCHAR(40)"),
    }
    before, kind = native[database.family]
    lay(
        database,
        before,
        f"CREATE TABLE moods (id BIGINT PRIMARY KEY, status {kind} NOT NULL, version BIGINT NOT NULL DEFAULT 0)",
        "INSERT INTO moods (id, status) VALUES (1, 'pending')",
    )
    moods = once.table("moods")
    assert moods.transition(1, ["sent", "pending"], to="it's paid") == Moved(1)
    assert moods.transition(1, "pending", to="sent") == Missed("it's paid")
    assert moods.transition_many([1], "it's paid", to="sent") == {1: Moved(2)}
    if database.family != "sqlite":
        with pytest.raises(UsageError, match="pending, it's paid, sent"):
            moods.transition(1, "sent", to="lost")


def test_a_member_of_a_text_enum_is_its_text(database: Database, once: Once) -> None:
    """A column of plain text takes members that are text themselves, and never their Python names."""
    lay(
        database,
        "CREATE TABLE words (id BIGINT PRIMARY KEY, status VARCHAR(40) NOT NULL, version BIGINT NOT NULL DEFAULT 0)",
        "INSERT INTO words (id, status) VALUES (1, 'pending')",
    )
    words = once.table("words")
    assert words.transition(1, Word.PENDING, to=Word.PAID) == Moved(1)
    assert read_status(database, "words") == "paid"
    assert read_moves(database)[0].move == ("1", "pending", "paid", 1)
    with pytest.raises(UsageError):
        words.transition(1, "paid", to=Mood.SENT)


def test_a_padded_status_is_told_without_its_padding(database: Database, once: Once) -> None:
    """PostgreSQL fills CHAR up with blanks; they are no part of the word."""
    lay(
        database,
        "CREATE TABLE padded (id BIGINT PRIMARY KEY, status CHAR(20) NOT NULL, version BIGINT NOT NULL DEFAULT 0)",
        "INSERT INTO padded (id, status) VALUES (1, 'pending')",
    )
    padded = once.table("padded")
    assert padded.transition(1, ["pending", "new"], to="paid") == Moved(1)
    assert padded.transition(1, "pending", to="sent") == Missed("paid")
    assert padded.transition_many([1], "paid", to="sent") == {1: Moved(2)}
    assert read_steps(read_moves(database)) == [("pending", "paid"), ("paid", "sent")]


def test_numbers_have_names(database: Database, once: Once) -> None:
    """Integers travel by `status_values`; a number outside of it is shown as it is."""
    for kind in ("INTEGER", "SMALLINT", "BIGINT"):
        lay(
            database,
            f"CREATE TABLE c_{kind} (id BIGINT PRIMARY KEY, status {kind} NOT NULL, version BIGINT NOT NULL DEFAULT 0)",
            f"INSERT INTO c_{kind} (id, status) VALUES (1, 0), (2, 99)",
        )
        name = f"c_{kind}".lower() if database.family == "postgresql" else f"c_{kind}"
        prove_numbers(database, once.table(name, status_values={"pending": 0, "paid": 10, "lost": -1}), name)


def prove_numbers(database: Database, coded: Orders, name: str) -> None:
    """Move two rows whose statuses are numbers."""
    assert coded.transition(1, "pending", to="paid") == Moved(1)
    assert coded.transition(1, ["pending", "lost"], to="paid") == Missed("paid")
    assert coded.transition(2, "pending", to="paid") == Missed("99")
    assert coded.transition_many([1, 2], "paid", to="lost") == {1: Moved(2), 2: Missed("99")}
    entries = [entry for entry in read_moves(database) if entry.entity == name]
    assert read_steps(entries) == [("pending", "paid"), ("paid", "lost")]
    with pytest.raises(UsageError, match="pending, paid, lost"):
        coded.transition(1, "lost", to="99")


UNREADABLE: list[tuple[str, dict[str, int] | None]] = [
    ("INTEGER", None),
    ("INTEGER", {}),
    ("INTEGER", {"pending": 1, "paid": 1}),
    ("VARCHAR(40)", {"pending": 1}),
    ("FLOAT", None),
    ("BOOLEAN", None),
    ("TIMESTAMP", None),
]


def test_a_status_that_cannot_be_read_is_refused_at_boot(database: Database, open_once: Open, once: Once) -> None:
    """Numbers without names, names for text, two names of one number, and types that are no status."""
    once.boot()
    for number, (kind, values) in enumerate(UNREADABLE):
        columns = f"id BIGINT PRIMARY KEY, status {kind} NOT NULL, version BIGINT NOT NULL DEFAULT 0"
        lay(database, f"CREATE TABLE odd_{number} ({columns})")
        refusing = open_once()
        refusing.table(f"odd_{number}", status_values=values)
        with pytest.raises(ConfigError) as caught:
            refusing.boot()
        assert caught.value.code == "SEMEL-TABLE-6", kind
