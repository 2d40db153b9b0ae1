"""One step from two statuses: what `advance` was given comes in, and the action picks where the row goes."""

from pathlib import Path

from sqlalchemy import BigInteger, String, create_engine, func, select
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column

from semel import Finish, Rejected, Semel, Step


class Base(DeclarativeBase):
    """Your models, as you have them."""


class Invoice(Base):
    """What somebody owes."""

    __tablename__ = "invoices"

    id: Mapped[int] = mapped_column(primary_key=True)
    amount_minor: Mapped[int]
    status: Mapped[str] = mapped_column(String(20), default="sent")
    version: Mapped[int] = mapped_column(BigInteger, default=0)


class Payment(Base):
    """A part of it, paid."""

    __tablename__ = "payments"

    id: Mapped[int] = mapped_column(primary_key=True)
    invoice_id: Mapped[int]
    amount_minor: Mapped[int]


engine = create_engine("sqlite:///payments.db")
Base.metadata.create_all(engine)

once = Semel("sqlite:///payments.db", workflows=Path(__file__).with_name("payments.json"))
once.create_tables()
invoices = once.table(Invoice)


@once.action("ApplyPayment", idempotent=False)
def apply_payment(step: Step[Invoice]) -> Finish | Rejected:
    """Record a payment. One of the whole open amount makes the invoice paid; a smaller one leaves it."""
    amount = step.input["amount_minor"]
    paid = select(func.coalesce(func.sum(Payment.amount_minor), 0)).where(Payment.invoice_id == step.id)
    still_open = step.row.amount_minor - step.session.scalars(paid).one()
    if amount > still_open:
        return Rejected(f"{amount} is more than the {still_open} that are open")
    step.session.add(Payment(invoice_id=step.id, amount_minor=amount))
    return Finish("paid" if amount == still_open else None, {"open_minor": still_open - amount})


with Session(engine) as session, session.begin():
    session.add(invoice := Invoice(amount_minor=1000))
    session.flush()
    invoice_id = invoice.id

print(invoices.advance(invoice_id, "pay", by="customer", input={"amount_minor": 300}))
print(invoices.advance(invoice_id, "remind", by="cron"))
print(invoices.advance(invoice_id, "pay", by="customer", input={"amount_minor": 800}))
print(invoices.advance(invoice_id, "pay", by="customer", input={"amount_minor": 700}))
print(invoices.advance(invoice_id, "remind", by="customer"))
