from __future__ import annotations

import json
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.databases import Database
from tests.e2e.cli.conftest import WAIT_SECONDS, Shell
from tests.e2e.cli.stand import lay_stand

STARTED = "started: the keepers of shop.app:once, looking every 0.1 s\n"


@contextmanager
def open_worker(shell: Shell, *words: str) -> Iterator[subprocess.Popen[str]]:
    """A worker that looks often; it is killed in the end if it still runs."""
    with shell.start("worker", "--app", "shop.app:once", "--sweep-seconds", "0.1", *words) as worker:
        try:
            yield worker
        finally:
            worker.kill()


def hear(worker: subprocess.Popen[str], lines: set[str]) -> None:
    """Read what a worker prints until it has said all of this."""
    assert worker.stdout is not None
    while lines:
        said = worker.stdout.readline()
        assert said, worker.communicate()[1]
        lines.discard(said)


@pytest.mark.parametrize(
    ("database", "kind"),
    [("sqlite", "Semel"), ("sqlite", "AsyncSemel"), ("postgresql", "AsyncSemel"), ("mariadb", "Semel")],
    indirect=["database"],
)
def test_a_worker_keeps_until_it_is_told_to_stop(shell: Shell, database: Database, kind: str) -> None:
    """It says that it started, releases, resumes and delivers; SIGTERM lets every look end, and the story tells of all."""
    stand = lay_stand(shell, database, kind, lease=0.5)
    stand.add_orders(1, 2)
    stand.take(1, "pay")
    assert stand.take(1, "send", "die").status == 9
    assert stand.take(2, "pay", "die").status == 9
    with open_worker(shell) as worker:
        hear(worker, {STARTED})
        hear(worker, {"resumed\n", "mailed\n"})
        worker.send_signal(signal.SIGTERM)
        _, said = worker.communicate(timeout=WAIT_SECONDS)
        assert worker.returncode == 0
    assert "the worker stops when every look has ended" in said
    assert stand.see(1) == ("sent", 5)
    story = stand.ask("why", "orders", "1")
    assert [each["kind"] for each in story["moves"]] == ["claim", "finish", "claim", "takeover", "finish"]
    (effect,) = story["effects"]
    assert (effect["state"], effect["attempts"]) == ("delivered", 1)


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_with_json_the_start_is_one_document(shell: Shell, database: Database) -> None:
    """A program that starts workers reads one line, and nothing after it."""
    lay_stand(shell, database)
    with open_worker(shell, "--json") as worker:
        assert worker.stdout is not None
        document = json.loads(worker.stdout.readline())
        worker.send_signal(signal.SIGINT)
        out, _ = worker.communicate(timeout=WAIT_SECONDS)
    assert document == {"started": True, "app": "shop.app:once", "sweep_seconds": 0.1}
    assert (out, worker.returncode) == ("", 0)


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_a_refused_boot_ends_the_worker(shell: Shell, database: Database) -> None:
    """Uncovered claims, missing tables, a module that cannot be imported: one sentence, status 2, and nothing started."""
    stand = lay_stand(shell, database)
    shell.write("shop/cover.py", "")
    run = stand.run("worker")
    assert (run.status, run.out) == (2, "")
    assert run.err.startswith("SEMEL-FLOW-2: ")
    assert 'once.janitor("shop")' in run.err
    stand.write("DROP TABLE semel_meta")
    shell.write("shop/cover.py", "from shop.app import once\nonce.janitor('shop')\n")
    run = stand.run("worker", "--json")
    assert (run.status, run.json["error"]["code"]) == (2, "SEMEL-SCHEMA-1")
    shell.write("shop/cover.py", "1 / 0")
    assert stand.run("worker", "--json").json["error"]["code"] == "SEMEL-CLI-4"


def test_a_worker_needs_an_app(shell: Shell) -> None:
    """A database alone has no handlers and no workflows."""
    run = shell.run("worker")
    assert (run.status, run.out) == (2, "")
    assert run.err.startswith("SEMEL-CLI-6: ")


def test_a_database_that_cannot_be_reached_is_not_the_applications_fault(shell: Shell) -> None:
    """Status 1: whoever supervises workers may start it again."""
    shell.write("app.py", "from semel import Semel\nonce = Semel('postgresql://nobody@127.0.0.1:1/none')\n")
    run = shell.run("worker", "--app", "app:once")
    assert run.status == 1
    assert run.err.startswith("SEMEL-STORE-4: ")
    assert "Traceback" not in run.err
