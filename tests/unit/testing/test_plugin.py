from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from semel import Moved, Semel
from semel.testing.clock import VirtualClock


def test_the_fixture_rehearses_on_the_connection_of_the_test(
    tmp_path: Path, semel_rehearse: Callable[[Any, Any], Any]
) -> None:
    """What pytest hands to users works without importing anything of Semel's testing room."""
    engine = sa.create_engine(f"sqlite:///{tmp_path / 'shop.db'}")
    with engine.begin() as connection:
        connection.exec_driver_sql(
            "CREATE TABLE orders (id INTEGER PRIMARY KEY, status TEXT, version BIGINT NOT NULL DEFAULT 0)"
        )
        connection.exec_driver_sql("INSERT INTO orders (id, status) VALUES (1, 'pending')")
    once = Semel(f"sqlite:///{tmp_path / 'shop.db'}")
    once.create_tables()
    orders = once.table("orders")
    once.boot()
    with engine.connect() as connection:
        semel_rehearse(once, connection)
        assert orders.transition(1, "pending", to="paid") == Moved(1)
        connection.rollback()
        assert connection.exec_driver_sql("SELECT status FROM orders").scalar_one() == "pending"
    once.close()
    engine.dispose()


def test_the_clock_stands_still_until_it_is_moved(semel_clock: VirtualClock) -> None:
    """A virtual clock knows only the time that a test gave it."""
    assert semel_clock.tick() == 0
    semel_clock.wait(5)
    assert semel_clock.tick() == 5
