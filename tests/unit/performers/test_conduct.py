from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import asyncpg
import psycopg
import pytest
import sqlalchemy as sa
from sqlalchemy.engine import make_url

from semel.asks import Asking, Execute, Fetch, Fresh, Tick, Together, Wait
from semel.errors import SemelError
from semel.performers.conduct import check_count, explain
from semel.performers.sync import SyncPerformer
from semel.performers.wires.sqlite import SqliteWire
from semel.store.dialects import make_dialect
from semel.store.statements import Statement, bind
from tests.conformance.time_that_jumps import JumpingClock

READ_CLOCK = Statement("read_clock", sa.select(sa.literal_column("42").label("now_us")), writes=False)
THING = sa.table("thing", sa.column("id", sa.Integer))
ADD = Statement("add", sa.insert(THING).values(id=bind("id", sa.Integer)), writes=True)
RENAME = Statement("rename", sa.update(THING).values(id=THING.c.id), writes=True)
READ = Statement("read", sa.select(THING.c.id).order_by(THING.c.id), writes=False)


@pytest.fixture
def performer(tmp_path: Path) -> Any:
    """A performer over a SQLite file with one table, and a clock that jumps."""
    place = tmp_path / "thing.db"
    with sqlite3.connect(place) as connection:
        connection.execute("CREATE TABLE thing (id INTEGER PRIMARY KEY)")
    connection.close()
    wire = SqliteWire(make_dialect("sqlite+pysqlite"), make_url(f"sqlite:///{place}"))
    performer = SyncPerformer(wire, JumpingClock(), READ_CLOCK, 1)
    yield performer
    performer.close()


def ask(*asks: Any) -> Asking[list[Any]]:
    """Ask one thing after the other and answer all answers."""
    answers: list[Any] = []
    for each in asks:
        answers += [(yield each)]
    return answers


def test_every_ask_has_its_answer(performer: Any) -> None:
    """Statements, transactions, the local clock, ids and waits; a wait moves the clock it was given."""
    adding = Together(lambda: ask(Execute(ADD, {"id": 1}), Execute(ADD, {"id": 2})))
    tick, fresh, nothing, later, counts, rows = performer.perform(
        ask(Tick(), Fresh(), Wait(2.5), Tick(), adding, Fetch(READ, {}))
    )
    assert (later - tick, len(fresh), nothing) == (2.5, 32, None)
    assert (counts, rows) == ([1, 1], [(1,), (2,)])


def test_an_error_inside_undoes_the_whole_transaction(performer: Any) -> None:
    """The protocol hears of it outside, when nothing is open any more; the connection is whole again."""

    def try_twice() -> Asking[list[Any]]:
        try:
            yield Together(lambda: ask(Execute(ADD, {"id": 1}), Execute(ADD, {"id": 1})))
        except SemelError as problem:
            heard = problem.code
        rows = yield Fetch(READ, {})
        yield Together(lambda: ask(Execute(ADD, {"id": 7})))
        return [heard, rows, (yield Fetch(READ, {}))]

    assert performer.perform(try_twice()) == ["SEMEL-STORE-5", [], [(7,)]]
    assert performer.pool.shelf.made == len(performer.pool.shelf.idle) == 1


def test_a_protocol_that_raises_in_its_transaction_writes_nothing(performer: Any) -> None:
    """Whatever it raises: a mistake of its own is a rollback too."""

    def fail() -> Asking[None]:
        yield Execute(ADD, {"id": 1})
        raise KeyError("a mistake")

    with pytest.raises((KeyError, SemelError)):
        performer.perform(ask(Together(fail)))
    assert performer.perform(ask(Fetch(READ, {}))) == [[]]


@pytest.mark.parametrize("asked", [Wait(1.0), Together(ask)])
def test_a_transaction_neither_waits_nor_nests(performer: Any, asked: object) -> None:
    """What would hold its locks for nobody's good is refused where it is written."""
    with pytest.raises(AssertionError, match="inside a transaction"):
        performer.perform(ask(Together(lambda: ask(asked))))
    assert performer.perform(ask(Fetch(READ, {}))) == [[]]


def test_a_statement_that_matches_more_than_it_promised_is_undone(performer: Any) -> None:
    """The count is read in one place, whatever the statement is."""
    performer.perform(ask(*(Execute(ADD, {"id": number}) for number in (1, 2, 3))))
    with pytest.raises(SemelError, match="rename matched 4 rows where 0 to 3"):
        performer.perform(ask(Together(lambda: ask(Execute(ADD, {"id": 9}), Execute(RENAME, {}, rows_limit=3)))))
    assert performer.perform(ask(Fetch(READ, {}))) == [[(1,), (2,), (3,)]]


@pytest.mark.parametrize(("counted", "limit", "fine"), [(0, 1, True), (1, 1, True), (2, 1, False), (-1, 1, False)])
def test_a_count_is_within_what_was_promised(counted: int, limit: int, fine: bool) -> None:  # noqa: FBT001 - a case of the table
    """A driver that does not know says -1, and that is no count either."""
    if fine:
        assert check_count(Execute(RENAME, {}, limit), counted) == counted
    else:
        with pytest.raises(SemelError, match="Is the id column unique"):
            check_count(Execute(RENAME, {}, limit), counted)


@pytest.mark.parametrize(
    ("problem", "reading", "writing"),
    [
        (psycopg.errors.DeadlockDetected("x"), "SEMEL-STORE-1", "SEMEL-STORE-1"),
        (psycopg.errors.LockNotAvailable("x"), "SEMEL-STORE-2", "SEMEL-STORE-2"),
        (psycopg.OperationalError("the connection is closed"), "SEMEL-STORE-4", "SEMEL-STORE-3"),
        (TimeoutError(), "SEMEL-STORE-4", "SEMEL-STORE-3"),
        (psycopg.errors.ReadOnlySqlTransaction("x"), "SEMEL-STORE-4", "SEMEL-STORE-4"),
        (psycopg.errors.UniqueViolation("x"), "SEMEL-STORE-5", "SEMEL-STORE-5"),
        (asyncpg.InterfaceError("never heard of"), "SEMEL-STORE-5", "SEMEL-STORE-3"),
        (psycopg.errors.InFailedSqlTransaction("x"), "SEMEL-ON-5", "SEMEL-ON-5"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_an_error_means_more_while_a_write_is_under_way(problem: Exception, reading: str, writing: str) -> None:
    """What was lost or is not understood is unknown then, and never called harmless."""
    assert explain(problem, writing=False).code == reading
    assert explain(problem, writing=True).code == writing
