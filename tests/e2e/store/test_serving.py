from __future__ import annotations

import asyncio
import subprocess
import sys
from collections import Counter

import httpx2
import pytest
import sqlalchemy as sa

from tests.databases import Database
from tests.e2e.store.serving import OPERATOR, Server, Worker, running, see, serving

CALLERS = 24  # a few for each of the two processes' connections


def count_rows(database: Database) -> dict[str, int]:
    """Count what a store holds."""
    tables = ("users", "media", "billing_periods", "invoices", "purchases")
    with database.engine().connect() as connection:
        return {name: connection.scalar(sa.select(sa.func.count()).select_from(sa.table(name))) for name in tables}


def find_invoice(server: Server, number: str) -> dict[str, object]:
    """Ask for the one live invoice of a number."""
    with server.client(headers=OPERATOR) as client:
        (invoice,) = client.get("/invoices", params={"number": number}).raise_for_status().json()
    return invoice


def test_processes_that_start_together_make_one_store(database: Database) -> None:
    """Three processes on an empty database all start, and leave each thing there once."""
    with serving(database.url, processes=3) as servers:
        for server in servers:
            with server.client() as client:
                answer = client.get("/healthz")
            assert (answer.status_code, answer.json()) == (200, {"status": "ok", "boot": "done", "keepers": {}})
        assert count_rows(database) == {
            "users": 100,
            "media": 50,
            "billing_periods": 12,
            "invoices": 36,
            "purchases": 0,
        }


def test_one_of_many_callers_moves_the_invoice(database: Database) -> None:
    """Of 24 operators at two processes one is answered 200, and the journal knows of one move by admin."""

    async def call_all(servers: list[Server], path: str) -> Counter[int]:
        async with httpx2.AsyncClient(headers=OPERATOR) as client:
            paths = [f"{servers[place % len(servers)].address}{path}" for place in range(CALLERS)]
            answers = await asyncio.gather(*(client.post(each) for each in paths))
        return Counter(answer.status_code for answer in answers)

    with serving(database.url, processes=2) as servers:
        invoice = find_invoice(servers[0], "INV-4-2")
        assert invoice["status"] == "sent"
        counted = asyncio.run(call_all(servers, f"/invoices/{invoice['id']}/overdue"))
        assert counted == {200: 1, 409: CALLERS - 1}
        assert find_invoice(servers[1], "INV-4-2") == {**invoice, "status": "overdue"}
    with database.engine().connect() as connection:
        version = connection.exec_driver_sql("SELECT version FROM invoices WHERE number = 'INV-4-2'").scalar_one()
        journal = connection.exec_driver_sql(
            "SELECT entity, row_id, from_status, to_status, version, requester FROM semel_journal"
        ).all()
    assert version == 1
    assert journal == [("invoices", str(invoice["id"]), "sent", "overdue", 1, "admin")]


def test_a_store_that_was_killed_goes_on(database: Database) -> None:
    """A move that was answered is there after the process was killed and another one came."""
    with serving(database.url) as (server,):
        invoice = find_invoice(server, "INV-12-1")
        with server.client(headers=OPERATOR) as client:
            assert client.post(f"/invoices/{invoice['id']}/overdue").json() == {
                "id": invoice["id"],
                "status": "overdue",
            }
    with serving(database.url) as (server,):
        assert find_invoice(server, "INV-12-1")["status"] == "overdue"
        assert find_invoice(server, "INV-12-2")["status"] == "sent"


def test_a_worker_alone_completes_the_store_and_keeps_it(database: Database) -> None:
    """The worker creates what is missing, its keepers look, and when it is asked to stop it ends well."""
    with running(worker := Worker(database.url, "--gateway", "http://127.0.0.1:1")):
        assert count_rows(database)["users"] == 100
        assert see(lambda: find_keepers(database), lambda duties: len(duties) == 4)
        assert worker.stop() == 0


