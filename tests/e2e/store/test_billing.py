from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest
import sqlalchemy as sa
from sqlalchemy.orm import Session

from media_store.billing import write_mails
from media_store.models import BillingPeriod, Invoice, InvoiceLine, Mail, Payment
from media_store.stock import today
from tests.databases import Database
from tests.e2e.store.serving import OPERATOR, Server, Worker, running, see, serving

CALLERS = 32
BUSY = "another operation is already in progress"


def find_id(server: Server, number: str) -> int:
    """Ask for the id of the one live invoice of a number."""
    with server.client(headers=OPERATOR) as client:
        (invoice,) = client.get("/invoices", params={"number": number}).raise_for_status().json()
    return invoice["id"]


def press_together(servers: list[Server], path: str, **sent: Any) -> list[httpx2.Response]:
    """Send one request from many callers at once, spread over the servers."""

    async def press() -> list[httpx2.Response]:
        limits = httpx2.Limits(max_connections=CALLERS)
        async with httpx2.AsyncClient(headers=OPERATOR, limits=limits, timeout=60) as client:
            paths = [f"{servers[place % len(servers)].address}{path}" for place in range(CALLERS)]
            return await asyncio.gather(*(client.post(each, **sent) for each in paths))

    return asyncio.run(press())


def pay(client: httpx2.Client, invoice: int, amount: object, key: str | None = "key-1") -> httpx2.Response:
    """Send a payment."""
    headers = {} if key is None else {"Idempotency-Key": key}
    return client.post(f"/invoices/{invoice}/payments", json={"amount_minor": amount}, headers=headers)


def see_mails(server: Server, *numbers: str) -> Counter[str]:
    """Wait until each of these invoices was sent, and answer how often each was."""

    def count() -> Counter[str]:
        with server.client(headers=OPERATOR) as client:
            lists = (client.get("/mails", params={"about": number}).json() for number in numbers)
            return Counter(mail["about"] for mails in lists for mail in mails)

    return see(count, lambda counted: set(counted) == set(numbers))


def test_two_people_press_regenerate_at_once(database: Database) -> None:
    """Of 32 callers at two processes one gets the clone and the others 409; the number has one live invoice after it."""
    with serving(database.url, processes=2) as servers:
        old = find_id(servers[0], "INV-3-1")
        with Session(database.engine()) as session, session.begin():
            session.get_one(InvoiceLine, ("INV-3-1", 1)).amount_minor = 1250
        answers = press_together(servers, f"/invoices/{old}/regenerate")
        assert Counter(answer.status_code for answer in answers) == {200: 1, 409: CALLERS - 1}
        (won,) = (answer.json() for answer in answers if answer.status_code == 200)
        lost = {(answer.json()["code"], answer.json()["detail"] == BUSY) for answer in answers if answer.is_error}
        assert lost <= {("busy", True), ("not_allowed", False)}
        assert find_id(servers[1], "INV-3-1") == won["id"] != old
        with Session(database.engine()) as session:
            invoices = session.scalars(sa.select(Invoice).where(Invoice.number == "INV-3-1").order_by(Invoice.id)).all()
            assert [(each.status, each.amount_minor) for each in invoices] == [("void", 999), ("sent", 1250)]


def test_a_period_is_closed_once_and_mailed_once(database: Database) -> None:
    """Of 32 callers one closes; two workers deliver, and each of the three invoices is sent once to its user."""
    workers = [Worker(database.url), Worker(database.url)]
    with serving(database.url) as servers, running(*workers):
        answers = press_together(servers, "/billing-periods/5/close")
        assert Counter(answer.status_code for answer in answers) == {200: 1, 409: CALLERS - 1}
        assert see_mails(servers[0], "INV-5-1", "INV-5-2", "INV-5-3") == {"INV-5-1": 1, "INV-5-2": 1, "INV-5-3": 1}
        with servers[0].client(headers=OPERATOR) as client:
            assert client.get("/billing-periods/5").json() == {"id": 5, "status": "closed", "total_minor": 2997}
            (mail,) = client.get("/mails", params={"about": "INV-5-2"}).json()
            assert mail == {"about": "INV-5-2", "recipient": "user-14", "subject": "Your invoice INV-5-2: 9.99 usd"}
            assert set(client.get("/healthz").json()["keepers"]) == {"courier", "janitor", "reaper", "resumer"}
        assert [worker.stop() for worker in workers] == [0, 0]


