"""A shop that owes a receipt and points for each paid order."""

from pathlib import Path

from sqlalchemy import BigInteger, String, create_engine
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column

from semel import Semel, Step


class Base(DeclarativeBase):
    """Your models, as you have them."""


class Order(Base):
    """An order is pending, then paid."""

    __tablename__ = "orders"

    id: Mapped[int] = mapped_column(primary_key=True)
    total_minor: Mapped[int]
    status: Mapped[str] = mapped_column(String(20), default="pending")
    version: Mapped[int] = mapped_column(BigInteger, default=0)


class Points(Base):
    """What a customer was given for an order."""

    __tablename__ = "points"

    id: Mapped[int] = mapped_column(primary_key=True)
    order_id: Mapped[int]
    points: Mapped[int]


engine = create_engine("sqlite:///shop.db")
Base.metadata.create_all(engine)

once = Semel("sqlite:///shop.db", workflows=Path(__file__).with_name("orders.json"))
once.create_tables()
orders = once.table(Order)


@once.action("PayOrder")
def pay_order(step: Step[Order]) -> None:
    """Owe points beside the receipt that the file names."""
    step.after("AddPoints", points=step.row.total_minor // 100)


def place_order(total_minor: int) -> int:
    """Write a pending order; answer its id."""
    with Session(engine) as session, session.begin():
        session.add(order := Order(total_minor=total_minor))
        session.flush()
        return order.id
