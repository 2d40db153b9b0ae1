"""What a wire protocol tells the relay: pieces of what the client said, and whether all of it has been answered."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias


@dataclass(frozen=True, slots=True)
class Request:
    """Messages that are sent together and answered together, and the SQL texts they execute."""

    raw: bytes
    texts: tuple[str, ...]
    awaits: Any
    """By what its conversation recognises the end of the answer; nobody else looks into it."""


@dataclass(frozen=True, slots=True)
class Pass:
    """Bytes for the server that are no request: a login, a farewell, data of a statement under way."""

    raw: bytes


@dataclass(frozen=True, slots=True)
class Reply:
    """Bytes the proxy answers by itself."""

    raw: bytes


Piece: TypeAlias = Request | Pass | Reply


class Conversation(Protocol):
    """One connection as its wire protocol sees it. It decides and does no input or output."""

    @property
    def idle(self) -> bool:
        """Whether every request that was sent has been answered to its end."""

    def hear_client(self, data: bytes) -> Iterator[Piece]:
        """Cut what the client sent into pieces; what is not complete yet is kept for the next time."""

    def note_sent(self, request: Request) -> None:
        """Learn that a request is on its way to the server."""

    def hear_server(self, data: bytes) -> bytes:
        """Learn what the server sent, and answer what the client is to receive."""


class WireError(Exception):
    """Something was said that the proxy does not understand: teach it, or let the test avoid it."""
