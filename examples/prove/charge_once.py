"""The action as it should be: the key is the order's, and the receipt is written through the step."""

from __future__ import annotations

from typing import Any, ClassVar

import shop

from semel import Step
from semel.testing import Scenario, actor


def charge(step: Step[shop.Order]) -> None:
    """Charge under a key that is the same whenever the step is run again."""
    paid = shop.charge_card(step.row.total, order=step.id, key=f"order-{step.id}")
    step.session.add(shop.Receipt(order_id=step.id, reference=paid["reference"]))


once = shop.open_shop(charge)


class ChargeOnce(Scenario):
    """Two tabs pay for one order."""

    app = "charge_once:once"
    outside: ClassVar[dict[str, str]] = {"shop:charge_card": "charge"}
    engines = ("shop:engine",)

    def world(self, w: Any) -> None:
        """One order waits for its payment."""
        w.insert("orders", id=1, status="pending", total=999)

    @actor(times=2)
    def customer(self, once: Any) -> None:
        """Press the button."""
        once.table("orders").advance(1, "pay", by="customer")

    def check(self, w: Any) -> None:
        """Whoever paid was charged once, and has one receipt."""
        charges, receipts = w.effects("charge"), w.value("SELECT count(*) FROM receipts")
        is_paid = w.value("SELECT status FROM orders") == "paid"
        assert charges <= 1, f"the card was charged {charges} times"
        assert receipts == is_paid, f"there are {receipts} receipts, and the order is {'' if is_paid else 'not '}paid"
        assert charges == 1 or not is_paid, "the order is paid, and nothing was charged"
