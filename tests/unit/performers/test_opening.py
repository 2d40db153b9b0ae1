from __future__ import annotations

import pytest

from semel import ConfigError
from semel.performers.opening import read_url, show
from semel.performers.quoting import GIVEN_CHARACTERS, REASON_CHARACTERS, name_of, quote


@pytest.mark.parametrize(
    ("text", "sync", "is_async"),
    [
        ("postgresql://shop", "postgresql+psycopg", "postgresql+asyncpg"),
        ("postgres://shop", "postgresql+psycopg", "postgresql+asyncpg"),
        ("mariadb://shop", "mariadb+pymysql", "mariadb+asyncmy"),
        ("mysql://shop", "mariadb+pymysql", "mariadb+asyncmy"),
        ("sqlite:///shop.db", "sqlite+pysqlite", "sqlite+pysqlite"),
        ("postgresql+asyncpg://shop", "postgresql+psycopg", "postgresql+asyncpg"),
        ("postgresql+psycopg://shop", "postgresql+psycopg", "postgresql+asyncpg"),
        ("mysql+pymysql://shop", "mariadb+pymysql", "mariadb+asyncmy"),
        ("sqlite+aiosqlite:///shop.db", "sqlite+pysqlite", "sqlite+pysqlite"),
    ],
)
def test_a_url_is_read_for_either_colour(text: str, sync: str, is_async: str) -> None:
    """One setting serves `Semel` and `AsyncSemel`: each takes its own driver of that database."""
    assert read_url(text, is_async=False).drivername == sync
    assert read_url(text, is_async=True).drivername == is_async


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("not a url", "not a database URL"),
        ("oracle://shop", "not a database Semel knows"),
        ("postgresql+psycopg2://shop", "Semel speaks to it through psycopg"),
        ("mysql+mysqldb://shop", "Semel speaks to it through pymysql"),
        ("sqlite://", "gone with its connection"),
        ("sqlite:///:memory:", "gone with its connection"),
        ("sqlite://shop.db", "after three slashes"),
        ("postgresql://me:p@ss@host/shop", "must be written %40"),
    ],
)
def test_a_url_that_cannot_be_used_is_refused_with_the_reason(text: str, reason: str) -> None:
    """And never with a password in it."""
    with pytest.raises(ConfigError, match=reason) as caught:
        read_url(text, is_async=False)
    assert caught.value.code == "SEMEL-DB-1"
    assert "ss@" not in str(caught.value)


def test_no_password_is_shown_wherever_it_stands() -> None:
    """In its place or among the options."""
    url = read_url("postgresql://me:secret@host/shop?sslpassword=hidden&connect_timeout=3", is_async=False)
    shown = show(url)
    assert "secret" not in shown
    assert "hidden" not in shown
    assert "connect_timeout=3" in shown


def test_a_drivers_message_is_quoted_in_bounds() -> None:
    """Its first line: what follows may be the row that it complains about."""
    assert quote(ValueError("no\nDETAIL: card 4242")) == "ValueError: no"
    assert quote(ValueError()) == "ValueError: "
    assert len(quote(ValueError("x" * 10_000))) == REASON_CHARACTERS


def test_a_handle_is_named_by_its_kind_and_a_text_only_if_it_can_be_an_alias() -> None:
    """A URL given in its place would hold a password."""
    assert name_of("default") == "'default'"
    assert name_of("postgresql://me:secret@host/shop") == "a text of 32 characters"
    assert name_of(ConfigError("a", "b", "c")) == "semel.ConfigError"
    assert len(name_of(list(range(1_000)))) == GIVEN_CHARACTERS
