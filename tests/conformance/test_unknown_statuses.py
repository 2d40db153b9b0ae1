from __future__ import annotations

import logging

import pytest
import sqlalchemy as sa

from semel import Semel
from tests.databases import Database

FLOW = {
    "workflow": "orders",
    "entity_table": "orders",
    "status_types": ["pending", "paid"],
    "initial": "pending",
    "terminal": ["paid"],
    "steps": [{"step_id": 1, "step_key": "pay", "status": "pending", "successful_state": "paid"}],
}


def make_orders(database: Database, *, indexed: bool) -> None:
    with database.engine().begin() as connection:
        connection.exec_driver_sql(
            "CREATE TABLE orders (id BIGINT PRIMARY KEY, status VARCHAR(20) NOT NULL, version BIGINT NOT NULL DEFAULT 0)"
        )
        if indexed:
            connection.exec_driver_sql("CREATE INDEX by_status ON orders (status, id)")
        rows = [(1, "pending"), (2, "paid"), (3, "lost"), (4, "lost"), (5, "archived")]
        for row, status in rows:
            connection.execute(
                sa.text("INSERT INTO orders (id, status) VALUES (:row, :status)"), {"row": row, "status": status}
            )


@pytest.mark.parametrize("indexed", [True, False])
def test_boot_names_the_statuses_that_no_file_knows(
    database: Database, caplog: pytest.LogCaptureFixture, *, indexed: bool
) -> None:
    """A row that no step will take on is reported at boot, where an index makes looking cheap."""
    make_orders(database, indexed=indexed)
    once = Semel(database.url, workflows=FLOW)
    once.create_tables()
    with caplog.at_level(logging.WARNING, logger="semel"):
        once.boot()
    once.close()
    said = [record.getMessage() for record in caplog.records]
    expected = ["orders has rows in statuses that the workflow orders does not know: archived, lost; see: semel stuck"]
    assert said == (expected if indexed else [])
