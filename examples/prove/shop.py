"""A small shop: an order is charged by a provider outside, and a receipt is written with the finish."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from semel import Semel, Step

DATABASE = "sqlite:///shop.db"

engine = sa.create_engine(DATABASE)

FLOW = {
    "workflow": "orders",
    "entity_table": "orders",
    "owning_module": "shop",
    "status_types": ["pending", "charging", "paid", "cancelled"],
    "initial": "pending",
    "terminal": ["paid", "cancelled"],
    "steps": [
        {
            "step_id": 1,
            "step_key": "pay",
            "status": "pending",
            "successful_claim_state": ["charging", "pending"],
            "successful_state": "paid",
            "action": "Charge",
            "recovery": "resume",
        },
        {"step_id": 2, "step_key": "cancel", "status": "pending", "successful_state": "cancelled"},
    ],
}


class Base(DeclarativeBase):
    """The shop's tables."""


class Order(Base):
    """What somebody wants to buy."""

    __tablename__ = "orders"

    id: Mapped[int] = mapped_column(primary_key=True)
    total: Mapped[int]
    status: Mapped[str]
    version: Mapped[int] = mapped_column(sa.BigInteger, server_default="0")


class Receipt(Base):
    """What somebody has paid."""

    __tablename__ = "receipts"

    id: Mapped[int] = mapped_column(primary_key=True)
    order_id: Mapped[int]
    reference: Mapped[str]


def charge_card(amount: int, *, order: int, key: str) -> dict[str, Any]:
    """Ask the provider for the money. The provider charges once for each key."""
    raise NotImplementedError(f"no provider is configured for {amount} of order {order} under {key}")


def open_shop(charge: Callable[[Step[Order]], None]) -> Semel:
    """Open a shop that charges in this way."""
    once = Semel(DATABASE, workflows=[FLOW])
    once.table(Order)
    once.janitor("shop")
    once.action("Charge")(charge)
    return once
