from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.databases import Database
from tests.e2e.cli.conftest import SEMEL, WAIT_SECONDS, Run, Shell
from tests.proxy import Proxy
from tests.proxy.postgres import PostgresConversation

SHARED = ["versions", "drivers", "connection", "server", "role", "Semel's tables", "row counts", "clock"]
OWN = {
    "postgresql": [
        "synchronous_commit",
        "fsync",
        "default_transaction_isolation",
        "lock_timeout",
        "statement_timeout",
        "idle_in_transaction_session_timeout",
        "pooler",
    ],
    "mariadb": [
        "innodb_flush_log_at_trx_commit",
        "sync_binlog",
        "binlog_format",
        "sql_mode",
        "tx_isolation",
        "innodb_snapshot_isolation",
        "character sets",
    ],
    "sqlite": ["file", "journal_mode", "synchronous"],
}


def findings(run: Run) -> dict[str, Any]:
    """Answer the findings of a doctor by what they are about."""
    return {finding["check"]: finding for finding in run.json["findings"]}


def examine(shell: Shell, url: str) -> dict[str, Any]:
    """Call the doctor, and see that its status says what its findings say."""
    run = shell.run("doctor", "--db", url, "--json")
    has_problem = any(finding["verdict"] == "problem" for finding in run.json["findings"])
    assert run.status == int(has_problem), run
    assert run.json["ok"] is not has_problem
    return findings(run)


@pytest.mark.parametrize("driver", ["sync_url", "async_url"])
def test_a_good_database_is_judged_over_the_real_wire(shell: Shell, database: Database, driver: str) -> None:
    """Every check of the family is there, and what Semel relies on is fine, through sync and async drivers."""
    url = getattr(database, driver)
    shell.run("schema", "apply", "--db", url)
    found = examine(shell, url)
    assert list(found) == SHARED + OWN[database.family]
    for subject in SHARED:
        assert found[subject]["verdict"] == "ok", found[subject]
    assert found["Semel's tables"]["value"] == "part core at version 1"
    assert found["row counts"]["value"] == "matched rows are counted"
    assert re.search(r"\d+\.\d+", found["server"]["value"])
    assert all(finding["advice"] or finding["verdict"] == "ok" for finding in found.values())


def test_tables_that_are_missing_are_a_problem_and_counting_waits(shell: Shell, database: Database) -> None:
    """Without Semel's tables the doctor says so, and tests the counting when they are there."""
    if database.family == "sqlite":
        with database.engine().connect() as connection:
            connection.exec_driver_sql("CREATE TABLE mine (id integer)")
    found = examine(shell, database.url)
    assert found["Semel's tables"]["verdict"] == "problem"
    assert "SEMEL-SCHEMA-1" in found["Semel's tables"]["value"]
    assert "semel schema apply" in found["Semel's tables"]["advice"]
    assert found["row counts"]["verdict"] == "warn"


def test_the_doctor_changes_no_row(shell: Shell, database: Database) -> None:
    """The facts of the installation are the same before and after."""
    shell.run("schema", "apply", "--db", database.url)
    with database.engine().connect() as connection:
        before = connection.exec_driver_sql("SELECT name, value FROM semel_meta ORDER BY name").all()
    examine(shell, database.url)
    with database.engine().connect() as connection:
        assert connection.exec_driver_sql("SELECT name, value FROM semel_meta ORDER BY name").all() == before


@pytest.mark.parametrize("database", ["postgresql"], indirect=True)
def test_what_this_database_is_set_to_is_seen(shell: Shell, database: Database) -> None:
    """Settings of the one database are judged as its sessions get them, not as the server's file says."""
    shell.run("schema", "apply", "--db", database.url)
    settings = {
        "synchronous_commit": ("off", "problem"),
        "default_transaction_isolation": ("serializable", "warn"),
        "statement_timeout": ("2s", "warn"),
        "idle_in_transaction_session_timeout": ("60s", "ok"),
        "lock_timeout": ("10s", "ok"),
    }
    with database.engine().connect() as connection:
        for name, (value, _) in settings.items():
            connection.exec_driver_sql(f"ALTER DATABASE {database.name} SET {name} = '{value}'")
        connection.commit()
    try:
        found = examine(shell, database.url)
        assert {name: found[name]["verdict"] for name in settings} == {
            name: verdict for name, (_, verdict) in settings.items()
        }
        assert found["row counts"]["verdict"] == "ok"
    finally:
        with database.engine().connect() as connection:
            connection.exec_driver_sql(f"ALTER DATABASE {database.name} RESET ALL")
            connection.commit()


@pytest.mark.parametrize("database", ["postgresql"], indirect=True)
def test_a_database_that_only_reads_is_a_problem(shell: Shell, database: Database) -> None:
    """default_transaction_read_only makes every write fail, so it is found before one does."""
    shell.run("schema", "apply", "--db", database.url)
    url = f"{database.url}?options=-c%20default_transaction_read_only%3Don"
    found = examine(shell, url)
    assert found["role"]["verdict"] == "problem"
    assert found["row counts"]["verdict"] == "problem"


class PoolersConversation(PostgresConversation):
    """Tells the client another process id than the server's, as a pooler does."""

    def hear_server(self, data: bytes) -> bytes:
        """Change the process id in BackendKeyData."""
        said: bytes = super().hear_server(data)
        return re.sub(rb"K\0\0\0\x0c....(?=....Z)", lambda found: found[0][:5] + b"\0\0\x12\x34", said, flags=re.DOTALL)


