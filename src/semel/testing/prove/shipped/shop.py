"""The world of the shipped scenarios: one order, and a receipt for every time it was paid."""

from __future__ import annotations

from typing import Any, ClassVar

from semel.outcomes import Rejected
from semel.testing.prove.hands import Hands
from semel.testing.prove.life import Deeds
from semel.testing.prove.scenario import Scenario
from semel.testing.prove.stage import Owned

ORDERS = Owned("orders", "total INTEGER NOT NULL DEFAULT 999")
RECEIPTS = "CREATE TABLE receipts (id INTEGER PRIMARY KEY AUTOINCREMENT, order_id INTEGER NOT NULL) STRICT"

CLAIM = {"successful_claim_state": ["charging", "pending"], "action": "Charge"}


def make_workflow(*more: dict[str, Any], **pay: Any) -> dict[str, Any]:
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
            *more,
        ],
    }


def write_receipt(step: Any) -> Deeds:
    """Write a receipt in the finishing transaction, unless the card is declined."""
    if step.facts.input == "declined":
        return Rejected("declined")
    yield from step.write("INSERT INTO receipts (order_id) VALUES (?)", step.id)
    return None


class Shop(Scenario):
    """One pending order."""

    tables: ClassVar[Any] = (ORDERS,)
    extra: ClassVar[tuple[str, ...]] = (RECEIPTS,)
    actions: ClassVar[Any] = {"Charge": write_receipt}

    def world(self, w: Any) -> None:
        """Insert the order."""
        w.insert("orders", id=1, status="pending")

    def check(self, w: Any) -> None:
        """A receipt exists if, and only if, the order is paid."""
        status = w.value("SELECT status FROM orders WHERE id = 1")
        receipts = w.value("SELECT count(*) FROM receipts WHERE order_id = 1")
        assert receipts == (status == "paid"), f"order 1 is {status!r} and has {receipts} receipts"


def insist(ask: Any, tries: int) -> Deeds:
    """Ask until it is done, a few times; answer everything one was told."""
    told: list[Any] = []
    for _ in range(tries):
        told.append((yield from ask()))
        if told[-1]:
            break
    return tuple(told)


def pay(once: Hands, tries: int = 2, given: Any = None) -> Deeds:
    """Pay order 1, a few times."""
    return insist(lambda: once.advance("orders", 1, "pay", given=given), tries)
