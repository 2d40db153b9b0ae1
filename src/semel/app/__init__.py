"""`Semel`: the sync composition root."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterable, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar, overload

from semel.app.setup import CONNECTIONS_LIMIT, Setup, read_setup
from semel.app.verbs import Verb, Words, transition_one, transition_several
from semel.clock import Clock
from semel.errors import error
from semel.outcomes import Missed, Moved
from semel.performers.handles import borrow, forget_moved
from semel.performers.opening import look_around, open_sync
from semel.performers.wanted import Wanted
from semel.protocols.boot import check_counting
from semel.store.declared import Declared
from semel.store.meta import Meta
from semel.store.transitions import Moves

if TYPE_CHECKING:
    from semel.performers.kinds import SyncHandle

Answer = TypeVar("Answer")
Row = TypeVar("Row")


class Table(Generic[Row]):
    """One table of yours, as Semel moves its rows; `Semel.table` makes it."""

    def __init__(self, once: Semel, declared: Declared) -> None:
        """Keep what was declared; boot checks it."""
        self._once = once
        self._declared = declared

    def __repr__(self) -> str:
        return f"<Table {self._declared.qualified}>"

    def transition(
        self,
        id: Any,  # noqa: A002 - the word its users have for it
        source: Any,
        *,
        to: Any,
        by: str | None = None,
        on: SyncHandle | None = None,
        where: Mapping[str, Any] | None = None,
        **guards: Any,
    ) -> Moved | Missed:
        """Move one row from a source status to another, if it is there and the guards hold; its version grows by one.

        `Missed(now)` means that nothing was written, and says in which status the row is. With `on=` it happens in your
        transaction, and the answer is provisional until you commit.
        """
        words = Words(source, to, by, where, guards)
        return self._once._run(self._declared, lambda moves: transition_one(moves, id, words), on)  # noqa: SLF001 - one room

    def transition_many(
        self,
        ids: Iterable[Any],
        source: Any,
        *,
        to: Any,
        by: str | None = None,
        on: SyncHandle | None = None,
        where: Mapping[str, Any] | None = None,
        **guards: Any,
    ) -> dict[Any, Moved | Missed]:
        """Move many rows in one transaction and answer for each of them, in the order given.

        Rows that are elsewhere stay as they are and are `Missed`; a row that does not exist makes the whole call an error.
        """
        words = Words(source, to, by, where, guards)
        return self._once._run(self._declared, lambda moves: transition_several(moves, ids, words), on)  # noqa: SLF001 - one room


class Semel:
    """State machines over your own tables that happen once. `url` names the database that holds them.

    `pooled=True` is for a connection pooler in transaction mode (pgbouncer) between here and PostgreSQL.
    """

    def __init__(
        self,
        url: str,
        *,
        prefix: str = "semel_",
        schema: str | None = None,
        connections_limit: int = CONNECTIONS_LIMIT,
        pooled: bool = False,
        clock: Clock | None = None,
    ) -> None:
        """Read the settings; nothing is opened before boot or the first verb."""
        self._setup: Setup = read_setup(
            url,
            is_async=False,
            prefix=prefix,
            schema=schema,
            connections_limit=connections_limit,
            pooled=pooled,
            clock=clock,
        )
        setup = self._setup
        self._performer = open_sync(
            setup.url, setup.clock, setup.ground.read_clock, connections_limit=connections_limit, pooled=pooled
        )
        self._booting = threading.Lock()

    def __repr__(self) -> str:
        return f"<Semel {self._setup.url.render_as_string(hide_password=True)}>"

    def __enter__(self) -> Self:
        """Boot."""
        self.boot()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close."""
        self.close()

    @overload
    def table(
        self,
        table: type[Row],
        *,
        status: Any = ...,
        version: Any = ...,
        id: Any = ...,
        status_values: Mapping[str, int] | None = ...,
    ) -> Table[Row]: ...
    @overload
    def table(
        self,
        table: Any,
        *,
        status: Any = ...,
        version: Any = ...,
        id: Any = ...,
        status_values: Mapping[str, int] | None = ...,
    ) -> Table[Any]: ...
    def table(
        self,
        table: Any,
        *,
        status: Any = "status",
        version: Any = "version",
        id: Any = None,  # noqa: A002 - the word its users have for it
        status_values: Mapping[str, int] | None = None,
    ) -> Table[Any]:
        """Answer the handle of a table of yours: a mapped class, a Table, or a name. Its columns are checked at boot."""
        return Table(
            self, self._setup.declare(table, status=status, version=version, id=id, status_values=status_values)
        )

    def boot(self) -> None:
        """Check the database, Semel's tables and yours; refuse to start on anything that cannot be safe."""
        refuse_running_loop("boot")
        with self._booting:
            look_around(self._setup.url, self._setup.look)
            if not self._setup.booted:
                self._performer.perform(check_counting(Meta(self._setup.ground), self._setup.url.drivername))
                self._setup.booted = True

    def create_tables(self) -> None:
        """Create Semel's own tables where they are missing; yours are never touched."""
        refuse_running_loop("create_tables")
        look_around(self._setup.url, self._setup.create)

    def close(self) -> None:
        """Close every connection; what is called afterwards is refused."""
        self._performer.close()

    def _run(self, declared: Declared, read: Callable[[Moves], Verb[Answer]], on: Any) -> Answer:
        """Perform a verb, on a connection of our own or on a borrowed handle."""
        moves = self._setup.moves_of(declared)
        if moves is None:
            self.boot()
            moves = self._setup.bound[id(declared)]
        verb = read(moves)
        refuse_running_loop(verb.name)
        if on is None:
            return self._performer.perform(verb.own())
        borrowed = borrow(on, Wanted(self._setup.family, verb.name), declared.mapper)
        answer = self._performer.perform_on(borrowed.wire, borrowed.handle, verb.joined())
        if borrowed.session is not None:
            forget_moved(borrowed.session, declared, moves.entity.id.name, verb.rows)
        return answer


def refuse_running_loop(verb: str) -> None:
    """A sync verb inside a running event loop would stop every task in it."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return
    raise error("SEMEL-APP-1", verb=verb)


__all__ = ["Semel", "Table"]
