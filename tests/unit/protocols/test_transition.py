"""Transitions, driven by hand: which asks they make, in which order, and what they refuse to believe."""

from __future__ import annotations

from typing import Any

import pytest
import sqlalchemy as sa

from semel import Missed, Moved
from semel.asks import Ask, Asking, Execute, Fetch, Fresh, Tick, Together
from semel.errors import SemelError
from semel.protocols.boot import check_counting
from semel.protocols.transition import in_chunks, move_many, move_many_joined, move_one, move_one_joined
from semel.store.dialects import Family
from semel.store.entity import Entity, StatusCodec
from semel.store.ground import Ground
from semel.store.journal import Journal
from semel.store.meta import Meta
from semel.store.tables import OwnTables
from semel.store.transitions import Move, Moves

OPERATION = "0" * 32


def plan(family: Family) -> Move:
    """Plan the move of pending orders to paid."""
    kinds = {"id": sa.BigInteger(), "status": sa.String(), "version": sa.BigInteger()}
    table = sa.table("orders", *(sa.column(name, kind) for name, kind in kinds.items()))
    columns = {column.name: column for column in table.c}
    entity = Entity(
        "orders", family, table, columns["id"], columns["status"], columns["version"], int, StatusCodec(), columns
    )
    ground = Ground(family, OwnTables())
    return Moves(entity, ground, Journal(ground)).plan(["pending"], "paid", {}, "customer")


class Rows:
    """Answers the statements of a protocol from rows in a dict, and lists what was asked."""

    def __init__(self, rows: dict[int, tuple[str, int]]) -> None:
        self.rows = rows
        self.asked: list[str] = []
        self.journaled: list[tuple[object, object]] = []
        self.counts: dict[str, int] = {}

    def run(self, protocol: Asking[Any]) -> Any:
        """Answer what the protocol answers."""
        try:
            ask = next(protocol)
            while True:
                ask = protocol.send(self.answer(ask))
        except StopIteration as stop:
            return stop.value

    def answer(self, ask: Ask) -> Any:
        match ask:
            case Tick():
                return 0.0
            case Fresh():
                return OPERATION
            case Together(begin=begin):
                self.asked.append("together")
                return self.run(begin())
            case Fetch(statement=statement, params=params):
                self.asked.append(statement.name)
                return self.lock(params)
            case Execute(statement=statement, params=params):
                self.asked.append(statement.name)
                self.note(params)
                return self.counts.get(statement.name, sum(name.startswith(("id", "row_id")) for name in params) or 1)
        raise AssertionError(ask)

    def lock(self, params: Any) -> list[tuple[object, ...]]:
        ids = [value for name, value in params.items() if name.startswith("id")]
        found = [(row, *self.rows[row], int(self.rows[row][0] == "pending")) for row in ids if row in self.rows]
        return found or [(None, None, None, None)]

    def note(self, params: Any) -> None:
        numbers = [name.removeprefix("ordinal") for name in params if name.startswith("ordinal")]
        self.journaled += [(params[f"row_id{number}"], params[f"ordinal{number}"]) for number in numbers]


def test_a_row_is_locked_before_it_is_judged_and_moved() -> None:
    """Lock, move, journal, in one transaction; a miss locks and writes nothing."""
    rows = Rows({1: ("pending", 4), 2: ("sent", 9)})
    assert rows.run(move_one(plan("mariadb"), 1)) == Moved(5)
    assert rows.asked == ["together", "lock_1_rows", "move_1_locked_rows_if_in_source", "write_1_journal_rows"]
    rows.asked.clear()
    assert rows.run(move_one(plan("mariadb"), 2)) == Missed("sent")
    assert rows.asked == ["together", "lock_1_rows"]


@pytest.mark.parametrize("family", ["sqlite", "mariadb"])
def test_a_joined_move_is_provisional_and_commits_nothing(family: Family) -> None:
    """On SQLite it takes the write lock before it reads; a transaction that has read may not be able to write later."""
    rows = Rows({1: ("pending", 0), 2: ("sent", 9)})
    assert rows.run(move_one_joined(plan(family), 1)) == Moved(1, provisional=True)
    assert (rows.asked[0] == "touch_installation") is (family == "sqlite")
    assert rows.run(move_many_joined(plan(family), [2, 1])) == {2: Missed("sent"), 1: Moved(1, provisional=True)}


