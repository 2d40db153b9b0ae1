from __future__ import annotations

from itertools import count

import pytest
import sqlalchemy as sa

from semel import Moved
from semel.errors import StoreError
from tests.conformance.conftest import Open
from tests.conformance.faces import Orders
from tests.conformance.families import on_servers
from tests.conformance.shop import Order, lay_orders, read_abandoned, read_moves, read_row, read_rows
from tests.databases import Database
from tests.proxy import Cut, Fault, Lose, Nth, Proxy, Withhold

every_fault = pytest.mark.parametrize("fault", [Cut, Lose, Withhold])

REQUESTS_MOST = 40
"""A bulk of eleven rows makes a dozen requests, and a few more where statements are prepared first."""


@pytest.fixture
def seen(open_once: Open, proxy: Proxy, database: Database) -> Orders:
    """Orders behind a proxy, already booted."""
    once = open_once(proxy.url(database.url))
    orders = once.table(Order)
    once.boot()
    return orders


@on_servers
@every_fault
def test_a_transition_survives_a_fault_at_every_statement(
    database: Database, seen: Orders, proxy: Proxy, fault: type[Fault]
) -> None:
    """Whichever request the connection dies at, the verb answers once, truly, and journals the move once."""
    lay_orders(database, range(100, 100 + REQUESTS_MOST))
    for n in count(1):
        row = 100 + n
        proxy.reset()
        proxy.plan(fault(Nth(n)))
        assert seen.transition(row, "pending", to="paid") == Moved(1)
        assert read_row(database, row) == ("paid", 1)
        if not proxy.fired:
            break
    assert n > 1
    journaled = [entry.move for entry in read_moves(database)]
    assert sorted(journaled) == sorted((str(row), "pending", "paid", 1) for row in range(101, 101 + n))
    assert len(read_abandoned(database)) < n


@on_servers
@every_fault
def test_a_bulk_survives_a_fault_at_every_statement(
    database: Database, seen: Orders, proxy: Proxy, fault: type[Fault]
) -> None:
    """Eleven rows in several statements: all of them move, once, whichever request the connection dies at."""
    lay_orders(database, range(100, 100 + 11 * REQUESTS_MOST))
    for n in count(1):
        rows = range(100 + 11 * n, 111 + 11 * n)
        proxy.reset()
        proxy.plan(fault(Nth(n)))
        assert seen.transition_many(rows, "pending", to="paid") == dict.fromkeys(rows, Moved(1))
        if not proxy.fired:
            break
    assert n > 6
    moved = range(111, 111 + 11 * n)
    assert {row for row, (status, version) in read_rows(database).items() if (status, version) == ("paid", 1)} == set(
        moved
    )
    assert sorted(int(entry.row_id or 0) for entry in read_moves(database)) == list(moved)


@on_servers
@every_fault
def test_a_miss_survives_a_fault_at_every_statement(
    database: Database, seen: Orders, proxy: Proxy, fault: type[Fault]
) -> None:
    """What moves nothing has no mark to be found by; it is asked again, and is still a miss."""
    seen.transition(1, "pending", to="cancelled")
    for n in count(1):
        proxy.reset()
        proxy.plan(fault(Nth(n)))
        assert not seen.transition(1, "pending", to="paid")
        if not proxy.fired:
            break
    assert read_row(database, 1) == ("cancelled", 1)
    assert len(read_moves(database)) == 1


@on_servers
def test_boot_says_that_the_connection_was_lost(database: Database, open_once: Open, proxy: Proxy) -> None:
    """Boot is not run again by itself: whatever statement the connection dies at, it is a retryable error, then works."""
    once = open_once(proxy.url(database.url))
    once.table(Order)
    for n in (1, 3, 6, 9):
        proxy.reset()
        proxy.plan(Cut(Nth(n)))
        with pytest.raises(StoreError) as caught:
            once.boot()
        assert (caught.value.retryable, len(proxy.fired)) == (True, 1)
    once.boot()


@on_servers
def test_killed_idle_connections_cost_no_move(database: Database, seen: Orders) -> None:
    """A server that ended every session of the pool: each verb afterwards answers truly, once."""
    seen.once.call_all([lambda row=row: seen.table.transition(row, "pending", to="paid") for row in range(1, 9)])
    kill_everybody(database)
    assert seen.transition(9, "pending", to="paid") == Moved(1)
    kill_everybody(database)
    assert seen.transition_many([10, 11], "pending", to="paid") == {10: Moved(1), 11: Moved(1)}
    kill_everybody(database)
    rows = range(12, 20)
    answers = seen.once.call_all([lambda row=row: seen.table.transition(row, "pending", to="paid") for row in rows])
    assert answers == [Moved(1)] * len(rows)
    assert sorted(int(entry.row_id or 0) for entry in read_moves(database)) == list(range(1, 20))


def kill_everybody(database: Database) -> None:
    """End every other session of the database, and return when the server says that they are gone."""
    others = {
        "postgresql": "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()",
        "mariadb": "SELECT id FROM information_schema.processlist WHERE db = database() AND id <> connection_id()",
    }[database.family]
    kill = {"postgresql": "SELECT pg_terminate_backend({})", "mariadb": "KILL {}"}[database.family]
    database.engine().dispose()
    with database.engine().connect() as connection:
        found = connection.execute(sa.text(others)).scalars().all()
        assert found
        for number in found:
            connection.execute(sa.text(kill.format(number)))
        while connection.execute(sa.text(others)).first():
            connection.rollback()
