from __future__ import annotations

import socket

import pytest

from tests.databases import Database
from tools.services import main


@pytest.fixture
def unheard_port() -> int:
    """A port of this machine at which nobody listens."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


@pytest.mark.parametrize("database", ["postgresql", "mariadb"], indirect=True)
def test_a_service_that_answers_passes(database: Database, monkeypatch, capsys) -> None:
    """Each server that the tests use is asked for its version."""
    monkeypatch.setenv("SEMEL_TEST_SERVICE", database.url)
    assert main(["Database", "SEMEL_TEST_SERVICE"]) == 0
    assert "Database answers" in capsys.readouterr().out


@pytest.mark.parametrize("scheme", ["postgresql", "mariadb"])
def test_a_silent_service_is_named(scheme: str, unheard_port: int, monkeypatch, capsys) -> None:
    """What does not answer fails the run, by name and variable, without its password."""
    monkeypatch.setenv("SEMEL_TEST_SERVICE", f"{scheme}://user:open-sesame@127.0.0.1:{unheard_port}/x")
    assert main(["Orders", "SEMEL_TEST_SERVICE"]) == 1
    said = capsys.readouterr().err
    assert said.startswith("Orders: it does not answer at $SEMEL_TEST_SERVICE: ")
    assert said.count("\n") == 1
    assert "open-sesame" not in said


@pytest.mark.parametrize(
    ("url", "reason"),
    [("", "is not set"), ("redis://127.0.0.1", "does not know how to ask redis"), ("::", "Could not parse")],
)
def test_a_service_that_cannot_be_asked_is_named(url: str, reason: str, monkeypatch, capsys) -> None:
    """A variable that is empty or makes no sense fails the run too."""
    monkeypatch.setenv("SEMEL_TEST_SERVICE", url)
    assert main(["Queue", "SEMEL_TEST_SERVICE"]) == 1
    assert reason in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [[], ["PostgreSQL"]])
def test_arguments_come_in_pairs(arguments: list[str]) -> None:
    """A call that would check nothing is refused."""
    assert main(arguments) == 2