@pytest.mark.parametrize("driver", ["sync_url", "async_url"])
@pytest.mark.parametrize("database", ["postgresql"], indirect=True)
def test_a_pooler_is_noticed(shell: Shell, database: Database, driver: str) -> None:
    """A process id that is not the server's own betrays a pooler; one that is tells that there is none."""
    url = getattr(database, driver)
    with Proxy.before(url) as proxy:
        assert examine(shell, proxy.url(url))["pooler"]["verdict"] == "ok"
        proxy.make_conversation = PoolersConversation
        found = examine(shell, proxy.url(url))["pooler"]
        assert found["verdict"] == "warn"
        assert "pooled=True" in found["advice"]
        write = "from semel import {kind}\nonce = {kind}({url!r}, pooled=True)\n"
        kind = "Semel" if driver == "sync_url" else "AsyncSemel"
        shell.write("shop.py", write.format(kind=kind, url=proxy.url(database.url)))
        run = shell.run("doctor", "--app", "shop:once", "--json")
        assert findings(run)["pooler"]["verdict"] == "ok"


@pytest.mark.parametrize("database", ["mariadb"], indirect=True)
def test_characters_that_get_lost_are_a_problem(shell: Shell, database: Database) -> None:
    """A URL that narrows the character set of Semel's own sessions is found."""
    shell.run("schema", "apply", "--db", database.url)
    found = examine(shell, f"{database.url}?charset=latin1")
    assert found["character sets"]["verdict"] == "problem"
    with database.engine().connect() as connection:
        connection.exec_driver_sql(f"ALTER DATABASE {database.name} CHARACTER SET latin1")
    assert examine(shell, database.url)["character sets"]["verdict"] == "warn"


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://me@127.0.0.1:1/shop",
        "postgresql+asyncpg://me@127.0.0.1:1/shop",
        "mariadb://me@127.0.0.1:1/shop",
        "mariadb+asyncmy://me@127.0.0.1:1/shop",
        "sqlite:////nowhere/at/all.db",
    ],
)
def test_a_database_that_does_not_answer_is_one_finding(shell: Shell, url: str) -> None:
    """What is known without the database is still told, then why there is no more."""
    found = examine(shell, url)
    assert list(found) == SHARED[:3]
    assert found["connection"]["verdict"] == "problem"
    assert found["connection"]["advice"]
    assert "psycopg 3" in found["drivers"]["value"]


WITHOUT_A_DRIVER = """
import sys
sys.modules["pymysql"] = None
from semel.cli import main
main(["doctor", "--db", "mariadb://me@127.0.0.1:1/shop"])
"""


def test_a_driver_that_is_missing_is_named_with_its_extra(shell: Shell) -> None:
    """Without the package the doctor says which one, and how to install it."""
    run = shell.run_command([sys.executable, "-c", WITHOUT_A_DRIVER])
    assert run.status == 1
    assert "SEMEL-DB-2: The driver 'pymysql' is not installed." in run.out
    assert "pip install 'semel[mysql]'" in run.out


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_people_without_a_terminal_get_plain_lines(shell: Shell, database: Database) -> None:
    """In a pipe each finding is a line, and the last line sums up, whatever letters the pipe can carry."""
    shell.run("schema", "apply", "--db", database.url)
    run = shell.run("doctor", "--db", database.url, env={"PYTHONIOENCODING": "ascii"})
    assert run.status == 0
    assert "\x1b" not in run.out
    assert "│" not in run.out
    assert "ok       journal_mode    wal\n" in run.out
    assert run.out.endswith("no problems, no warnings.\n")


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_people_with_a_terminal_get_a_table(shell: Shell, database: Database) -> None:
    """On a terminal the findings are a table with colours, as wide as the terminal."""
    shell.run("schema", "apply", "--db", database.url)
    ours, theirs = pty.openpty()
    command = [str(SEMEL), "doctor", "--db", database.url]
    env = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "100"}
    with subprocess.Popen(command, cwd=shell.folder, env=env, stdout=theirs, stderr=theirs) as process:
        os.close(theirs)
        drawn = read_terminal(ours)
        assert process.wait(WAIT_SECONDS) == 0
    assert "what to do" in drawn
    assert "\x1b[32mok" in drawn
    assert "no problems, no warnings." in drawn


def read_terminal(terminal: int) -> str:
    """Read what a program draws until it ends; Linux tells the end of a terminal as an error."""
    drawn = b""
    try:
        while data := os.read(terminal, 65536):
            drawn += data
    except OSError:
        os.close(terminal)
    return drawn.decode()


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_a_file_in_a_folder_that_cannot_be_written_is_a_problem(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SQLite needs to write beside its file. Root may write anywhere, so here the answer about the folder is given."""
    from semel.cli.gathering import find_file
    from semel.cli.naming import Named
    from semel.cli.target import open_url

    Path(database.name).touch()
    target = open_url(Named(database.url, None, None, None))
    asked = {database.name: True, Path(database.name).parent: False}
    monkeypatch.setattr(os, "access", lambda path, _mode: asked[path])
    file = find_file(target)
    assert file is not None
    assert file.is_writable
    assert not file.has_writable_folder
