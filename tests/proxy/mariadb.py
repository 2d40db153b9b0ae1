"""MariaDB's protocol, just enough of it to know where a request and its answer end.

A request is one command. Its answer is read by a small generator that is sent packet after packet and returns with the
last one. What would make answers harder to read is taken out of the server's greeting, so that no client asks for it.
"""

from __future__ import annotations

import struct
from collections import deque
from collections.abc import Callable, Generator, Iterator
from functools import partial
from typing import TypeAlias

from tests.proxy.wire import Pass, Piece, Request, WireError

Answer: TypeAlias = Generator[None, bytes, None]

LONGEST_PACKET = 0xFFFFFF  # a packet of this length is continued by the next one
OK, END, ERROR = 0x00, 0xFE, 0xFF  # how a packet that is no row begins
MORE_RESULTS = 0x0008
LAST_PREPARED = 0xFFFFFFFF  # how an execution names a statement whose number the client has not heard yet

# Compression, files sent by the client, encryption, answers without END packets or column names, query attributes.
TAKEN_OUT = 1 << 5 | 1 << 7 | 1 << 11 | 1 << 24 | 1 << 25 | 1 << 26 | 1 << 27

QUERY, PREPARE, EXECUTE, EXECUTE_BULK = 0x03, 0x16, 0x17, 0xFA
UNANSWERED = {0x01, 0x18, 0x19}  # quit, send long data, close statement
ANSWERED_AT_ONCE = {0x02, 0x09, 0x0D, 0x0E, 0x1A, 0x1B, 0x1F}  # use, statistics, debug, ping, three kinds of reset
ANSWERED_BY_ROWS = {0x04, 0x1C}  # list fields, fetch


class MariadbConversation:
    """One connection to MariaDB."""

    def __init__(self) -> None:
        self.from_client, self.from_server = bytearray(), bytearray()
        self.greeted = self.logged_in = False
        self.answers: deque[Answer] = deque()
        self.statements: dict[int, str] = {}

    @property
    def idle(self) -> bool:
        """Whether every request that was sent has been answered to its end."""
        return not self.answers

    def hear_client(self, data: bytes) -> Iterator[Piece]:
        """Cut what the client sent into commands; before the login is over, hand everything on."""
        self.from_client += data
        while raw := take_packet(self.from_client):
            yield self.read_command(raw) if self.logged_in else Pass(raw)

    def read_command(self, raw: bytes) -> Piece:
        """Answer which request a packet is, and what its answer looks like."""
        command, text = raw[4], join_payload(raw)[1:]
        if command in UNANSWERED:
            return Pass(raw)
        if command in ANSWERED_AT_ONCE:
            return Request(raw, (), hear_one)
        if command in ANSWERED_BY_ROWS:
            return Request(raw, (), hear_rows)
        if command == QUERY:
            return Request(raw, (text.decode(errors="replace"),), hear_results)
        if command in (EXECUTE, EXECUTE_BULK):
            return Request(raw, (self.statements.get(struct.unpack_from("<I", text)[0], ""),), hear_results)
        if command == PREPARE:
            self.statements[LAST_PREPARED] = prepared = text.decode(errors="replace")
            return Request(raw, (), partial(self.hear_prepared, prepared))
        raise WireError(f"a MariaDB client sent the unknown command {command:#04x}")

    def hear_prepared(self, text: str) -> Answer:
        """Hear the number of a prepared statement, then its parameters and columns, if there are any."""
        first = yield
        if first[0] == OK:
            number, columns, parameters = struct.unpack_from("<IHH", first, 1)
            self.statements[number] = text
            for described in (parameters, columns):
                if described:
                    yield from hear_rows()

    def note_sent(self, request: Request) -> None:
        """Await the answer of a request."""
        begin: Callable[[], Answer] = request.awaits
        answer = begin()
        next(answer)
        self.answers.append(answer)

    def hear_server(self, data: bytes) -> bytes:
        """Learn what the server sent, and answer it in whole packets."""
        self.from_server += data
        heard = []
        while raw := take_packet(self.from_server):
            heard.append(self.hear_packet(raw))
        return b"".join(heard)

    def hear_packet(self, raw: bytes) -> bytes:
        """Learn one packet: the greeting, a step of the login, or a part of an answer."""
        if not self.greeted:
            self.greeted = True
            return simplify_greeting(raw)
        if not self.logged_in:
            self.logged_in = raw[4] == OK
        elif self.answers:
            try:
                self.answers[0].send(join_payload(raw))
            except StopIteration:
                self.answers.popleft()
        return raw


def hear_one() -> Answer:
    """Hear the one packet that is the whole answer."""
    yield


def hear_rows() -> Generator[None, bytes, bool]:
    """Hear packets up to an END or an error, and answer whether another result follows."""
    while True:
        packet = yield
        if packet[0] == ERROR:
            return False
        if packet[0] == END and len(packet) < 9:  # a row can begin so too, and is longer then
            return bool(struct.unpack_from("<H", packet, 3)[0] & MORE_RESULTS)


def hear_results() -> Answer:
    """Hear the results of a query: each is an OK, an error, or columns and rows."""
    more = True
    while more:
        first = yield
        if first[0] == OK:
            more = bool(read_ok_status(first) & MORE_RESULTS)
        elif first[0] == ERROR:
            more = False
        else:
            yield from hear_rows()
            more = yield from hear_rows()


def read_ok_status(packet: bytes) -> int:
    """Answer the status of an OK packet; it stands behind two numbers of varying length."""
    at = 1
    for _ in range(2):  # the rows touched and the id made
        at += {0xFC: 3, 0xFD: 4, 0xFE: 9}.get(packet[at], 1)
    return int(struct.unpack_from("<H", packet, at)[0])


def simplify_greeting(raw: bytes) -> bytes:
    """Take out of a greeting what would make answers harder to read. A refusal stays as it is."""
    if raw[4] == ERROR:
        return raw
    greeting = bytearray(raw)
    # Behind the server's version: the session's number, half of the salt and a filler; then the low half of what the
    # server offers, its character set and status, the high half, and at last what only MariaDB offers.
    low = greeting.index(0, 5) + 1 + 4 + 8 + 1
    high, only_mariadb = low + 5, low + 14
    offered = struct.unpack_from("<H", greeting, low)[0] | struct.unpack_from("<H", greeting, high)[0] << 16
    offered &= ~TAKEN_OUT
    struct.pack_into("<H", greeting, low, offered & 0xFFFF)
    struct.pack_into("<H", greeting, high, offered >> 16)
    struct.pack_into("<I", greeting, only_mariadb, 0)
    return bytes(greeting)


def take_packet(received: bytearray) -> bytes:
    """Take one whole packet, with those that continue it, out of what was received. Empty: it is not complete yet."""
    end = 0
    while len(received) >= end + 4:
        length = int.from_bytes(received[end : end + 3], "little")
        end += 4 + length
        if length < LONGEST_PACKET and len(received) >= end:
            raw = bytes(received[:end])
            del received[:end]
            return raw
    return b""


def join_payload(raw: bytes) -> bytes:
    """Answer what a packet carries, without the headers of those that continue it."""
    step = 4 + LONGEST_PACKET
    return b"".join(raw[at + 4 : at + step] for at in range(0, len(raw), step))
