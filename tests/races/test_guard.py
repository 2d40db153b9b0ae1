from __future__ import annotations

from typing import Any

import pytest
import sqlalchemy as sa

from semel import Done, Moved, Rejected
from semel.errors import UsageError
from semel.protocols.operator import Release, release_by_hand
from semel.store.entity import StatusCodec
from semel.store.guard import Guarded, Mode, find_resting, write_drop, write_guard
from semel.store.sights import Sights
from semel.store.tables import OwnTables
from tests.crash.stranding import Wreck
from tests.databases import Database
from tests.shop.clock import VirtualClock
from tests.shop.process import Shop
from tests.shop.tables import lay_orders, read_order

pytestmark = pytest.mark.parametrize("colour", ["sync"], indirect=True)  # the database does not know who writes

ROWS = range(1, 9)


def describe(shop: Shop, database: Database) -> Guarded:
    """Describe the guard of the shop's orders."""
    workflow = shop.semel._setup.bound_of(shop.orders._declared).workflow
    return Guarded(
        family=database.family,
        tables=OwnTables(),
        name="orders",
        schema=None,
        id="id",
        status="status",
        version="version",
        terminal=workflow.terminal,
        resting=find_resting(workflow),
    )


def run(database: Database, statements: list[str]) -> None:
    """Run printed SQL."""
    with database.engine().begin() as connection:
        for statement in statements:
            connection.exec_driver_sql(statement)


@pytest.fixture
def guarded(shop: Shop, database: Database) -> Guarded:
    """Orders that nobody guards yet."""
    lay_orders(database, ROWS)
    return describe(shop, database)


def read_notes(database: Database) -> list[tuple[Any, ...]]:
    """Answer what was noted: row, from, to, version, why."""
    columns = "row_id, from_status, to_status, version, detail"
    query = f"SELECT {columns} FROM semel_journal WHERE kind = 'foreign' ORDER BY at_us, row_id"
    with database.engine().connect() as connection:
        return [tuple(row) for row in connection.execute(sa.text(query))]


def play_every_verb(shop: Shop, database: Database, clock: VirtualClock) -> None:
    """Let Semel do all that it does to a row: steps, claims, releases, takeovers, transitions, and acts by hand."""
    wreck = Wreck(shop, database, clock)
    assert shop.advance(1, "pay") == Done("paid")
    assert shop.advance(1, "close") == Done("closed")
    assert isinstance(shop.advance(2, "pay", input={"end": "reject"}), Rejected)
    assert shop.advance(2, "cancel") == Done("cancelled")
    assert isinstance(shop.orders.transition(3, "pending", to="dropped"), Moved)
    wreck.strand(4, "pay")
    wreck.strand(5, "deliver")
    for _ in range(2):
        wreck.wait_a_lease()
        shop.look("janitor")
        shop.look("resumer")
    assert read_order(database, 4) == ("pending", 2)
    assert read_order(database, 5) == ("delivered", 3)
    bound = shop.semel._setup.bound_of(shop.orders._declared)
    wreck.strand(6, "pay")
    by_hand = Release(bound.claims, Sights(shop.semel._setup.ground), bound.workflow, 6, "x", force=True)
    shop.perform(release_by_hand(by_hand))
    assert read_order(database, 6) == ("pending", 2)


@pytest.mark.parametrize("mode", ["record", "refuse"])
def test_semels_own_verbs_pass(
    shop: Shop, database: Database, clock: VirtualClock, guarded: Guarded, mode: Mode
) -> None:
    """Whatever Semel does to a row, the guard neither refuses nor notes it; also a takeover, which only raises the version."""
    run(database, write_guard(guarded, mode))
    play_every_verb(shop, database, clock)
    assert read_notes(database) == []


BREACHES = {
    "UPDATE orders SET status = 'pending', version = version + 1 WHERE id = 1": "a terminal status was left",
    "UPDATE orders SET status = 'pending' WHERE id = 1": "a terminal status was left",
    "UPDATE orders SET status = 'paid' WHERE id = 2": "the status changed and the version did not grow",
    "UPDATE orders SET status = 'paid', version = version - 1 WHERE id = 2": "the status changed and the version did not grow",
    "UPDATE orders SET version = version + 1 WHERE id = 2": "the version changed and the status did not",
    "UPDATE orders SET version = version - 1 WHERE id = 3": "the version changed and the status did not",
}
PASSES = (
    "UPDATE orders SET status = 'paid', version = version + 1 WHERE id = 2",
    "UPDATE orders SET total = 3 WHERE id = 1",
    "UPDATE orders SET version = version + 1 WHERE id = 3",
    "UPDATE orders SET status = status, version = version WHERE id = 1",
    "DELETE FROM orders WHERE id = 4",
)
"""Order 1 is closed, which is terminal; order 2 is pending; order 3 is in a claim status, where a takeover raises the version."""


