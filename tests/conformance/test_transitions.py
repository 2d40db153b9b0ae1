from __future__ import annotations

from typing import Any

import pytest

from semel import Missed, Moved, UsageError
from tests.conformance.faces import Once, Orders
from tests.conformance.shop import lay_orders, read_journal, read_moves, read_row, read_rows
from tests.databases import Database


def test_a_row_in_its_source_moves(database: Database, orders: Orders) -> None:
    """The status changes, the version grows by one, and the fence is that version."""
    assert orders.transition(1, "pending", to="paid") == Moved(1)
    assert read_row(database, 1) == ("paid", 1)
    assert read_row(database, 2) == ("pending", 0)


def test_the_journal_tells_who_moved_what(database: Database, orders: Orders) -> None:
    """One row in the same commit: table, row, from, to, version, requester and the operation's own id."""
    orders.transition(1, "pending", to="paid", by="customer")
    orders.transition(1, "paid", to="sent")
    first, second = sorted(read_moves(database), key=lambda entry: entry.version or 0)
    assert first.move == ("1", "pending", "paid", 1)
    assert second.move == ("1", "paid", "sent", 2)
    assert (first.requester, second.requester) == ("customer", None)
    assert (first.entity, first.ordinal) == ("orders", 0)
    assert len(first.operation_id) == 32
    assert first.operation_id != second.operation_id


def test_times_are_microseconds_of_the_database(database: Database, orders: Orders) -> None:
    """The journal's clock runs forward, in microseconds of this century."""
    for row in (1, 2):
        orders.transition(row, "pending", to="paid")
    first, second = (entry.at_us for entry in sorted(read_moves(database), key=lambda entry: entry.row_id or ""))
    assert 1_700_000_000_000_000 < first <= second < 4_000_000_000_000_000


def test_a_row_that_is_elsewhere_is_missed(database: Database, orders: Orders) -> None:
    """Nothing is written, and the answer says in which status the row is."""
    orders.transition(1, "pending", to="cancelled")
    missed = orders.transition(1, "pending", to="paid")
    assert missed == Missed("cancelled")
    assert not missed
    assert read_row(database, 1) == ("cancelled", 1)
    assert len(read_journal(database)) == 1


def test_a_row_may_move_to_where_it_is(database: Database, orders: Orders) -> None:
    """A transition into the same status is a move: the version grows, so a rival's fence is void."""
    assert orders.transition(1, "pending", to="pending") == Moved(1)
    assert read_row(database, 1) == ("pending", 1)


def test_any_of_several_sources_will_do(database: Database, orders: Orders) -> None:
    """A list, a tuple or a set names several statuses; the journal tells which one it was."""
    several: list[Any] = [["pending", "sent"], ("sent", "pending"), {"pending", "sent"}, ["pending", "pending"]]
    for row, sources in enumerate(several, start=1):
        assert orders.transition(row, sources, to="paid") == Moved(1)
        assert orders.transition(row, sources, to="paid") == Missed("paid")
    assert [entry.from_status for entry in read_moves(database)] == ["pending"] * 4


def test_an_equal_guard_decides(database: Database, orders: Orders) -> None:
    """A row moves only with the value that was named; a guard that does not hold misses with the row's status."""
    lay_orders(database, [30], total=999)
    assert orders.transition(30, "pending", to="paid", total=998) == Missed("pending")
    assert orders.transition(30, "pending", to="paid", total=999, version=0) == Moved(1)
    assert orders.transition(30, "paid", to="sent", version=0) == Missed("paid")
    assert read_row(database, 30) == ("paid", 1)


def test_a_guard_of_none_means_null(database: Database, orders: Orders) -> None:
    """NULL is found by None, and only NULL."""
    lay_orders(database, [30], note="gift")
    assert orders.transition(30, "pending", to="paid", note=None) == Missed("pending")
    assert orders.transition(1, "pending", to="paid", note=None) == Moved(1)


def test_a_guard_of_several_values_means_any(database: Database, orders: Orders) -> None:
    """A row moves with any of the values, and not with another; no values are never there."""
    lay_orders(database, range(30, 34), note="gift")
    several: list[Any] = [["gift", "sample"], {"gift"}, ("sample", "gift", "loan")]
    for row, values in enumerate(several, start=30):
        assert orders.transition(row, "pending", to="paid", note=values) == Moved(1)
    for values in (["sample", "loan"], {"sample"}, [], ()):
        assert orders.transition(33, "pending", to="paid", note=values) == Missed("pending")


