"""asyncpg, async: PostgreSQL's own protocol, prepared statements kept per connection."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import asyncpg

from semel.clock import Clock
from semel.errors import error
from semel.performers.wires import wire
from semel.performers.wires.notices import warns_of_replication

if TYPE_CHECKING:
    from sqlalchemy.engine import URL, Dialect

# What SQLAlchemy reads from a URL for itself; asyncpg does not know these words.
_SQLALCHEMY_WORDS = ("prepared_statement_cache_size", "prepared_statement_name_func", "async_fallback")


class AsyncpgWire:
    """Runs statements over asyncpg connections, Semel's own or borrowed ones."""

    def __init__(self, dialect: Dialect, url: URL | None = None, *, pooled: bool = False) -> None:
        """Keep how to connect; a wire for borrowed connections needs no URL."""
        self.dialect: Any = dialect
        self.url = url
        self.pooled = pooled
        self._doubtful: weakref.WeakSet[Any] = weakref.WeakSet()

    async def open(self) -> Any:
        """Open a connection; behind a pooler nothing is prepared, since the next statement may meet another session."""
        _, options = self.dialect.create_connect_args(self.url)
        for word in _SQLALCHEMY_WORDS:
            options.pop(word, None)
        if self.pooled:
            options["statement_cache_size"] = 0
        # Semel's texts are few, so the long ones (a hundred rows at once) are worth keeping prepared too: 0 is no limit.
        options.setdefault("max_cacheable_statement_size", 0)
        options.setdefault("timeout", wire.CONNECT_SECONDS)
        connection = await asyncpg.connect(**options, command_timeout=wire.STATEMENT_SECONDS)
        connection.add_log_listener(self._notice_doubt)
        return connection

    def _notice_doubt(self, connection: Any, notice: Any) -> None:
        if warns_of_replication(notice.server_source_function):
            self._doubtful.add(connection)

    async def fetch(self, connection: Any, text: str, bound: Any) -> Sequence[Any]:
        """Run a statement; answer its rows."""
        rows: Sequence[Any] = await connection.fetch(text, *bound)
        return rows

    async def execute(self, connection: Any, text: str, bound: Any) -> int:
        """Run a statement; answer how many rows it matched."""
        last = (await connection.execute(text, *bound)).rsplit(" ", 1)[-1]
        return int(last) if last.isdigit() else 0  # SAVEPOINT and RELEASE are answered without a count

    async def begin(self, connection: Any) -> None:
        """Begin a transaction."""
        await connection.execute("BEGIN")

    async def commit(self, connection: Any) -> None:
        """Commit it; a transaction that had failed answers ROLLBACK, which is an error here."""
        answer = await connection.execute("COMMIT")
        if answer != "COMMIT":
            raise error("SEMEL-STORE-5", reason=f"COMMIT was answered with {answer}")

    async def rollback(self, connection: Any) -> None:
        """Roll it back."""
        await connection.execute("ROLLBACK")

    def close(self, connection: Any) -> None:
        """Close at once, without a goodbye."""
        if not connection.is_closed():
            connection.terminate()

    async def pause(self, clock: Clock, seconds: float) -> None:
        """Let others run for a while."""
        await clock.wait_async(seconds)

    def is_idle(self, connection: Any) -> bool:
        """Whether no transaction is open."""
        return not connection.is_in_transaction()

    def is_open(self, connection: Any) -> bool:
        """Whether the connection may still be used."""
        return not connection.is_closed()

    def doubts(self, connection: Any) -> bool:
        """Whether the last commit may not survive a failover; asking forgets it."""
        if connection not in self._doubtful:
            return False
        self._doubtful.discard(connection)
        return True
