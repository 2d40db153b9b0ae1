"""The shop: one table of yours, and Semel beside it."""

from sqlalchemy import BigInteger, String, create_engine
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column

from semel import Semel


class Base(DeclarativeBase):
    """Your models, as you have them."""


class Order(Base):
    """An order is pending, then paid or cancelled."""

    __tablename__ = "orders"

    id: Mapped[int] = mapped_column(primary_key=True)
    total: Mapped[int]
    status: Mapped[str] = mapped_column(String(20), default="pending")
    version: Mapped[int] = mapped_column(BigInteger, default=0)


class Receipt(Base):
    """What a paid order leaves behind."""

    __tablename__ = "receipts"

    id: Mapped[int] = mapped_column(primary_key=True)
    order_id: Mapped[int]


engine = create_engine("sqlite:///shop.db")
Base.metadata.create_all(engine)

once = Semel("sqlite:///shop.db")
once.create_tables()
orders = once.table(Order)


def place_order(total: int) -> int:
    """Write a pending order; answer its id."""
    with Session(engine) as session, session.begin():
        session.add(order := Order(total=total))
        session.flush()
        return order.id
