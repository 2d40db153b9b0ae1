"""What differs between the databases: the only room with an `if` about them.

A family is one SQL dialect with one set of guarantees. A driver is a Python package that speaks to a family. Statements
are built per family and rendered per driver.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import sqlalchemy as sa

from semel.errors import error

if TYPE_CHECKING:
    from sqlalchemy.engine import URL, Dialect

Family: TypeAlias = Literal["postgresql", "mariadb", "sqlite"]

LOCK_WAIT_SECONDS = 5
"""How long a statement may wait for a row: longer than any sane short transaction, shorter than an HTTP client's patience."""


@dataclass(frozen=True, slots=True)
class FamilyFacts:
    """One row of the table of families."""

    needs: str
    oldest: tuple[int, ...]
    sync_driver: str
    async_driver: str
    extra: str
    now: str
    one_statement: bool


FAMILIES: dict[Family, FamilyFacts] = {
    "postgresql": FamilyFacts(
        needs="PostgreSQL 13 or newer",
        oldest=(13,),
        sync_driver="postgresql+psycopg",
        async_driver="postgresql+asyncpg",
        extra="postgres",
        # clock_timestamp() moves on inside a transaction; now() stands still at its start.
        now="CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000000 AS BIGINT)",
        one_statement=True,
    ),
    "mariadb": FamilyFacts(
        needs="MariaDB 10.6 or newer",
        oldest=(10, 6),
        sync_driver="mariadb+pymysql",
        async_driver="mariadb+asyncmy",
        extra="mysql",
        # SYSDATE(6) moves on inside a transaction; UNIX_TIMESTAMP makes it independent of the connection's time zone.
        now="CAST(UNIX_TIMESTAMP(SYSDATE(6)) * 1000000 AS SIGNED)",
        one_statement=False,
    ),
    "sqlite": FamilyFacts(
        needs="SQLite 3.37 or newer",
        oldest=(3, 37),
        sync_driver="sqlite+pysqlite",
        async_driver="sqlite+pysqlite",
        extra="",
        # unixepoch('subsec') is NULL before 3.42, so the seconds and the milliseconds are read apart from one 'now'.
        now="(CAST(strftime('%s', 'now') AS INTEGER) * 1000000 + CAST(substr(strftime('%f', 'now'), 4) AS INTEGER) * 1000)",
        one_statement=False,
    ),
}

_NAMES: dict[str, Family] = {
    "postgresql": "postgresql",
    "postgres": "postgresql",
    "mariadb": "mariadb",
    "mysql": "mariadb",
    "sqlite": "sqlite",
}


def read_family(url: URL) -> Family:
    """Answer the family that a database URL names."""
    name = url.drivername.split("+")[0]
    if name not in _NAMES:
        raise error(
            "SEMEL-DB-1", url=url.render_as_string(hide_password=True), reason=f"{name!r} is not a database Semel knows"
        )
    return _NAMES[name]


def family_of(dialect: Dialect) -> Family:
    """Answer the family of a SQLAlchemy dialect."""
    if dialect.name not in _NAMES:
        raise error("SEMEL-DB-1", url=dialect.name, reason="it is not a database Semel knows")
    return _NAMES[dialect.name]


def family_named(name: str) -> str:
    """Answer the family of a SQLAlchemy dialect by its name; a database that Semel does not know keeps its own."""
    return _NAMES.get(name, name)


@cache
def make_dialect(drivername: str, paramstyle: str | None = None) -> Dialect:
    """Answer the SQLAlchemy dialect that renders for a driver; making one imports no driver."""
    kind: Any = sa.make_url(f"{drivername}://").get_dialect()
    made: Dialect = kind(paramstyle=paramstyle) if paramstyle else kind()
    return made


DIALECTS: dict[str, Callable[[], tuple[Family, Dialect]]] = {
    "psycopg": lambda: ("postgresql", make_dialect("postgresql+psycopg")),
    "asyncpg": lambda: ("postgresql", make_dialect("postgresql+asyncpg")),
    "pymysql": lambda: ("mariadb", make_dialect("mariadb+pymysql")),
    "asyncmy": lambda: ("mariadb", make_dialect("mariadb+asyncmy")),
    "sqlite3": lambda: ("sqlite", make_dialect("sqlite+pysqlite")),
    "aiosqlite": lambda: ("sqlite", make_dialect("sqlite+pysqlite")),
}
"""How statements are rendered for a raw connection, by the package it comes from."""

DJANGO_DIALECTS: dict[str, Callable[[], tuple[Family, Dialect]]] = {
    "postgresql": lambda: ("postgresql", make_dialect("postgresql+psycopg", "format")),
    "mysql": lambda: ("mariadb", make_dialect("mariadb+pymysql", "format")),
    "sqlite": lambda: ("sqlite", make_dialect("sqlite+pysqlite", "format")),
}
"""The same by what Django calls the vendor; Django takes %s whatever the driver takes."""


