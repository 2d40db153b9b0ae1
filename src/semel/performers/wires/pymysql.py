"""PyMySQL, sync: MariaDB."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import pymysql
from pymysql.constants import CLIENT, SERVER_STATUS
from pymysql.cursors import Cursor

from semel.clock import Clock
from semel.performers.wires import wire
from semel.store import dialects

if TYPE_CHECKING:
    from sqlalchemy.engine import URL, Dialect


def write_settings() -> tuple[str, ...]:
    """Answer what makes a session Semel's own: it reads what is committed now, and no wait for a row is unbounded."""
    return (
        "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED",
        f"SET SESSION innodb_lock_wait_timeout = {dialects.LOCK_WAIT_SECONDS}",
    )


class PymysqlWire:
    """Runs statements over PyMySQL connections, Semel's own or borrowed ones."""

    def __init__(self, dialect: Dialect, url: URL | None = None, *, pooled: bool = False) -> None:
        """Keep how to connect; a wire for borrowed connections needs no URL."""
        self.dialect: Any = dialect
        self.url = url
        self.pooled = pooled

    def open(self) -> Any:
        """Open a connection in autocommit that counts matched rows and speaks all of Unicode."""
        _, options = self.dialect.create_connect_args(self.url)
        options["client_flag"] = options.get("client_flag", 0) | CLIENT.FOUND_ROWS
        options.setdefault("charset", "utf8mb4")
        options.setdefault("connect_timeout", int(wire.CONNECT_SECONDS))
        options.setdefault("read_timeout", wire.STATEMENT_SECONDS)
        options.setdefault("write_timeout", wire.STATEMENT_SECONDS)
        connection = pymysql.connect(**options, autocommit=True)
        try:
            for statement in write_settings():
                self.execute(connection, statement, ())
        except BaseException:
            self.close(connection)
            raise
        return connection

    def fetch(self, connection: Any, text: str, bound: Any) -> Sequence[Any]:
        """Run a statement; answer its rows."""
        with connection.cursor(Cursor) as cursor:
            cursor.execute(text, bound)
            rows: Sequence[Any] = cursor.fetchall()
            return rows

    def execute(self, connection: Any, text: str, bound: Any) -> int:
        """Run a statement; answer how many rows it matched."""
        with connection.cursor(Cursor) as cursor:
            return int(cursor.execute(text, bound))

    def begin(self, connection: Any) -> None:
        """Begin a transaction."""
        connection.begin()

    def commit(self, connection: Any) -> None:
        """Commit it."""
        connection.commit()

    def rollback(self, connection: Any) -> None:
        """Roll it back."""
        connection.rollback()

    def close(self, connection: Any) -> None:
        """Close at once, without a goodbye."""
        connection._force_close()  # noqa: SLF001 - close() would send and wait

    def pause(self, clock: Clock, seconds: float) -> None:
        """Block for a while."""
        clock.wait(seconds)

    def is_idle(self, connection: Any) -> bool:
        """Whether no transaction is open: the server says so with every answer."""
        return not connection.server_status & SERVER_STATUS.SERVER_STATUS_IN_TRANS

    def is_open(self, connection: Any) -> bool:
        """Whether the connection may still be used."""
        return bool(connection.open)

    def doubts(self, connection: Any) -> bool:  # noqa: ARG002 - semi-synchronous MariaDB does not say so
        """MariaDB has no such warning."""
        return False
