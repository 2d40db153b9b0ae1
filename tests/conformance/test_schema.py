"""Semel's own tables on the three databases: what is made is what statements rely on, and what is damaged is refused."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, TypeAlias

import pytest
import sqlalchemy as sa

from semel import AsyncSemel, Semel, SemelError
from semel.performers.opening import look_around, look_around_async, read_url
from semel.store import schema
from semel.store.schema import apply_schema, check_schema, read_versions
from semel.store.tables import OwnTables
from tests.databases import Database

TABLES = OwnTables()


def look(database: Database, look: Callable[[sa.Connection], Any]) -> Any:
    """Answer what a look finds over one connection, as boot and the command line look."""
    return look_around(read_url(database.url, is_async=False), look)


def apply(database: Database, tables: OwnTables = TABLES) -> list[Any]:
    """Apply the schema."""
    return look(database, lambda connection: apply_schema(connection, database.family, tables))


def check(database: Database, tables: OwnTables = TABLES) -> None:
    """Check the schema."""
    look(database, lambda connection: check_schema(connection, tables))


def run(database: Database, *statements: str) -> None:
    """Run statements as a person would."""
    with database.engine().begin() as connection:
        for statement in statements:
            connection.exec_driver_sql(statement)


def read_meta(database: Database) -> dict[str, str]:
    """Read the table of facts."""
    with database.engine().connect() as connection:
        return dict(connection.execute(sa.select(TABLES.meta.c.name, TABLES.meta.c.value)).all())


def refusal(call: Callable[[], Any]) -> SemelError:
    """Answer the error that a call raises."""
    with pytest.raises(SemelError) as caught:
        call()
    return caught.value


Column: TypeAlias = tuple[str, bool, int | None, bool]


def describe(columns: Any, key: list[str], *, has_lengths: bool) -> list[Column]:
    """Answer name, nullability, length and place in the key of each column."""
    return [
        (name, nullable, getattr(kind, "length", None) if has_lengths else None, name in key)
        for name, nullable, kind in columns
    ]


@pytest.mark.parametrize("name", [table.name for table in TABLES.core])
def test_the_sql_makes_what_statements_believe(database: Database, name: str) -> None:
    """Names, order, nullability, lengths and keys of `store/tables.py` and `store/sql/` are the same."""
    apply(database)
    ours = next(table for table in TABLES.core if table.name == name)
    inspector = sa.inspect(database.engine())
    key = inspector.get_pk_constraint(name)["constrained_columns"]
    assert key == [column.name for column in ours.primary_key.columns]
    has_lengths = database.family != "sqlite"
    theirs = [(column["name"], column["nullable"], column["type"]) for column in inspector.get_columns(name)]
    believed = [(column.name, column.nullable, column.type) for column in ours.columns]
    assert describe(theirs, key, has_lengths=has_lengths) == describe(believed, key, has_lengths=has_lengths)
    for column, (_, _, kind) in zip(ours.columns, theirs, strict=True):
        assert isinstance(kind, sa.Integer) == isinstance(column.type, sa.BigInteger), column.name


def test_no_other_table_is_made(database: Database) -> None:
    """The SQL makes the tables that `store/tables.py` knows, and not one more."""
    apply(database)
    assert set(sa.inspect(database.engine()).get_table_names()) == {table.name for table in TABLES.core}


def test_what_is_compared_is_compared_byte_by_byte(database: Database) -> None:
    """Capital letters and trailing spaces make another name, so no two claims share a row by accident."""
    apply(database)
    names = ["a", "A", "a ", "\u00e1", "a\u0301"]
    with database.engine().begin() as connection:
        connection.execute(sa.insert(TABLES.meta), [{"name": name, "value": "x"} for name in names])
        for name in names:
            count = sa.select(sa.func.count()).where(TABLES.meta.c.name == name)
            assert connection.scalar(count) == 1, name


def test_applying_twice_changes_nothing(database: Database) -> None:
    """The second apply answers that there was nothing to do, and the installation keeps its id."""
    (done,) = apply(database)
    assert (done.part, done.version, done.half) == ("core", 1, "pre")
    before = read_meta(database)
    assert apply(database) == []
    assert read_meta(database) == before
    assert len(before["installation"]) == 32
    assert before["part:core"] == "1"


def test_each_installation_has_its_own_id(database: Database) -> None:
    """Two sets of tables in one database are two installations."""
    other = OwnTables(prefix="other_")
    apply(database)
    apply(database, other)
    with database.engine().connect() as connection:
        theirs = connection.scalar(sa.select(other.meta.c.value).where(other.meta.c.name == "installation"))
    assert theirs != read_meta(database)["installation"]


def test_a_semel_and_an_async_semel_create_their_tables(database: Database) -> None:
    """Both roots apply the same schema through their own drivers, and boot on it."""

    async def create() -> None:
        once = AsyncSemel(database.url, prefix="async_")
        await once.create_tables()
        async with once:
            pass

    asyncio.run(create())
    with Semel(database.url, prefix="async_") as once:
        once.create_tables()


def test_tables_that_are_not_there_are_refused(database: Database) -> None:
    """A database without Semel's tables is told apart from one with old ones."""
    problem = refusal(lambda: check(database))
    assert problem.code == "SEMEL-SCHEMA-1"
    assert "semel_meta" in problem.happened


