"""Billing: a period is approved, then closed, and closing takes a while."""

from pathlib import Path

from sqlalchemy import BigInteger, String, create_engine, select
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column

from semel import Semel, Step


class Base(DeclarativeBase):
    """Your models, as you have them."""


class BillingPeriod(Base):
    """A period has a total once it is closed."""

    __tablename__ = "billing_periods"

    id: Mapped[int] = mapped_column(primary_key=True)
    total_minor: Mapped[int | None]
    status: Mapped[str] = mapped_column(String(20), default="draft")
    version: Mapped[int] = mapped_column(BigInteger, default=0)


class Invoice(Base):
    """What somebody owes for a period."""

    __tablename__ = "invoices"

    id: Mapped[int] = mapped_column(primary_key=True)
    period_id: Mapped[int]
    amount_minor: Mapped[int]


engine = create_engine("sqlite:///billing.db")
Base.metadata.create_all(engine)

once = Semel("sqlite:///billing.db", workflows=Path(__file__).with_name("workflows"), lease_seconds=1)
once.create_tables()
once.janitor("billing")
periods = once.table(BillingPeriod)


@once.validator("HasInvoices")
def refuse_empty(step: Step[BillingPeriod]) -> str | None:
    """Answer why a period cannot be closed, or None."""
    found = step.read(select(Invoice.id).where(Invoice.period_id == step.id).limit(1))
    return None if found else "there is nothing to bill"


def open_period(*amounts: int) -> int:
    """Write an approved period with its invoices; answer its id."""
    with Session(engine) as session, session.begin():
        session.add(period := BillingPeriod(status="approved"))
        session.flush()
        session.add_all(Invoice(period_id=period.id, amount_minor=amount) for amount in amounts)
        return period.id


def show(period_id: int) -> str:
    """Answer how a period looks to everybody else."""
    with Session(engine) as session:
        period = session.get_one(BillingPeriod, period_id)
        return f"{period.status}, version {period.version}, total {period.total_minor}"
