from __future__ import annotations

import re

import click
import pytest

from semel.store.dialects import FAMILIES, Family
from tools.pages import cli, sql
from tools.pages._statements import call_with_samples, list_statements, make_room, make_rooms


def split_chapters() -> dict[str, str]:
    """Split the page of SQL into its chapters."""
    parts = re.split(r"^## (.+)$", sql.render(), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def test_each_database_shows_what_it_receives() -> None:
    """What is one statement in PostgreSQL is several elsewhere, and no database shows the other's way."""
    chapters = split_chapters()
    assert list(chapters) == ["PostgreSQL", "MariaDB", "SQLite"]
    for title in ("MariaDB", "SQLite"):
        assert "`move_1_locked_rows_if_in_source`" in chapters[title]
        assert "`move_row_if_in_source`" not in chapters[title]
        assert "WITH locked" not in chapters[title]
    assert "`move_row_if_in_source`" in chapters["PostgreSQL"]
    assert "FOR UPDATE WAIT 5" in chapters["MariaDB"]
    assert "PRAGMA synchronous = FULL" in chapters["SQLite"]
    assert all("CREATE TABLE IF NOT EXISTS semel_journal" in chapter for chapter in chapters.values())


@pytest.mark.parametrize("family", FAMILIES)
def test_every_statement_of_the_page_has_its_own_name(family: Family) -> None:
    """Two statements of one name would hide each other, on the page and in a count."""
    texts: dict[tuple[str, str], str] = {}
    for room in make_rooms(family):
        for shown in list_statements(family, room):
            name, text = sql.read_key(family, shown)
            assert texts.setdefault((name, shown.switches), text) == text, name


def test_what_the_page_cannot_make_is_named() -> None:
    """A class or a statement that asks for something unknown says where to add it, instead of being left out."""

    class Unknown:
        def __init__(self, moon: object) -> None:
            self.moon = moon

    def read_moon(moon: Unknown) -> None:
        assert moon

    with pytest.raises(AssertionError, match="moon"):
        make_room(Unknown, {})
    with pytest.raises(AssertionError, match="read_moon"):
        list(call_with_samples("read_moon", read_moon))


def test_every_option_is_on_the_page_of_commands() -> None:
    """Each command has a chapter, and each of its options a row."""
    page = cli.render()
    for path, command in cli.walk(cli.main, "semel"):
        chapter = page.partition(f"## `{path}`")[2].partition("\n## ")[0]
        assert chapter, path
        for parameter in command.params:
            if isinstance(parameter, click.Option):
                assert parameter.opts[0] in chapter, (path, parameter.opts)