def now_microseconds(family: Family, offset_table: str | None = None) -> sa.ColumnElement[int]:
    """Make the expression of the database's clock. Only tests name an offset table; it moves their time."""
    text = FAMILIES[family].now
    if offset_table is not None:
        text = f"({text} + (SELECT offset_us FROM {offset_table}))"  # noqa: S608 - a name from Semel's own test room
    return sa.literal_column(text, sa.BigInteger)


def bounded_lock(select: sa.Select[Any], family: Family) -> sa.Select[Any]:
    """Make a SELECT lock its rows, waiting a bounded time inside the statement (PostgreSQL: see `lock_bound`)."""
    if family == "mariadb":
        return select.suffix_with(sa.text(f"FOR UPDATE WAIT {LOCK_WAIT_SECONDS}"))
    return select.with_for_update()  # SQLite renders nothing: BEGIN IMMEDIATE already holds the only write lock.


def skip_locked(select: sa.Select[Any], table: sa.TableClause, family: Family) -> sa.Select[Any]:
    """Make a SELECT lock its rows without waiting; rows that somebody holds are left out."""
    return (
        keep_others_out(select, table, skip=True)
        if family == "postgresql"
        else select.with_for_update(skip_locked=True)
    )


def keep_others_out(select: sa.Select[Any], table: sa.TableClause, *, skip: bool = False) -> sa.Select[Any]:
    """Make PostgreSQL's SELECT lock rows as an UPDATE of a status does: FOR NO KEY UPDATE.

    Two of them exclude each other; but a new row that refers to this one by a foreign key waits for neither, and neither
    waits for it. FOR UPDATE would let an action on another connection wait for its own step.
    """
    return select.with_for_update(key_share=True, skip_locked=skip, of=table)


_LOCK_TIMEOUT: sa.ColumnElement[str] = sa.literal_column("'lock_timeout'")


def lock_bound() -> sa.CTE:
    """Make PostgreSQL's bound on lock waits, for the one statement that holds it.

    A session-wide SET would leak to other clients behind a transaction pooler, and a transaction-local one would stay in
    a borrowed transaction; `lock_unbound` puts back what was there. A statement that fails in between takes its
    transaction, and so the bound, with it.
    """
    before = sa.func.current_setting(_LOCK_TIMEOUT).label("before")
    bound = sa.func.set_config(_LOCK_TIMEOUT, sa.literal_column(f"'{LOCK_WAIT_SECONDS}s'"), sa.true()).label("bound")
    return sa.select(before, bound).cte("bounded")


def lock_unbound(bounded: sa.CTE) -> sa.Label[str]:
    """Make the end of `lock_bound`: the last column of the same statement, read when every lock is held."""
    return sa.func.set_config(_LOCK_TIMEOUT, bounded.c.before, sa.true()).label("unbound")


class Fault(Enum):
    """What a database error means for the work that met it."""

    GAVE_WAY = "serialization or deadlock: the transaction was rolled back, run it again"
    LOCKED = "somebody held a row too long"
    LOST = "the connection died: a write or COMMIT under way is unknown"
    TURNED_AWAY = "a definite no from a server that is not (or no longer) able to write: use another connection"
    POISONED = "an earlier error of the same transaction was not rolled back"
    FINAL = "any other answer of the server: the statement is at fault, and did nothing"
    UNRECOGNISED = "no answer of the server that Semel knows: a write or COMMIT under way is unknown"


_SQLSTATES = {
    "40001": Fault.GAVE_WAY,
    "40P01": Fault.GAVE_WAY,
    "25P02": Fault.POISONED,  # in_failed_sql_transaction
    "55P03": Fault.LOCKED,
    "25006": Fault.TURNED_AWAY,  # read_only_sql_transaction: demoted to a standby
    "57P03": Fault.TURNED_AWAY,  # cannot_connect_now: starting up or in recovery
    "53300": Fault.TURNED_AWAY,  # too_many_connections
    "40003": Fault.LOST,  # statement_completion_unknown
    "57P01": Fault.LOST,  # admin_shutdown: the answer to what ran is not coming
    "57P02": Fault.LOST,  # crash_shutdown
    "57P05": Fault.LOST,  # idle_session_timeout
    "26000": Fault.TURNED_AWAY,  # invalid_sql_statement_name: prepared in a session that is not this one
}
_MYSQL_ERRORS = {
    1213: Fault.GAVE_WAY,  # deadlock, also Galera's certification failure at COMMIT
    1020: Fault.GAVE_WAY,  # record has changed since last read (snapshot isolation)
    1205: Fault.LOCKED,  # lock wait timeout: rolls back one statement only, so the performer rolls back the rest
    1290: Fault.TURNED_AWAY,  # --read-only
    1836: Fault.TURNED_AWAY,  # running in read-only mode
    1040: Fault.TURNED_AWAY,  # too many connections
    1047: Fault.TURNED_AWAY,  # a Galera node that has not joined
    1053: Fault.LOST,  # server shutdown in progress
    1152: Fault.LOST,  # aborted connection
    1158: Fault.LOST,  # network read error
    1159: Fault.LOST,  # network read timeout
    1160: Fault.LOST,  # network write error
    1161: Fault.LOST,  # network write timeout
    1180: Fault.LOST,  # error during COMMIT
    1317: Fault.LOST,  # query interrupted: also a COMMIT
    4031: Fault.LOST,  # disconnected by the server after inactivity
    1927: Fault.LOST,  # connection was killed
    2006: Fault.LOST,  # server has gone away
    2013: Fault.LOST,  # lost connection during query
    2014: Fault.LOST,  # commands out of sync: an earlier answer was not read
    2055: Fault.LOST,  # lost connection at a system call
}
_SQLITE_BUSY_SNAPSHOT = 517
_SQLITE_ERRORS = {
    5: Fault.LOCKED,  # SQLITE_BUSY
    6: Fault.LOCKED,  # SQLITE_LOCKED
    10: Fault.LOST,  # SQLITE_IOERR: what reached the disk is known only when it is read again
}


