"""A rival: a connection of the test's own that holds locks, and how a test knows that somebody waits for them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import sqlalchemy as sa

from tests.databases import Database


class Rival:
    """One connection in one transaction."""

    def __init__(self, database: Database, connection: sa.Connection) -> None:
        self.database = database
        self.connection = connection

    def run(self, text: str, **values: Any) -> Any:
        """Run one statement in the transaction."""
        return self.connection.execute(sa.text(text), values)

    def lock(self, row: int) -> None:
        """Hold a row; on SQLite, the whole database."""
        self.run("UPDATE orders SET total = total WHERE id = :row", row=row)

    def commit(self) -> None:
        """Commit, and let every lock go."""
        self.connection.commit()


@contextmanager
def open_rival(database: Database) -> Iterator[Rival]:
    """Open a rival; what it holds in the end is rolled back."""
    with database.engine().connect() as connection:
        yield Rival(database, connection)
        connection.rollback()


def wait_until_waiting(database: Database, count: int = 1) -> None:
    """Return once so many connections wait for a lock of this database. Each look is a transaction of its own."""
    count_waiting = {"postgresql": count_waiting_on_postgres, "mariadb": count_waiting_on_mariadb}[database.family]
    with database.engine().connect() as watcher:
        while count_waiting(watcher) < count:
            watcher.rollback()


def count_waiting_on_postgres(watcher: sa.Connection) -> int:
    """Ask the activity view, which is kept anew for each transaction."""
    waiting = "datname = current_database() AND wait_event_type = 'Lock'"
    return int(watcher.exec_driver_sql(f"SELECT count(*) FROM pg_stat_activity WHERE {waiting}").scalar_one())


def count_waiting_on_mariadb(watcher: sa.Connection) -> int:
    """Read InnoDB's own report: its tables in information_schema are not renewed for one who asks often."""
    report = watcher.exec_driver_sql("SHOW ENGINE INNODB STATUS").one()[2]
    blocks = [block for block in report.split("---TRANSACTION") if "LOCK WAIT" in block]
    waiting = {int(number) for block in blocks for number in re.findall(r"thread id (\d+)", block)}
    ours = watcher.exec_driver_sql("SELECT id FROM information_schema.processlist WHERE db = database()").scalars()
    return len(waiting & set(ours))
