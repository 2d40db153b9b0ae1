"""Carries one client's connection to the server and back, and misbehaves where the plan says so.

Two tasks read, one from each side; only the reader of the client's side meets faults. A fault begins when everything
that was asked before it has been answered, so it never takes an earlier answer with it. An end of the server's side is
passed on by shutting down the client's, which wakes the other reader.
"""

from __future__ import annotations

import asyncio
import socket
import struct
from contextlib import suppress

from tests.proxy.faults import Cut, Ending, Fault, Late, Lose, Withhold
from tests.proxy.record import Record
from tests.proxy.wire import Conversation, Pass, Reply, Request

CHUNK_BYTES = 65536  # one read; larger answers come in several
FAREWELL_SECONDS = 5  # a server ends an idle session in milliseconds; one that does not must not hold up the test


class Relay:
    """One client's connection and the server's connection behind it."""

    def __init__(
        self, client: socket.socket, server: socket.socket, conversation: Conversation, record: Record
    ) -> None:
        self.client, self.server = client, server
        self.conversation = conversation
        self.record = record
        self.quiet = asyncio.Event()
        self.quiet.set()
        self.misbehaving = self.server_gone = False

    async def carry(self) -> None:
        """Carry until one side ends or a fault has taken its course."""
        async with asyncio.TaskGroup() as both:
            self.answers = both.create_task(self.carry_answers())
            await self.carry_requests()
            self.answers.cancel()

    async def carry_requests(self) -> None:
        """Carry what the client says, request by request."""
        while data := await read(self.client):
            for piece in self.conversation.hear_client(data):
                if isinstance(piece, Reply):
                    await send(self.client, piece.raw)
                elif isinstance(piece, Pass):
                    await send(self.server, piece.raw)
                elif fault := self.record.note_request(piece.texts):
                    await self.misbehave(fault, piece)
                    return
                else:
                    await self.ask(piece)

    async def ask(self, request: Request) -> None:
        """Send a request; `quiet` is set again by the last part of its answer."""
        self.conversation.note_sent(request)
        if not self.server_gone and not self.conversation.idle:
            self.quiet.clear()
        await send(self.server, request.raw)

    async def carry_answers(self) -> None:
        """Carry what the server says. A trip counts before the client can know of its end."""
        while data := await read(self.server):
            was_busy = not self.conversation.idle
            said = self.conversation.hear_server(data)
            if not self.misbehaving:
                if was_busy and self.conversation.idle:
                    self.record.note_trip()
                await send(self.client, said)
            if self.conversation.idle:
                self.quiet.set()
        self.server_gone = True
        self.quiet.set()
        if not self.misbehaving:
            shut(self.client)

    async def misbehave(self, fault: Fault, request: Request) -> None:
        """Let a fault take its course, and leave the client where it ends."""
        await self.quiet.wait()
        self.misbehaving = True
        ending: Ending = "reset" if isinstance(fault, Cut) else fault.mode
        match fault:
            case Lose():
                await self.lose_answer(request, ending)
            case Withhold():
                await self.leave_server()
            case Late():
                await self.ask_late(request, ending)
            case Cut():
                shut(self.server)
        self.record.note_effect()
        await self.end_client(ending)

    async def lose_answer(self, request: Request, ending: Ending) -> None:
        """Let the server answer to nobody. Behind a hanging client its session lives on, as behind a broken line."""
        await self.ask(request)
        await self.quiet.wait()
        if ending != "hang":
            await self.leave_server()

    async def ask_late(self, request: Request, ending: Ending) -> None:
        """End the client at once, and send its request when the test says so."""
        loop, released = asyncio.get_running_loop(), asyncio.Event()
        self.record.hold(lambda: loop.call_soon_threadsafe(released.set))
        await self.end_client(ending)
        await released.wait()
        await self.ask(request)
        await self.quiet.wait()

    async def leave_server(self) -> None:
        """End the server's session and wait until the server has closed it too, so that its locks are gone or about to go."""
        with suppress(OSError):
            self.server.shutdown(socket.SHUT_WR)
        await asyncio.wait([self.answers], timeout=FAREWELL_SECONDS)

    async def end_client(self, mode: Ending) -> None:
        """Take the connection from the client, or leave it without a word until it goes by itself."""
        if mode == "hang":
            while await read(self.client):
                pass
        elif mode == "reset":
            reset(self.client)
        else:
            shut(self.client)


async def read(connection: socket.socket) -> bytes:
    """Read what has come in. Empty: the connection has ended, one way or another."""
    try:
        return await asyncio.get_running_loop().sock_recv(connection, CHUNK_BYTES)
    except OSError:
        return b""


async def send(connection: socket.socket, data: bytes) -> None:
    """Send everything. If the connection has ended, its reader will notice."""
    with suppress(OSError):
        await asyncio.get_running_loop().sock_sendall(connection, data)


def shut(connection: socket.socket) -> None:
    """End a connection in both directions, also for a process that inherited a copy of it."""
    with suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)


def reset(connection: socket.socket) -> None:
    """End a connection with a reset: lingering for zero seconds means just that."""
    with suppress(OSError):  # it has ended already
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()
