"""What every store holds from its first start on: tables, users, a catalogue, and invoices."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import InstrumentedAttribute

from .database import alone
from .models import Base, BillingPeriod, Invoice, InvoiceLine, Media, User

USERS = 100
POINTS = 1_000
CATALOGUE = 50
PRICE_MINOR = 999
CURRENCY = "usd"
PERIODS = 12
FIRST_STATUSES = ("sent", "sent", "overdue")
"""The statuses of a period's three invoices: two that may become overdue, and one that is."""
DUE_DAYS = {"sent": 30, "overdue": -1}
"""When invoices are due, counted from the day of the first start: the worker leaves what is sent alone for a month."""


def create_what_is_missing(connection: sa.Connection) -> None:
    """Create tables and rows that are not there yet. Processes that start together do it one after the other."""
    with alone(connection):
        Base.metadata.create_all(connection)
        add_missing(connection, User.id, [{"id": number, "points": POINTS} for number in range(1, USERS + 1)])
        add_missing(connection, Media.id, list_catalogue())
        periods = range(1, PERIODS + 1)
        add_missing(connection, BillingPeriod.id, [{"id": period, "status": "approved"} for period in periods])
        invoices = [invoice for period in periods for invoice in list_invoices(period, today())]
        add_missing(connection, Invoice.number, invoices)
        add_missing(connection, InvoiceLine.number, [list_line(invoice) for invoice in invoices])


def today() -> date:
    """Answer which day it is, everywhere at once."""
    return datetime.now(UTC).date()


def list_catalogue() -> list[dict[str, Any]]:
    """List what is for sale."""
    price = {"amount_minor": PRICE_MINOR, "currency": CURRENCY}
    return [{"id": f"media-{number}", **price} for number in range(1, CATALOGUE + 1)]


def list_invoices(period: int, first_day: date) -> list[dict[str, Any]]:
    """List the first invoices of a period; each belongs to a user of its own. Their ids are the database's to draw."""
    return [
        {
            "number": f"INV-{period}-{place}",
            "billing_period_id": period,
            "user_id": len(FIRST_STATUSES) * (period - 1) + place,
            "status": status,
            "amount_minor": PRICE_MINOR,
            "currency": CURRENCY,
            "due_on": first_day + timedelta(days=DUE_DAYS[status]),
        }
        for place, status in enumerate(FIRST_STATUSES, start=1)
    ]


def list_line(invoice: dict[str, Any]) -> dict[str, Any]:
    """Answer the one line of an invoice of the stock."""
    return {"number": invoice["number"], "place": 1, "amount_minor": invoice["amount_minor"]}


def add_missing(
    connection: sa.Connection, known_by: InstrumentedAttribute[Any], rows: Sequence[dict[str, Any]]
) -> None:
    """Insert the rows that are not there yet; those that are have a life of their own and stay as they are."""
    there = set(connection.scalars(sa.select(known_by)))
    missing = [row for row in rows if row[known_by.key] not in there]
    if missing:
        connection.execute(sa.insert(known_by.class_), missing)
