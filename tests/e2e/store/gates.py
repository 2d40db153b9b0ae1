"""A gate that a test closes in a database: a write comes to it and waits there, until its process is killed.

The product knows nothing of it. A trigger stands before the write; on PostgreSQL and MariaDB it waits for a lock that the
test holds, on SQLite, where no lock can be waited for in a trigger, it counts for longer than the test takes.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import sqlalchemy as sa

from tests.databases import Database

LOCK = 7

MAKE = {
    "postgresql": (
        f"""CREATE FUNCTION wait_at_gate() RETURNS trigger LANGUAGE plpgsql AS
        'BEGIN PERFORM pg_advisory_xact_lock({LOCK}); RETURN NEW; END'""",
        "CREATE TRIGGER gate BEFORE {write} ON {table} FOR EACH ROW WHEN ({when}) EXECUTE FUNCTION wait_at_gate()",
    ),
    "mariadb": (
        """CREATE TRIGGER gate BEFORE {write} ON {table} FOR EACH ROW BEGIN IF {when} THEN
        DO GET_LOCK(CONCAT(DATABASE(), '.gate'), 600); DO RELEASE_LOCK(CONCAT(DATABASE(), '.gate')); END IF; END""",
    ),
    "sqlite": (
        """CREATE TRIGGER gate BEFORE {write} ON {table} FOR EACH ROW WHEN {when} BEGIN SELECT (
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10000000000) SELECT max(i) FROM n); END""",
    ),
}
HOLD = {
    "postgresql": f"SELECT pg_advisory_lock({LOCK})",
    "mariadb": "SELECT GET_LOCK(CONCAT(DATABASE(), '.gate'), 0)",
    "sqlite": "SELECT 1",
}
DROP = {"postgresql": "DROP TRIGGER gate ON {table}", "mariadb": "DROP TRIGGER gate", "sqlite": "DROP TRIGGER gate"}


@contextmanager
def closed_gate(database: Database, write: str, table: str, when: str) -> Iterator[None]:
    """Let such writes wait. In the end the gate is taken away; who still waits there gets through."""
    family = database.family
    engine = database.engine()
    with engine.connect() as keeper, engine.connect() as builder:
        keeper.exec_driver_sql(HOLD[family])
        keeper.rollback()  # the lock is the connection's, and no transaction stays open
        run(builder, *(each.format(write=write, table=table, when=when) for each in MAKE[family]))
        try:
            yield
        finally:
            keeper.invalidate()  # its lock goes with it
            run(builder, DROP[family].format(table=table))


def run(connection: sa.Connection, *statements: str) -> None:
    """Run statements in one transaction, where the database has such a thing for them."""
    with connection.begin():
        for statement in statements:
            connection.exec_driver_sql(statement)