def test_an_older_version_is_refused(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """A Semel that needs more than there is names both versions."""
    apply(database)
    monkeypatch.setitem(schema.VERSIONS, "core", 2)
    problem = refusal(lambda: check(database))
    assert problem.code == "SEMEL-SCHEMA-2"
    assert "--from 1" in problem.remedy


@pytest.mark.parametrize("attempt", [check, apply])
def test_a_newer_version_is_refused(database: Database, attempt: Callable[[Database], Any]) -> None:
    """Neither a boot nor an apply works on tables that a newer Semel has changed."""
    apply(database)
    run(database, "UPDATE semel_meta SET value = '7' WHERE name = 'part:core'")
    assert refusal(lambda: attempt(database)).code == "SEMEL-SCHEMA-3"


KEEPERS_WITHOUT_A_KEY = """CREATE TABLE semel_keepers (keeper_id varchar(64), duty varchar(16), started_us bigint,
    looked_us bigint, beats bigint, done bigint, problem text)"""
DAMAGES = {
    "a table": (["DROP TABLE semel_keepers"], "everything"),
    "a column": (["ALTER TABLE semel_keepers DROP COLUMN problem"], "column problem"),
    "the key": (
        ["DROP TABLE semel_keepers", KEEPERS_WITHOUT_A_KEY],
        "primary key (keeper_id, duty)",
    ),
    "the installation": (["DELETE FROM semel_meta WHERE name = 'installation'"], "its row 'installation'"),
    "the version": (["UPDATE semel_meta SET value = 'one' WHERE name = 'part:core'"], "a version that is a number"),
}


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("attempt", [check, apply])
def test_damage_is_refused_and_never_mended_in_silence(
    database: Database, damage: str, attempt: Callable[[Database], Any]
) -> None:
    """What is missing at a version that promises it is named; a journal made anew would have forgotten what moved."""
    apply(database)
    statements, missing = DAMAGES[damage]
    run(database, *statements)
    problem = refusal(lambda: attempt(database))
    assert problem.code == "SEMEL-SCHEMA-4"
    assert missing in problem.happened


def test_text_that_would_be_cut_off_is_refused(database: Database) -> None:
    """A column with too little room, or of another kind, is damage too; SQLite knows no lengths."""
    apply(database)
    narrower = {
        "postgresql": "ALTER TABLE semel_journal ALTER COLUMN entity TYPE varchar(50)",
        "mariadb": "ALTER TABLE semel_journal MODIFY entity varchar(50)",
        "sqlite": "ALTER TABLE semel_journal DROP COLUMN at_us; ALTER TABLE semel_journal ADD COLUMN at_us TEXT",
    }
    run(database, *narrower[database.family].split("; "))
    problem = refusal(lambda: check(database))
    assert problem.code == "SEMEL-SCHEMA-4"
    expected = "64 bits in at_us" if database.family == "sqlite" else "room in entity (it holds 50 characters)"
    assert expected in problem.happened


def test_whole_numbers_that_would_overflow_are_refused(database: Database) -> None:
    """A column of 32 bits is refused where the database has such."""
    apply(database)
    change = {
        "postgresql": "ALTER TABLE semel_journal ALTER COLUMN version TYPE integer",
        "mariadb": "ALTER TABLE semel_journal MODIFY version int",
        "sqlite": "ALTER TABLE semel_journal RENAME COLUMN version TO versions",
    }
    run(database, change[database.family])
    problem = refusal(lambda: check(database))
    assert ("column version" if database.family == "sqlite" else "64 bits in version") in problem.happened


@pytest.mark.parametrize("name", ["semel_meta", "semel_journal"])
def test_somebody_elses_table_is_refused_before_anything_is_made(database: Database, name: str) -> None:
    """A table that only shares one of our names is never marked as ours, nor is anything made beside it."""
    run(database, f"CREATE TABLE {name} (id integer PRIMARY KEY)")
    problem = refusal(lambda: apply(database))
    assert problem.code == "SEMEL-SCHEMA-7"
    assert name in problem.happened
    assert sa.inspect(database.engine()).get_table_names() == [name]


def test_a_table_with_our_key_and_other_columns_is_refused_before_the_mark(database: Database) -> None:
    """What IF NOT EXISTS has passed over is looked at before the version is written."""
    run(database, "CREATE TABLE semel_keepers (keeper_id varchar(64), duty varchar(16), PRIMARY KEY (keeper_id, duty))")
    problem = refusal(lambda: apply(database))
    assert problem.code == "SEMEL-SCHEMA-7"
    assert "column started_us" in problem.happened
    assert look(database, lambda connection: read_versions(connection, TABLES)) == {}


async def test_async_drivers_tell_errors_of_connecting(database: Database) -> None:
    """A database that is not there is an error of Semel through the async drivers too."""
    url = read_url(database.url, is_async=True).set(database=database.name + "_missing/missing")
    with pytest.raises(SemelError) as caught:
        await look_around_async(url, lambda connection: check_schema(connection, TABLES))
    assert caught.value.code.startswith("SEMEL-STORE-")
