"""Broken: an answer that never came is taken for "it will have worked"."""

from __future__ import annotations

from contextlib import suppress

import shop
from charge_once import ChargeOnce

from semel import Step


def charge(step: Step[shop.Order]) -> None:
    """Go on whatever the provider says."""
    with suppress(Exception):
        shop.charge_card(step.row.total, order=step.id, key=f"order-{step.id}")
    step.session.add(shop.Receipt(order_id=step.id, reference="unknown"))


once = shop.open_shop(charge)


class SwallowedException(ChargeOnce):
    """Two tabs pay for one order."""

    app = "broken_swallowed:once"
