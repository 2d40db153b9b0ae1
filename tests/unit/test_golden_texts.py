from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from semel import SemelError
from tests.conformance.faces import Stage
from tests.databases import Database, SqliteShelf
from tests.shop.billing import REFUSALS
from tests.shop.process import Shop
from tests.shop.tables import lay_orders, lay_tables

GOLDEN = Path(__file__).parent / "golden"
WRITES = os.environ.get("SEMEL_TEST_WRITE_GOLDEN") == "1"
"""With it the texts are written instead of compared: read what has changed before you commit it."""


@pytest.fixture
def database(tmp_path: Path) -> Any:
    """A database in a file: what is said here does not depend on the family."""
    with SqliteShelf().lend(tmp_path) as database:
        yield database


@pytest.fixture
def stage() -> Any:
    """Where calls run: sync ones need no loop."""
    return Stage(None, None)  # type: ignore[arg-type] # nothing is awaited here


def compare(name: str, told: BaseException) -> None:
    """Compare what was raised with the file of this name, word for word."""
    text = "\n".join([f"{type(told).__name__}", str(told), *getattr(told, "__notes__", ())]) + "\n"
    file = GOLDEN / f"{name}.txt"
    if WRITES:
        file.write_text(text, encoding="utf-8")
    assert file.read_text(encoding="utf-8") == text


@pytest.mark.parametrize(
    "name",
    [
        "uncovered_claim",
        "unknown_handler",
        "wrong_colour",
        "missing_version_column",
        "version_of_the_mapper",
        "old_schema",
        "standby",
        "broken_rules",
    ],
)
def test_a_refused_boot_says_what_is_wrong_and_what_to_do(
    name: str, database: Database, stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Eight refusals as their reader sees them."""
    once = REFUSALS[name].plan.make("sync", database, stage)
    REFUSALS[name].seam(monkeypatch)
    with pytest.raises(SemelError) as caught:
        REFUSALS[name].plan.boot(once)
    compare(name, caught.value)


def refuse_claimed_step_on_a_handle(shop: Shop, database: Database) -> None:
    """Take a claimed step in the caller's own transaction."""
    with database.engine().begin() as connection:
        connection.exec_driver_sql("UPDATE orders SET total = 1 WHERE id = 1")
        shop.orders.advance(1, "pay", on=connection)


def refuse_autocommit(shop: Shop, database: Database) -> None:
    """Join a connection that commits each statement."""
    with closing(sqlite3.connect(database.name, isolation_level=None)) as connection:
        shop.orders.transition(1, "pending", to="dropped", on=connection)


def refuse_move_into_a_claim(shop: Shop, _database: Database) -> None:
    """Move a row into a claim status by hand."""
    shop.orders.transition(1, "pending", to="paying")


def keep_a_claim_that_cannot_be_released(shop: Shop, database: Database) -> None:
    """Let an action fail whose claim cannot be released: the row's table refuses every write by now."""

    def forbid(place: str, _step: Any) -> None:
        frozen = "CREATE TRIGGER frozen BEFORE UPDATE ON orders BEGIN SELECT RAISE(ABORT, 'the table is frozen'); END"
        if place == "begun":
            with database.engine().begin() as connection:
                connection.execute(sa.text(frozen))

    shop.here = forbid
    shop.advance(1, "pay", input={"rows": 0, "end": "raise"})


CALLS: dict[str, Callable[[Shop, Database], None]] = {
    "claimed_step_on_a_handle": refuse_claimed_step_on_a_handle,
    "handle_without_transaction": refuse_autocommit,
    "move_into_a_claim": refuse_move_into_a_claim,
    "claim_that_is_kept": keep_a_claim_that_cannot_be_released,
}


@pytest.mark.parametrize("name", CALLS)
def test_a_refused_call_says_what_is_wrong_and_what_to_do(name: str, database: Database, stage: Stage) -> None:
    """Four errors of calls as their reader sees them; an exception of the action's own has notes."""
    lay_tables(database)
    shop = Shop("sync", database.url, stage)
    shop.create_tables()
    shop.boot()
    lay_orders(database, [1])
    with pytest.raises(Exception) as caught:
        CALLS[name](shop, database)
    compare(name, caught.value)
    shop.close()


def test_there_are_twelve_texts_and_each_is_compared() -> None:
    """No file is left over, and none is missing."""
    compared = set(CALLS) | set(REFUSALS) & {file.stem for file in GOLDEN.glob("*.txt")}
    assert {file.stem for file in GOLDEN.glob("*.txt")} == compared
    assert len(compared) == 12
