"""The same with async functions: fifty tasks press "close", and one of them does it."""

import asyncio
from pathlib import Path

from billing import BillingPeriod, Invoice, open_period
from sqlalchemy import func, select

from semel import AsyncSemel, AsyncStep

once = AsyncSemel("sqlite:///billing.db", workflows=Path(__file__).with_name("workflows"))
once.janitor("billing")
periods = once.table(BillingPeriod)


@once.validator("HasInvoices")
async def refuse_empty(step: AsyncStep[BillingPeriod]) -> str | None:
    """Answer why a period cannot be closed, or None."""
    found = await step.read(select(Invoice.id).where(Invoice.period_id == step.id).limit(1))
    return None if found else "there is nothing to bill"


@once.action("CloseBilling")
async def close_billing(step: AsyncStep[BillingPeriod]) -> int:
    """Write down what the period comes to; answer it."""
    amounts = select(func.sum(Invoice.amount_minor)).where(Invoice.period_id == step.id)
    total = (await step.session.scalars(amounts)).one()
    period = await step.session.get_one(BillingPeriod, step.id)
    period.total_minor = total
    return total


async def main() -> None:
    """Let fifty tasks close one period."""
    period_id = open_period(999, 499)
    async with once:
        outcomes = await asyncio.gather(*(periods.advance(period_id, "close", by="admin") for _ in range(50)))
    for outcome in filter(None, outcomes):
        print(outcome)
    print(sum(not outcome for outcome in outcomes), "were turned away")


asyncio.run(main())
