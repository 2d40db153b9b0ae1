from __future__ import annotations

import socket
import subprocess
from collections.abc import Iterator

import pytest
import sqlalchemy as sa
from sqlalchemy.engine import make_url

from semel import Semel
from tests.databases import Database
from tests.e2e.cli.conftest import WAIT_SECONDS, Shell

FAMILIES = ("postgresql", "mariadb", "sqlite")


def run_sql(database: Database, text: str) -> None:
    """Run printed SQL as a database's own client would: statement by statement."""
    with database.engine().begin() as connection:
        for statement in text.split(";\n"):
            if statement.strip():
                connection.exec_driver_sql(statement)


def test_what_is_printed_is_what_boots(shell: Shell, database: Database) -> None:
    """SQL that a person reviewed and ran by hand makes everything that boot asks for, and may be run twice."""
    printed = shell.run("schema", "print", "--dialect", database.family)
    assert printed.status == 0
    run_sql(database, printed.out)
    run_sql(database, printed.out)
    with Semel(database.url):
        pass
    assert shell.run("schema", "check", "--db", database.url).status == 0


def test_what_was_made_is_dropped(shell: Shell, database: Database) -> None:
    """--drop prints what leaves no table of Semel's behind, in a database that has other tables too."""
    run_sql(database, "CREATE TABLE mine (id integer PRIMARY KEY);\n")
    assert shell.run("schema", "apply", "--db", database.url).status == 0
    printed = shell.run("schema", "print", "--dialect", database.family, "--drop")
    assert printed.status == 0
    run_sql(database, printed.out)
    run_sql(database, printed.out)
    assert sa.inspect(database.engine()).get_table_names() == ["mine"]


