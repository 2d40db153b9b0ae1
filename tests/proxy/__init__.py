"""A TCP proxy that stands between a driver and its database, counts round trips, and misbehaves on purpose.

It runs in a thread of its own, so sync and async drivers, other threads and other processes can use it alike. Methods
that wait block their caller: an async test calls them through `asyncio.to_thread`, or its own driver cannot go on.
"""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Callable
from typing import Literal, Self, TypeAlias

from sqlalchemy.engine import make_url

from tests.proxy.faults import Cut, Fault, Late, Lose, Matching, Nth, When, Withhold
from tests.proxy.mariadb import MariadbConversation
from tests.proxy.postgres import PostgresConversation
from tests.proxy.record import PATIENCE_SECONDS, Record
from tests.proxy.relay import Relay
from tests.proxy.wire import Conversation

__all__ = ["Cut", "Fault", "Late", "Lose", "Matching", "Nth", "Proxy", "When", "Withhold"]

Family: TypeAlias = Literal["postgresql", "mariadb"]
CONVERSATIONS: dict[Family, Callable[[], Conversation]] = {
    "postgresql": PostgresConversation,
    "mariadb": MariadbConversation,
}
DEFAULT_PORTS = {"postgresql": 5432, "mariadb": 3306}
BACKLOG = 256  # more than any test opens at once, so that none is refused before the proxy accepts it


class Proxy:
    """A proxy in front of one server, while its `with` block lasts.

    A trip is counted when everything a client has asked on a connection is answered: a pipelined batch is one, a lost
    answer none. Logins count neither as trips nor as requests; what a driver says right after its login, such as SET
    AUTOCOMMIT, counts like anything else, so a test connects first, then resets and plans.
    """

    def __init__(self, target_host: str, target_port: int, family: Family) -> None:
        self.make_conversation = CONVERSATIONS[family]
        first = socket.getaddrinfo(target_host, target_port, type=socket.SOCK_STREAM)[0]
        self.target_kind, self.target = first[0], first[4]
        self.record = Record()

    @classmethod
    def before(cls, url: str) -> Self:
        """Make a proxy for the server that a database URL names."""
        parsed = make_url(url)
        family: Family = "postgresql" if parsed.get_backend_name() == "postgresql" else "mariadb"
        return cls(parsed.host or "127.0.0.1", parsed.port or DEFAULT_PORTS[family], family)

    def url(self, url: str) -> str:
        """Answer the same URL, through this proxy."""
        return make_url(url).set(host="127.0.0.1", port=self.port).render_as_string(hide_password=False)

    @property
    def trips(self) -> int:
        """How many exchanges were finished since the last reset."""
        return self.record.trips

    @property
    def statements(self) -> list[str]:
        """The SQL texts that clients asked to execute since the last reset, in order, withheld ones included."""
        return list(self.record.statements)

    @property
    def fired(self) -> list[Fault]:
        """The faults that happened since the last reset, in order."""
        return list(self.record.fired)

    def reset(self) -> None:
        """Forget trips, statements and fired faults; what is planned stays planned."""
        self.record.reset()

    def plan(self, fault: Fault) -> None:
        """Let this fault happen once, after those already planned."""
        with self.record.changed:
            self.record.plan.add(fault)

    def release(self) -> None:
        """Let the held requests reach the server."""
        self.record.release()

    def settled(self) -> None:
        """Wait until a fault has fired and all that have fired have had their whole effect on the server."""
        self.record.wait_until_settled()

    def wait_for_statement(self, pattern: str) -> None:
        """Wait until a client has sent a statement like this since the last reset."""
        self.record.wait_for_statement(pattern)

    def __enter__(self) -> Self:
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=BACKLOG)
        self.listener.settimeout(0)
        self.port: int = self.listener.getsockname()[1]
        self.started = threading.Event()
        self.thread = threading.Thread(target=self.run, name="fault proxy", daemon=True)
        self.thread.start()
        self.started.wait(PATIENCE_SECONDS)
        return self

    def __exit__(self, kind: type[BaseException] | None, *_rest: object) -> None:
        self.loop.call_soon_threadsafe(self.stopping.set)
        self.thread.join(PATIENCE_SECONDS)
        assert not self.thread.is_alive(), "the proxy's thread did not end"
        if kind is None and self.record.problems:
            raise self.record.problems[0]

    def run(self) -> None:
        """Serve in this thread until the proxy is stopped, on Python's own loop whatever policy the test has set."""
        with self.listener, asyncio.Runner(loop_factory=asyncio.SelectorEventLoop) as runner:
            runner.run(self.serve())

    async def serve(self) -> None:
        """Accept and carry connections until the proxy is stopped; the end of the loop then ends every task."""
        self.loop, self.stopping = asyncio.get_running_loop(), asyncio.Event()
        self.tasks = {asyncio.create_task(self.accept())}
        self.started.set()
        await self.stopping.wait()

    async def accept(self) -> None:
        """Give each connection a task of its own."""
        while True:
            client, _ = await self.loop.sock_accept(self.listener)
            task = asyncio.create_task(self.relay(client))
            self.tasks.add(task)  # the loop itself holds no task alive
            task.add_done_callback(self.tasks.discard)

    async def relay(self, client: socket.socket) -> None:
        """Carry one connection from its beginning to its end; a server that is not there ends it at once."""
        with client, socket.socket(self.target_kind, socket.SOCK_STREAM) as server:
            for side in (client, server):
                side.settimeout(0)
                side.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # or small messages wait for each other
            try:
                await self.loop.sock_connect(server, self.target)
                await Relay(client, server, self.make_conversation(), self.record).carry()
            except OSError:
                return
            except Exception as problem:  # noqa: BLE001 - whatever it is, the test hears of it when its block ends
                self.record.note_problem(problem)
