"""Three ways to end without success: a validator says no, the action says no, the action raises. None leaves a trace."""

from billing import BillingPeriod, Invoice, once, open_period, periods, show
from sqlalchemy import func, select

from semel import Rejected, Step

LIMIT_MINOR = 10_000


@once.action("CloseBilling")
def close_billing(step: Step[BillingPeriod]) -> int | Rejected:
    """Write down what the period comes to, unless a person should look at it first."""
    amounts = select(func.sum(Invoice.amount_minor)).where(Invoice.period_id == step.id)
    total = step.session.scalars(amounts).one()
    step.session.get_one(BillingPeriod, step.id).total_minor = total
    if total > LIMIT_MINOR:
        return Rejected(f"{total} is more than {LIMIT_MINOR}")
    if total < 0:
        raise ValueError("a credit cannot be billed")
    return total


empty, large, negative = open_period(), open_period(99_900), open_period(-5)

print(periods.advance(empty, "close", by="admin"))
print(periods.advance(large, "close", by="admin"))
try:
    periods.advance(negative, "close", by="admin")
except ValueError as problem:
    print("raised:", problem)

for period_id in (empty, large, negative):
    print(show(period_id))