@pytest.fixture
def silent_port() -> Iterator[int]:
    """A port whose listener would be seen to have been connected to."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(0)
        yield listener.getsockname()[1]
        with pytest.raises(BlockingIOError):
            listener.accept()


@pytest.mark.parametrize("family", ["postgresql", "mariadb"])
def test_printing_never_connects(shell: Shell, silent_port: int, family: str) -> None:
    """With --db the dialect is read from the URL; nobody knocks at the server."""
    run = shell.run("schema", "print", "--db", f"{family}://me@127.0.0.1:{silent_port}/shop")
    assert run.status == 0
    assert run.out == shell.run("schema", "print", "--dialect", family).out


def test_printing_makes_no_file(shell: Shell) -> None:
    """A SQLite URL is only read."""
    assert shell.run("schema", "print", "--db", "sqlite:///shop.db").status == 0
    assert list(shell.folder.iterdir()) == []


@pytest.mark.parametrize("family", FAMILIES)
def test_names_stand_in_the_sql(shell: Shell, family: str) -> None:
    """Prefix and schema are in every name, and no placeholder is left."""
    words = ["--schema", "shop"] if family != "sqlite" else []
    run = shell.run("schema", "print", "--dialect", family, "--prefix", "our_", *words)
    assert run.status == 0
    place = "shop.our_" if words else "our_"
    assert f"CREATE TABLE IF NOT EXISTS {place}journal (" in run.out
    assert f"CREATE INDEX IF NOT EXISTS our_journal_row ON {place}journal" in run.out
    assert "{" not in run.out
    assert "semel_" not in run.out


@pytest.mark.parametrize("family", FAMILIES)
def test_printing_as_json(shell: Shell, family: str) -> None:
    """One document with the scripts, each with its part, version, half and statements."""
    document = shell.run("schema", "print", "--dialect", family, "--json").json
    assert (document["dialect"], document["prefix"], document["schema"]) == (family, "semel_", None)
    (script,) = document["scripts"]
    assert (script["part"], script["version"], script["half"]) == ("core", 1, "pre")
    assert "part:core" in script["statements"][-1]


def test_nothing_is_left_to_print(shell: Shell) -> None:
    """From the version that is needed there is nothing to run, nor is there a post half yet."""
    for words in (["--from", "1"], ["--half", "post"]):
        run = shell.run("schema", "print", "--dialect", "sqlite", *words)
        assert (run.status, run.out) == (0, "-- Nothing to run.\n")
    whole = shell.run("schema", "print", "--dialect", "sqlite")
    assert shell.run("schema", "print", "--dialect", "sqlite", "--half", "pre").out == whole.out


MISUSES = {
    "": "SEMEL-CLI-3",
    "--dialect oracle": "Invalid value for '--dialect'",
    "--dialect mariadb --db sqlite:///x.db": "--dialect says mariadb, but the database is sqlite",
    "--dialect sqlite --schema shop": "SQLite has no schemas",
    "--dialect sqlite --from -1": "Invalid value for '--from'",
    "--dialect sqlite --drop --from 1": "--drop",
    "--dialect sqlite --drop --half post": "--drop",
}


@pytest.mark.parametrize("words", MISUSES)
def test_printing_refuses_what_cannot_be_meant(shell: Shell, words: str) -> None:
    """Each contradiction is misuse, with one sentence."""
    run = shell.run("schema", "print", *words.split())
    assert run.status == 2
    assert MISUSES[words] in run.err


def test_applying_says_what_it_did(shell: Shell, database: Database) -> None:
    """The first apply names the version, the second says that there was nothing to do."""
    first = shell.run("schema", "apply", "--db", database.url)
    assert first.status == 0, first.err
    assert "Applied part core, version 1" in first.out
    second = shell.run("schema", "apply", "--db", database.url)
    assert second.status == 0
    assert second.out.startswith("Nothing to do.\n")
    assert "part core at version 1" in second.out


def test_applying_through_async_drivers(shell: Shell, database: Database) -> None:
    """A URL that names an async driver is spoken to by that driver."""
    run = shell.run("schema", "apply", "--db", database.async_url, "--json")
    assert run.status == 0, run.err
    assert run.json["database"].partition("+")[0] == database.family
    assert shell.run("schema", "check", "--db", database.async_url).status == 0


def test_commands_that_start_at_once_all_succeed(shell: Shell, database: Database) -> None:
    """Several processes apply at the same time: each succeeds, and one of them did the work."""
    started = [shell.start("schema", "apply", "--db", database.url, "--json") for _ in range(3)]
    ended = [read_end(process) for process in started]
    assert [status for status, _, _ in ended] == [0, 0, 0], ended
    assert sum('"half"' in out for _, out, _ in ended) == 1


def read_end(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    """Wait for the end of a command."""
    out, err = process.communicate(timeout=WAIT_SECONDS)
    return process.returncode, out, err


def test_checking_finds_problems_with_status_one(shell: Shell, database: Database) -> None:
    """What boot would refuse is a problem found: its text on standard error, and status 1."""
    if database.family != "sqlite":
        assert "SEMEL-SCHEMA-1" in shell.run("schema", "check", "--db", database.url).err
    shell.run("schema", "apply", "--db", database.url)
    fine = shell.run("schema", "check", "--db", database.url, "--json")
    assert (fine.status, fine.json["versions"]) == (0, {"core": 1})
    run_sql(database, "UPDATE semel_meta SET value = '9' WHERE name = 'part:core';\n")
    newer = shell.run("schema", "check", "--db", database.url, "--json")
    assert newer.status == 1
    assert newer.json["error"]["code"] == "SEMEL-SCHEMA-3"
    assert newer.json["error"]["remedy"] in newer.err


def test_checking_makes_no_sqlite_file(shell: Shell) -> None:
    """A file that is not there is a problem found, and is still not there afterwards."""
    run = shell.run("schema", "check", "--db", "sqlite:///shop.db")
    assert run.status == 1
    assert "SEMEL-SCHEMA-1" in run.err
    assert "shop.db" in run.err
    assert list(shell.folder.iterdir()) == []


@pytest.mark.parametrize("database", ["postgresql", "mariadb"], indirect=True)
def test_a_database_that_is_not_there_is_told(shell: Shell, database: Database) -> None:
    """The server's refusal is told with its own words and status 1, through sync and async drivers."""
    for url in (database.sync_url, database.async_url):
        gone = make_url(url).set(database="semel_test_nowhere").render_as_string(hide_password=False)
        run = shell.run("schema", "apply", "--db", gone)
        assert run.status == 1
        assert "semel_test_nowhere" in run.err
        assert "Traceback" not in run.err
