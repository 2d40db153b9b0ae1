"""`AsyncSemel`: the async composition root."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterable, Mapping
from contextlib import asynccontextmanager
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar, overload
from weakref import WeakKeyDictionary

from sqlalchemy.ext.asyncio import AsyncEngine

from semel.app.boot import read_workflows
from semel.app.keeping import list_duties
from semel.app.setup import CONNECTIONS_LIMIT, LEASE_SECONDS, Bound, Setup, read_setup
from semel.app.verbs import StepCall, Verb, Words, advance_one, transition_one, transition_several
from semel.clock import Clock
from semel.errors import error
from semel.keepers.rounds import SWEEP_SECONDS, AsyncRounds, Beat
from semel.outcomes import Missed, Moved, Outcome
from semel.performers.actors import AsyncActors, Troupe
from semel.performers.engines import LoopEngines, make_async_engine
from semel.performers.handles import borrow_async
from semel.performers.heart import AsyncHeart
from semel.performers.objects import reload_moved
from semel.performers.opening import look_around_async, open_async, show
from semel.performers.wanted import Wanted
from semel.protocols.boot import check_counting
from semel.protocols.heartbeat import beat_claims
from semel.store.declared import Declared
from semel.store.meta import Meta

if TYPE_CHECKING:
    from semel.performers.effects import AsyncEffect
    from semel.performers.kinds import AsyncHandle
    from semel.performers.steps import AsyncStep

Answer = TypeVar("Answer")
Row = TypeVar("Row")
Action = TypeVar("Action", bound="Callable[[AsyncStep[Any]], Awaitable[Any]]")
Handler = TypeVar("Handler", bound="Callable[[AsyncEffect], Awaitable[Any]]")


class AsyncTable(Generic[Row]):
    """One table of yours, as Semel moves its rows; `AsyncSemel.table` makes it."""

    def __init__(self, once: AsyncSemel, declared: Declared) -> None:
        """Keep what was declared; boot checks it."""
        self._once = once
        self._declared = declared

    def __repr__(self) -> str:
        return f"<AsyncTable {self._declared.qualified}>"

    async def transition(
        self,
        id: Any,  # noqa: A002 - the word its users have for it
        source: Any,
        *,
        to: Any,
        by: str | None = None,
        on: AsyncHandle | None = None,
        where: Mapping[str, Any] | None = None,
        **guards: Any,
    ) -> Moved | Missed:
        """Move one row from a source status to another, if it is there and the guards hold; its version grows by one.

        `Missed(now)` means that nothing was written, and says in which status the row is. With `on=` it happens in your
        transaction, and the answer is provisional until you commit.
        """
        words = Words(source, to, by, where, guards)
        read = partial(transition_one, row=id, words=words)
        return await self._once._run(self._declared, read, on)  # noqa: SLF001 - one room

    async def transition_many(
        self,
        ids: Iterable[Any],
        source: Any,
        *,
        to: Any,
        by: str | None = None,
        on: AsyncHandle | None = None,
        where: Mapping[str, Any] | None = None,
        **guards: Any,
    ) -> dict[Any, Moved | Missed]:
        """Move many rows in one transaction and answer for each of them, in the order given.

        Rows that are elsewhere stay as they are and are `Missed`; a row that does not exist makes the whole call an error.
        """
        words = Words(source, to, by, where, guards)
        read = partial(transition_several, rows=ids, words=words)
        return await self._once._run(self._declared, read, on)  # noqa: SLF001 - one room

    async def advance(
        self,
        id: Any,  # noqa: A002 - the word its users have for it
        step: str,
        *,
        by: str | None = None,
        input: Any = None,  # noqa: A002 - the word its readers have for it
        on: AsyncHandle | None = None,
    ) -> Outcome:
        """Take a step of the table's workflow on one row, on behalf of a requester.

        Only `Done` is true. Losing a race, a validator's no, a status where the step does not begin: each is an answer.
        What the action raises is raised here, after its claim was released. With `on=` (only for a step without a claim
        or calls) it happens in your transaction.
        """
        setup = self._once._setup  # noqa: SLF001 - one room
        call = StepCall(step, by, input, setup.owner, setup.settings.lease_seconds)
        read = partial(advance_one, row=id, call=call)
        return await self._once._run(self._declared, read, on)  # noqa: SLF001 - one room


class AsyncSemel:
    """State machines over your own tables that happen once. `url` names the database that holds them.

    `workflows` names files, folders or dicts; `modules` those to import at boot, where actions and janitors are
    registered. `pooled=True` is for a pooler in transaction mode (pgbouncer) between here and PostgreSQL.
    """

    def __init__(
        self,
        url: str,
        *,
        workflows: Any = (),
        modules: Collection[str] = (),
        lease_seconds: float = LEASE_SECONDS,
        prefix: str = "semel_",
        schema: str | None = None,
        connections_limit: int = CONNECTIONS_LIMIT,
        pooled: bool = False,
        clock: Clock | None = None,
    ) -> None:
        """Read the settings; nothing is opened before boot or the first verb."""
        self._setup: Setup = read_setup(
            url,
            is_async=True,
            prefix=prefix,
            schema=schema,
            connections_limit=connections_limit,
            pooled=pooled,
            clock=clock,
            workflows=workflows,
            modules=modules,
            lease_seconds=lease_seconds,
        )
        settings, ground = self._setup.settings, self._setup.ground
        self._performer = open_async(
            settings.url, settings.clock, ground.read_clock, connections_limit=connections_limit, pooled=pooled
        )
        troupe = Troupe(self._setup.registry, settings.clock, ground.read_clock, self._setup.outbox.note_delivery_once)
        make = partial(make_async_engine, settings.url, settings.connections_limit, pooled=settings.pooled)
        self._engines = LoopEngines(make)
        self._performer.engage(AsyncActors(troupe, self._engines.find, AsyncHeart(settings.clock, self._beat)))
        self._booting = LoopLock()

    def __repr__(self) -> str:
        return f"<AsyncSemel {show(self._setup.settings.url)}>"

    async def __aenter__(self) -> Self:
        """Boot."""
        await self.boot()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close."""
        await self.close()

    @overload
    def table(
        self,
        table: type[Row],
        *,
        status: Any = ...,
        version: Any = ...,
        id: Any = ...,
        status_values: Mapping[str, int] | None = ...,
        allow: Collection[tuple[str, str]] = ...,
    ) -> AsyncTable[Row]: ...
    @overload
    def table(
        self,
        table: Any,
        *,
        status: Any = ...,
        version: Any = ...,
        id: Any = ...,
        status_values: Mapping[str, int] | None = ...,
        allow: Collection[tuple[str, str]] = ...,
    ) -> AsyncTable[Any]: ...
    def table(
        self,
        table: Any,
        *,
        status: Any = "status",
        version: Any = "version",
        id: Any = None,  # noqa: A002 - the word its users have for it
        status_values: Mapping[str, int] | None = None,
        allow: Collection[tuple[str, str]] = (),
    ) -> AsyncTable[Any]:
        """Answer the handle of a table of yours: a mapped class, a Table, or a name. Its columns are checked at boot.

        `allow` lists moves that `transition` may make although no step of the workflow declares them.
        """
        declared = self._setup.declare(
            table, status=status, version=version, id=id, status_values=status_values, allow=allow
        )
        return AsyncTable(self, declared)

    def action(self, name: str, *, idempotent: bool = True) -> Callable[[Action], Action]:
        """Register the function whose writes are a step. With `idempotent=False` its steps must claim the row."""
        return self._setup.registry.register("actions", name, idempotent=idempotent)

    def validator(self, name: str) -> Callable[[Action], Action]:
        """Register a function that may say no to a step: it returns the reason, or None."""
        return self._setup.registry.register("validators", name)

    def effect(self, name: str) -> Callable[[Handler], Handler]:
        """Register the handler of an after-effect."""
        return self._setup.registry.register("effects", name)

    def janitor(self, module: str) -> None:
        """Say that the claims of this module's workflows are looked after; without it, boot refuses them."""
        self._setup.registry.janitors.add(module)

    async def boot(self) -> None:
        """Check the workflows, the database, Semel's tables and yours; refuse to start on anything that cannot be safe."""
        async with self._booting:
            await self._boot(counting=True)

    async def _boot(self, *, counting: bool) -> None:
        """Boot, holding the lock."""
        setup = self._setup
        setup.declare_tables_of(read_workflows(setup))
        bound = await look_around_async(setup.settings.url, setup.look)
        if counting:
            await self._performer.perform(check_counting(Meta(setup.ground), setup.settings.url.drivername))
            setup.booted = True
        setup.bound.update(bound)

    def rounds(self, sweep_seconds: float = SWEEP_SECONDS) -> AsyncRounds:
        """Answer the rounds of this process's keepers, to be started after boot and stopped before close."""
        setup = self._setup
        if not setup.booted and not setup.bound:
            raise error("SEMEL-APP-8")
        beat = Beat(setup.keeping, setup.owner[-64:], setup.settings.clock.wait_async, sweep_seconds)
        return AsyncRounds(list_duties(setup), self._performer.perform, beat)

    def lifespan(self, app: Any = None, *, keepers: bool = False) -> Any:
        """Boot when an ASGI application starts, close when it stops: `FastAPI(lifespan=once.lifespan)`.

        With `lifespan=once.lifespan(keepers=True)` this process runs keepers too, beside or instead of `semel worker`.
        """
        return partial(self._live, keepers=keepers) if app is None else self._live(app, keepers=keepers)

    @asynccontextmanager
    async def _live(self, _app: Any, *, keepers: bool) -> AsyncIterator[None]:
        async with self:
            rounds = self.rounds() if keepers else None
            if rounds is not None:
                rounds.start()
            try:
                yield
            finally:
                if rounds is not None:
                    await rounds.stop()

    async def create_tables(self) -> None:
        """Create Semel's own tables where they are missing; yours are never touched."""
        await look_around_async(self._setup.settings.url, self._setup.create)

    async def close(self) -> None:
        """Close every connection; what is called afterwards is refused."""
        self._performer.close()
        await self._engines.dispose()

    @property
    def _engine(self) -> AsyncEngine:
        """The engine of step.session: made when the first action asks for it."""
        return self._engines.find()

    async def _beat(self) -> Any:
        return await self._performer.perform(beat_claims(self._setup.keeping, self._setup.owner))

    async def _find(self, declared: Declared, on: Any) -> Bound:
        """Answer a bound table, booting first, or binding what was declared after boot: one caller looks, the others wait."""
        setup = self._setup
        if setup.bound_of(declared) is None:
            async with self._booting:
                if setup.bound_of(declared) is None and not setup.booted:
                    await self._boot(counting=setup.may_write_beside(on))
                if setup.bound_of(declared) is None:
                    setup.bound.update(await look_around_async(setup.settings.url, partial(setup.look_at, declared)))
        return setup.bound[id(declared)]

    async def _run(self, declared: Declared, read: Callable[[Bound], Verb[Answer]], on: Any) -> Answer:
        """Perform a verb, on a connection of our own or on a borrowed handle."""
        bound = await self._find(declared, on)
        verb = read(bound)
        if on is None:
            return await self._performer.perform(verb.own())
        borrowed = await borrow_async(on, Wanted(self._setup.family, verb.name), declared)
        answer = await self._performer.perform_on(borrowed, verb.joined())
        if borrowed.session is not None:
            await reload_moved(borrowed.session, declared, bound.entity.id.name, verb.rows)
        return answer


class LoopLock:
    """A lock of the running event loop: another loop gets another one."""

    def __init__(self) -> None:
        """Belong to no loop yet."""
        self._locks: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Lock] = WeakKeyDictionary()

    async def __aenter__(self) -> None:
        """Wait for the lock of this loop."""
        await self._locks.setdefault(asyncio.get_running_loop(), asyncio.Lock()).acquire()

    async def __aexit__(self, *_: object) -> None:
        """Give it back."""
        self._locks[asyncio.get_running_loop()].release()


__all__ = ["AsyncSemel", "AsyncTable"]
