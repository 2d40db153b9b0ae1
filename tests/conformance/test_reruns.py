from __future__ import annotations

import re

import pytest
import sqlalchemy as sa

from semel import Missed, Moved
from semel.store.dialects import LOCK_WAIT_SECONDS
from tests.conformance.conftest import Open
from tests.conformance.faces import Once, Orders
from tests.conformance.families import on_mariadb, on_postgres, on_servers
from tests.conformance.rivals import open_rival, wait_until_waiting
from tests.conformance.shop import Order, read_abandoned, read_journal, read_moves, read_row, read_rows
from tests.databases import Database
from tests.proxy import Proxy


@pytest.fixture
def seen(open_once: Open, proxy: Proxy, database: Database) -> Orders:
    """Orders whose statements a proxy counts."""
    once: Once = open_once(proxy.url(database.url))
    once.boot()
    return once.table(Order)


LOCKING = "FOR (NO KEY )?UPDATE"


def count_statements(proxy: Proxy, pattern: str) -> int:
    """Answer how many statements with this pattern were sent."""
    return sum(re.search(pattern, text, re.IGNORECASE) is not None for text in proxy.statements)


@on_servers
def test_the_victim_of_a_deadlock_runs_again(database: Database, seen: Orders, proxy: Proxy) -> None:
    """A rival holds row 2 and wants row 1, the bulk holds row 1 and wants row 2: both get what they want, one by one."""
    seen.transition(20, "pending", to="paid")
    proxy.reset()
    with open_rival(database) as rival:
        make_lighter_victim_of_others(rival.connection, database)
        rival.lock(2)
        waiting = seen.begin_transition_many([1, 2], "pending", to="paid")
        wait_until_waiting(database)
        rival.run("UPDATE orders SET total = 7 WHERE id = 1")
        rival.commit()
        assert waiting.result() == {1: Moved(1), 2: Moved(1)}
    assert count_statements(proxy, LOCKING) == 4  # each row is locked by itself, twice
    assert count_statements(proxy, "rollback") == 1
    assert len(read_moves(database)) == 3
    assert read_abandoned(database) == []


def make_lighter_victim_of_others(connection: sa.Connection, database: Database) -> None:
    """See to it that not the rival is chosen: PostgreSQL ends who looks first, MariaDB who has written least."""
    if database.family == "postgresql":
        connection.exec_driver_sql("SET deadlock_timeout = '1min'")
    else:
        connection.exec_driver_sql("UPDATE orders SET total = total + 1 WHERE id > 10")


@on_postgres
@pytest.mark.parametrize("level", ["repeatable read", "serializable"])
def test_what_cannot_be_serialised_runs_again(database: Database, open_once: Open, proxy: Proxy, level: str) -> None:
    """A row that a rival changed while the statement waited: 40001, then the truth."""
    with database.engine().begin() as connection:
        connection.exec_driver_sql(f"ALTER DATABASE {database.name} SET default_transaction_isolation TO '{level}'")
    try:
        seen = open_once(proxy.url(database.url)).table(Order)
        assert seen.transition(3, "pending", to="paid") == Moved(1)
        proxy.reset()
        with open_rival(database) as rival:
            rival.run("UPDATE orders SET status = 'cancelled', version = 1 WHERE id = 1")
            rival.run("UPDATE orders SET total = 1 WHERE id = 2")
            missing = seen.begin_transition(1, "pending", to="paid")
            moving = seen.begin_transition(2, "pending", to="paid")
            wait_until_waiting(database, 2)
            rival.commit()
            assert (missing.result(), moving.result()) == (Missed("cancelled"), Moved(1))
        assert count_statements(proxy, "update orders") == 4
        assert read_abandoned(database) == []
    finally:
        with database.engine().begin() as connection:
            connection.exec_driver_sql(f"ALTER DATABASE {database.name} RESET default_transaction_isolation")


@on_servers
def test_a_transition_waits_and_judges_the_row_as_it_is_then(database: Database, seen: Orders, proxy: Proxy) -> None:
    """At Semel's own isolation a wait is no conflict: the statement goes on with the row that was committed."""
    seen.transition(20, "pending", to="paid")
    proxy.reset()
    with open_rival(database) as rival:
        rival.run("UPDATE orders SET status = 'new', version = version + 1 WHERE id = 1")
        rival.run("UPDATE orders SET status = 'cancelled', version = version + 1 WHERE id = 2")
        rival.run("UPDATE orders SET total = 1 WHERE id = 3")
        first, second, third = (seen.begin_transition(row, ["pending", "new"], to="paid", total=0) for row in (1, 2, 3))
        wait_until_waiting(database, 3)
        rival.commit()
        assert first.result() == Moved(2)
        assert second.result() == Missed("cancelled")
        assert third.result() == Missed("pending")
    assert count_statements(proxy, LOCKING) == 3
    assert [entry.move for entry in read_moves(database) if entry.row_id == "1"] == [("1", "new", "paid", 2)]


@on_mariadb
def test_the_default_isolation_of_mariadb_shows_no_stale_status(database: Database, seen: Orders) -> None:
    """Semel's own sessions read what is committed now, whatever the server's default is."""
    with database.engine().connect() as connection:
        assert connection.exec_driver_sql("SELECT @@tx_isolation").scalar_one() == "REPEATABLE-READ"
    for number in range(5):
        with open_rival(database) as rival:
            rival.run("UPDATE orders SET status = :status WHERE id = 1", status=f"s{number}")
            rival.commit()
        assert seen.transition(1, "pending", to="paid") == Missed(f"s{number}")
    pool = seen.once.semel._performer.pool
    text = "SELECT @@tx_isolation, @@innodb_lock_wait_timeout"
    rows = seen.once.stage.wait(lambda: pool.shelf.wire.fetch(pool.shelf.idle[-1], text, ()))
    assert [tuple(row) for row in rows] == [("READ-COMMITTED", LOCK_WAIT_SECONDS)]


def test_a_row_that_vanishes_while_it_is_waited_for_is_no_row(database: Database, orders: Orders) -> None:
    """A rival deletes it: the caller learns that there is none, and nothing is journaled."""
    with open_rival(database) as rival:
        rival.run("DELETE FROM orders WHERE id = 1")
        waiting = orders.begin_transition(1, "pending", to="paid")
        if database.family != "sqlite":
            wait_until_waiting(database)
        rival.commit()
        assert "SEMEL-ROW-1" in str(waiting.exception())
    assert read_journal(database) == []


def test_a_rival_that_rolls_back_leaves_the_row_to_who_waited(database: Database, orders: Orders) -> None:
    """What was never committed decides nothing."""
    with open_rival(database) as rival:
        rival.run("UPDATE orders SET status = 'cancelled', version = 1 WHERE id = 1")
        waiting = orders.begin_transition(1, "pending", to="paid")
        if database.family != "sqlite":
            wait_until_waiting(database)
        rival.connection.rollback()
        assert waiting.result() == Moved(1)
    assert (read_row(database, 1), read_rows(database)[2]) == (("paid", 1), ("pending", 0))
