"""What a server is set to, as Semel's own connections find it: facts for the doctor, who judges them."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import sqlalchemy as sa

from semel.store.dialects import Family
from semel.store.ground import Ground
from semel.store.statements import Statement, text_constant

NAMES: dict[Family, tuple[str, ...]] = {
    "postgresql": (
        "default_transaction_isolation",
        "default_transaction_read_only",
        "fsync",
        "full_page_writes",
        "idle_in_transaction_session_timeout",
        "lock_timeout",
        "server_version",
        "statement_timeout",
        "synchronous_commit",
        "synchronous_standby_names",
    ),
    "mariadb": (
        "binlog_format",
        "character_set_client",
        "character_set_connection",
        "character_set_database",
        "character_set_results",
        "innodb_flush_log_at_trx_commit",
        "innodb_snapshot_isolation",
        "log_bin",
        "read_only",
        "sql_mode",
        "sync_binlog",
        "transaction_isolation",
        "tx_isolation",  # what transaction_isolation was called before 11.1
        "version",
    ),
    "sqlite": ("foreign_keys", "journal_mode", "synchronous"),
}
"""The settings that money depends on, by family. A server that does not know one of them leaves it out."""


class Settings:
    """Statements over the settings of a server and of this very connection."""

    def __init__(self, ground: Ground) -> None:
        """Build nothing yet."""
        self.ground = ground

    @cached_property
    def read_settings(self) -> Statement:
        """Answer (name, value) of every setting that money depends on, and of what the server says about itself."""
        select = {"postgresql": _postgresql, "mariadb": _mariadb, "sqlite": _sqlite}[self.ground.family]()
        return Statement("read_settings", select, writes=False)


def _postgresql() -> sa.CompoundSelect[Any]:
    catalog = sa.table("pg_settings", sa.column("name", sa.Text), sa.column("setting", sa.Text), schema="pg_catalog")
    names = [text_constant(name) for name in NAMES["postgresql"]]
    return sa.union_all(
        sa.select(catalog.c.name.label("name"), catalog.c.setting.label("value")).where(catalog.c.name.in_(names)),
        _fact("make", sa.func.version()),
        _fact("standby", sa.cast(sa.func.pg_is_in_recovery(), sa.Text)),
    )


def _mariadb() -> sa.CompoundSelect[Any]:
    # What the session has; for what only the server has, the session shows the server's.
    catalog = sa.table(
        "session_variables",
        sa.column("variable_name", sa.Text),
        sa.column("variable_value", sa.Text),
        schema="information_schema",
    )
    names = [text_constant(name) for name in NAMES["mariadb"]]
    found = sa.select(sa.func.lower(catalog.c.variable_name).label("name"), catalog.c.variable_value.label("value"))
    return sa.union_all(
        found.where(catalog.c.variable_name.in_(names)), _fact("make", sa.literal_column("@@version_comment", sa.Text))
    )


def _sqlite() -> sa.CompoundSelect[Any]:
    # Each PRAGMA is also a table of one row.
    pragmas = [(name, sa.table(f"pragma_{name}", sa.column(name, sa.Text))) for name in NAMES["sqlite"]]
    return sa.union_all(
        *(_fact(name, sa.cast(table.c[name], sa.Text)) for name, table in pragmas),
        _fact("version", sa.func.sqlite_version()),
    )


def _fact(name: str, value: sa.ColumnElement[Any]) -> sa.Select[Any]:
    return sa.select(text_constant(name).label("name"), value.label("value"))


def is_behind_pooler(connection: sa.Connection) -> bool:
    """Whether a connection pooler stands between here and PostgreSQL.

    The server tells its process id when a connection is made; a pooler makes one up, because many servers are behind it.
    A pooler that passes the real one on is not noticed.
    """
    driver: Any = connection.connection.driver_connection
    told = driver.get_server_pid() if hasattr(driver, "get_server_pid") else driver.info.backend_pid
    return bool(told != connection.scalar(sa.select(sa.func.pg_backend_pid())))
