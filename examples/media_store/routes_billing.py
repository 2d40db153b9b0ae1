"""Billing periods and their e-mails, for the operator."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import sqlalchemy as sa
from fastapi import APIRouter, Query, Response
from sqlalchemy.orm import Session

from semel.integrations.fastapi import answer

from .asking import InStore, RowId
from .auth import ByOperator
from .models import TEXT_CHARACTERS, BillingPeriod, Mail
from .problems import Problem, or_not_found

router = APIRouter()

MAILS_LIMIT = 1_000
"""How many e-mails are listed: a thing that more were sent about is a mistake already."""


@router.get("/billing-periods/{period_id}")
async def show_period(period_id: RowId, store: InStore, _operator: ByOperator) -> dict[str, Any]:
    """Answer the period, or 404."""
    period = await store.database.read(lambda session: session.get(BillingPeriod, period_id))
    if period is None:
        raise Problem(404, "no_such_period", f"There is no billing period {period_id}.")
    return {"id": period.id, "status": period.status, "total_minor": period.total_minor}


@router.post("/billing-periods/{period_id}/close")
async def close_period(period_id: RowId, store: InStore, operator: ByOperator) -> Response:
    """Close the period. Of any number of callers one is answered 200; the others, and all later ones, 409."""
    with or_not_found("period", f"There is no billing period {period_id}."):
        outcome = await store.periods.advance(period_id, "close", by=operator.requester)
    return answer(outcome, {"id": period_id, "status": "closed"})


@router.get("/mails")
async def list_mails(
    about: Annotated[str, Query(min_length=1, max_length=TEXT_CHARACTERS)], store: InStore, _operator: ByOperator
) -> list[dict[str, Any]]:
    """Answer the e-mails about an invoice or a job, oldest first."""
    mails = await store.database.read(lambda session: find_mails(session, about))
    return [{"about": mail.about, "recipient": mail.recipient, "subject": mail.subject} for mail in mails]


def find_mails(session: Session, about: str) -> Sequence[Mail]:
    """Find what was sent about something."""
    return session.scalars(sa.select(Mail).where(Mail.about == about).order_by(Mail.id).limit(MAILS_LIMIT)).all()
