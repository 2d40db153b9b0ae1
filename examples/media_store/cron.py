"""What happens because a day has come. The worker does it as the requester `cron`; any number of workers may."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence

import sqlalchemy as sa
from sqlalchemy.orm import Session

from semel import AsyncTable

from .models import BillingPeriod, Invoice
from .opening import Store

log = logging.getLogger("media_store")

LOOK_SECONDS = 1.0
"""How often is looked for what is due: two small reads."""

DUE_LIMIT = 100
"""How many rows one look moves; what is left is due at the next."""


class Cron:
    """Looks again and again for what is due."""

    def __init__(self, store: Store) -> None:
        """Start nothing yet."""
        self.store = store
        self.task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Start looking, in the running loop, until it ends."""
        self.task = asyncio.get_running_loop().create_task(self.run(), name="media-store-cron")

    async def run(self) -> None:
        """Look until the task is cancelled; whatever goes wrong may go right at the next look."""
        ended = asyncio.Event()
        try:
            while True:
                try:
                    await look_once(self.store)
                except Exception:
                    log.exception("the cron met a problem")
                await pause(ended)
        finally:
            await self.store.database.close()


async def pause(ended: asyncio.Event) -> None:
    """Wait for the next look."""
    try:
        await asyncio.wait_for(ended.wait(), LOOK_SECONDS)
    except TimeoutError:
        return


async def look_once(store: Store) -> None:
    """Take the steps that are due. One that another worker took first is not allowed any more: twice is once."""
    await take_due(store, store.invoices, "mark_as_overdue", find_overdue)
    await take_due(store, store.periods, "close", find_over)


async def take_due(
    store: Store, table: AsyncTable[Invoice] | AsyncTable[BillingPeriod], step: str, find: Callable[[Session], Sequence[int]]
) -> None:
    """Take a step on every row that is due for it."""
    for row_id in await store.database.read(find):
        await table.advance(row_id, step, by="cron")


def find_overdue(session: Session) -> Sequence[int]:
    """Find sent invoices whose day has passed."""
    overdue = sa.select(Invoice.id).where(Invoice.status == "sent", Invoice.due_on < sa.func.current_date())
    return session.scalars(overdue.order_by(Invoice.id).limit(DUE_LIMIT)).all()


def find_over(session: Session) -> Sequence[int]:
    """Find approved periods whose day has come."""
    over = sa.select(BillingPeriod.id).where(
        BillingPeriod.status == "approved", BillingPeriod.closes_on <= sa.func.current_date()
    )
    return session.scalars(over.order_by(BillingPeriod.id).limit(DUE_LIMIT)).all()