def test_a_guard_of_several_values_may_hold_none(database: Database, orders: Orders) -> None:
    """None among the values finds NULL, beside the others."""
    lay_orders(database, [30], note="gift")
    lay_orders(database, [31], note="other")
    assert orders.transition(1, "pending", to="paid", note=["gift", None]) == Moved(1)
    assert orders.transition(30, "pending", to="paid", note=["gift", None]) == Moved(1)
    assert orders.transition(31, "pending", to="paid", note=["gift", None]) == Missed("pending")
    assert orders.transition(2, "pending", to="paid", note=[None]) == Moved(1)


def test_where_names_columns_that_words_have_taken(database: Database, orders: Orders) -> None:
    """`where` takes any column, also `id`, and by the name of its ORM attribute too."""
    lay_orders(database, [30], note_of_staff="checked")
    assert orders.transition(30, "pending", to="paid", where={"id": 31}) == Missed("pending")
    assert orders.transition(30, "pending", to="paid", where={"note_of_staff": "no"}) == Missed("pending")
    assert orders.transition(30, "pending", to="paid", where={"id": 30}, remark="checked", total=0) == Moved(1)


def test_a_row_that_is_not_there_is_the_callers_mistake(database: Database, orders: Orders) -> None:
    """The error names the row and asks whether it was committed; nothing is written."""
    with pytest.raises(UsageError, match="Not committed yet") as caught:
        orders.transition(99, "pending", to="paid")
    assert caught.value.code == "SEMEL-ROW-1"
    assert "99" in caught.value.happened
    assert read_journal(database) == []


WRONG_WORDS: list[tuple[dict[str, Any], str]] = [
    ({"nonsense": 1}, "SEMEL-ROW-4"),
    ({"where": {"orders.total": 1}}, "SEMEL-ROW-4"),
    ({"by": ""}, "SEMEL-ROW-6"),
    ({"by": "x" * 101}, "SEMEL-ROW-6"),
    ({"total": list(range(51))}, "SEMEL-ROW-5"),
    ({"where": {f"c{number}": 1 for number in range(51)}}, "SEMEL-ROW-5"),
    ({"to": ""}, "SEMEL-ROW-2"),
    ({"to": None}, "SEMEL-ROW-2"),
    ({"to": "pa\0id"}, "SEMEL-ROW-2"),
    ({"source": ""}, "SEMEL-ROW-2"),
    ({"source": []}, "SEMEL-ROW-2"),
    ({"source": ["sent"] * 51}, "SEMEL-ROW-5"),
]


def test_a_word_that_cannot_mean_anything_is_refused(database: Database, orders: Orders) -> None:
    """Unknown guards, endless lists, empty names: an error, and nothing is written."""
    for wrong, code in WRONG_WORDS:
        words = {"source": "pending", "to": "paid", **wrong}
        with pytest.raises(UsageError) as caught:
            orders.transition(1, **words)
        assert caught.value.code == code, wrong
        with pytest.raises(UsageError):
            orders.transition_many([1], **words)
    assert read_row(database, 1) == ("pending", 0)


def test_words_with_quotes_and_letters_of_the_world_travel_whole(database: Database, orders: Orders) -> None:
    """Statuses and requesters are data, whatever they look like."""
    status = "bezahlt ✓ 'it''s' %s :x $1 \\"
    assert orders.transition(1, "pending", to=status, by="kündin 💶") == Moved(1)
    assert orders.transition(1, status, to="paid") == Moved(2)
    entries = sorted(read_moves(database), key=lambda entry: entry.version or 0)
    assert [entry.move for entry in entries] == [("1", "pending", status, 1), ("1", status, "paid", 2)]
    assert entries[0].requester == "kündin 💶"


def test_semel_works_beside_another_of_its_kind(database: Database, orders: Orders, once: Once) -> None:
    """Two handles of one table, one by class and one by name, move the same rows."""
    by_name = once.table("orders")
    assert by_name.transition(1, ["pending"], to="paid") == Moved(1)
    assert orders.transition(1, "paid", to="sent") == Moved(2)
    assert read_rows(database)[1] == ("sent", 2)
