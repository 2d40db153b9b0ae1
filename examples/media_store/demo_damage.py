"""What a storm has left in a database, counted from its rows alone, the same way for both sides."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy.orm import Session

from .models import BillingPeriod, Invoice, Mail, Payment

IN_BETWEEN = ("closing", "regenerating", "applying_payment_from_sent", "applying_payment_from_overdue")
"""The statuses that nothing may stay in."""

# The demo looks at the journal itself: Semel has no verb yet that tells the story of a row.
JOURNAL = sa.table("semel_journal", sa.column("kind"), sa.column("detail"))


@dataclass(frozen=True)
class Damage:
    """What was done, and what was done wrong."""

    closed: int
    regenerated: int
    payments: int
    released: int
    clones: int
    double_credits: int
    mails_missing: int
    mails_twice: int
    stuck: int

    @property
    def total(self) -> int:
        """How many things are wrong."""
        return self.clones + self.double_credits + self.mails_missing + self.mails_twice + self.stuck

    @property
    def did_something(self) -> bool:
        """Whether everything that could go wrong was done at all."""
        return min(self.closed, self.regenerated, self.payments) > 0


def count_damage(engine: sa.Engine) -> Damage:
    """Count everything, as of one moment."""
    with Session(engine) as session:
        periods = dict(session.execute(sa.select(BillingPeriod.id, BillingPeriod.status)).all())
        invoices = session.scalars(sa.select(Invoice)).all()
        live = Counter(invoice.number for invoice in invoices if invoice.status != "void")
        mails = Counter(session.scalars(sa.select(Mail.about)))
        # A period owes its e-mails as soon as it says that it is being closed.
        owed = {invoice.number: periods[invoice.billing_period_id] in ("closing", "closed") for invoice in invoices}
        statuses = [*periods.values(), *(invoice.status for invoice in invoices)]
        return Damage(
            closed=list(periods.values()).count("closed"),
            regenerated=statuses.count("void"),
            payments=session.scalars(sa.select(sa.func.count()).select_from(Payment)).one(),
            released=count_released(session),
            clones=sum(count - 1 for count in live.values()),
            double_credits=count_double_credits(session),
            mails_missing=sum(max(0, owes - mails[number]) for number, owes in owed.items()),
            mails_twice=sum(max(0, mails[number] - owes) for number, owes in owed.items()),
            stuck=sum(status in IN_BETWEEN for status in statuses),
        )


def count_double_credits(session: Session) -> int:
    """Count the invoices for which more was taken than was owed."""
    paid = sa.select(sa.func.sum(Payment.amount_minor)).where(Payment.invoice_id == Invoice.id).scalar_subquery()
    return session.scalars(sa.select(sa.func.count()).select_from(Invoice).where(paid > Invoice.amount_minor)).one()


def count_released(session: Session) -> int:
    """Count the rows that keepers have moved back because their holder was dead."""
    by_keeper = JOURNAL.c.detail.like("%stopped answering")
    return session.scalars(sa.select(sa.func.count()).select_from(JOURNAL).where(by_keeper)).one()