def classify(problem: BaseException) -> Fault:
    """Answer what a driver's error means, whichever driver raised it and whoever wrapped it.

    Only an answer of the server is a definite no. What a driver makes up by itself says that it lost the thread.

    A code anywhere in the chain decides before any words: those who wrap an error quote the statement, whose own words
    (lock_timeout) would read as a lost connection.
    """
    chain = list(_unwrap(problem))
    for read in (_read_code, _read_words):
        for each in chain:
            fault = read(each)
            if fault is not None:
                return fault
    return Fault.UNRECOGNISED


def _unwrap(problem: BaseException) -> Iterator[BaseException]:
    seen: BaseException | None = problem
    for _ in range(4):  # SQLAlchemy wraps once, its asyncpg adapter twice, Django once
        if seen is not None:
            yield seen
            seen = getattr(seen, "orig", None) or seen.__cause__


def _read_code(problem: BaseException) -> Fault | None:
    code = getattr(problem, "sqlite_errorcode", None)
    if isinstance(code, int):
        return Fault.GAVE_WAY if code == _SQLITE_BUSY_SNAPSHOT else _SQLITE_ERRORS.get(code & 0xFF, Fault.FINAL)
    number = problem.args[0] if problem.args else None
    if isinstance(number, int) and type(problem).__module__.split(".")[0] in ("pymysql", "asyncmy", "MySQLdb"):
        # Numbers from 2000 to 2999, and 0, are what the drivers say themselves when a socket died under them.
        # They may carry a sqlstate as well, which is HY000 for most that matter here.
        is_own = number == 0 or number // 1000 == 2  # noqa: PLR2004 - the thousands say who speaks
        return Fault.LOST if is_own else _MYSQL_ERRORS.get(number, Fault.FINAL)
    state = getattr(problem, "sqlstate", None)
    if isinstance(state, str):
        if state == "0A000" and _is_stale_plan(problem):
            return Fault.TURNED_AWAY
        return Fault.LOST if state.startswith("08") else _SQLSTATES.get(state, Fault.FINAL)
    if isinstance(problem, OSError | EOFError):
        return Fault.LOST
    if type(problem).__name__ == "TargetServerAttributeNotMatched":
        return Fault.TURNED_AWAY  # asyncpg found only servers that are not the primary
    return None


def _is_stale_plan(problem: BaseException) -> bool:
    """Recognise that the user changed the table since this connection prepared the statement; another has no plan of it."""
    diagnostics = getattr(problem, "diag", None)
    function = getattr(diagnostics, "source_function", None) or getattr(problem, "server_source_function", None)
    return function == "RevalidateCachedQuery" or type(problem).__name__ == "InvalidCachedStatementError"


def _read_words(problem: BaseException) -> Fault | None:
    names = {kind.__name__ for kind in type(problem).__mro__}
    if _was_never_sent(problem):
        return Fault.FINAL
    if "ProgrammingError" in names:
        return Fault.FINAL  # a value that the driver would not even send
    if "OperationalError" in names:
        return Fault.LOST  # of connections: psycopg's have no code when the server did not say them
    if "InternalClientError" in names:
        return Fault.LOST  # asyncpg itself has lost its place, as after a farewell that the server sent unasked
    if type(problem).__name__ == "InterfaceError" and _says_lost(problem):
        return Fault.LOST
    return None


def _was_never_sent(problem: BaseException) -> bool:
    """Recognise a parameter that the driver refused to write, before anything left. What it cannot read is another thing."""
    if isinstance(problem, UnicodeEncodeError):
        return True
    words = str(problem)
    is_refused = "NUL (0x00)" in words or "invalid input for query argument" in words  # psycopg; asyncpg
    return type(problem).__name__ == "DataError" and is_refused


def _says_lost(problem: BaseException) -> bool:
    """Recognise the errors that carry no code, because the client made them up when its socket died."""
    words = str(problem).lower()
    return any(sign in words for sign in ("connection", "closed", "ssl", "eof", "timeout"))
