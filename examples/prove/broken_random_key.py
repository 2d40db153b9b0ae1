"""Broken: the key is drawn anew each time, so a step that is run again charges again."""

from __future__ import annotations

import uuid

import shop
from charge_once import ChargeOnce

from semel import Step


def charge(step: Step[shop.Order]) -> None:
    """Charge under a random key."""
    paid = shop.charge_card(step.row.total, order=step.id, key=str(uuid.uuid4()))
    step.session.add(shop.Receipt(order_id=step.id, reference=paid["reference"]))


once = shop.open_shop(charge)


class RandomKey(ChargeOnce):
    """Two tabs pay for one order."""

    app = "broken_random_key:once"
