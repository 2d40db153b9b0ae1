from __future__ import annotations

import pytest

from semel.cli.answers import exit_status, hide_inside, hide_passwords
from semel.errors import TEXTS, Text, error

HIDDEN = {
    "postgresql://me:secret@db/shop": "postgresql://me:***@db/shop",
    "postgresql://me:se@cret@db/shop": "postgresql://me:***@db/shop",
    "see postgresql+asyncpg://:secret@db now": "see postgresql+asyncpg://:***@db now",
    "postgresql://db/shop?password=secret&x=1": "postgresql://db/shop?password=***&x=1",
    "host=db password=secret user=me": "host=db password=*** user=me",
    "sslpassword='secret'": "sslpassword='***'",
}


@pytest.mark.parametrize("text", HIDDEN)
def test_a_password_is_hidden(text: str) -> None:
    """Passwords go, wherever a URL or a connection string holds them; what stands around them stays."""
    hidden = hide_passwords(text)
    assert "secret" not in hidden
    assert "cret" not in hidden
    assert hidden.partition("***")[0] == HIDDEN[text].partition("***")[0]


@pytest.mark.parametrize("text", ["sqlite:////a/b.db", "postgresql://me@db:5432/shop", "http://a:80/b", "a: b@c", ""])
def test_what_holds_no_password_is_left_alone(text: str) -> None:
    """A port is not a password, nor is an address of mail."""
    assert hide_passwords(text) == text


def test_documents_are_cleaned_inside() -> None:
    """Every text of a document is cleaned, and its form stays."""
    given = {"a": ["x://u:p@h", {"b": "y"}], "n": 1, "t": True, "o": None}
    assert hide_inside(given) == {"a": ["x://u:***@h", {"b": "y"}], "n": 1, "t": True, "o": None}


def status_of(code: str, text: Text) -> int:
    """Answer the exit status of an error, whatever its facts are."""
    problem = text.kind(code, text.happened, text.remedy)
    return exit_status(problem)


def test_every_error_has_its_exit_status() -> None:
    """What a database told is 1; a wrong command or configuration is 2."""
    found = {code for code, text in TEXTS.items() if status_of(code, text) == 1}
    assert {"SEMEL-DB-3", "SEMEL-DB-4", "SEMEL-DB-5", "SEMEL-STORE-5", "SEMEL-SCHEMA-1"} <= found
    assert all(code.startswith(("SEMEL-DB-", "SEMEL-STORE-", "SEMEL-SCHEMA-")) for code in found)
    assert exit_status(error("SEMEL-CLI-1")) == 2
    assert status_of("SEMEL-DB-2", TEXTS["SEMEL-DB-2"]) == 2
