"""psycopg 3, sync: PostgreSQL through libpq."""

from __future__ import annotations

import selectors
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg.pq import TransactionStatus
from psycopg.rows import tuple_row
from psycopg.waiting import Ready, Wait

from semel.clock import Clock
from semel.errors import error
from semel.performers.wires import wire
from semel.performers.wires.notices import warns_of_replication

if TYPE_CHECKING:
    from sqlalchemy.engine import URL, Dialect


class BoundedConnection(psycopg.Connection[tuple[Any, ...]]):
    """A connection whose every wait ends: psycopg itself would wait for a silent server for ever."""

    doubtful = False

    def wait(self, gen: Any, interval: float = 0.0, timeout: float | None = None) -> Any:  # noqa: ARG002 - psycopg's own signature
        """Drive psycopg's generator until it is done, or give the server up."""
        try:
            return wait_bounded(gen, self.pgconn.socket)
        except TimeoutError:
            self.pgconn.finish()
            raise


def wait_bounded(gen: Any, fileno: int) -> Any:
    """Serve a psycopg generator with one selector until `STATEMENT_SECONDS` are over."""
    ends = time.monotonic() + wire.STATEMENT_SECONDS
    try:
        wants = next(gen)
        with selectors.DefaultSelector() as selector:
            while True:
                selector.register(fileno, wants)
                ready = selector.select(ends - time.monotonic())
                selector.unregister(fileno)
                if not ready:
                    raise TimeoutError(f"the server did not answer within {wire.STATEMENT_SECONDS:g} s")
                wants = gen.send(ready[0][1])
    except StopIteration as stop:
        return stop.value


assert (Wait.R, Wait.W, Ready.R, Ready.W) == (selectors.EVENT_READ, selectors.EVENT_WRITE) * 2, (
    "the selector's bits are psycopg's bits"
)


class PsycopgWire:
    """Runs statements over psycopg connections, Semel's own or borrowed ones."""

    def __init__(self, dialect: Dialect, url: URL | None = None, *, pooled: bool = False) -> None:
        """Keep how to connect; a wire for borrowed connections needs no URL."""
        self.dialect: Any = dialect
        self.url = url
        self.pooled = pooled

    def open(self) -> BoundedConnection:
        """Open a connection in autocommit, with deadlines on connecting and on silence."""
        _, options = self.dialect.create_connect_args(self.url)
        options.setdefault("connect_timeout", int(wire.CONNECT_SECONDS))
        connection = BoundedConnection.connect(**options, autocommit=True)
        connection.prepare_threshold = None if self.pooled else 2
        connection.add_notice_handler(lambda notice: notice_doubt(connection, notice))
        return connection

    def fetch(self, connection: Any, text: str, bound: Any) -> Sequence[Any]:
        """Run a statement; answer its rows, whatever cursors and rows the connection makes for its user."""
        with psycopg.Cursor(connection, row_factory=tuple_row) as cursor:
            cursor.execute(text, bound)
            rows: Sequence[Any] = cursor.fetchall()
            return rows

    def execute(self, connection: Any, text: str, bound: Any) -> int:
        """Run a statement; answer how many rows it matched."""
        with psycopg.Cursor(connection, row_factory=tuple_row) as cursor:
            cursor.execute(text, bound)
            return int(cursor.rowcount)

    def begin(self, connection: BoundedConnection) -> None:
        """Begin a transaction."""
        connection.execute("BEGIN")

    def commit(self, connection: BoundedConnection) -> None:
        """Commit it; a transaction that had failed answers ROLLBACK, which is an error here."""
        answer = connection.execute("COMMIT").statusmessage
        if answer != "COMMIT":
            raise error("SEMEL-STORE-5", reason=f"COMMIT was answered with {answer}")

    def rollback(self, connection: BoundedConnection) -> None:
        """Roll it back."""
        connection.execute("ROLLBACK")

    def close(self, connection: BoundedConnection) -> None:
        """Close at once."""
        connection.close()

    def pause(self, clock: Clock, seconds: float) -> None:
        """Block for a while."""
        clock.wait(seconds)

    def is_idle(self, connection: Any) -> bool:
        """Whether no transaction is open."""
        return bool(connection.info.transaction_status == TransactionStatus.IDLE)

    def is_open(self, connection: Any) -> bool:
        """Whether the connection may still be used."""
        return not (connection.closed or connection.broken)

    def doubts(self, connection: BoundedConnection) -> bool:
        """Whether the last commit may not survive a failover; asking forgets it."""
        doubtful, connection.doubtful = connection.doubtful, False
        return doubtful


def notice_doubt(connection: BoundedConnection, notice: psycopg.errors.Diagnostic) -> None:
    """Remember the warning that a commit was not replicated."""
    if warns_of_replication(notice.source_function):
        connection.doubtful = True
