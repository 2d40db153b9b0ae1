"""The ten lines of the README."""

from shop import Order, Receipt, engine, place_order
from sqlalchemy.orm import Session

from semel import Semel

once = Semel("sqlite:///shop.db")  # or postgresql://…, mariadb://…
orders = once.table(Order)  # your own table; Semel adds to a column "version"


def pay(order_id: int) -> str:
    """Pay an order, once."""
    with Session(engine) as session, session.begin():
        moved = orders.transition(order_id, "pending", to="paid", by="customer", on=session)
        if not moved:  # Missed: somebody else was first, and nothing was written
            return f"too late, it is {moved.now}"
        session.add(Receipt(order_id=order_id))  # the same commit as the status
        return "paid"


new = place_order(total=999)
print(pay(new))
print(pay(new))
