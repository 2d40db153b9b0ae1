"""Applying the schema dies, races and upgrades: whatever is left half done, the next apply finishes."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from semel import SemelError
from semel.performers.opening import look_around, looking_options, read_url
from semel.store import schema, scripts
from semel.store.schema import apply_schema, check_schema, read_versions
from semel.store.tables import OwnTables
from tests.databases import Database

PROCESSES = 4
"""More at once than a machine with two cores runs in turn."""

WAIT_SECONDS = 60
"""How long a process may take: a hundred times what it needs."""


CHANGE = re.compile(r"(--.*\n|\s)*(CREATE|ALTER|INSERT|UPDATE)\b")
"""A statement that changes something, whatever comment stands above it."""


class DeathError(Exception):
    """What ends a test's apply in the middle."""


@contextmanager
def engine_that_dies(database: Database, count: int) -> Iterator[sa.Engine]:
    """Answer an engine that fails right before the statement of this number that changes something."""
    url = read_url(database.url, is_async=False)
    engine = sa.create_engine(url, poolclass=sa.pool.NullPool, **looking_options(url))
    seen = []

    @sa.event.listens_for(engine, "before_cursor_execute")
    def die(_connection: Any, _cursor: Any, statement: str, *_rest: Any) -> None:
        if CHANGE.match(statement):
            seen.append(statement)
            if len(seen) == count:
                raise DeathError(statement)

    yield engine
    engine.dispose()


def apply(database: Database, tables: OwnTables) -> list[scripts.Script]:
    """Apply the schema as the command line does."""
    url = read_url(database.url, is_async=False)
    return look_around(url, lambda connection: apply_schema(connection, database.family, tables))


def check(database: Database, tables: OwnTables) -> None:
    """Check the schema as a boot does."""
    look_around(read_url(database.url, is_async=False), lambda connection: check_schema(connection, tables))


def die_applying(database: Database, tables: OwnTables, count: int) -> bool:
    """Apply and die before the statement of this number. False: it lived, because there were fewer statements."""
    with engine_that_dies(database, count) as engine:
        try:
            with engine.begin() as connection:
                apply_schema(connection, database.family, tables)
        except DeathError:
            return True
    return False


def test_a_death_between_any_two_statements_is_mended(database: Database) -> None:
    """After each death a boot is refused, and the next apply makes what is missing and marks it."""
    count = 1
    while die_applying(database, tables := OwnTables(prefix=f"died_{count}_"), count):
        with pytest.raises(SemelError, match="SEMEL-SCHEMA-1"):
            check(database, tables)
        assert len(apply(database, tables)) == 1
        check(database, tables)
        assert apply(database, tables) == []
        count += 1
    assert count > 11, "eleven statements and marks were there when this was written"


ONE_APPLIES = """
import os, re, sys
import sqlalchemy as sa
from semel import Semel

deadly = int(sys.argv[2])
seen = []

@sa.event.listens_for(sa.Engine, "before_cursor_execute")
def die(connection, cursor, statement, *rest):
    if re.match(r"(--.*\\n|\\s)*(CREATE|INSERT)", statement):
        seen.append(statement)
        if len(seen) == deadly:
            os._exit(9)

once = Semel(sys.argv[1])
print("ready", flush=True)
sys.stdin.readline()
once.create_tables()
once.boot()
once.close()
"""


