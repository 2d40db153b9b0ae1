from __future__ import annotations

import re
from pathlib import Path

import pytest

from semel.store.dialects import FAMILIES, Family
from semel.store.scripts import SQL, VERSIONS, write_drop, write_scripts
from semel.store.tables import PARTS, OwnTables

TABLES = OwnTables()


def write_all(family: Family) -> list[str]:
    """Write every statement of every script."""
    return [statement for script in write_scripts(family, TABLES) for statement in script.statements]


def read_first_words(statement: str) -> str:
    """Answer a statement without the comments above it."""
    return re.sub(r"\A(--.*\n|\s)*", "", statement)


@pytest.mark.parametrize("family", FAMILIES)
def test_every_version_is_marked_last_and_only_if_it_is_next(family: Family) -> None:
    """Each version's pre half ends with the statement that writes it down, under a condition."""
    for script in write_scripts(family, TABLES):
        if script.half == "pre":
            mark = read_first_words(script.marks[-1])
            assert f"'part:{script.part}'" in mark
            assert f"'{script.version}'" in mark
            assert re.search(r"ON CONFLICT|ON DUPLICATE KEY|AND value =", mark)
            assert not any("part:" in each for each in script.statements[:-1])


@pytest.mark.parametrize("family", FAMILIES)
def test_every_statement_can_be_run_again(family: Family) -> None:
    """A death between two statements is mended by running all of them again, so each says what it does not insist on."""
    again = re.compile(
        r"CREATE (TABLE|INDEX|UNIQUE INDEX) IF NOT EXISTS |ALTER TABLE .* IF (NOT )?EXISTS |INSERT INTO |UPDATE "
    )
    for statement in write_all(family):
        words = read_first_words(statement)
        # SQLite adds no column twice, and has no half of a script: there it is one transaction.
        assert again.match(words) or (family == "sqlite" and words.startswith("ALTER TABLE ")), words
        if words.startswith("INSERT INTO "):
            assert re.search(r"ON CONFLICT .*DO NOTHING|ON DUPLICATE KEY UPDATE value = value", words, re.DOTALL)


@pytest.mark.parametrize("family", FAMILIES)
def test_the_same_objects_are_made_everywhere(family: Family) -> None:
    """The databases get the same tables and indexes, in the same order."""
    assert list_objects(family) == list_objects("postgresql")


def list_objects(family: Family) -> list[str]:
    """List the tables and indexes that are made."""
    made = re.compile(r"CREATE (?:TABLE|INDEX) IF NOT EXISTS (\w+)(?: ON \w+ \([^)]*\))?")
    return [found[0] for statement in write_all(family) if (found := made.match(read_first_words(statement)))]


@pytest.mark.parametrize("family", FAMILIES)
def test_every_file_belongs_to_a_version_that_is_needed(family: Family) -> None:
    """No SQL file is forgotten: each is a piece of a known part and version."""
    names = {path.name for path in Path(str(SQL), family).iterdir()}
    assert all(re.fullmatch(r"[a-z]+_[1-9]\d*_(pre|mark|post)\.sql", name) for name in names), names
    for name in names:
        part, version, _ = name.split("_")
        assert 1 <= int(version) <= VERSIONS[part]
    for part in PARTS:
        for version in range(1, VERSIONS[part] + 1):
            assert {f"{part}_{version}_pre.sql", f"{part}_{version}_mark.sql"} <= names


def test_scripts_begin_where_the_database_is() -> None:
    """From the version that is there, only what is newer is written; from the newest, nothing."""
    assert write_scripts("sqlite", TABLES, start=VERSIONS["core"]) == []
    assert next(script.version for script in write_scripts("sqlite", TABLES)) == 1


@pytest.mark.parametrize("family", FAMILIES)
def test_no_placeholder_is_left(family: Family) -> None:
    """Every name in the SQL has its schema and prefix."""
    tables = OwnTables("our_", None if family == "sqlite" else "shop")
    text = "\n".join(statement for script in write_scripts(family, tables) for statement in script.statements)
    assert not re.search(r"[{}]|semel_", text)


def test_everything_that_is_made_is_dropped() -> None:
    """The uninstaller names every table, and the facts last: what marks the installation goes when all else is gone."""
    dropped = [statement.rpartition(" ")[2] for statement in write_drop(TABLES)]
    assert set(dropped) == {table.name for table in TABLES.core}
    assert dropped[-1] == TABLES.meta.name
