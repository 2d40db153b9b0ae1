"""Broken: the receipt is committed in a transaction of its own, so it is there although the step never finished."""

from __future__ import annotations

import shop
from charge_once import ChargeOnce
from sqlalchemy.orm import Session

from semel import Step


def charge(step: Step[shop.Order]) -> None:
    """Write the receipt outside of the step."""
    paid = shop.charge_card(step.row.total, order=step.id, key=f"order-{step.id}")
    with Session(shop.engine) as session:
        session.add(shop.Receipt(order_id=step.id, reference=paid["reference"]))
        session.commit()


once = shop.open_shop(charge)


class WriteApart(ChargeOnce):
    """Two tabs pay for one order."""

    app = "broken_apart:once"
