"""Billing as it is written before anybody has lost money: look, decide, then write what was decided."""

from __future__ import annotations

from uuid import uuid4

import sqlalchemy as sa
from sqlalchemy.orm import Session

from .cron import find_over, find_overdue
from .demo_plan import Press
from .models import BillingPeriod, Invoice, InvoiceLine, Mail, Payment


def press_naively(engine: sa.Engine, press: Press) -> None:
    """Do what the button says."""
    if press.kind == "close":
        close(engine, press.period)
    elif press.kind == "regenerate":
        regenerate(engine, press.number)
    else:
        pay(engine, press.number, press.amount_minor)


def look_naively(engine: sa.Engine) -> None:
    """Do what the day brings."""
    with Session(engine) as session:
        overdue, over = find_overdue(session), find_over(session)
    for invoice_id in overdue:
        with writing(engine) as session, session.begin():
            session.get_one(Invoice, invoice_id).status = "overdue"
    for period_id in over:
        close(engine, period_id)


def close(engine: sa.Engine, period_id: int) -> None:
    """Close an approved period: show that it is being closed, send the invoices, and show that it is closed."""
    with Session(engine) as session:
        if session.get_one(BillingPeriod, period_id).status != "approved":
            return
    with writing(engine) as session, session.begin():
        session.get_one(BillingPeriod, period_id).status = "closing"
    with Session(engine) as session:
        live = session.scalars(live_invoices().where(Invoice.billing_period_id == period_id)).all()
    for invoice in live:
        with writing(engine) as session, session.begin():  # a mail that is sent is sent, like a commit
            mail = Mail(effect_id=uuid4().hex, recipient=f"user-{invoice.user_id}", about=invoice.number, subject="")
            session.add(mail)
    with writing(engine) as session, session.begin():
        session.get_one(BillingPeriod, period_id).status = "closed"


def regenerate(engine: sa.Engine, number: str) -> None:
    """Replace a sent invoice that nothing was paid for."""
    with Session(engine) as session:
        old = session.scalars(live_invoices().where(Invoice.number == number)).first()
        if old is None or old.status != "sent" or add_payments(session, old.id):
            return
        lines = sa.select(sa.func.sum(InvoiceLine.amount_minor)).where(InvoiceLine.number == number)
        amount = session.scalars(lines).one()
    with writing(engine) as session, session.begin():
        session.get_one(Invoice, old.id).status = "void"
        kept = {name: getattr(old, name) for name in ("number", "billing_period_id", "user_id", "currency", "due_on")}
        session.add(Invoice(status="sent", amount_minor=amount, **kept))


def pay(engine: sa.Engine, number: str, amount_minor: int) -> None:
    """Take a payment that is not more than the open amount."""
    with Session(engine) as session:
        invoice = session.scalars(live_invoices().where(Invoice.number == number)).first()
        if invoice is None or invoice.status not in ("sent", "overdue"):
            return
        still_open = invoice.amount_minor - add_payments(session, invoice.id)
    if amount_minor > still_open:
        return
    with writing(engine) as session, session.begin():
        session.add(Payment(invoice_id=invoice.id, amount_minor=amount_minor))
        if amount_minor == still_open:
            session.get_one(Invoice, invoice.id).status = "paid"


def live_invoices() -> sa.Select[Invoice]:
    """Select the invoices that are not void."""
    return sa.select(Invoice).where(Invoice.status != "void").order_by(Invoice.id)


def add_payments(session: Session, invoice_id: int) -> int:
    """Add up what was paid for an invoice."""
    return session.scalar(sa.select(sa.func.sum(Payment.amount_minor)).where(Payment.invoice_id == invoice_id)) or 0


def writing(engine: sa.Engine) -> Session:
    """Answer a session that says from the start that it will write."""
    return Session(engine.execution_options(writes=True))
