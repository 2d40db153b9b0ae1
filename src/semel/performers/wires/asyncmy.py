"""asyncmy, async: MariaDB."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import asyncmy
from asyncmy.cursors import Cursor
from pymysql.constants import CLIENT, SERVER_STATUS

from semel.clock import Clock
from semel.performers.wires import wire
from semel.performers.wires.pymysql import write_settings

if TYPE_CHECKING:
    from sqlalchemy.engine import URL, Dialect

Answer = TypeVar("Answer")


class AsyncmyWire:
    """Runs statements over asyncmy connections, Semel's own or borrowed ones."""

    def __init__(self, dialect: Dialect, url: URL | None = None, *, pooled: bool = False) -> None:
        """Keep how to connect; a wire for borrowed connections needs no URL."""
        self.dialect: Any = dialect
        self.url = url
        self.pooled = pooled

    async def open(self) -> Any:
        """Open a connection in autocommit that counts matched rows and speaks all of Unicode."""
        _, options = self.dialect.create_connect_args(self.url)
        options["client_flag"] = options.get("client_flag", 0) | CLIENT.FOUND_ROWS
        options.setdefault("charset", "utf8mb4")
        options.setdefault("connect_timeout", int(wire.CONNECT_SECONDS))
        requests = count_cancellations()
        connection = await in_time(asyncmy.connect(**options, autocommit=True))
        try:
            heed_cancellations(since=requests)
            for statement in write_settings():
                await self.execute(connection, statement, ())
        except BaseException:
            self.close(connection)
            raise
        return connection

    async def fetch(self, connection: Any, text: str, bound: Any) -> Sequence[Any]:
        """Run a statement; answer its rows."""
        async with connection.cursor(Cursor) as cursor:
            await in_time(cursor.execute(text, bound))
            rows: Sequence[Any] = await cursor.fetchall()
            return rows

    async def execute(self, connection: Any, text: str, bound: Any) -> int:
        """Run a statement; answer how many rows it matched."""
        async with connection.cursor(Cursor) as cursor:
            return int(await in_time(cursor.execute(text, bound)))

    async def begin(self, connection: Any) -> None:
        """Begin a transaction."""
        await in_time(connection.begin())

    async def commit(self, connection: Any) -> None:
        """Commit it."""
        await in_time(connection.commit())

    async def rollback(self, connection: Any) -> None:
        """Roll it back."""
        await in_time(connection.rollback())

    def close(self, connection: Any) -> None:
        """Close at once, without a goodbye."""
        connection.close()

    async def pause(self, clock: Clock, seconds: float) -> None:
        """Let others run for a while."""
        await clock.wait_async(seconds)

    def is_idle(self, connection: Any) -> bool:
        """Whether no transaction is open: the server says so with every answer."""
        return not connection.server_status & SERVER_STATUS.SERVER_STATUS_IN_TRANS

    def is_open(self, connection: Any) -> bool:
        """Whether the connection may still be used."""
        return bool(connection.connected)

    def doubts(self, connection: Any) -> bool:  # noqa: ARG002 - semi-synchronous MariaDB does not say so
        """MariaDB has no such warning."""
        return False


def count_cancellations() -> int:
    """Answer how often this task was asked to stop."""
    task = asyncio.current_task()
    return 0 if task is None else task.cancelling()


def heed_cancellations(*, since: int) -> None:
    """Stop if this task was asked to: before Python 3.12 asyncio.wait_for, by which asyncmy connects, can lose the request."""
    if count_cancellations() > since:
        raise asyncio.CancelledError


async def in_time(answer: Awaitable[Answer]) -> Answer:
    """Await an answer for as long as a statement may take; later the connection counts as lost."""
    async with asyncio.timeout(wire.STATEMENT_SECONDS):
        return await answer
