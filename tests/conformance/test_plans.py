"""Hot statements find their row by its key, whatever the planner knows about the table and whatever it has prepared."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import product
from typing import Any

import pytest
import sqlalchemy as sa

from semel.store.dialects import make_dialect
from semel.store.statements import Statement
from tests.conformance.faces import Orders
from tests.conformance.families import on_postgres
from tests.conformance.shop import Order
from tests.databases import Database, connect_admin

ROWS = 50_000
"""Enough that reading all of them is no bargain, even for a planner that was never told how many there are."""
only_sync = pytest.mark.parametrize("colour", ["sync"], indirect=True)

HAZARDS = (
    # Small when it is new, and then full of dead entries: a planner that prefers it walks all of them.
    "CREATE INDEX orders_pending ON orders (total) WHERE status = 'pending'",
    "CREATE INDEX orders_status ON orders (status)",
    "CREATE INDEX orders_version ON orders (version)",
)


@pytest.fixture(params=["analysed", "never analysed", "analysed when it was empty"])
def statements(request: pytest.FixtureRequest, database: Database, orders: Orders) -> list[Statement]:
    """The statements of transitions over a table of some thousand rows, beside indexes that could tempt a planner."""
    orders.once.boot()
    with connect_admin(sa.make_url(database.url)) as connection:
        connection.exec_driver_sql("ALTER TABLE orders SET (autovacuum_enabled = off)")
        for hazard in HAZARDS:
            connection.exec_driver_sql(hazard)
        if request.param == "analysed when it was empty":
            connection.exec_driver_sql("ANALYZE orders")
        connection.exec_driver_sql(
            "INSERT INTO orders (id, status, total, note, note_of_staff)"
            " SELECT n, CASE mod(n, 50) WHEN 0 THEN 'pending' ELSE 'paid' END, n, repeat('x', 40), repeat('y', 40)"
            f" FROM generate_series(1000, {1000 + ROWS}) AS n"
        )
        if request.param == "analysed":
            connection.exec_driver_sql("ANALYZE orders")
    moves = orders.once.semel._setup.bound_of(orders.table._declared).moves
    found: list[Statement] = []
    for sources, guards in ((["pending"], {}), (["pending", "new"], {"total": [1, 2], "note": None, "version": 0})):
        made = moves.plan(sources, "paid", guards, None).statements
        found += [made.move_row_if_in_source(joined=joined) for joined in (False, True)]
        for count in (1, 10, 100):
            found += [made.lock_rows(count, joined=joined) for joined in (False, True)]
            found.append(made.move_locked_rows_if_in_source(count))
    return found


@only_sync
@on_postgres
def test_a_row_is_found_by_its_key_on_postgres(database: Database, statements: list[Statement]) -> None:
    """No scan of the table, and no index but the primary key, with plans made for the values or for any values."""
    with connect_admin(sa.make_url(database.url)) as connection:
        for mode, statement in product(("force_custom_plan", "force_generic_plan"), statements):
            connection.exec_driver_sql(f"SET plan_cache_mode = {mode}")
            plan = explain(connection, statement)
            assert "orders_pkey" in plan, (statement.name, plan)
            for wrong in ("Seq Scan on orders", "orders_pending", "orders_status", "orders_version"):
                assert wrong not in plan, (statement.name, plan)


def explain(connection: sa.Connection, statement: Statement) -> str:
    """Answer the plan of a statement as it would be prepared by asyncpg."""
    rendered = statement.render(make_dialect("postgresql+asyncpg"))
    with prepared(connection, rendered.text):
        values = ", ".join(show_value(name) for _, name, _ in rendered.slots)
        return "\n".join(connection.exec_driver_sql(f"EXPLAIN EXECUTE hot ({values})").scalars())


@contextmanager
def prepared(connection: sa.Connection, text: str) -> Iterator[None]:
    """Prepare a statement for a moment."""
    driver: Any = connection.connection.driver_connection
    driver.execute(f"PREPARE hot AS {text}", prepare=False)
    yield
    driver.execute("DEALLOCATE hot")


def show_value(name: str) -> str:
    """Write out a value for a parameter of this name."""
    if name.startswith("id"):
        return str(1_000 + 7 * int(name[2:]))
    if name.startswith(("guard", "ordinal", "version")):
        return "0"
    return "'pending'"


@only_sync
@pytest.mark.parametrize("database", ["sqlite", "mariadb"], indirect=True)
def test_a_row_is_found_by_its_key_elsewhere(database: Database, orders: Orders) -> None:
    """SQLite and MariaDB lock and move a row by the primary key too."""
    with database.engine().begin() as connection:
        connection.execute(sa.text("CREATE INDEX orders_status ON orders (status)"))
        rows = [{"id": row, "status": "pending" if row % 50 else "paid"} for row in range(1_000, 2_000)]
        connection.execute(sa.insert(Order.__table__), rows)
    orders.once.boot()
    moves = orders.once.semel._setup.bound_of(orders.table._declared).moves
    made = moves.plan(["pending", "new"], "paid", {}, None).statements
    with database.engine().connect() as connection:
        for statement in (made.lock_rows(1, joined=False), made.move_locked_rows_if_in_source(1)):
            rendered = statement.render(connection.dialect)
            values = rendered.bind({name: show_plain(name) for _, name, _ in rendered.slots})
            word = "EXPLAIN QUERY PLAN " if database.family == "sqlite" else "EXPLAIN "
            plan = str(connection.exec_driver_sql(word + rendered.text, values).all())
            assert "INTEGER PRIMARY KEY" in plan or "sqlite_autoindex_orders" in plan or "'PRIMARY'" in plan, plan
            assert "SCAN" not in plan, plan
            assert "'ALL'" not in plan, plan


def show_plain(name: str) -> object:
    """Answer a value for a parameter of this name."""
    return 1_000 + 7 * int(name[2:]) if name.startswith("id") else "pending"
