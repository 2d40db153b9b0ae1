"""Fixtures every test room shares; what they do is written in `tests/databases.py`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy.engine import URL

from tests.databases import FAMILIES, Database, MariadbShelf, PostgresShelf, SqliteShelf, run_mariadb, run_postgres


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[URL]:
    """The admin URL of a real PostgreSQL server, without a driver."""
    with run_postgres() as url:
        yield url


@pytest.fixture(scope="session")
def mariadb_server() -> Iterator[URL]:
    """The admin URL of a real MariaDB server, without a driver."""
    with run_mariadb() as url:
        yield url


@pytest.fixture(scope="session")
def sqlite_shelf() -> SqliteShelf:
    """Where tests get SQLite files from."""
    return SqliteShelf()


@pytest.fixture(scope="session")
def postgresql_shelf(postgres_server: URL) -> Iterator[PostgresShelf]:
    """Where tests get PostgreSQL databases from."""
    shelf = PostgresShelf(postgres_server)
    yield shelf
    shelf.close()


@pytest.fixture(scope="session")
def mariadb_shelf(mariadb_server: URL) -> Iterator[MariadbShelf]:
    """Where tests get MariaDB databases from."""
    shelf = MariadbShelf(mariadb_server)
    yield shelf
    shelf.close()


@pytest.fixture(params=FAMILIES)
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Database]:
    """A clean, empty database, once for each family."""
    shelf = request.getfixturevalue(f"{request.param}_shelf")
    with shelf.lend(tmp_path) as lent:
        yield lent
