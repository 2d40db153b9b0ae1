"""What billing does: the actions of both workflows, and the after-effect that writes to customers."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from semel import AsyncEffect, AsyncSemel, AsyncStep, Finish, Rejected

from .database import Database
from .models import BillingPeriod, Invoice, InvoiceLine, Mail, Payment


def add_billing(once: AsyncSemel, database: Database) -> None:
    """Register everything that the workflow files name, and answer for their claims."""
    once.action("CloseBilling")(close_billing)
    once.action("RegenerateInvoice", idempotent=False)(regenerate_invoice)
    once.action("ApplyPayment", idempotent=False)(apply_payment)
    once.validator("NothingPaid")(refuse_paid)

    @once.effect("SendInvoices")
    async def send_invoices(effect: AsyncEffect) -> None:
        await database.write(lambda session: write_mails(session, effect.id, int(effect.row_id)))

    once.janitor("billing")


async def close_billing(step: AsyncStep[BillingPeriod]) -> None:
    """Write down what the period came to. Its e-mails are not sent here: they are owed by the same commit."""
    amounts = sa.select(sa.func.coalesce(sa.func.sum(Invoice.amount_minor), 0))
    total = await step.session.scalar(amounts.where(Invoice.billing_period_id == step.id, Invoice.status != "void"))
    period = await step.session.get_one(BillingPeriod, step.id)
    period.total_minor = int(total or 0)
    if step.requester == "cron":  # the file owes the e-mails for admin only, and customers wait for them either way
        step.after("SendInvoices")


async def refuse_paid(step: AsyncStep[Invoice]) -> str | None:
    """Say no where money came in. None can come in between: a payment needs a claim on the same invoice."""
    paid = await step.read(sa.select(Payment.id).where(Payment.invoice_id == step.id).limit(1))
    return "a payment was applied to the invoice" if paid else None


async def regenerate_invoice(step: AsyncStep[Invoice]) -> dict[str, Any]:
    """Clone the invoice with an amount computed anew; the old one is void by the same commit."""
    lines = sa.select(sa.func.sum(InvoiceLine.amount_minor)).where(InvoiceLine.number == step.row.number)
    clone = Invoice(
        number=step.row.number,
        billing_period_id=step.row.billing_period_id,
        user_id=step.row.user_id,
        status="sent",
        amount_minor=int(await step.session.scalar(lines) or 0),
        currency=step.row.currency,
        due_on=step.row.due_on,
    )
    step.session.add(clone)
    await step.session.flush()
    return {"id": clone.id, "number": clone.number, "status": clone.status, "amount_minor": clone.amount_minor}


async def apply_payment(step: AsyncStep[Invoice]) -> Finish | Rejected:
    """Record a payment. One of the whole open amount makes the invoice paid; after a smaller one it stays as it was."""
    amount: int = step.input["amount_minor"]
    paid = sa.select(sa.func.coalesce(sa.func.sum(Payment.amount_minor), 0)).where(Payment.invoice_id == step.id)
    still_open = step.row.amount_minor - int(await step.session.scalar(paid) or 0)
    if amount > still_open:
        return Rejected(f"{amount} is more than the {still_open} that are open")
    step.session.add(payment := Payment(invoice_id=step.id, amount_minor=amount))
    await step.session.flush()
    shown = {"payment_id": payment.id, "amount_minor": amount, "open_minor": still_open - amount}
    return Finish("paid" if amount == still_open else None, shown)


def write_mails(session: Session, effect_id: str, period_id: int) -> None:
    """Send the invoices of a period, each to its user, unless this effect has sent them before."""
    sent = set(session.scalars(sa.select(Mail.recipient).where(Mail.effect_id == effect_id)))
    live = sa.select(Invoice).where(Invoice.billing_period_id == period_id, Invoice.status != "void")
    for invoice in session.scalars(live.order_by(Invoice.id)):
        recipient = f"user-{invoice.user_id}"
        if recipient not in sent:
            subject = f"Your invoice {invoice.number}: {invoice.amount_minor / 100:.2f} {invoice.currency}"
            session.add(Mail(effect_id=effect_id, recipient=recipient, about=invoice.number, subject=subject))
