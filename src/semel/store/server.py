"""What a database server must be before money moves on it."""

from __future__ import annotations

import sqlalchemy as sa

from semel.errors import error
from semel.store.dialects import FAMILIES, Family


def check_server(connection: sa.Connection, family: Family) -> None:
    """Refuse a server that is too old, of another make, or only a standby."""
    facts = FAMILIES[family]
    version = tuple(connection.dialect.server_version_info or ()) if family != "sqlite" else _sqlite_version(connection)
    if family == "mariadb" and not getattr(connection.dialect, "is_mariadb", False):
        raise error("SEMEL-DB-3", found=f"MySQL {_dotted(version)}", needed=facts.needs)
    if version < facts.oldest:
        raise error("SEMEL-DB-3", found=f"{facts.needs.split()[0]} {_dotted(version)}", needed=facts.needs)
    if is_standby(connection, family):
        raise error("SEMEL-DB-4")


def is_standby(connection: sa.Connection, family: Family) -> bool:
    """Whether the server cannot write."""
    if family == "postgresql":
        return bool(connection.scalar(sa.select(sa.func.pg_is_in_recovery())))
    if family == "mariadb":
        return bool(connection.exec_driver_sql("SELECT @@global.read_only").scalar())
    return False


def _sqlite_version(connection: sa.Connection) -> tuple[int, ...]:
    text = str(connection.scalar(sa.select(sa.func.sqlite_version())))
    return tuple(int(part) for part in text.split("."))


def _dotted(version: tuple[object, ...]) -> str:
    return ".".join(str(part) for part in version)
