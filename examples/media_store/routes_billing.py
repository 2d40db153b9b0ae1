"""Billing periods and their invoices, for the operator."""

from __future__ import annotations

from typing import Annotated, Any

import sqlalchemy as sa
from fastapi import APIRouter, Query
from sqlalchemy.orm import Session

from semel import UsageError

from .asking import InStore, RowId
from .auth import ByOperator
from .models import TEXT_CHARACTERS, BillingPeriod, Invoice
from .problems import Problem

router = APIRouter()

NO_SUCH_ROW = "SEMEL-ROW-1"


@router.get("/billing-periods/{period_id}")
async def show_period(period_id: RowId, store: InStore, _operator: ByOperator) -> dict[str, Any]:
    """Answer the period, or 404."""
    period = await store.database.read(lambda session: session.get(BillingPeriod, period_id))
    if period is None:
        raise Problem(404, "no_such_period", f"There is no billing period {period_id}.")
    return {"id": period.id, "status": period.status}


@router.get("/invoices")
async def list_invoices(
    number: Annotated[str, Query(min_length=1, max_length=TEXT_CHARACTERS)], store: InStore, _operator: ByOperator
) -> list[dict[str, Any]]:
    """Answer the live invoices of that number: one, or none."""
    return await store.database.read(lambda session: [show_invoice(each) for each in find_live(session, number)])


@router.post("/invoices/{invoice_id}/overdue")
async def mark_as_overdue(invoice_id: RowId, store: InStore, operator: ByOperator) -> dict[str, Any]:
    """Move a sent invoice to overdue. Of any number of callers one is answered 200; the others, and all later ones, 409."""
    try:
        outcome = await store.invoices.transition(invoice_id, "sent", to="overdue", by=operator.requester)
    except UsageError as problem:
        if problem.code != NO_SUCH_ROW:
            raise
        raise Problem(404, "no_such_invoice", f"There is no invoice {invoice_id}.") from problem
    if not outcome:
        raise Problem(409, "not_sent", f"The invoice is {outcome.now}; only one that is sent becomes overdue.")
    return {"id": invoice_id, "status": "overdue"}


def find_live(session: Session, number: str) -> list[Invoice]:
    """Find the live invoices of a number."""
    return list(session.scalars(sa.select(Invoice).where(Invoice.live_number == number)))


def show_invoice(invoice: Invoice) -> dict[str, Any]:
    """Write an invoice out for a client. The version is nobody's business: Semel compares it."""
    return {
        "id": invoice.id,
        "number": invoice.number,
        "billing_period_id": invoice.billing_period_id,
        "user_id": invoice.user_id,
        "status": invoice.status,
        "amount_minor": invoice.amount_minor,
        "currency": invoice.currency,
    }