def test_one_statement_is_all_that_postgres_needs() -> None:
    """Neither BEGIN nor COMMIT: it commits by itself."""
    rows = Rows({})
    statement = plan("postgresql")
    protocol = move_one(statement, 7)
    assert isinstance(next(protocol), Tick)
    assert isinstance(protocol.send(0.0), Fresh)
    ask = protocol.send(OPERATION)
    assert isinstance(ask, Fetch)
    assert (ask.statement.name, ask.params["id0"], ask.params["operation_id"]) == (
        "move_row_if_in_source",
        7,
        OPERATION,
    )
    with pytest.raises(StopIteration) as stop:
        protocol.send([(7, "pending", 1, 3)])
    assert stop.value.value == Moved(3)
    assert rows.asked == []


@pytest.mark.parametrize(
    ("line", "code"), [((None, None, None, None), "SEMEL-ROW-1"), ((7, "pending", 1, None), "SEMEL-STORE-6")]
)
def test_one_statement_may_answer_what_is_no_outcome(line: tuple[object, ...], code: str) -> None:
    """No row at all; and a row that fitted but was not written, because a trigger swallowed it, is no miss."""
    protocol = move_one(plan("postgresql"), 7)
    for answer in (None, 0.0, OPERATION):
        protocol.send(answer)
    with pytest.raises(SemelError) as caught:
        protocol.send([line])
    assert caught.value.code == code


def test_all_rows_are_locked_in_the_order_of_their_ids_before_one_is_moved() -> None:
    """Two calls that share rows meet at the same first row, and a row that does not exist is found before any write."""
    rows = Rows(dict.fromkeys(range(1, 24), ("pending", 0)))
    answers = rows.run(move_many(plan("mariadb"), [*range(23, 0, -1), 5]))
    assert list(answers.items()) == [(row, Moved(1)) for row in range(23, 0, -1)]
    locks = [name for name in rows.asked if name.startswith("lock")]
    assert rows.asked[1 : 1 + len(locks)] == locks == ["lock_10_rows", "lock_10_rows", *["lock_1_rows"] * 3]
    assert rows.journaled == [(str(row), row - 1) for row in range(1, 24)]
    rows.asked.clear()
    with pytest.raises(SemelError, match="no row 24 in"):
        rows.run(move_many(plan("mariadb"), range(1, 25)))
    assert all(name.startswith(("lock", "together")) for name in rows.asked)


def test_a_count_that_differs_from_what_was_locked_is_an_error() -> None:
    """Rows that were locked and found fitting cannot be fewer when they are moved."""
    rows = Rows(dict.fromkeys(range(1, 11), ("pending", 0)))
    rows.counts["move_10_locked_rows_if_in_source"] = 9
    with pytest.raises(SemelError) as caught:
        rows.run(move_many(plan("sqlite"), range(1, 11)))
    assert caught.value.code == "SEMEL-STORE-6"
    assert rows.journaled == []


@pytest.mark.parametrize(
    ("count", "sizes"),
    [(0, []), (1, [1]), (9, [1] * 9), (10, [10]), (11, [10, 1]), (100, [100]), (345, [100] * 3 + [10] * 4 + [1] * 5)],
)
def test_any_number_of_rows_is_cut_into_few_sizes(count: int, sizes: list[int]) -> None:
    """Nothing is lost, nothing twice, and only three texts of each statement exist."""
    chunks = list(in_chunks(range(count)))
    assert [len(chunk) for chunk in chunks] == sizes
    assert [row for chunk in chunks for row in chunk] == list(range(count))


@pytest.mark.parametrize(("answers", "fine"), [((1, 0), True), ((0, 0), False), ((1, 1), False), ((2, 0), False)])
def test_boot_believes_only_a_driver_that_counts_matched_rows(answers: tuple[int, int], fine: bool) -> None:  # noqa: FBT001 - a case of the table
    """One row that is there and does not change counts 1, and one that is not there counts 0."""
    protocol = check_counting(Meta(Ground("mariadb", OwnTables())), "some driver")
    names = [next(protocol).statement.name]
    outcome: Any = None
    try:
        names.append(protocol.send(answers[0]).statement.name)
        protocol.send(answers[1])
    except (StopIteration, SemelError) as ended:
        outcome = ended
    assert isinstance(outcome, StopIteration) is fine
    assert fine or (outcome.code, "some driver" in outcome.happened) == ("SEMEL-DB-5", True)
    assert names[0] == "touch_installation"
