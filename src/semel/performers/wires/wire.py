"""What a driver's wire can do. A sync wire answers; an async wire answers with something to await."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

from semel.clock import Clock

if TYPE_CHECKING:
    from sqlalchemy.engine import Dialect

STATEMENT_SECONDS = 15.0
"""How long an answer may take before the connection counts as lost: three lock waits, as a statement may meet several."""

CONNECT_SECONDS = 10.0
"""How long opening a connection may take."""


class Wire(Protocol):
    """One driver. The questions `is_idle`, `is_open` and `doubts` are local: they send nothing and never wait."""

    dialect: Dialect

    def open(self) -> Any:
        """Open a connection in autocommit."""

    def fetch(self, connection: Any, text: str, bound: Any) -> Any:
        """Run a statement; answer its rows."""

    def execute(self, connection: Any, text: str, bound: Any) -> Any:
        """Run a statement; answer how many rows it matched."""

    def begin(self, connection: Any) -> Any:
        """Begin a transaction."""

    def commit(self, connection: Any) -> Any:
        """Commit it."""

    def rollback(self, connection: Any) -> Any:
        """Roll it back."""

    def close(self, connection: Any) -> None:
        """Close the connection at once, without waiting for the server."""

    def pause(self, clock: Clock, seconds: float) -> Any:
        """Let time pass."""

    def is_idle(self, connection: Any) -> bool:
        """Whether no transaction is open."""

    def is_open(self, connection: Any) -> bool:
        """Whether the connection may still be used."""

    def doubts(self, connection: Any) -> bool:
        """Whether the server said that the last commit may not survive a failover; asking forgets it."""


Rows = Sequence[Sequence[Any]]