def start_process(database: Database, *, deadly: int) -> subprocess.Popen[str]:
    """Start a process that applies the schema when it is told to."""
    command = [sys.executable, "-c", ONE_APPLIES, database.url, str(deadly)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_a_killed_process_leaves_nothing_in_the_way(database: Database) -> None:
    """A process that ends without a word, in the middle of creating tables, holds nobody up."""
    dying = start_process(database, deadly=6)
    dying.communicate("go\n", timeout=WAIT_SECONDS)
    assert dying.returncode == 9
    living = start_process(database, deadly=0)
    _, said = living.communicate("go\n", timeout=WAIT_SECONDS)
    assert living.returncode == 0, said


def test_processes_that_start_at_once_all_boot(database: Database) -> None:
    """Each of several new processes creates the tables or finds them created; none meets an error."""
    processes = [start_process(database, deadly=0) for _ in range(PROCESSES)]
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    said = [process.communicate(timeout=WAIT_SECONDS)[1] for process in processes]
    assert [process.returncode for process in processes] == [0] * PROCESSES, said


def call_at_once(call: Callable[[], Any], count: int) -> list[Any]:
    """Call from several threads that begin together, and answer what each got."""
    barrier = threading.Barrier(count)

    def wait_and_call(_number: int) -> Any:
        barrier.wait(WAIT_SECONDS)
        return call()

    with ThreadPoolExecutor(count) as threads:
        return list(threads.map(wait_and_call, range(count)))


def test_one_of_many_applies_does_the_work(database: Database) -> None:
    """The lock makes the others wait and then find nothing to do."""
    done = call_at_once(lambda: apply(database, OwnTables()), 8)
    assert sorted(len(each) for each in done) == [0] * 7 + [1]


@pytest.mark.parametrize("database", ["postgresql"], indirect=True)
def test_a_database_that_begins_serializable_is_applied_to_at_once(database: Database) -> None:
    """Who waited for the lock must see what the other has made meanwhile, whatever isolation is the default."""
    with database.engine().begin() as connection:
        connection.exec_driver_sql(f"ALTER DATABASE {database.name} SET default_transaction_isolation = 'serializable'")
    try:
        done = call_at_once(lambda: apply(database, OwnTables()), 8)
        assert sorted(len(each) for each in done) == [0] * 7 + [1]
    finally:
        with database.engine().begin() as connection:
            connection.exec_driver_sql(f"ALTER DATABASE {database.name} RESET ALL")


@pytest.mark.parametrize("database", ["mariadb"], indirect=True)
def test_on_mariadb_the_lock_is_only_a_courtesy(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a cluster GET_LOCK holds on one node only: without it some may meet an error, but nothing is made wrong."""
    monkeypatch.setattr(schema, "_lock_mariadb", lambda _connection, _tables: None)

    def try_to_apply() -> None:
        with suppress(SemelError):  # MariaDB does not describe a table that somebody is changing right now
            apply(database, OwnTables())

    call_at_once(try_to_apply, 8)
    apply(database, OwnTables())
    check(database, OwnTables())


def test_a_lock_that_somebody_holds_is_waited_for_in_bounds(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who waits too long is told that somebody else is at it, and may try again."""
    monkeypatch.setattr(schema, "LOCK_SECONDS", 1)
    tables = OwnTables()
    with database.engine().connect() as connection:
        schema._lock_schema(connection, database.family, tables)
        with pytest.raises(SemelError) as caught:
            apply(database, tables)
        connection.rollback()
        if database.family == "mariadb":
            connection.exec_driver_sql("DO RELEASE_ALL_LOCKS()")
    assert caught.value.code == "SEMEL-SCHEMA-5"
    assert caught.value.retryable
    assert len(apply(database, tables)) == 1


VERSION_2 = {
    "pre": {
        "sqlite": "ALTER TABLE {p}keepers ADD COLUMN mood TEXT;\n",
        "postgresql": "ALTER TABLE {p}keepers ADD COLUMN IF NOT EXISTS mood text;\n",
        "mariadb": "ALTER TABLE {p}keepers ADD COLUMN IF NOT EXISTS mood text;\n",
    },
    "mark": "UPDATE {p}meta SET value = '2' WHERE name = 'part:core' AND value = '1';\n",
    "post": "DROP TABLE IF EXISTS {p}relic;\n",
}


@pytest.fixture
def version_2(database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let this Semel need a second version, whose SQL stands beside the first."""
    folder = tmp_path / "sql"
    shutil.copytree(Path(str(scripts.SQL)), folder)
    for half, texts in VERSION_2.items():
        text = texts if isinstance(texts, str) else texts[database.family]
        (folder / database.family / f"core_2_{half}.sql").write_text(text, encoding="utf-8")
    monkeypatch.setattr(scripts, "SQL", folder)
    monkeypatch.setitem(scripts.VERSIONS, "core", 2)


@pytest.mark.usefixtures("version_2")
def test_a_new_database_gets_every_version_at_once(database: Database) -> None:
    """Both versions are applied in order, and the mark says the newer one."""
    done = apply(database, tables := OwnTables())
    assert [(each.version, each.half) for each in done] == [(1, "pre"), (2, "pre")]
    url = read_url(database.url, is_async=False)
    assert look_around(url, lambda connection: read_versions(connection, tables)) == {"core": 2}


def test_an_upgrade_that_dies_is_finished(database: Database, request: pytest.FixtureRequest) -> None:
    """An upgrade does only what is new, runs no post half, and can die before each of its statements."""
    every = [OwnTables(prefix=f"old_{count}_") for count in (1, 2, 3)]
    for tables in every:
        apply(database, tables)
    request.getfixturevalue("version_2")
    for count, tables in enumerate(every, start=1):
        assert die_applying(database, tables, count) == (count < 3)
        done = apply(database, tables)
        assert [(each.version, each.half) for each in done] == ([(2, "pre")] if count < 3 else [])
        columns = sa.inspect(database.engine()).get_columns(tables.keepers.name)
        assert "mood" in [column["name"] for column in columns]
