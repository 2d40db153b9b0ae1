"""Classes mapped in the ways that users map them."""

from __future__ import annotations

import enum
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column


class Base(DeclarativeBase):
    pass


class Invoice(Base):
    """Counts its own writes, in a column that is not Semel's."""

    __tablename__ = "invoices"

    id: Mapped[int] = mapped_column(primary_key=True)
    status: Mapped[str] = mapped_column(sa.String(20))
    version: Mapped[int] = mapped_column(sa.BigInteger, server_default="0")
    note: Mapped[str | None] = mapped_column(sa.String(40))
    writes: Mapped[int] = mapped_column()

    __mapper_args__ = {"version_id_col": writes}  # noqa: RUF012 - how SQLAlchemy reads it


class State(enum.Enum):
    """Statuses as an enum."""

    PENDING = "pending"
    PAID = "paid"
    CANCELLED = "cancelled"


class Ticket(Base):
    """Has names of its own for every column, and is found by one that is not its key."""

    __tablename__ = "tickets"

    key: Mapped[int] = mapped_column("id", primary_key=True)
    reference: Mapped[str] = mapped_column("public_reference", sa.String(40), unique=True)
    state: Mapped[State] = mapped_column(
        "status", sa.Enum(State, native_enum=False, values_callable=lambda states: [each.value for each in states])
    )
    fence: Mapped[int] = mapped_column("version", sa.BigInteger, server_default="0")
    note: Mapped[str | None] = mapped_column("remark", sa.String(40))


class TicketShown(Base):
    """The same table again, without the column that is Semel's."""

    __table__ = Ticket.__table__
    __mapper_args__ = {"exclude_properties": ["version"]}  # noqa: RUF012 - how SQLAlchemy reads it

    id: Mapped[int]
    status: Mapped[Any]


class Payment(Base):
    """The parent of a class with a table of its own."""

    __tablename__ = "payments"

    id: Mapped[int] = mapped_column(primary_key=True)
    kind: Mapped[str] = mapped_column(sa.String(20))
    status: Mapped[str] = mapped_column(sa.String(20))
    version: Mapped[int] = mapped_column(sa.BigInteger, server_default="0")

    __mapper_args__ = {"polymorphic_on": kind, "polymorphic_identity": "any"}  # noqa: RUF012 - how SQLAlchemy reads it


class CardPayment(Payment):
    """Its status is in its parent's table."""

    __tablename__ = "card_payments"

    id: Mapped[int] = mapped_column(sa.ForeignKey("payments.id"), primary_key=True)
    card: Mapped[str | None] = mapped_column(sa.String(20))

    __mapper_args__ = {"polymorphic_identity": "card"}  # noqa: RUF012 - how SQLAlchemy reads it
