"""PostgreSQL's protocol 3, just enough of it to know where a request and its answer end.

A request ends with a Query, a Sync, a Flush or a function call; until then messages are collected, so a request is sent
or withheld as a whole. Each message but Flush is answered by messages of known kinds, and an error makes the server
skip to the next Sync. COPY counts as one request with its data. Encryption is declined, so that the texts can be read.
"""

from __future__ import annotations

import struct
from collections import deque
from collections.abc import Iterator

from tests.proxy.wire import Pass, Piece, Reply, Request, WireError

SSL_REQUEST, GSS_REQUEST = 80877103, 80877104
DECLINED = Reply(b"N")

PASSED = b"pXdcf"  # a password, a farewell, and the data, the end and the failure of a COPY
ENDING = b"QSHF"  # Query, Sync, Flush, function call
# What answers a message: each string is one awaited message and holds the kinds it may be of.
ANSWERS: dict[int, tuple[str, ...]] = {
    ord("P"): ("1",),  # Parse: ParseComplete
    ord("B"): ("2",),  # Bind: BindComplete
    ord("C"): ("3",),  # Close: CloseComplete
    ord("E"): ("CIs",),  # Execute: CommandComplete, EmptyQueryResponse or PortalSuspended
    ord("H"): (),  # Flush only asks for the answers so far
    ord("Q"): ("Z",),  # Query, Sync and function call: ReadyForQuery
    ord("S"): ("Z",),
    ord("F"): ("Z",),
}
DESCRIBED = {ord("S"): ("t", "Tn"), ord("P"): ("Tn",)}  # a statement has parameters and rows, a portal only rows


class PostgresConversation:
    """One connection to PostgreSQL."""

    def __init__(self) -> None:
        self.from_client, self.from_server = bytearray(), bytearray()
        self.started = False
        self.collected = bytearray()
        self.texts: list[str] = []
        self.awaits: list[str] = []
        self.awaited: deque[str] = deque()
        self.skipping_to_sync = False
        self.statements: dict[bytes, str] = {}
        self.portals: dict[bytes, str] = {}

    @property
    def idle(self) -> bool:
        """Whether every request that was sent has been answered to its end."""
        return not self.awaited

    def hear_client(self, data: bytes) -> Iterator[Piece]:
        """Cut what the client sent into pieces."""
        self.from_client += data
        while not self.started and (raw := take_message(self.from_client, kind_bytes=0)):
            yield self.open_with(raw)
        while self.started and (raw := take_message(self.from_client, kind_bytes=1)):
            if raw[0] in PASSED:
                yield Pass(raw)
                continue
            self.collect(raw)
            if raw[0] in ENDING:
                yield self.finish_request()

    def open_with(self, raw: bytes) -> Piece:
        """Answer what becomes of a first message: it has no kind, only a number."""
        if struct.unpack_from("!I", raw, 4)[0] in (SSL_REQUEST, GSS_REQUEST):
            return DECLINED
        self.started = True  # or it cancels, and then nothing follows
        return Pass(raw)

    def collect(self, raw: bytes) -> None:
        """Add a message to the request, and learn which text it prepares, binds or executes."""
        kind, words = raw[0], raw[5:].split(b"\0", 2)
        if kind == ord("P"):
            self.statements[words[0]] = words[1].decode(errors="replace")
        elif kind == ord("B"):
            self.portals[words[0]] = self.statements.get(words[1], "")
        elif kind == ord("E"):
            self.texts.append(self.portals.get(words[0], ""))
        elif kind == ord("Q"):
            self.texts.append(words[0].decode(errors="replace"))
        elif kind not in ANSWERS and kind != ord("D"):
            raise WireError(f"a PostgreSQL client sent a message of the unknown kind {chr(kind)!r}")
        self.awaits += DESCRIBED[raw[5]] if kind == ord("D") else ANSWERS[kind]
        self.collected += raw

    def finish_request(self) -> Request:
        """Make a request of the collected messages."""
        request = Request(bytes(self.collected), tuple(self.texts), tuple(self.awaits))
        self.collected, self.texts, self.awaits = bytearray(), [], []
        return request

    def note_sent(self, request: Request) -> None:
        """Await the answers of a request; after an error the server leaves out those before the next Sync."""
        awaits = request.awaits
        if self.skipping_to_sync:
            awaits = ("Z",) if "Z" in awaits else ()
            self.skipping_to_sync = not awaits
        self.awaited.extend(awaits)

    def hear_server(self, data: bytes) -> bytes:
        """Learn what the server sent; the client receives just that."""
        self.from_server += data
        while raw := take_message(self.from_server, kind_bytes=1):
            self.hear_answer(chr(raw[0]))
        return data

    def hear_answer(self, kind: str) -> None:
        """Cross an answer off. Notices, rows and settings are no end of anything."""
        if kind == "E" and self.awaited:
            self.skip_to_sync()
        elif self.awaited and kind in self.awaited[0]:
            self.awaited.popleft()

    def skip_to_sync(self) -> None:
        """Await nothing before the next ReadyForQuery; if its Sync was not sent yet, await nothing at all."""
        while self.awaited and self.awaited[0] != "Z":
            self.awaited.popleft()
        self.skipping_to_sync = not self.awaited


def take_message(received: bytearray, *, kind_bytes: int) -> bytes:
    """Take one whole message out of what was received. Empty: it is not complete yet."""
    if len(received) < kind_bytes + 4:
        return b""
    size = kind_bytes + struct.unpack_from("!I", received, kind_bytes)[0]
    if len(received) < size:
        return b""
    raw = bytes(received[:size])
    del received[:size]
    return raw
