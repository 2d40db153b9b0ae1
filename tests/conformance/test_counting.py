from __future__ import annotations

from functools import partial
from typing import Any

import asyncmy
import pymysql
import pytest

from semel import ConfigError
from semel.errors import StoreError
from tests.conformance.conftest import Open
from tests.conformance.faces import Once, Orders
from tests.conformance.families import on_mariadb
from tests.conformance.shop import read_journal
from tests.databases import Database


def test_a_row_counts_when_it_matched_though_nothing_changed(orders: Orders) -> None:
    """Each driver's own connection answers 1 for an UPDATE that writes what is there, and 0 for no row."""
    orders.once.boot()
    wire, stage = orders.once.semel._performer.pool.shelf.wire, orders.once.stage
    connection = stage.wait(wire.open)

    def count(text: str) -> Any:
        return stage.wait(lambda: wire.execute(connection, text, ()))

    try:
        assert count("UPDATE orders SET status = status WHERE id = 1") == 1
        assert count("UPDATE orders SET status = 'pending' WHERE id IN (1, 2, 3)") == 3
        assert count("UPDATE orders SET status = 'pending' WHERE id = 1 AND status = 'paid'") == 0
        assert count("INSERT INTO orders (id, status) VALUES (77, 'pending'), (78, 'pending')") == 2
        assert count("DELETE FROM orders WHERE id > 70") == 2
    finally:
        stage.wait(lambda: wire.close(connection))


def connect_forgetting(connect: Any, **options: Any) -> Any:
    """Connect without the flag that was asked for."""
    return connect(**options | {"client_flag": 0})


@on_mariadb
def test_boot_refuses_a_driver_that_counts_changed_rows(
    open_once: Open, once: Once, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the flag that makes MariaDB count matched rows, the self-test says so, and the error names the flag."""
    assert once.colour
    for driver in (pymysql, asyncmy):
        monkeypatch.setattr(driver, "connect", partial(connect_forgetting, driver.connect))
    forgetful = open_once()
    with pytest.raises(ConfigError, match="FOUND_ROWS") as caught:
        forgetful.boot()
    assert caught.value.code == "SEMEL-DB-5"
    assert "counts 0 rows where 1 matched" in caught.value.happened


def test_a_statement_that_matches_more_rows_than_it_promised_is_undone(database: Database, orders: Orders) -> None:
    """A UNIQUE index that was dropped after boot: two rows of one id are never both moved."""
    with database.engine().begin() as connection:
        connection.exec_driver_sql(
            "CREATE TABLE twins (id BIGINT NOT NULL, status VARCHAR(9), version BIGINT NOT NULL)"
        )
        connection.exec_driver_sql("CREATE UNIQUE INDEX twins_id ON twins (id)")
        connection.exec_driver_sql("INSERT INTO twins VALUES (1, 'new', 0), (2, 'new', 0)")
    twins = orders.once.table("twins", id="id")
    assert twins.transition(2, "new", to="old")
    with database.engine().begin() as connection:
        connection.exec_driver_sql("DROP INDEX twins_id" + (" ON twins" if database.family == "mariadb" else ""))
        connection.exec_driver_sql("INSERT INTO twins VALUES (1, 'new', 0)")
    with pytest.raises(StoreError):
        twins.transition(1, "new", to="old")
    with pytest.raises(StoreError, match="Is the id column unique"):
        twins.transition_many([2, 1], "new", to="old")
    assert read_journal(database)[1:] == []
    with database.engine().begin() as connection:
        rows = connection.exec_driver_sql("SELECT id, status, version FROM twins ORDER BY id").all()
    assert [tuple(row) for row in rows] == [(1, "new", 0), (1, "new", 0), (2, "old", 1)]
