"""Invoices: the operator regenerates them, and whoever owes one pays it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import sqlalchemy as sa
from fastapi import APIRouter, Query, Response
from pydantic import BaseModel, Field
from sqlalchemy.orm import Session

from semel import Done, Rejected
from semel.integrations.fastapi import answer

from .asking import LARGEST_ID, InStore, RequestKey, RowId
from .auth import ByCaller, ByOperator, Caller, Operator
from .models import TEXT_CHARACTERS, Invoice
from .opening import Store
from .problems import Problem, or_not_found

router = APIRouter()


class PaymentIn(BaseModel):
    """What a payment says."""

    amount_minor: Annotated[int, Field(ge=1, le=LARGEST_ID, strict=True)]


@router.get("/invoices")
async def list_invoices(
    number: Annotated[str, Query(min_length=1, max_length=TEXT_CHARACTERS)], store: InStore, _operator: ByOperator
) -> list[dict[str, Any]]:
    """Answer the live invoices of that number: one, or none."""
    return [show_invoice(each) for each in await store.database.read(lambda session: find_live(session, number))]


@router.post("/invoices/{invoice_id}/overdue")
async def mark_as_overdue(invoice_id: RowId, store: InStore, operator: ByOperator) -> dict[str, Any]:
    """Move a sent invoice to overdue. Of any number of callers one is answered 200; the others, and all later ones, 409."""
    with or_not_found("invoice", f"There is no invoice {invoice_id}."):
        outcome = await store.invoices.transition(invoice_id, "sent", to="overdue", by=operator.requester)
    if not outcome:
        raise Problem(409, "not_sent", f"The invoice is {outcome.now}; only one that is sent becomes overdue.")
    return {"id": invoice_id, "status": "overdue"}


@router.post("/invoices/{invoice_id}/regenerate")
async def regenerate(invoice_id: RowId, store: InStore, operator: ByOperator) -> Response:
    """Replace a sent invoice by a clone with its amount computed anew. One caller is answered 200, the others 409."""
    with or_not_found("invoice", f"There is no invoice {invoice_id}."):
        outcome = await store.invoices.advance(invoice_id, "regenerate", by=operator.requester)
    if isinstance(outcome, Rejected):
        raise Problem(409, "payment_applied", f"It stays as it is: {outcome.reason}.")
    return answer(outcome, outcome.result if isinstance(outcome, Done) else None)


@router.post("/invoices/{invoice_id}/payments")
async def pay(invoice_id: RowId, payment: PaymentIn, store: InStore, caller: ByCaller, _key: RequestKey) -> Response:
    """Apply a payment: 201. More than the open amount is 422; an invoice that is busy, paid or void is 409."""
    await check_payer(store, invoice_id, caller)
    requester = caller.requester
    outcome = await store.invoices.advance(invoice_id, "apply_payment", by=requester, input=payment.model_dump())
    if not isinstance(outcome, Done):
        return answer(outcome)
    response = answer(outcome, {"invoice_id": invoice_id, "status": outcome.status, **outcome.result})
    response.status_code = 201
    return response


async def check_payer(store: Store, invoice_id: int, caller: Caller) -> None:
    """Answer 404 where there is no such invoice, and where it is somebody else's: that it is there is not theirs to know."""
    invoice = await store.database.read(lambda session: session.get(Invoice, invoice_id))
    if invoice is None or not (isinstance(caller, Operator) or caller.user_id == invoice.user_id):
        raise Problem(404, "no_such_invoice", f"There is no invoice {invoice_id}.")


def find_live(session: Session, number: str) -> Sequence[Invoice]:
    """Find the live invoices of a number; one that is being regenerated is live until its clone is there."""
    return session.scalars(sa.select(Invoice).where(Invoice.number == number, Invoice.status != "void")).all()


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
        "due_on": invoice.due_on.isoformat(),
    }
