"""The world of the shipped scenarios: one order, and a receipt for every time it was paid."""

from __future__ import annotations

from typing import Any

from semel.testing.prove.life import Deeds
from semel.testing.prove.scenario import Scenario
from semel.testing.prove.stage import Owned

ORDERS = Owned("orders", "total INTEGER NOT NULL DEFAULT 999")
RECEIPTS = "CREATE TABLE receipts (id INTEGER PRIMARY KEY AUTOINCREMENT, order_id INTEGER NOT NULL) STRICT"


def make_workflow(**pay: Any) -> dict[str, Any]:
    """Make the workflow of an order, its step `pay` as wanted."""
    claim_statuses = ["charging"] if "successful_claim_state" in pay else []
    return {
        "workflow": "orders",
        "entity_table": "orders",
        "status_types": ["pending", *claim_statuses, "paid", "cancelled"],
        "initial": "pending",
        "terminal": ["paid", "cancelled"],
        "steps": [
            {"step_id": 1, "step_key": "pay", "status": "pending", "successful_state": "paid", **pay},
            {"step_id": 2, "step_key": "cancel", "status": "pending", "successful_state": "cancelled"},
        ],
    }


def write_receipt(step: Any) -> Deeds:
    """Write a receipt in the finishing transaction."""
    yield from step.write("INSERT INTO receipts (order_id) VALUES (?)", step.id)


class Shop(Scenario):
    """One pending order."""

    tables = (ORDERS,)
    extra = (RECEIPTS,)

    def world(self, w: Any) -> None:
        """Insert the order."""
        w.insert("orders", id=1, status="pending")

    def check(self, w: Any) -> None:
        """A receipt exists if, and only if, the order is paid."""
        status = w.value("SELECT status FROM orders WHERE id = 1")
        receipts = w.value("SELECT count(*) FROM receipts WHERE order_id = 1")
        assert receipts == (status == "paid"), f"order 1 is {status!r} and has {receipts} receipts"
