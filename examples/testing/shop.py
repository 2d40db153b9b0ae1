"""The application that is tested: an order is paid, its receipt is written by the same commit, and a mail is owed."""

from pathlib import Path
from typing import Any

from sqlalchemy import BigInteger, String
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from semel import AsyncSemel, AsyncStep, Rejected, Semel, Step

WORKFLOW = Path(__file__).with_name("orders.json")


class Base(DeclarativeBase):
    """Your models, as you have them."""


class Order(Base):
    """An order is pending, then paid."""

    __tablename__ = "orders"

    id: Mapped[int] = mapped_column(primary_key=True)
    total_minor: Mapped[int]
    status: Mapped[str] = mapped_column(String(20), default="pending")
    version: Mapped[int] = mapped_column(BigInteger, default=0)


class Receipt(Base):
    """What a paid order leaves behind."""

    __tablename__ = "receipts"

    id: Mapped[int] = mapped_column(primary_key=True)
    order_id: Mapped[int]


def pay_order(step: Step[Order]) -> Rejected | None:
    """Write the receipt, if there is something to pay."""
    if step.row.total_minor == 0:
        return Rejected("there is nothing to pay")
    step.session.add(Receipt(order_id=step.id))
    return None


async def pay_order_later(step: AsyncStep[Order]) -> Rejected | None:
    """Do the same in async code."""
    if step.row.total_minor == 0:
        return Rejected("there is nothing to pay")
    step.session.add(Receipt(order_id=step.id))
    return None


def make_shop(url: str, **options: Any) -> Semel:
    """Make the application's Semel; a test passes another database, or a clock."""
    once = Semel(url, workflows=WORKFLOW, **options)
    once.action("PayOrder")(pay_order)
    return once


def make_async_shop(url: str) -> AsyncSemel:
    """Make the async one."""
    once = AsyncSemel(url, workflows=WORKFLOW)
    once.action("PayOrder")(pay_order_later)
    return once