def prepare(database: Database) -> None:
    """Put the first orders where they are needed, before anybody guards them."""
    run(
        database,
        [
            "UPDATE orders SET status = 'closed', version = 5 WHERE id = 1",
            "UPDATE orders SET version = 5 WHERE id = 2",
            "UPDATE orders SET status = 'paying', version = 5 WHERE id = 3",
        ],
    )


def test_raw_sql_is_refused(database: Database, guarded: Guarded) -> None:
    """Every breach fails with the sentence that tells which, and the row stays; what is no breach passes."""
    prepare(database)
    run(database, write_guard(guarded, "refuse"))
    before = [read_order(database, row) for row in (1, 2, 3)]
    for statement, told in BREACHES.items():
        with pytest.raises(sa.exc.DBAPIError, match=f"Semel's guard refuses it: {told} \\(orders.status\\)"):
            run(database, [statement])
    assert [read_order(database, row) for row in (1, 2, 3)] == before
    for statement in PASSES:
        run(database, [statement])
    run(database, write_drop(guarded))
    for statement in BREACHES:
        run(database, [statement])


def test_raw_sql_is_noted(database: Database, guarded: Guarded) -> None:
    """Every breach is done and written down: the row, its way, the version, which breach. A new guard replaces the old."""
    prepare(database)
    run(database, write_guard(guarded, "refuse"))
    run(database, write_guard(guarded, "record"))
    run(database, list(PASSES[1:]))
    assert read_notes(database) == []
    run(database, ["UPDATE orders SET status = 'pending' WHERE id = 1", "UPDATE orders SET version = 9 WHERE id = 2"])
    assert sorted(read_notes(database)) == [
        ("1", "closed", "pending", 5, "a terminal status was left"),
        ("2", "pending", "pending", 9, "the version changed and the status did not"),
    ]
    with database.engine().connect() as connection:
        who, at_us, now = connection.execute(
            sa.text(
                "SELECT requester, at_us, (SELECT MAX(at_us) FROM semel_journal) FROM semel_journal WHERE row_id = '1'"
            )
        ).one()
    assert (who is None) == (database.family == "sqlite")
    assert 1_700_000_000_000_000 < at_us <= now


@pytest.mark.usefixtures("shop")
def test_names_that_need_quotes_are_quoted(database: Database) -> None:
    """A reserved word, capital letters, a quote in a status, numbers for statuses, and a name too long for a trigger's."""
    quoted = database.engine().dialect.identifier_preparer.quote
    table, status, version = "Select", "Status", "s" * 50
    columns = (
        f"{quoted('Order')} INTEGER PRIMARY KEY, {quoted(status)} INTEGER NOT NULL, {quoted(version)} BIGINT NOT NULL"
    )
    run(
        database,
        [f"CREATE TABLE {quoted(table)} ({columns})", f"INSERT INTO {quoted(table)} VALUES (1, 1, 0), (2, 0, 0)"],
    )
    guarded = Guarded(
        family=database.family,
        tables=OwnTables(),
        name=table,
        schema=None,
        id="Order",
        status=status,
        version=version,
        terminal=("isn't",),
        resting=(),
        codec=StatusCodec(held={"new": 0, "isn't": 1}),
    )
    assert len(Guarded(**{**vars(guarded), "status": "x" * 60}).trigger) <= 63
    run(database, write_guard(guarded, "record"))
    run(
        database,
        [f"UPDATE {quoted(table)} SET {quoted(status)} = 0, {quoted(version)} = 1 WHERE {quoted('Order')} = 1"],
    )
    assert read_notes(database) == [("1", "isn't", "new", 1, "a terminal status was left")]
    run(database, write_guard(guarded, "refuse"))
    with pytest.raises(sa.exc.DBAPIError, match="the status changed and the version did not grow"):
        run(database, [f"UPDATE {quoted(table)} SET {quoted(status)} = 1 WHERE {quoted('Order')} = 2"])
    run(database, write_drop(guarded))


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
@pytest.mark.parametrize("status", ["a\\b", "$semel$", "line\nbreak", "nul\0"])
def test_what_cannot_be_written_safely_is_refused(guarded: Guarded, status: str) -> None:
    """A word that one of the databases could read otherwise is not written into SQL that people run."""
    with pytest.raises(UsageError, match="SEMEL-SQL-1"):
        write_guard(Guarded(**{**vars(guarded), "terminal": (status,)}), "refuse")
