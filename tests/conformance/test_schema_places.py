"""Schemas, engines and collations: what only one of the databases has."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa

from semel import AsyncSemel, Semel, SemelError
from semel.performers.opening import look_around, read_url
from semel.store.schema import apply_schema, check_schema
from semel.store.tables import OwnTables
from tests.databases import Database, open_connection, random_name

WITH_SCHEMAS = pytest.mark.parametrize("database", ["postgresql", "mariadb"], indirect=True)
ON_MARIADB = pytest.mark.parametrize("database", ["mariadb"], indirect=True)


@pytest.fixture
def schema(database: Database) -> Iterator[str]:
    """A schema that exists; in MariaDB it is a second database."""
    name = random_name()
    with open_connection(sa.make_url(database.url)) as connection:
        connection.exec_driver_sql(f"CREATE SCHEMA {name}")
        yield name
        connection.exec_driver_sql(f"DROP SCHEMA {name}" + (" CASCADE" if database.family == "postgresql" else ""))


@WITH_SCHEMAS
def test_tables_live_in_the_schema(database: Database, schema: str) -> None:
    """With schema=, tables and indexes are made there, found there by boot, and nowhere else."""
    once = Semel(database.url, schema=schema)
    once.create_tables()
    once.boot()
    once.close()
    inspector = sa.inspect(database.engine())
    assert "semel_journal" in inspector.get_table_names(schema=schema)
    assert inspector.get_indexes("semel_journal", schema=schema)[0]["name"] == "semel_journal_row"
    assert inspector.get_table_names() == []


@WITH_SCHEMAS
async def test_an_async_semel_finds_its_schema(database: Database, schema: str) -> None:
    """The async drivers look into the same schema."""
    once = AsyncSemel(database.url, schema=schema)
    await once.create_tables()
    async with once:
        pass


@WITH_SCHEMAS
def test_a_schema_that_is_missing_is_named(database: Database) -> None:
    """CREATE SCHEMA is the user's to say; until then apply and check say which one is missing."""
    schema = random_name()
    tables, url = OwnTables(schema=schema), read_url(database.url, is_async=False)
    for attempt in (
        lambda connection: apply_schema(connection, database.family, tables),
        lambda connection: check_schema(connection, tables),
    ):
        with pytest.raises(SemelError) as caught:
            look_around(url, attempt)
        assert caught.value.code == "SEMEL-SCHEMA-6"
        assert f"CREATE SCHEMA {schema}" in caught.value.remedy


def test_sqlite_has_no_schemas(tmp_path: Path) -> None:
    """A schema is refused where there is no such thing."""
    with pytest.raises(SemelError, match="SEMEL-APP-3"):
        Semel(f"sqlite:///{tmp_path / 'shop.db'}", schema="shop")


def test_names_that_would_have_to_be_quoted_are_refused(database: Database) -> None:
    """PostgreSQL folds capitals, so SQL on paper and SQL from the program would name two tables."""
    for setting in ({"prefix": "Shop_"}, {"prefix": ""}, {"schema": "Shop"}, {"schema": "a-b"}, {"prefix": "x" * 41}):
        with pytest.raises(SemelError, match="SEMEL-APP-3"):
            Semel(database.url, **setting)


MARIADB_DAMAGES = {
    "ALTER TABLE semel_keepers ENGINE=Aria": "its engine is Aria",
    "ALTER TABLE semel_claims CONVERT TO CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci": "utf8mb4_general_ci",
    "ALTER TABLE semel_claims MODIFY row_id varchar(190) COLLATE utf8mb4_bin NOT NULL": "byte by byte in row_id",
}


@ON_MARIADB
@pytest.mark.parametrize("statement", MARIADB_DAMAGES)
def test_mariadb_without_transactions_or_bytes_is_refused(database: Database, statement: str) -> None:
    """An engine without transactions, or a collation that ignores differences, is damage."""
    once = Semel(database.url)
    once.create_tables()
    with database.engine().begin() as connection:
        connection.exec_driver_sql(statement)
    with pytest.raises(SemelError) as caught:
        once.boot()
    assert caught.value.code == "SEMEL-SCHEMA-4"
    assert MARIADB_DAMAGES[statement] in caught.value.happened
    once.close()
