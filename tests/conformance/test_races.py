from __future__ import annotations

from collections.abc import Iterator

import pytest
import sqlalchemy as sa

from semel import Missed, Moved
from tests.conformance.conftest import Open
from tests.conformance.faces import CROWD, Once, Orders
from tests.conformance.families import on_postgres
from tests.conformance.shop import Order, lay_orders, read_moves, read_row, read_rows
from tests.databases import Database, connect_admin

CONNECTIONS = 16


@pytest.fixture
def crowded(database: Database, once: Once, open_once: Open) -> Orders:
    """Orders behind fewer connections than there will be callers."""
    lay_orders(database)
    assert once.colour
    crowded = open_once(connections_limit=CONNECTIONS)
    crowded.boot()
    return crowded.table(Order)


@pytest.fixture(params=["repeatable read", "serializable"])
def isolation(request: pytest.FixtureRequest, database: Database) -> Iterator[str]:
    """The level at which every new connection of the test's PostgreSQL database runs."""
    setting = f"ALTER DATABASE {database.name} SET default_transaction_isolation"
    with database.engine().begin() as connection:
        connection.exec_driver_sql(f"{setting} TO '{request.param}'")
    yield request.param
    with database.engine().begin() as connection:
        connection.exec_driver_sql(f"ALTER DATABASE {database.name} RESET default_transaction_isolation")


def race_for_one_row(database: Database, orders: Orders) -> None:
    """Let a crowd move one row at once: one moves it, everyone else learns where it is."""
    answers = orders.once.call_all([lambda: orders.table.transition(1, "pending", to="paid")] * CROWD)
    assert sorted(answers, key=bool) == [Missed("paid")] * (CROWD - 1) + [Moved(1)]
    assert read_row(database, 1) == ("paid", 1)
    assert [entry.move for entry in read_moves(database)] == [("1", "pending", "paid", 1)]


def test_of_many_callers_exactly_one_moves_the_row(database: Database, crowded: Orders) -> None:
    """Nobody raises, nobody moves it twice, and the journal has one row."""
    race_for_one_row(database, crowded)


@on_postgres
def test_stricter_isolation_changes_nothing_for_the_callers(
    database: Database, isolation: str, crowded: Orders
) -> None:
    """What the database then refuses to serialise is run again until it is a move or a miss."""
    with connect_admin(sa.make_url(database.url)) as connection:
        assert connection.exec_driver_sql("SHOW default_transaction_isolation").scalar_one() == isolation
    race_for_one_row(database, crowded)


@on_postgres
def test_stricter_isolation_changes_nothing_for_bulks(database: Database, isolation: str, crowded: Orders) -> None:
    """Eight bulks over the same rows: each row moves once, and every bulk answers for every row."""
    assert isolation
    ids = range(1, 13)
    bulks = crowded.once.call_all([lambda: crowded.table.transition_many(ids, "pending", to="paid")] * 8)
    for row in ids:
        assert sorted((bulk[row] for bulk in bulks), key=bool) == [Missed("paid")] * 7 + [Moved(1)]
    assert len(read_moves(database)) == 12


def test_of_rivals_with_different_targets_one_wins(database: Database, crowded: Orders) -> None:
    """Pay and cancel race for each row: the losers are told who won, and the journal agrees."""
    words = [(row, to) for row in range(1, 9) for to in ("paid", "cancelled") * 4]
    answers = crowded.once.call_all(
        [lambda row=row, to=to: crowded.table.transition(row, "pending", to=to, by=to) for row, to in words]
    )
    now = {row: status for row, (status, _) in read_rows(database).items()}
    for (row, to), answer in zip(words, answers, strict=True):
        assert answer in (Moved(1), Missed(now[row]))
        assert not answer or now[row] == to
    assert sum(map(bool, answers)) == 8
    assert {(entry.row_id, entry.requester) for entry in read_moves(database)} == {
        (str(row), now[row]) for row in range(1, 9)
    }


def test_a_chain_of_moves_is_walked_once(database: Database, crowded: Orders) -> None:
    """A crowd pushes one row round a ring: every move is journaled, and the versions have no hole."""
    ring = {"pending": "paid", "paid": "sent", "sent": "pending"}
    calls = [
        lambda source=source, to=to: crowded.table.transition(1, source, to=to)
        for _ in range(10)
        for source, to in ring.items()
    ]
    moved = sorted(answer.fence for answer in crowded.once.call_all(calls) if answer)
    assert moved == list(range(1, len(moved) + 1))
    moves = sorted(read_moves(database), key=lambda entry: entry.version or 0)
    assert [entry.version for entry in moves] == moved
    status = "pending"
    for entry in moves:
        assert (entry.from_status, entry.to_status) == (status, ring[status])
        status = ring[status]
    assert read_row(database, 1) == (status, len(moved))
