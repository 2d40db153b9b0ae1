"""What each verb costs: counted here, kept in docs/reference/data/cost.json, drawn by tools/pages/cost.py.

With SEMEL_TEST_WRITE_COST=1 the counts are written instead of compared (run them in one process: pytest without -n).
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import pytest
import sqlalchemy as sa

from semel import Rejected
from tests.conformance.faces import Colour, Stage
from tests.databases import Database
from tests.proxy import Proxy
from tests.shop.flow import make_flow
from tests.shop.gate import PATIENCE_SECONDS, Gate
from tests.shop.process import Shop
from tests.shop.tables import lay_orders, lay_tables

KEPT = Path(__file__).parents[2] / "docs" / "reference" / "data" / "cost.json"
WRITES = os.environ.get("SEMEL_TEST_WRITE_COST") == "1"

WARM_UPS = 6
"""psycopg prepares a statement at its third run and every driver opens its connections at the first; a process does so once."""

MANY = 100

DRIVERS = {
    ("postgresql", "async"): "asyncpg",
    ("postgresql", "sync"): "psycopg",
    ("mariadb", "async"): "asyncmy",
    ("mariadb", "sync"): "PyMySQL",
    ("sqlite", "async"): "sqlite3",
    ("sqlite", "sync"): "sqlite3",
}

PLAIN: dict[str, Any] = {"validate": [], "success_after_effect": []}
FLOW = make_flow(pay=PLAIN, cancel=PLAIN, drop=PLAIN)
"""No after-effects and no validators; `deliver` keeps its one after-effect."""

Make: TypeAlias = Callable[[Shop, int], Any]
VERBS: dict[str, Make] = {
    "transition": lambda shop, row: shop.orders.transition(row, "pending", to="dropped"),
    "transition_many of 100 rows": lambda shop, row: shop.orders.transition_many(
        range(row, row + MANY), "pending", to="dropped"
    ),
    "advance, claimed": lambda shop, row: shop.orders.advance(row, "pay", input={"rows": 0}),
    "advance, claimed, writing one row": lambda shop, row: shop.orders.advance(row, "pay", input={"rows": 1}),
    "advance, claimed, owing one after-effect": lambda shop, row: shop.orders.advance(
        row, "deliver", input={"rows": 0}
    ),
    "advance, claimed, rejected (release)": lambda shop, row: shop.orders.advance(
        row, "pay", input={"rows": 0, "end": "reject"}
    ),
    "advance without a claim or an action": lambda shop, row: shop.orders.advance(row, "drop"),
    "advance without a claim, writing one row": lambda shop, row: shop.orders.advance(row, "cancel", input={"rows": 1}),
}


@dataclass
class Trace:
    """What SQLite was asked to do."""

    statements: list[str] = field(default_factory=list)

    def watch(self, shop: Shop) -> None:
        """Listen to every connection that the process opens from now on."""
        wire = shop.semel._performer.pool.shelf.wire
        opened = wire.open

        def open_and_listen() -> Any:
            connection = opened()
            connection.set_trace_callback(self.statements.append)
            return connection

        wire.open = open_and_listen
        engine = getattr(shop.semel._engine, "sync_engine", shop.semel._engine)
        sa.event.listen(engine, "connect", self.listen)

    def listen(self, connection: Any, _record: Any) -> None:
        """Listen to a connection of the engine, whichever colour it has."""
        driver = getattr(connection, "driver_connection", connection)
        getattr(driver, "_connection", driver).set_trace_callback(self.statements.append)


class Meter:
    """Counts what a verb costs."""

    def __init__(self, database: Database, shop: Shop, proxy: Proxy | None) -> None:
        self.database = database
        self.shop = shop
        self.proxy = proxy
        self.trace = Trace()
        if proxy is None:
            self.trace.watch(shop)

    def measure(self, make: Make, row: int) -> dict[str, int]:
        """Make one call, and answer its round trips (where there is a network), its statements, and its commits."""
        before = self.count_operations()
        self.trace.statements.clear()
        if self.proxy is not None:
            self.proxy.reset()
        answer = self.shop.stage.wait(lambda: make(self.shop, row))
        assert answer or isinstance(answer, Rejected), answer
        if self.proxy is None:
            counted = {"statements": len(self.trace.statements)}
        else:
            counted = {"round_trips": self.proxy.trips, "statements": len(self.proxy.statements)}
        return counted | {"commits": self.count_operations() - before}

    def count_operations(self) -> int:
        """Count the commits so far: every one that writes has an operation id of its own in the journal."""
        with self.database.engine().connect() as connection:
            return int(connection.scalar(sa.text("SELECT count(DISTINCT operation_id) FROM semel_journal")) or 0)


@pytest.fixture
def meter(database: Database, colour: Colour, stage: Stage) -> Iterator[Meter]:
    """A process whose every exchange with its database is counted."""
    lay_tables(database)
    lay_orders(database, range(1, 2 * len(VERBS) * MANY * WARM_UPS))
    if database.family == "sqlite":
        shop = Shop(colour, database.url, stage, workflows=FLOW)
        yield start(shop, database, None)
        shop.close()
        return
    with Proxy.before(database.url) as proxy:
        shop = Shop(colour, proxy.url(database.url), stage, workflows=FLOW)
        yield start(shop, database, proxy)
        shop.close()


def start(shop: Shop, database: Database, proxy: Proxy | None) -> Meter:
    """Boot a process and put its meter in."""
    meter = Meter(database, shop, proxy)
    shop.create_tables()
    shop.boot()
    return meter


def test_every_verb_costs_what_the_page_says(database: Database, colour: Colour, meter: Meter) -> None:
    """Round trips, statements and commits of a process that has been at work for a while."""
    counted, row = {}, 1
    for verb, make in VERBS.items():
        for _ in range(WARM_UPS):
            meter.measure(make, row)
            row += MANY
        counted[verb] = meter.measure(make, row)
        row += MANY
    driver = DRIVERS[database.family, colour]
    kept = json.loads(KEPT.read_text(encoding="utf-8")) if KEPT.exists() else {}
    if WRITES:
        kept[driver] = counted
        KEPT.parent.mkdir(exist_ok=True)
        KEPT.write_text(json.dumps(dict(sorted(kept.items())), indent=1) + "\n", encoding="utf-8")
    assert kept[driver] == counted, (
        f"counted again for {driver}; if it is right, set SEMEL_TEST_WRITE_COST=1, then: make docs"
    )


@pytest.mark.parametrize(("database", "colour"), [("postgresql", "async")], indirect=True)
def test_a_claim_is_one_round_trip_and_so_is_its_finish(meter: Meter) -> None:
    """Row, claim row and journal travel together, there and back."""
    make = VERBS["advance, claimed"]
    for row in range(1, WARM_UPS):
        meter.measure(make, row)
    assert meter.proxy is not None
    gate = Gate(meter.shop)
    meter.proxy.reset()
    future = meter.shop.begin(lambda: make(meter.shop, WARM_UPS))
    gate.wait_for_somebody()
    assert (meter.proxy.trips, len(meter.proxy.statements)) == (1, 1)
    gate.open()
    assert future.result(PATIENCE_SECONDS)
    assert (meter.proxy.trips, len(meter.proxy.statements)) == (2, 2)