def test_many_payers_of_one_invoice_pay_it_once(database: Database) -> None:
    """Of 32 payments of the whole amount one is taken; the money is never more than was owed."""
    with serving(database.url, processes=2) as servers:
        invoice = find_id(servers[0], "INV-6-3")
        sent = {"json": {"amount_minor": 999}, "headers": {**OPERATOR, "Idempotency-Key": "one-for-all"}}
        answers = press_together(servers, f"/invoices/{invoice}/payments", **sent)
        assert Counter(answer.status_code for answer in answers) == {201: 1, 409: CALLERS - 1}
        with Session(database.engine()) as session:
            assert session.scalars(sa.select(Payment.amount_minor)).all() == [999]
            assert session.get_one(Invoice, invoice).status == "paid"


def test_the_worker_does_what_a_day_brings(database: Database) -> None:
    """Two workers find one invoice overdue and one period over: each moves once, by cron, and customers hear of it."""
    with serving(database.url) as (server,):
        with Session(database.engine()) as session, session.begin():
            late = session.scalars(sa.select(Invoice).where(Invoice.number == "INV-7-1")).one()
            late.due_on = late.due_on.replace(year=late.due_on.year - 1)
            session.get_one(BillingPeriod, 7).closes_on = today()
        with running(Worker(database.url), Worker(database.url)):
            assert see_mails(server, "INV-7-1", "INV-7-2", "INV-7-3").total() == 3
            with server.client(headers=OPERATOR) as client:
                see(lambda: client.get("/invoices", params={"number": "INV-7-1"}).json()[0]["status"], "overdue".__eq__)
                assert client.get("/invoices", params={"number": "INV-7-2"}).json()[0]["status"] == "sent"
    with database.engine().connect() as connection:
        journal = "SELECT step_key, to_status FROM semel_journal WHERE requester = 'cron' ORDER BY step_key"
        assert connection.exec_driver_sql(journal).all() == [("close", "closed"), ("mark_as_overdue", "overdue")]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One server on SQLite, where each test has a period of its own."""
    with serving(f"sqlite:///{tmp_path_factory.mktemp('store')}/store.db") as (running,):
        yield running


@pytest.mark.parametrize(("place", "before"), [(1, "sent"), (3, "overdue")])
def test_a_part_leaves_the_status_and_the_rest_pays(server: Server, place: int, before: str) -> None:
    """Payments below the open amount keep the status, more than it is refused, and the last part makes it paid."""
    invoice = find_id(server, f"INV-8-{place}")
    with server.client(headers=OPERATOR) as client:
        answers = [pay(client, invoice, amount) for amount in (400, 600, 400, 199, 1)]
    assert [answer.status_code for answer in answers] == [201, 422, 201, 201, 409]
    shown = [answer.json() for answer in answers]
    assert [each["status"] for each in shown[:1] + shown[2:4]] == [before, before, "paid"]
    assert [each["open_minor"] for each in shown[:1] + shown[2:4]] == [599, 199, 0]
    assert (shown[1]["code"], shown[1]["detail"]) == ("rejected", "600 is more than the 599 that are open")
    assert (shown[4]["code"], shown[4]["now"]) == ("not_allowed", "paid")


def test_what_money_came_for_is_not_regenerated(server: Server) -> None:
    """An invoice with a payment stays as it is and can still be paid."""
    invoice = find_id(server, "INV-9-1")
    with server.client(headers=OPERATOR) as client:
        assert pay(client, invoice, 1).status_code == 201
        refused = client.post(f"/invoices/{invoice}/regenerate")
        assert (refused.status_code, refused.json()["code"]) == (409, "payment_applied")
        assert find_id(server, "INV-9-1") == invoice
        assert pay(client, invoice, 998).json()["status"] == "paid"


def test_only_what_is_sent_is_regenerated(server: Server) -> None:
    """An overdue invoice and one that is void already answer 409 and where they are."""
    overdue, sent = find_id(server, "INV-9-3"), find_id(server, "INV-9-2")
    with server.client(headers=OPERATOR) as client:
        assert client.post(f"/invoices/{overdue}/regenerate").json()["now"] == "overdue"
        assert client.post(f"/invoices/{sent}/regenerate").status_code == 200
        again = client.post(f"/invoices/{sent}/regenerate")
        assert (again.status_code, again.json()["now"]) == (409, "void")


def test_a_customer_pays_what_is_theirs(server: Server) -> None:
    """A user pays their own invoice; somebody else's is not there for them, and only the operator regenerates."""
    invoice = find_id(server, "INV-10-1")  # user 28's
    with server.client(headers={"Authorization": "Bearer user-28"}) as mine:
        assert pay(mine, invoice, 999).json()["status"] == "paid"
        assert mine.post(f"/invoices/{invoice}/regenerate").status_code == 403
        assert mine.post("/billing-periods/10/close").status_code == 403
    with server.client(headers={"Authorization": "Bearer user-29"}) as other:
        refused = pay(other, invoice, 1)
        assert (refused.status_code, refused.json()["code"]) == (404, "no_such_invoice")


