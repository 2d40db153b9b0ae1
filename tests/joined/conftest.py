from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.databases import FAMILIES
from tests.joined import django_handles, raw_handles, sqlalchemy_handles
from tests.joined.lent import Cell
from tests.joined.shop import Shop, open_shop

CELLS = [*sqlalchemy_handles.CELLS, *raw_handles.CELLS, *django_handles.CELLS]


@pytest.fixture(scope="session")
def sqlite_shop(sqlite_shelf: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    """The shop on SQLite."""
    with sqlite_shelf.lend(tmp_path_factory.mktemp("joined")) as database, open_shop(database) as shop:
        yield shop


@pytest.fixture(scope="session")
def postgresql_shop(postgresql_shelf: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    """The shop on PostgreSQL."""
    with postgresql_shelf.lend(tmp_path_factory.mktemp("joined")) as database, open_shop(database) as shop:
        yield shop


@pytest.fixture(scope="session")
def mariadb_shop(mariadb_shelf: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    """The shop on MariaDB."""
    with mariadb_shelf.lend(tmp_path_factory.mktemp("joined")) as database, open_shop(database) as shop:
        yield shop


@pytest.fixture(params=FAMILIES)
def shop(request: pytest.FixtureRequest) -> Shop:
    """The shop, once for each family."""
    found: Shop = request.getfixturevalue(f"{request.param}_shop")
    return found


@pytest.fixture(params=CELLS, ids=lambda cell: f"{cell.name}-{cell.family}")
def cell(request: pytest.FixtureRequest) -> Cell:
    """One kind of handle on one database."""
    found: Cell = request.param
    return found


@pytest.fixture
def cell_shop(request: pytest.FixtureRequest, cell: Cell) -> Shop:
    """The shop that the cell's handle belongs to."""
    found: Shop = request.getfixturevalue(f"{cell.family}_shop")
    return found
