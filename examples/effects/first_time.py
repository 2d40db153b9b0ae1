"""An effect may be delivered twice; a handler that asks `first_time` in its own transaction does its work once."""

from threading import Event

from shop import Points, engine, once, orders, place_order
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from semel import Effect

delivered = Event()


@once.effect("SendReceipt")
def send_receipt(effect: Effect) -> None:
    """Nothing to see here: the other handler is the story."""


@once.effect("AddPoints")
def add_points(effect: Effect) -> None:
    """Write the points and the note that they were written, in one commit. Then fail, the first time."""
    with Session(engine) as session, session.begin():
        first = effect.first_time(session)
        if first:
            session.add(Points(order_id=int(effect.row_id), points=effect.payload["points"]))
    print(f"attempt {effect.attempt}: first time is {first}")
    if effect.attempt == 1:
        raise TimeoutError("what came after the commit went wrong")
    delivered.set()


order_id = place_order(total_minor=1900)
orders.advance(order_id, "pay", by="customer")

keepers = once.rounds(sweep_seconds=0.2)
keepers.start()
delivered.wait(timeout=30)  # the second attempt comes five seconds after the first
keepers.stop()

with Session(engine) as session:
    rows, points = session.execute(
        select(func.count(), func.sum(Points.points)).where(Points.order_id == order_id)
    ).one()
    print(f"{points} points in {rows} row")