@pytest.mark.parametrize("amount", [0, -1, 1.5, "1", True, None, 2**63])
def test_an_amount_is_a_whole_positive_number(server: Server, amount: object) -> None:
    """Anything else is 422, before anything is claimed."""
    with server.client(headers=OPERATOR) as client:
        answer = pay(client, find_id(server, "INV-11-1"), amount)
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid")


@pytest.mark.parametrize(
    ("key", "status"),
    [(None, 400), ("", 400), ("x" * 256, 400), ("k\u00e9", 400), ("x" * 255, 422), ('"quoted"', 422), ("a b", 422)],
)
def test_a_payment_carries_a_key(server: Server, key: str | None, status: int) -> None:
    """Without an Idempotency-Key, or with one that is none, a payment is 400; with one it is judged (here: too much)."""
    invoice = find_id(server, "INV-11-2")
    headers = {**OPERATOR, "Content-Type": "application/json"}
    if key is not None:
        headers["Idempotency-Key"] = key
    with server.client() as client:
        encoded = {name: value.encode("latin-1") for name, value in headers.items()}
        answer = client.post(f"/invoices/{invoice}/payments", content=b'{"amount_minor": 1000}', headers=encoded)
    assert answer.status_code == status
    assert answer.json()["code"] == ("rejected" if status == 422 else answer.json()["code"])


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("/billing-periods/99/close", "no_such_period"),
        ("/invoices/9999/regenerate", "no_such_invoice"),
        ("/invoices/9999/payments", "no_such_invoice"),
    ],
)
def test_what_is_not_there_is_404(server: Server, path: str, code: str) -> None:
    """An unknown period or invoice is a problem with a code, not an error of the server."""
    with server.client(headers={**OPERATOR, "Idempotency-Key": "k"}) as client:
        answer = client.post(path, json={"amount_minor": 1})
    assert (answer.status_code, answer.json()["code"]) == (404, code)


def test_an_effect_that_comes_twice_writes_once(database: Database) -> None:
    """However often SendInvoices is delivered under one id, each recipient has one mail."""
    with serving(database.url), Session(database.engine()) as session:
        for _ in range(2):
            write_mails(session, "effect-1", 2)
            session.commit()
        assert session.scalar(sa.select(sa.func.count()).select_from(Mail)) == 3
