"""What can go wrong between a driver and its database, as values, and the queue of what shall go wrong next."""

from __future__ import annotations

import re
from collections import deque
from dataclasses import dataclass
from typing import Literal, TypeAlias

Ending: TypeAlias = Literal["cut", "reset", "hang"]
"""How a client loses its connection: by an orderly end (FIN), by a reset (RST), or to silence that never ends."""


@dataclass(frozen=True, slots=True)
class Nth:
    """The n-th request of whatever kind, over all connections, counted from 1."""

    n: int = 1

    def __post_init__(self) -> None:
        assert self.n >= 1, "requests are counted from 1"

    def concerns(self, _texts: tuple[str, ...]) -> bool:
        """Answer True: every request counts."""
        return True


@dataclass(frozen=True, slots=True)
class Matching:
    """The n-th request that executes a statement with this regular expression in its text, whatever the case.

    A request that only prepares the statement does not match: nothing happens in the database by it.
    """

    pattern: str
    n: int = 1

    def __post_init__(self) -> None:
        assert self.n >= 1, "requests are counted from 1"

    def concerns(self, texts: tuple[str, ...]) -> bool:
        """Answer whether one of the executed texts matches. False: this request does not count."""
        return any(re.search(self.pattern, text, re.IGNORECASE | re.DOTALL) for text in texts)


When: TypeAlias = Nth | Matching


@dataclass(frozen=True, slots=True)
class Lose:
    """The request reaches the server and takes effect; its answer is swallowed and the client loses its connection.

    A hanging client keeps its session in the server alive, with its locks, until the client closes its own side.
    """

    when: When
    mode: Ending = "cut"


@dataclass(frozen=True, slots=True)
class Withhold:
    """The request never reaches the server, whose session has ended before the client loses its connection."""

    when: When
    mode: Ending = "cut"


@dataclass(frozen=True, slots=True)
class Late:
    """The client loses its connection at once; the request reaches the server only after `Proxy.release`."""

    when: When
    mode: Literal["cut", "reset"] = "cut"


@dataclass(frozen=True, slots=True)
class Cut:
    """Both sides end right before the request, as when the machine between them dies.

    The client is reset at once, so it can be back before the server has noticed and let its locks go.
    """

    when: When


Fault: TypeAlias = Lose | Withhold | Late | Cut


class Plan:
    """The faults to come, one after the other: a fault's count of requests starts when the one before it has fired."""

    def __init__(self) -> None:
        self.waiting: deque[Fault] = deque()
        self.counted = 0

    def add(self, fault: Fault) -> None:
        """Put a fault at the end of the queue."""
        self.waiting.append(fault)

    def take_for(self, texts: tuple[str, ...]) -> Fault | None:
        """Take the fault that this request meets. None: the request is carried as it is."""
        if not self.waiting or not self.waiting[0].when.concerns(texts):
            return None
        self.counted += 1
        if self.counted < self.waiting[0].when.n:
            return None
        self.counted = 0
        return self.waiting.popleft()
