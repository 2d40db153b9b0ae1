"""The move and your own row are one commit."""

from shop import Order, Receipt, engine, orders, place_order
from sqlalchemy import func, select
from sqlalchemy.orm import Session


def pay(order_id: int) -> bool:
    """Pay an order and write its receipt. False: it was not pending any more."""
    with Session(engine) as session, session.begin():
        moved = orders.transition(order_id, "pending", to="paid", on=session)
        if moved:
            session.add(Receipt(order_id=order_id))
    return bool(moved)


order_id = place_order(total=999)
print(pay(order_id), pay(order_id))

second_id = place_order(total=500)
with Session(engine) as session:
    print(orders.transition(second_id, "pending", to="paid", on=session))
    session.add(Receipt(order_id=second_id))
    session.rollback()

with Session(engine) as session:
    receipts = select(func.count()).where(Receipt.order_id.in_([order_id, second_id]))
    print(session.scalar(receipts), "receipt;", session.get_one(Order, second_id).status)
