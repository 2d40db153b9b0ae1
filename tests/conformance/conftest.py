from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import pytest

from semel.store import dialects
from tests.conformance.faces import COLOURS, Colour, Once, Orders, Stage, open_stage
from tests.conformance.shop import Order, lay_orders
from tests.databases import Database
from tests.proxy import Proxy
from tests.shop.fixtures import clock, open_shop, shop

__all__ = ["clock", "colour", "open_shop", "shop", "stage"]

Open: TypeAlias = Callable[..., Once]


@pytest.fixture(params=COLOURS)
def colour(request: pytest.FixtureRequest) -> Colour:
    """Whether the test runs on `Semel` or on `AsyncSemel`."""
    found: Colour = request.param
    return found


@pytest.fixture
def stage() -> Iterator[Stage]:
    """Where calls run."""
    with open_stage() as stage:
        yield stage


@pytest.fixture
def open_once(database: Database, colour: Colour, stage: Stage) -> Iterator[Open]:
    """Open a Semel of the test's colour on its database, or on another URL; each is closed in the end."""
    opened: list[Once] = []

    def open_one(url: str | None = None, **settings: Any) -> Once:
        opened.append(once := Once(colour, url or database.url, stage, **settings))
        return once

    yield open_one
    for once in opened:
        once.close()


@pytest.fixture
def once(open_once: Open) -> Once:
    """A Semel with its tables made."""
    once = open_once()
    once.create_tables()
    return once


@pytest.fixture
def orders(database: Database, once: Once) -> Orders:
    """Twenty pending orders, and their handle."""
    lay_orders(database)
    return once.table(Order)


@pytest.fixture
def proxy(database: Database, once: Once) -> Iterator[Proxy]:
    """A proxy before the test's database, in which Semel's tables and twenty pending orders are."""
    lay_orders(database)
    assert once.colour
    with Proxy.before(database.url) as proxy:
        yield proxy


@pytest.fixture
def short_lock_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a Semel that is made afterwards wait one second for a row: MariaDB counts in whole ones."""
    monkeypatch.setattr(dialects, "LOCK_WAIT_SECONDS", 1)
