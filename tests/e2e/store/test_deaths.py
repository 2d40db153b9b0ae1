from __future__ import annotations

import threading
from collections import Counter
from contextlib import suppress

import httpx2
import pytest
import sqlalchemy as sa
from sqlalchemy.orm import Session

from media_store.models import BillingPeriod, Invoice, Mail, Payment
from tests.databases import Database
from tests.e2e.store.gates import closed_gate
from tests.e2e.store.serving import OPERATOR, Server, Worker, running, see, serving

SHORT = ("--lease-seconds", "0.5")  # the least that Semel takes: a recovery is two of them and a look


def post_until_killed(server: Server, path: str, **sent: object) -> threading.Thread:
    """Send a request in a thread of its own; its answer never comes."""

    def post() -> None:
        with suppress(httpx2.TransportError), server.client(headers=OPERATOR, timeout=60) as client:
            client.post(path, **sent)

    thread = threading.Thread(target=post)
    thread.start()
    return thread


def kill_at_gate(database: Database, server: Server, row: tuple[type, int, str], path: str, **sent: object) -> None:
    """Send a request, and kill its server once the row is claimed and the finish waits at the gate."""
    table, row_id, claimed = row
    posting = post_until_killed(server, path, **sent)
    see_status(database, table, row_id, {claimed})
    server.kill()
    posting.join()


def see_status(database: Database, table: type, row_id: int, wanted: set[str]) -> str:
    """Wait until a row is in one of these statuses, and answer in which."""

    def look() -> str:
        with Session(database.engine()) as session:
            return session.get_one(table, row_id).status

    return see(look, wanted.__contains__)


def count_mails(database: Database) -> Counter[str]:
    """Count the mails about each invoice."""
    with Session(database.engine()) as session:
        return Counter(session.scalars(sa.select(Mail.about)))


def test_a_server_that_dies_while_closing_leaves_nothing_between(database: Database) -> None:
    """Killed between claim and finish: the period comes back to approved, is closed again, and each invoice is sent once."""
    is_finish = "NEW.status = 'closed'"
    with (
        serving(database.url, options=SHORT) as (server,),
        closed_gate(database, "UPDATE", "billing_periods", is_finish),
    ):
        kill_at_gate(database, server, (BillingPeriod, 1, "closing"), "/billing-periods/1/close")
    with serving(database.url, options=SHORT) as (server,), running(Worker(database.url, *SHORT)):
        assert see_status(database, BillingPeriod, 1, {"approved", "closed"}) == "approved"
        assert count_mails(database) == {}
        with server.client(headers=OPERATOR) as client:
            assert client.post("/billing-periods/1/close").status_code == 200
        assert see(lambda: count_mails(database), lambda counted: counted.total() >= 3) == {
            "INV-1-1": 1,
            "INV-1-2": 1,
            "INV-1-3": 1,
        }


@pytest.mark.parametrize(
    ("path", "sent", "claimed"),
    [
        ("regenerate", {}, "regenerating"),
        ("payments", {"json": {"amount_minor": 999}}, "applying_payment_from_sent"),
    ],
)
def test_a_server_that_dies_with_an_invoice_leaves_it_as_it_was(
    database: Database, path: str, sent: dict[str, object], claimed: str
) -> None:
    """Killed when clone or payment are written and not committed: neither is there, and the invoice is sent again."""
    is_finish = "NEW.status IN ('void', 'paid')"
    sent = {"headers": {**OPERATOR, "Idempotency-Key": "k"}, **sent}
    with serving(database.url, options=SHORT) as (server,), closed_gate(database, "UPDATE", "invoices", is_finish):
        kill_at_gate(database, server, (Invoice, 1, claimed), f"/invoices/1/{path}", **sent)
    with running(Worker(database.url, *SHORT)):
        see_status(database, Invoice, 1, {"sent"})
    with Session(database.engine()) as session:
        assert session.scalar(sa.select(sa.func.count()).select_from(Invoice)) == 36
        assert session.scalar(sa.select(sa.func.count()).select_from(Payment)) == 0


def test_a_worker_that_dies_while_it_delivers_is_replaced(database: Database) -> None:
    """Killed in the middle of sending, a worker leaves no mail behind; the next one sends each invoice once."""
    with serving(database.url, options=SHORT) as (server,):
        with server.client(headers=OPERATOR) as client:
            assert client.post("/billing-periods/2/close").status_code == 200
        gate = closed_gate(database, "INSERT", "mails", "NEW.about = 'INV-2-2'")
        with gate, running(worker := Worker(database.url, *SHORT)):
            see(lambda: find_effect(database), "taken".__eq__)
            worker.kill()
        assert count_mails(database) == {}
        with running(Worker(database.url, *SHORT)):
            see(lambda: find_effect(database), "delivered".__eq__)
    assert count_mails(database) == {"INV-2-1": 1, "INV-2-2": 1, "INV-2-3": 1}


def find_effect(database: Database) -> str | None:
    """Answer the state of the one after-effect that is owed."""
    with database.engine().connect() as connection:
        return connection.exec_driver_sql("SELECT state FROM semel_outbox").scalar_one_or_none()
