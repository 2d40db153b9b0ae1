from __future__ import annotations

import pytest
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import create_async_engine

from tests.databases import PREFIX, Database, PostgresShelf


@pytest.mark.parametrize("_turn", [1, 2])
def test_each_test_gets_an_empty_database(database: Database, _turn: int) -> None:
    """A table made by one test is not there for the next, though the name is the same."""
    with database.engine().begin() as connection:
        connection.execute(sa.text("CREATE TABLE thing (id BIGINT PRIMARY KEY)"))
        connection.execute(sa.text("INSERT INTO thing VALUES (1)"))
    with database.engine().connect() as connection:
        assert connection.execute(sa.text("SELECT count(*) FROM thing")).scalar() == 1


@pytest.mark.parametrize("_turn", [1, 2])
def test_connections_left_behind_do_not_hinder(database: Database, _turn: int) -> None:
    """A test that dies inside a transaction leaves the next one a clean database."""
    engine = sa.create_engine(database.sync_url, poolclass=sa.pool.NullPool)
    left = engine.connect()
    left.execute(sa.text("CREATE TABLE thing (id BIGINT PRIMARY KEY)"))
    left.execute(sa.text("INSERT INTO thing VALUES (1)"))
    database.left = left  # type: ignore[attr-defined]  # keeps it open until the database is given back


@pytest.mark.parametrize("database", ["postgresql"], indirect=True)
def test_one_family_can_be_selected(database: Database) -> None:
    """Indirect parametrisation names the families of a test."""
    assert database.family == "postgresql"
    assert database.name.startswith(PREFIX)


async def test_the_async_url_opens_the_same_database(database: Database) -> None:
    """Sync and async drivers meet in one database."""
    with database.engine().begin() as connection:
        connection.execute(sa.text("CREATE TABLE thing (id BIGINT PRIMARY KEY)"))
    engine = create_async_engine(database.async_url)
    async with engine.connect() as connection:
        assert (await connection.execute(sa.text("SELECT count(*) FROM thing"))).scalar() == 0
    await engine.dispose()


@pytest.mark.parametrize("database", ["postgresql"], indirect=True)
def test_a_given_back_database_is_unknown_under_its_old_name(
    database: Database, postgresql_shelf: PostgresShelf, tmp_path
) -> None:
    """A connection string that outlived its test reaches nothing."""
    with postgresql_shelf.lend(tmp_path) as second:
        second.engine().connect().close()
        assert second.name != database.name
    with pytest.raises(sa.exc.OperationalError, match="does not exist"):
        second.engine().connect()
    second.dispose()
