"""What a step owes is recorded in its commit, and delivered by a keeper afterwards, in the order of the row."""

from threading import Event

from shop import engine, once, orders, place_order
from sqlalchemy import text
from sqlalchemy.orm import Session

from semel import Effect

all_delivered = Event()


@once.effect("SendReceipt")
def send_receipt(effect: Effect) -> None:
    """Send the receipt. Its id is the message id, so that a mail server can tell a repetition."""
    print(f"{effect.name} for {effect.table} {effect.row_id}, attempt {effect.attempt}")


@once.effect("AddPoints")
def add_points(effect: Effect) -> None:
    """Add what was recorded with it."""
    print(f"{effect.name} for {effect.table} {effect.row_id}: {effect.payload}")
    all_delivered.set()


def show_owed() -> None:
    """Print what is owed, and in which state it is."""
    with engine.connect() as connection:
        print("owed:", *connection.execute(text("SELECT row_id, name, state FROM semel_outbox ORDER BY ordinal")))


first, second = place_order(total_minor=1900), place_order(total_minor=500)
with Session(engine) as session:
    print(orders.advance(second, "pay", by="customer", on=session))
    session.rollback()  # it was not paid, and nothing is owed for it
print(orders.advance(first, "pay", by="customer"))
show_owed()

keepers = once.rounds(sweep_seconds=0.1)
keepers.start()
all_delivered.wait(timeout=30)
keepers.stop()
show_owed()
