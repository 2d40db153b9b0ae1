"""Two people press "close" at once: one action runs, and the other person is told so."""

from concurrent.futures import ThreadPoolExecutor, as_completed
from threading import Event

from billing import BillingPeriod, Invoice, once, open_period, periods, show
from sqlalchemy import func, select

from semel import Step

turned_away = Event()


@once.action("CloseBilling")
def close_billing(step: Step[BillingPeriod]) -> int:
    """Write down what the period comes to; answer it."""
    turned_away.wait(timeout=30)  # so slow that the other person presses too
    amounts = select(func.sum(Invoice.amount_minor)).where(Invoice.period_id == step.id)
    total = step.session.scalars(amounts).one()
    step.session.get_one(BillingPeriod, step.id).total_minor = total
    return total


period_id = open_period(999, 499)
with ThreadPoolExecutor(max_workers=2) as people:
    presses = [people.submit(periods.advance, period_id, "close", by="admin") for _ in range(2)]
    for press in as_completed(presses):
        print(press.result(), "|", show(period_id))
        turned_away.set()

print(periods.advance(period_id, "close", by="admin"))
