"""The two ways to pay a purchase: all that differs between the two sides of the demo."""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column

from semel import Table

from .models import Purchase


class DemoBase(DeclarativeBase):
    """What the store does not have, and the demo does."""


class Charge(DemoBase):
    """Money taken for a purchase. Where one purchase has two of them, somebody has paid twice."""

    __tablename__ = "charges"

    id: Mapped[int] = mapped_column(primary_key=True)
    purchase_id: Mapped[int]


def pay_by_read_then_write(engine: sa.Engine, purchase_id: int) -> bool:
    """Look at the status; where it is pending, charge and write `paid`. False: it was paid already."""
    with Session(engine) as session:
        status = session.get_one(Purchase, purchase_id).status
    if status != "pending":
        return False
    with Session(engine.execution_options(writes=True)) as session, session.begin():
        session.add(Charge(purchase_id=purchase_id))
        session.get_one(Purchase, purchase_id).status = "paid"
    return True


def pay_once(engine: sa.Engine, purchases: Table[Purchase], purchase_id: int) -> bool:
    """Move the purchase; where it moved, charge, in the same commit. False: it was paid already."""
    with Session(engine.execution_options(writes=True)) as session, session.begin():
        moved = purchases.transition(purchase_id, "pending", to="paid", by="customer", on=session)
        if moved:
            session.add(Charge(purchase_id=purchase_id))
    return bool(moved)
