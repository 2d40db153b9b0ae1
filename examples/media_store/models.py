"""The store's own tables. A row that moves has a `status`, and a `version` that is Semel's alone."""

from __future__ import annotations

from datetime import date

from sqlalchemy import BigInteger, CheckConstraint, Computed, Date, ForeignKey, Index, Integer, String, UniqueConstraint
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

TEXT_CHARACTERS = 40
"""Ids, numbers and statuses are short; MariaDB wants a bound for what it indexes."""

BigId = BigInteger().with_variant(Integer, "sqlite")
"""SQLite numbers rows by itself only in a column that is an INTEGER to the letter."""


class Base(DeclarativeBase):
    """What the tables of the store have in common."""


class User(Base):
    """Somebody who buys, and the points to pay captions with."""

    __tablename__ = "users"
    __table_args__ = (CheckConstraint("points >= 0", name="points_are_not_negative"),)

    id: Mapped[int] = mapped_column(BigId, primary_key=True, autoincrement=False)
    points: Mapped[int] = mapped_column(BigInteger)


class Media(Base):
    """Something to buy."""

    __tablename__ = "media"

    id: Mapped[str] = mapped_column(String(TEXT_CHARACTERS), primary_key=True)
    amount_minor: Mapped[int] = mapped_column(BigInteger)
    currency: Mapped[str] = mapped_column(String(3))


class Purchase(Base):
    """What a user pays for: pending, then paid."""

    __tablename__ = "purchases"

    id: Mapped[int] = mapped_column(BigId, primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey(User.id), index=True)
    status: Mapped[str] = mapped_column(String(TEXT_CHARACTERS), default="pending")
    version: Mapped[int] = mapped_column(BigInteger, default=0, server_default="0")
    amount_minor: Mapped[int] = mapped_column(BigInteger)
    currency: Mapped[str] = mapped_column(String(3))


class BillingPeriod(Base):
    """A time whose invoices are closed together."""

    __tablename__ = "billing_periods"

    id: Mapped[int] = mapped_column(BigId, primary_key=True, autoincrement=False)
    status: Mapped[str] = mapped_column(String(TEXT_CHARACTERS))
    version: Mapped[int] = mapped_column(BigInteger, default=0, server_default="0")
    closes_on: Mapped[date | None] = mapped_column(Date)
    """The day from which the worker closes it; without one, only the operator does."""
    total_minor: Mapped[int | None] = mapped_column(BigInteger)
    """What its invoices came to when it was closed."""


class Invoice(Base):
    """What a user owes for a period. There is at most one live invoice of a number; others of that number are void."""

    __tablename__ = "invoices"

    id: Mapped[int] = mapped_column(BigId, primary_key=True)
    number: Mapped[str] = mapped_column(String(TEXT_CHARACTERS), index=True)
    billing_period_id: Mapped[int] = mapped_column(ForeignKey(BillingPeriod.id), index=True)
    user_id: Mapped[int] = mapped_column(ForeignKey(User.id), index=True)
    status: Mapped[str] = mapped_column(String(TEXT_CHARACTERS))
    version: Mapped[int] = mapped_column(BigInteger, default=0, server_default="0")
    amount_minor: Mapped[int] = mapped_column(BigInteger)
    currency: Mapped[str] = mapped_column(String(3))
    due_on: Mapped[date] = mapped_column(Date)
    # An invoice that is being regenerated gives its number up: the clone is there before the old one is void. MariaDB has
    # no partial index, but every database lets a unique index hold any number of NULLs.
    live_number: Mapped[str | None] = mapped_column(
        String(TEXT_CHARACTERS),
        Computed("CASE WHEN status NOT IN ('void', 'regenerating') THEN number END", persisted=True),
    )


ONE_LIVE_INVOICE = Index("one_live_invoice_of_a_number", Invoice.live_number, unique=True)


class InvoiceLine(Base):
    """What an invoice is computed from. Lines belong to the number, so every invoice of it is computed from the same."""

    __tablename__ = "invoice_lines"

    number: Mapped[str] = mapped_column(String(TEXT_CHARACTERS), primary_key=True)
    place: Mapped[int] = mapped_column(Integer, primary_key=True, autoincrement=False)
    amount_minor: Mapped[int] = mapped_column(BigInteger)


class Payment(Base):
    """Money that came for an invoice."""

    __tablename__ = "payments"
    __table_args__ = (CheckConstraint("amount_minor > 0", name="payments_are_positive"),)

    id: Mapped[int] = mapped_column(BigId, primary_key=True)
    invoice_id: Mapped[int] = mapped_column(ForeignKey(Invoice.id), index=True)
    amount_minor: Mapped[int] = mapped_column(BigInteger)


class Mail(Base):
    """An e-mail that went out. However often its after-effect is delivered, each recipient gets one."""

    __tablename__ = "mails"
    __table_args__ = (UniqueConstraint("effect_id", "recipient", name="one_mail_for_each_recipient"),)

    id: Mapped[int] = mapped_column(BigId, primary_key=True)
    effect_id: Mapped[str] = mapped_column(String(TEXT_CHARACTERS))
    recipient: Mapped[str] = mapped_column(String(TEXT_CHARACTERS))
    about: Mapped[str] = mapped_column(String(TEXT_CHARACTERS), index=True)
    subject: Mapped[str] = mapped_column(String(200))
