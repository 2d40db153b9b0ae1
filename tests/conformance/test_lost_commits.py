"""The answer to a commit never comes: what has happened is found out, and never guessed.

PostgreSQL moves one row by one statement, which commits by itself; elsewhere, and for many rows, there is a COMMIT. Each
of the four drivers loses 25 answers each way, so 100 are lost each way on PostgreSQL and MariaDB together, for single
rows and again for bulks.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import pytest
import sqlalchemy as sa

from semel import Missed, Moved
from tests.conformance.conftest import Open
from tests.conformance.faces import Orders
from tests.conformance.families import on_mariadb, on_postgres, on_servers
from tests.conformance.rivals import wait_until_waiting
from tests.conformance.shop import Order, lay_orders, read_abandoned, read_journal, read_moves, read_row, read_rows
from tests.databases import Database
from tests.proxy import Late, Lose, Matching, Proxy, Withhold

TIMES = 25
WAYS = ("cut", "reset")
ABANDON = "'abandoned'"

Move: TypeAlias = Callable[[Orders, list[int]], Any]


def move_single(orders: Orders, rows: list[int]) -> Any:
    """Move the first row alone."""
    return {rows[0]: orders.transition(rows[0], "pending", to="paid")}


def move_several(orders: Orders, rows: list[int]) -> Any:
    """Move all rows in one transaction."""
    return orders.transition_many(rows, "pending", to="paid")


both_forms = pytest.mark.parametrize(("move", "size"), [(move_single, 1), (move_several, 3)], ids=["one", "many"])


@pytest.fixture
def seen(open_once: Open, proxy: Proxy, database: Database) -> Orders:
    """Orders behind a proxy, already booted; ids 1000 to 1999 are pending."""
    lay_orders(database, range(1_000, 1_000 + 3 * TIMES))
    once = open_once(proxy.url(database.url))
    orders = once.table(Order)
    once.boot()
    return orders


def find_commit(database: Database, size: int) -> str:
    """Answer what the committing statement looks like."""
    return "UPDATE orders" if database.family == "postgresql" and size == 1 else "^COMMIT"


def count_attempts(proxy: Proxy) -> int:
    """Answer how often a row was to be moved."""
    return sum("UPDATE orders" in text for text in proxy.statements)


@on_servers
@both_forms
def test_a_commit_whose_answer_was_lost_is_a_move(
    database: Database, seen: Orders, proxy: Proxy, move: Move, size: int
) -> None:
    """Every time: the answer is the move with its fence, it is journaled once, and nothing is run a second time."""
    for time in range(TIMES):
        rows = [1_000 + time * size + each for each in range(size)]
        proxy.reset()
        proxy.plan(Lose(Matching(find_commit(database, size)), WAYS[time % 2]))
        assert move(seen, rows) == dict.fromkeys(rows, Moved(1))
        assert len(proxy.fired) == 1
        assert count_attempts(proxy) == size
        assert sum(ABANDON in text for text in proxy.statements) == 1
    moves = read_moves(database)
    assert sorted(int(entry.row_id or 0) for entry in moves) == list(range(1_000, 1_000 + size * TIMES))
    assert len({entry.operation_id for entry in moves}) == TIMES
    assert read_abandoned(database) == []


@on_servers
@both_forms
def test_a_commit_that_never_came_is_run_again(
    database: Database, seen: Orders, proxy: Proxy, move: Move, size: int
) -> None:
    """Every time: the first operation is abandoned for good, and the second one moves the row, once."""
    for time in range(TIMES):
        rows = [1_000 + time * size + each for each in range(size)]
        proxy.reset()
        proxy.plan(Withhold(Matching(find_commit(database, size)), WAYS[time % 2]))
        assert move(seen, rows) == dict.fromkeys(rows, Moved(1))
        assert len(proxy.fired) == 1
        assert count_attempts(proxy) == 2 * size
    moves, abandoned = read_moves(database), read_abandoned(database)
    assert sorted(int(entry.row_id or 0) for entry in moves) == list(range(1_000, 1_000 + size * TIMES))
    assert len(set(abandoned)) == TIMES
    assert not {entry.operation_id for entry in moves} & set(abandoned)
    assert {status for row, status in read_rows(database).items() if 1_000 <= row < 1_000 + size * TIMES} == {
        ("paid", 1)
    }


@on_postgres
def test_a_statement_that_comes_late_changes_nothing(database: Database, seen: Orders, proxy: Proxy) -> None:
    """The verb has returned with the second attempt; then the first one reaches the server, and cannot commit."""
    for row in range(1_000, 1_000 + TIMES):
        proxy.reset()
        proxy.plan(Late(Matching("UPDATE orders")))
        assert seen.transition(row, "pending", to="paid") == Moved(1)
        if row % 2:  # the late one finds its row as it was, and would move it if its operation were not abandoned
            assert seen.transition(row, "paid", to="pending") == Moved(2)
        proxy.release()
        proxy.settled()
        assert read_row(database, row) == (("pending", 2) if row % 2 else ("paid", 1))
    assert len(read_abandoned(database)) == TIMES
    assert len(read_moves(database)) == TIMES + TIMES // 2


@on_servers
def test_a_commit_that_comes_late_is_waited_for(database: Database, seen: Orders, proxy: Proxy) -> None:
    """Its transaction still holds the operation id, so whoever asks waits; when it commits, that was the move."""
    proxy.plan(Late(Matching("^COMMIT")))
    begun = seen.begin_transition_many([1, 2], "pending", to="paid")
    release_once_asked_for(database, proxy)
    assert begun.result() == {1: Moved(1), 2: Moved(1)}
    assert (count_attempts(proxy), len(read_moves(database)), read_abandoned(database)) == (2, 2, [])


@on_mariadb
def test_a_late_commit_of_one_row_is_waited_for(database: Database, seen: Orders, proxy: Proxy) -> None:
    """As for many, where one row needs a transaction."""
    proxy.plan(Late(Matching("^COMMIT")))
    begun = seen.begin_transition(1, "pending", to="paid")
    release_once_asked_for(database, proxy)
    assert begun.result() == Moved(1)
    assert (count_attempts(proxy), len(read_moves(database)), read_abandoned(database)) == (1, 1, [])


def release_once_asked_for(database: Database, proxy: Proxy) -> None:
    """Let the held commit go when somebody waits for its operation id."""
    proxy.wait_for_statement(ABANDON)
    wait_until_waiting(database)
    proxy.release()


@on_servers
def test_a_held_commit_whose_session_dies_is_run_again(database: Database, seen: Orders, proxy: Proxy) -> None:
    """Whoever asked waits for the transaction that holds the id; its end without a commit lets the second attempt move."""
    proxy.plan(Late(Matching("^COMMIT")))
    begun = seen.begin_transition_many([1, 2], "pending", to="paid")
    proxy.wait_for_statement(ABANDON)
    wait_until_waiting(database)
    end_idle_transactions(database)
    assert begun.result() == {1: Moved(1), 2: Moved(1)}
    proxy.release()
    proxy.settled()
    assert {read_rows(database)[row] for row in (1, 2)} == {("paid", 1)}
    assert (len(read_moves(database)), len(read_abandoned(database))) == (2, 1)


def end_idle_transactions(database: Database) -> None:
    """End the sessions that sit in a transaction and ask for nothing."""
    if database.family == "postgresql":
        idle = "datname = current_database() AND state = 'idle in transaction'"
        texts = [f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE {idle}"]
    else:
        texts = []
    with database.engine().connect() as connection:
        if not texts:
            idle = "db = database() AND command = 'Sleep' AND id <> connection_id()"
            found = connection.exec_driver_sql(f"SELECT id FROM information_schema.processlist WHERE {idle}").scalars()
            texts = [f"KILL {number}" for number in found]
        for text in texts:
            connection.execute(sa.text(text))


@on_servers
def test_a_lost_answer_to_a_miss_is_still_a_miss(database: Database, seen: Orders, proxy: Proxy) -> None:
    """A miss commits nothing, so its operation is abandoned, and the second look tells the truth of that time."""
    seen.transition(1, "pending", to="cancelled")
    for size, rows in ((1, [1]), (2, [1, 2])):
        proxy.reset()
        proxy.plan(Lose(Matching(find_commit(database, size))))
        if size == 1:
            assert seen.transition(1, "pending", to="paid") == Missed("cancelled")
        else:
            assert seen.transition_many(rows, "pending", to="paid") == {1: Missed("cancelled"), 2: Moved(1)}
    moved = [entry.move for entry in read_journal(database) if entry.kind == "transition" and entry.to_status == "paid"]
    assert moved == [("2", "pending", "paid", 1)]