def find_keepers(database: Database) -> set[str]:
    """Find the duties that a keeper has written down."""
    with database.engine().connect() as connection:
        return set(connection.exec_driver_sql("SELECT duty FROM semel_keepers").scalars())


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Server:
    """One server on SQLite, for questions that change nothing."""
    with serving(f"sqlite:///{tmp_path_factory.mktemp('store')}/store.db") as (running,):
        yield running


@pytest.mark.parametrize(
    ("token", "path", "status", "code"),
    [
        (None, "/wallet", 401, "not_known"),
        ("Basic dXNlcg==", "/wallet", 401, "not_known"),
        ("Bearer user-0", "/wallet", 401, "not_known"),
        ("Bearer user-101", "/wallet", 401, "not_known"),
        ("bearer user-100", "/wallet", 200, None),
        ("Bearer operator", "/wallet", 403, "customers_only"),
        ("Bearer user-1", "/billing-periods/1", 403, "operator_only"),
        ("Bearer user-1", "/invoices?number=INV-1-1", 403, "operator_only"),
        (None, "/invoices?number=INV-1-1", 401, "not_known"),
        ("Bearer operator", "/billing-periods/13", 404, "no_such_period"),
        ("Bearer operator", "/billing-periods/0", 422, "invalid"),
        ("Bearer operator", "/billing-periods/9223372036854775808", 422, "invalid"),
        ("Bearer operator", "/invoices", 422, "invalid"),
        (None, "/nowhere", 404, "not_found"),
    ],
)
def test_everyone_gets_what_is_theirs(
    server: Server, token: str | None, path: str, status: int, code: str | None
) -> None:
    """Who sends no known token gets 401, who asks for somebody else's 403, and every refusal is a problem with a code."""
    with server.client(headers={"Authorization": token} if token else {}) as client:
        answer = client.get(path)
    assert answer.status_code == status
    if code is not None:
        assert answer.headers["content-type"] == "application/problem+json"
        assert (answer.json()["status"], answer.json()["code"]) == (status, code)
    if status == 401:
        assert answer.headers["www-authenticate"] == "Bearer"


def test_the_store_holds_what_its_contract_says(server: Server) -> None:
    """Users have 1,000 points, periods are approved, and each has three invoices of three users."""
    with server.client(headers={"Authorization": "Bearer user-7"}) as client:
        assert client.get("/wallet").json() == {"points": 1000}
    with server.client(headers=OPERATOR) as client:
        assert client.get("/billing-periods/12").json() == {"id": 12, "status": "approved", "total_minor": None}
        assert client.get("/invoices", params={"number": "INV-13-1"}).json() == []
    invoices = [find_invoice(server, f"INV-12-{place}") for place in (1, 2, 3)]
    assert [invoice["user_id"] for invoice in invoices] == [34, 35, 36]
    assert [invoice["status"] for invoice in invoices] == ["sent", "sent", "overdue"]
    assert {(invoice["amount_minor"], invoice["currency"]) for invoice in invoices} == {(999, "usd")}


def test_what_cannot_move_is_answered_so(server: Server) -> None:
    """An invoice that is not there is 404, and one that is not sent is 409 and names where it is."""
    overdue = find_invoice(server, "INV-1-3")
    with server.client(headers=OPERATOR) as client:
        absent = client.post("/invoices/1000000/overdue")
        late = client.post(f"/invoices/{overdue['id']}/overdue")
    assert (absent.status_code, absent.json()["code"]) == (404, "no_such_invoice")
    assert (late.status_code, late.json()["code"]) == (409, "not_sent")
    assert "is overdue" in late.json()["detail"]


def test_a_server_refuses_a_database_nobody_can_open() -> None:
    """A URL of an unknown kind ends the process with Semel's own sentence about it."""
    command = [sys.executable, "-m", "media_store", "serve", "--db", "oracle://x/y", "--port", "0"]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=60)
    assert done.returncode != 0
    assert "SEMEL-DB-1" in done.stderr
