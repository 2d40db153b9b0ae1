from __future__ import annotations

from typing import Any

import pytest

from semel import Missed, Moved, UsageError
from semel.errors import LockHeldError
from tests.conformance.faces import Once, Orders
from tests.conformance.families import on_servers
from tests.conformance.rivals import open_rival, wait_until_waiting
from tests.conformance.shop import Order, lay_orders, read_abandoned, read_journal, read_moves, read_rows
from tests.databases import Database

LAST = 1_000


@pytest.fixture
def many(database: Database, once: Once) -> Orders:
    """As many pending orders as the largest of these tests moves, and their handle."""
    lay_orders(database, range(1, LAST + 1))
    return once.table(Order)


def test_any_number_of_rows_moves_at_once(database: Database, many: Orders) -> None:
    """Below, at and above every size that statements exist for: each row moves once and has its journal row."""
    start = 1
    for count in (1, 9, 10, 11, 100, 345):
        ids = range(start, start + count)
        assert many.transition_many(ids, "pending", to="paid", by="cron") == dict.fromkeys(ids, Moved(1))
        start += count
    rows = read_rows(database)
    assert {row for row, (status, version) in rows.items() if (status, version) == ("paid", 1)} == set(range(1, start))
    moves = read_moves(database)
    assert sorted(int(entry.row_id or 0) for entry in moves) == list(range(1, start))
    assert {entry.move[1:] for entry in moves} == {("pending", "paid", 1)}
    assert {entry.requester for entry in moves} == {"cron"}


def test_one_call_is_one_operation(database: Database, many: Orders) -> None:
    """All of its rows share the operation id, and their ordinals count from 0 without a hole."""
    many.transition_many(range(1, 124), "pending", to="paid")
    moves = read_moves(database)
    assert len({entry.operation_id for entry in moves}) == 1
    assert [entry.ordinal for entry in moves] == list(range(123))
    assert len({entry.row_id for entry in moves}) == 123


def test_rows_that_fit_move_beside_those_that_do_not(database: Database, many: Orders) -> None:
    """Every id has its answer, in the order given; what missed is as it was."""
    many.transition_many(range(5, 250, 2), "pending", to="cancelled")
    ids = [*range(250, 0, -1), 250]
    answers = many.transition_many(ids, ["pending", "new"], to="paid", total=[0, 1])
    assert list(answers) == list(range(250, 0, -1))
    for row, (status, version) in read_rows(database).items():
        if row <= 250 and row >= 5 and row % 2:
            assert (answers[row], status, version) == (Missed("cancelled"), "cancelled", 1)
        elif row <= 250:
            assert (answers[row], status, version) == (Moved(1), "paid", 1)
        else:
            assert (status, version) == ("pending", 0)
    assert len(read_moves(database)) == 250


def test_a_row_that_is_not_there_moves_nothing(database: Database, many: Orders) -> None:
    """All or nothing: the error names the rows that do not exist, and no other one has moved."""
    with pytest.raises(UsageError) as caught:
        many.transition_many([1, 2, LAST + 1, 3, LAST + 7], "pending", to="paid")
    assert caught.value.code == "SEMEL-ROW-1"
    with pytest.raises(UsageError, match=f"no row {LAST + 1} in"):
        many.transition_many([*range(1, 121), LAST + 1], "pending", to="paid")  # the last of several statements
    assert set(read_rows(database).values()) == {("pending", 0)}
    assert read_journal(database) == []
    assert many.transition(1, "pending", to="paid") == Moved(1)


def test_no_rows_are_moved_at_no_cost(database: Database, many: Orders) -> None:
    """An empty call answers an empty dict and writes nothing."""
    assert many.transition_many([], "pending", to="paid") == {}
    assert read_journal(database) == []


def test_more_rows_than_one_transaction_should_hold_are_refused(many: Orders) -> None:
    """The error says what the limit is and how to go on; a row named twice counts once."""
    with pytest.raises(UsageError, match="10001 ids in one call; the limit is 10000"):
        many.transition_many(range(10_001), "pending", to="paid")
    with pytest.raises(UsageError, match="no row"):
        many.transition_many([LAST + 1] * 10_001, "pending", to="paid")


def test_bulks_that_overlap_in_opposite_order_lose_no_move(database: Database, many: Orders, once: Once) -> None:
    """Each row is moved by exactly one of them, and the other one is told so."""
    ids = list(range(1, 200))
    rounds: list[tuple[Any, Any]] = [("pending", "paid"), ("paid", "sent"), ("sent", "lost"), ("lost", "pending")]
    for source, to in rounds:
        one, other = once.call_all(
            [
                lambda ids=ids, source=source, to=to: many.table.transition_many(ids[:150], source, to=to),
                lambda ids=ids, source=source, to=to: many.table.transition_many(ids[:50:-1], source, to=to),
            ]
        )
        for row in ids:
            found = [answers[row] for answers in (one, other) if row in answers]
            assert sum(map(bool, found)) == 1, (row, found)
            assert {answer.now for answer in found if not answer} <= {to}
    assert {read_rows(database)[row] for row in ids} == {("pending", 4)}
    assert len(read_moves(database)) == 4 * len(ids)
    assert read_abandoned(database) == []


@on_servers
def test_a_bulk_waits_for_a_row_and_judges_it_as_it_is_then(database: Database, many: Orders) -> None:
    """What a rival commits while the bulk waits decides what the bulk does with that row."""
    with open_rival(database) as rival:
        rival.run("UPDATE orders SET status = 'cancelled', version = version + 1 WHERE id = 7")
        waiting = many.begin_transition_many(range(1, 12), "pending", to="paid")
        wait_until_waiting(database)
        rival.commit()
        answers = waiting.result()
    assert answers == {**dict.fromkeys(range(1, 12), Moved(1)), 7: Missed("cancelled")}


@pytest.mark.usefixtures("short_lock_waits")
def test_a_bulk_that_gave_up_waiting_leaves_nothing_half_done(database: Database, many: Orders) -> None:
    """The part that was done before the wait is undone, and the next verb's commit does not bring it back."""
    with open_rival(database) as rival:
        rival.lock(11)  # ten rows are moved by one statement, and the eleventh by the next
        with pytest.raises(LockHeldError):
            many.transition_many(range(1, 12), "pending", to="paid")
        rival.commit()
    for row in range(500, 510):  # on every connection that there may be
        assert many.transition(row, "pending", to="paid") == Moved(1)
    rows = read_rows(database)
    assert {rows[row] for row in range(1, 12)} == {("pending", 0)}
    assert {entry.row_id for entry in read_moves(database)} == {str(row) for row in range(500, 510)}
