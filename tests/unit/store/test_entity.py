from __future__ import annotations

import enum
import uuid
from typing import Any

import pytest
import sqlalchemy as sa

from semel import UsageError
from semel.store.entity import Entity, StatusCodec

KEY = uuid.UUID("12345678123456781234567812345678")


class Mood(enum.Enum):
    WAITING = 1
    PAID = 2


class Word(str, enum.Enum):  # noqa: UP042 - the older way, whose str() is a Python name
    PENDING = "pending"


class NewWord(enum.StrEnum):
    PENDING = "pending"


def make(kind: Any = int, codec: StatusCodec | None = None, members: dict[enum.Enum, str] | None = None) -> Entity:
    """Make an entity of a table with the columns id, status, version and total."""
    columns = [sa.column(name) for name in ("id", "status", "version", "total")]
    return Entity(
        name="orders",
        family="sqlite",
        table=sa.table("orders", *columns),
        id=columns[0],
        status=columns[1],
        version=columns[2],
        id_kind=kind,
        codec=codec or StatusCodec(),
        guards={column.name: column for column in columns},
        members=members or {},
    )


@pytest.mark.parametrize(
    ("kind", "given", "found"),
    [
        (int, 7, 7),
        (int, 2**63 - 1, 2**63 - 1),
        (int, -(2**63), -(2**63)),
        (str, "a", "a"),
        (str, "x" * 190, "x" * 190),
        (uuid.UUID, KEY, KEY),
        (uuid.UUID, str(KEY), KEY),
        (uuid.UUID, KEY.hex.upper(), KEY),
        (uuid.UUID, f"{{{KEY}}}", KEY),
    ],
)
def test_an_id_is_read_as_its_column_holds_it(kind: Any, given: object, found: object) -> None:
    """Whole numbers of 64 bits, text within bounds, and UUIDs in any of their writings."""
    assert make(kind).read_id(given) == found


@pytest.mark.parametrize(
    ("kind", "given"),
    [
        (int, "1"),
        (int, 1.0),
        (int, True),
        (int, None),
        (int, 2**63),
        (int, -(2**63) - 1),
        (str, 1),
        (str, ""),
        (str, "x" * 191),
        (str, "a\0b"),
        (str, b"a"),
        (uuid.UUID, "no uuid"),
        (uuid.UUID, 5),
        (uuid.UUID, "x" * 10_000),
    ],
)
def test_an_id_of_another_kind_is_refused(kind: Any, given: object) -> None:
    """The error says what the column holds, and quotes a giant only in part."""
    with pytest.raises(UsageError, match="Pass an id of that kind") as caught:
        make(kind).read_id(given)
    assert caught.value.code == "SEMEL-ROW-3"
    assert len(str(caught.value)) < 600


def test_a_status_is_text_that_is_not_empty() -> None:
    """Where the column takes any text, so does Semel; text enums are their text."""
    entity = make()
    assert entity.read_status("paid") == "paid"
    assert entity.read_status(Word.PENDING) == "pending"
    assert entity.read_status(NewWord.PENDING) == "pending"
    for wrong in ("", None, 1, b"paid", Mood.PAID, "pa\0id", ["paid"]):
        with pytest.raises(UsageError) as caught:
            entity.read_status(wrong)
        assert caught.value.code == "SEMEL-ROW-2"


def test_a_status_of_a_strict_column_is_one_of_its_labels() -> None:
    """Members stand for their labels; whatever else there is lists the labels in the error."""
    entity = make(codec=StatusCodec(known=("WAITING", "PAID")), members={Mood.WAITING: "WAITING", Mood.PAID: "PAID"})
    assert entity.read_status(Mood.PAID) == "PAID"
    assert entity.read_status("WAITING") == "WAITING"
    for wrong in ("waiting", Word.PENDING, Mood):
        with pytest.raises(UsageError, match="Its statuses are: WAITING, PAID"):
            entity.read_status(wrong)


def test_numbers_are_named_both_ways() -> None:
    """Names go in as numbers and come out as names; a number without a name is shown as it is."""
    codec = StatusCodec(held={"pending": 0, "paid": 10})
    assert make(codec=codec).known_statuses == ("pending", "paid")
    assert [codec.encode("paid"), codec.decode(10), codec.decode(0), codec.decode(7)] == [10, "paid", "pending", "7"]


def test_padding_is_no_part_of_a_status() -> None:
    """Only where the column pads: elsewhere a trailing blank is the user's own."""
    assert StatusCodec(padded=True).decode("paid      ") == "paid"
    assert StatusCodec().decode("paid ") == "paid "


def test_a_guard_is_a_column_or_refused_with_the_columns_there_are() -> None:
    """The error lists them."""
    entity = make()
    assert entity.guard_column("total").name == "total"
    with pytest.raises(UsageError, match="Its columns are: id, status, total, version") as caught:
        entity.guard_column("price")
    assert caught.value.code == "SEMEL-ROW-4"
