from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import asyncmy.errors
import asyncpg
import psycopg
import pymysql
import pytest
import sqlalchemy as sa

from semel.store.dialects import Fault, classify

PSYCOPG: list[tuple[type[psycopg.Error], Fault]] = [
    (psycopg.errors.SerializationFailure, Fault.GAVE_WAY),
    (psycopg.errors.DeadlockDetected, Fault.GAVE_WAY),
    (psycopg.errors.LockNotAvailable, Fault.LOCKED),
    (psycopg.errors.ReadOnlySqlTransaction, Fault.TURNED_AWAY),
    (psycopg.errors.CannotConnectNow, Fault.TURNED_AWAY),
    (psycopg.errors.TooManyConnections, Fault.TURNED_AWAY),
    (psycopg.errors.InFailedSqlTransaction, Fault.POISONED),
    (psycopg.errors.AdminShutdown, Fault.LOST),
    (psycopg.errors.CrashShutdown, Fault.LOST),
    (psycopg.errors.IdleSessionTimeout, Fault.LOST),
    (psycopg.errors.ConnectionFailure, Fault.LOST),
    (psycopg.errors.SqlclientUnableToEstablishSqlconnection, Fault.LOST),
    (psycopg.errors.StatementCompletionUnknown, Fault.LOST),
    (psycopg.errors.ConnectionTimeout, Fault.LOST),
    (psycopg.errors.UniqueViolation, Fault.FINAL),
    (psycopg.errors.UndefinedTable, Fault.FINAL),
    (psycopg.errors.DiskFull, Fault.FINAL),
]

WORDS = [
    (psycopg.OperationalError("consuming input failed: server closed the connection unexpectedly"), Fault.LOST),
    (psycopg.OperationalError("the connection is closed"), Fault.LOST),
    (psycopg.OperationalError("[Errno -2] Name or service not known"), Fault.LOST),
    (psycopg.ProgrammingError("cannot adapt type 'object' using placeholder '%s'"), Fault.FINAL),
    (asyncpg.InterfaceError("connection is closed"), Fault.LOST),
    (asyncpg.InternalClientError("cannot switch to state 15; another operation (2) is in progress"), Fault.LOST),
    (asyncpg.InterfaceError("something nobody has heard of"), Fault.UNRECOGNISED),
    (TimeoutError(), Fault.LOST),
    (ConnectionResetError(104, "Connection reset by peer"), Fault.LOST),
    (BrokenPipeError(32, "Broken pipe"), Fault.LOST),
    (EOFError(), Fault.LOST),
    (RuntimeError("the connection is closed"), Fault.UNRECOGNISED),
    (KeyError("connection"), Fault.UNRECOGNISED),
]

MYSQL = [
    (1213, Fault.GAVE_WAY),
    (1020, Fault.GAVE_WAY),
    (1205, Fault.LOCKED),
    (1290, Fault.TURNED_AWAY),
    (1040, Fault.TURNED_AWAY),
    (1047, Fault.TURNED_AWAY),
    (1927, Fault.LOST),
    (1053, Fault.LOST),
    (2003, Fault.LOST),
    (2006, Fault.LOST),
    (2013, Fault.LOST),
    (0, Fault.LOST),
    (1062, Fault.FINAL),
    (1064, Fault.FINAL),
    (1146, Fault.FINAL),
]


@pytest.mark.parametrize(("kind", "fault"), PSYCOPG)
def test_what_postgres_says_means_the_same_through_both_drivers(kind: type[psycopg.Error], fault: Fault) -> None:
    """The code decides, whichever words go with it; where asyncpg has an error of that code, it means the same."""
    assert classify(kind("any words")) is fault
    if kind.sqlstate is not None:
        assert classify(asyncpg.PostgresError.new({"C": kind.sqlstate, "M": "any words"})) is fault


@pytest.mark.parametrize(("problem", "fault"), WORDS)
def test_what_a_driver_makes_up_by_itself(problem: Exception, fault: Fault) -> None:
    """Errors without a code: what sounds like a lost connection is one, and what nobody knows is not called harmless."""
    assert classify(problem) is fault


@pytest.mark.parametrize(("number", "fault"), MYSQL)
@pytest.mark.parametrize("state", [None, "HY000", "40001"])
def test_what_mariadb_says_is_known_by_its_number(number: int, fault: Fault, state: str | None) -> None:
    """Through both drivers, and whether or not the error carries a sqlstate too: HY000 says nothing."""
    for driver in (pymysql.err, asyncmy.errors):
        problem: Any = driver.OperationalError(number, "any words")
        if driver is pymysql.err:
            problem.sqlstate = state
        assert classify(problem) is fault


def test_what_sqlite_says_is_known_by_its_code(tmp_path: Path) -> None:
    """Busy is a lock, a stale snapshot gives way, a broken constraint is the statement's own fault."""
    holder, other = (sqlite3.connect(tmp_path / "a.db", timeout=0, isolation_level=None) for _ in range(2))
    holder.execute("PRAGMA journal_mode = WAL")
    holder.execute("CREATE TABLE thing (id INTEGER PRIMARY KEY)")
    faults: list[Fault] = []

    def attempt(text: str) -> None:
        with pytest.raises(sqlite3.Error) as caught:
            other.execute(text)
        faults.append(classify(caught.value))

    holder.execute("BEGIN IMMEDIATE")
    attempt("INSERT INTO thing VALUES (1)")
    holder.execute("ROLLBACK")
    other.execute("BEGIN")
    other.execute("SELECT count(*) FROM thing").fetchall()
    holder.execute("INSERT INTO thing VALUES (2)")
    attempt("INSERT INTO thing VALUES (3)")
    other.execute("ROLLBACK")
    attempt("INSERT INTO thing VALUES (2)")
    assert faults == [Fault.LOCKED, Fault.GAVE_WAY, Fault.FINAL]
    for connection in (holder, other):
        connection.close()


def test_a_wrapped_error_is_found_by_its_code_before_its_words() -> None:
    """SQLAlchemy and Django quote the statement, whose own words must not read as a lost connection."""
    statement = "SELECT set_config('lock_timeout', $1, true)"
    locked = psycopg.errors.LockNotAvailable("canceling statement due to lock timeout")
    wrapped = sa.exc.OperationalError(statement, {}, locked)
    assert classify(wrapped) is Fault.LOCKED
    wrapped_by_django = RuntimeError("connection closed")
    wrapped_by_django.__cause__ = psycopg.errors.UniqueViolation("duplicate key")
    assert classify(wrapped_by_django) is Fault.FINAL


def test_every_fault_is_told_apart() -> None:
    """Nothing that a driver can raise is left without a meaning."""
    assert {fault for _, fault in [*PSYCOPG, *MYSQL, *WORDS]} == set(Fault)
