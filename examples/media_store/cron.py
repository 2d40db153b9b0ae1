"""What happens because a day has come. The worker does it as the requester `cron`; any number of workers may."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import sqlalchemy as sa
from sqlalchemy.orm import Session

from semel import AsyncTable

from .models import BillingPeriod, Invoice
from .opening import Store
from .stock import today

DUE_LIMIT = 100
"""How many rows of a kind one look moves; what is left is due at the next."""


async def take_what_is_due(store: Store) -> None:
    """Take the steps that are due. One that another worker took first is not allowed any more: twice is once."""
    await take_each(store, store.invoices, "mark_as_overdue", find_overdue)
    await take_each(store, store.periods, "close", find_over)


async def take_each(
    store: Store,
    table: AsyncTable[Invoice] | AsyncTable[BillingPeriod],
    step: str,
    find_due: Callable[[Session], Sequence[int]],
) -> None:
    """Take a step on every row that is due for it."""
    for row_id in await store.database.read(find_due):
        await table.advance(row_id, step, by="cron")


def find_overdue(session: Session) -> Sequence[int]:
    """Find sent invoices whose day has passed."""
    overdue = sa.select(Invoice.id).where(Invoice.status == "sent", Invoice.due_on < today())
    return session.scalars(overdue.order_by(Invoice.id).limit(DUE_LIMIT)).all()


def find_over(session: Session) -> Sequence[int]:
    """Find approved periods whose day has come."""
    over = sa.select(BillingPeriod.id).where(BillingPeriod.status == "approved", BillingPeriod.closes_on <= today())
    return session.scalars(over.order_by(BillingPeriod.id).limit(DUE_LIMIT)).all()
