"""What the tests of claims share: processes of the shop, of either colour, on a database of each family."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import pytest

from tests.conformance.faces import COLOURS, Colour, Stage, open_stage
from tests.databases import Database
from tests.shop.clock import VirtualClock
from tests.shop.process import Shop
from tests.shop.tables import lay_tables

OpenShop: TypeAlias = Callable[..., Shop]


@pytest.fixture(params=COLOURS)
def colour(request: pytest.FixtureRequest) -> Colour:
    """Whether the processes of a test run `Semel` or `AsyncSemel`."""
    found: Colour = request.param
    return found


@pytest.fixture
def stage() -> Iterator[Stage]:
    """Where calls run."""
    with open_stage() as stage:
        yield stage


@pytest.fixture
def clock() -> VirtualClock:
    """The time of all processes of a test."""
    return VirtualClock()


@pytest.fixture
def open_shop(database: Database, colour: Colour, stage: Stage, clock: VirtualClock) -> Iterator[OpenShop]:
    """Start a process of the shop, booted if there is one to be like; each is ended in the end."""
    opened: list[Shop] = []

    def open_one(like: Shop | None = None, **settings: Any) -> Shop:
        opened.append(shop := Shop(colour, database.url, stage, **{"clock": clock} | settings))
        if like is not None:
            shop.boot_like(like)
        return shop

    yield open_one
    for shop in opened:
        shop.close()


@pytest.fixture
def shop(database: Database, open_shop: OpenShop) -> Shop:
    """A process that has booted, with every table made."""
    lay_tables(database)
    shop = open_shop()
    shop.create_tables()
    shop.boot()
    return shop
