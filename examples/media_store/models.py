"""The store's own tables. A row that moves has a `status`, and a `version` that is Semel's alone."""

from __future__ import annotations

from sqlalchemy import BigInteger, CheckConstraint, Computed, ForeignKey, Integer, String
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
    # MariaDB has no partial index, but every database lets a unique column hold any number of NULLs.
    live_number: Mapped[str | None] = mapped_column(
        String(TEXT_CHARACTERS), Computed("CASE WHEN status <> 'void' THEN number END", persisted=True), unique=True
    )
