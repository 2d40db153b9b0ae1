"""A process whose action does what the test says: one per database and colour, kept for the whole run.

Every test takes an order of its own, so a test costs a few statements instead of a database. What an action does is told
once, as a coroutine; that of a sync Semel never waits, so it is run through without an event loop.
"""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from itertools import count
from typing import Any, TypeAlias

import sqlalchemy as sa
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from semel import AsyncSemel, Semel
from tests.conformance.faces import COLOURS, Colour, Stage
from tests.databases import Database
from tests.joined.lent import run_through

Story: TypeAlias = Callable[[Any], Awaitable[Any]]

LEASE_SECONDS = 30.0
"""Longer than any test."""

FLOW: dict[str, Any] = {
    "workflow": "orders",
    "entity_table": "orders",
    "status_types": ["pending", "paying", "paid", "cancelled"],
    "initial": "pending",
    "terminal": ["paid", "cancelled"],
    "steps": [
        {
            "step_id": 1, "step_key": "pay", "status": "pending",
            "successful_claim_state": ["paying", "pending"], "successful_state": "paid", "action": "Act",
        },
        {"step_id": 2, "step_key": "cancel", "status": "pending", "successful_state": "cancelled", "action": "Act"},
    ],
}  # fmt: skip
"""The two forms of a step: `pay` claims the row, `cancel` is one transaction."""

TARGETS = {"pay": "paid", "cancel": "cancelled"}
STEPS = tuple(TARGETS)


class Base(DeclarativeBase):
    pass


class Order(Base):
    __tablename__ = "orders"

    id: Mapped[int] = mapped_column(sa.BigInteger, primary_key=True, autoincrement=False)
    status: Mapped[str] = mapped_column(sa.String(20))
    version: Mapped[int] = mapped_column(sa.BigInteger, server_default="0")
    total: Mapped[int] = mapped_column(sa.BigInteger, server_default="0")


class Receipt(Base):
    """What an action writes: nothing hinders it from being written twice, so a test can count."""

    __tablename__ = "receipts"

    id: Mapped[int] = mapped_column(sa.Integer, primary_key=True)
    order_id: Mapped[int] = mapped_column(sa.BigInteger)
    text: Mapped[str] = mapped_column(sa.String(40))


class Account(Base):
    """What two transactions can lock in two orders."""

    __tablename__ = "accounts"

    id: Mapped[int] = mapped_column(sa.BigInteger, primary_key=True, autoincrement=False)
    balance: Mapped[int] = mapped_column(sa.BigInteger, server_default="0")


@dataclass(frozen=True)
class Seen:
    """What another connection sees of an order, its receipts, and its claim."""

    status: str
    version: int
    receipts: tuple[str, ...] = ()
    held: bool = False
    review: str | None = None


class Workshop:
    """One process on one database."""

    def __init__(self, database: Database, colour: Colour, stage: Stage, ids: Iterator[int]) -> None:
        self.database = database
        self.colour = colour
        self.stage = stage
        self.ids = ids
        make: Any = Semel if colour == "sync" else AsyncSemel
        self.semel = make(database.url, workflows=FLOW, lease_seconds=LEASE_SECONDS)
        self.orders = self.semel.table(Order)
        self.story: Story = do_nothing
        self._register()

    @property
    def family(self) -> str:
        """Which database it is."""
        return self.database.family

    def _register(self) -> None:
        if self.colour == "sync":

            @self.semel.action("Act")
            def act(step: Any) -> Any:
                return run_through(self.story(step))  # type: ignore[arg-type] # stories are coroutines

        else:

            @self.semel.action("Act")
            async def act_async(step: Any) -> Any:
                return await self.story(step)

    def take(self, row: int, step: str, story: Story) -> Any:
        """Take a step whose action tells this story; answer the outcome."""
        self.story = story
        return self.stage.wait(lambda: self.orders.advance(row, step))

    def add_order(self) -> int:
        """Commit a pending order and answer its id."""
        row = next(self.ids)
        with self.database.engine().begin() as connection:
            connection.execute(sa.insert(Order), {"id": row, "status": "pending"})
        return row

    def see(self, row: int) -> Seen:
        """Answer what is committed."""
        claim = "SELECT held, review FROM semel_claims WHERE row_id = :row AND step_key = 'pay'"
        with self.database.engine().connect() as connection:
            status, version = connection.execute(sa.select(Order.status, Order.version).where(Order.id == row)).one()
            texts = connection.scalars(sa.select(Receipt.text).where(Receipt.order_id == row).order_by(Receipt.id))
            receipts = tuple(texts)
            held, review = connection.execute(sa.text(claim), {"row": str(row)}).one_or_none() or (0, None)
        return Seen(status, version, receipts, bool(held), review)

    @contextmanager
    def rival(self) -> Iterator[sa.Connection]:
        """A connection of somebody else's; what it has not committed in the end is rolled back."""
        with self.database.engine().connect() as connection:
            yield connection

    def other_url(self) -> str:
        """How another engine of the same colour reaches the database."""
        return self.database.sync_url if self.colour == "sync" else self.database.async_url


async def do_nothing(_step: Any) -> None:
    """An action without deeds."""


# What stories are told with


async def call(method: Callable[..., Any], *words: Any, **more: Any) -> Any:
    """Call a method of a session of either colour, and wait for it if it has to be waited for."""
    answer = method(*words, **more)
    return await answer if inspect.isawaitable(answer) else answer


@asynccontextmanager
async def entered(manager: Any) -> AsyncIterator[Any]:
    """Enter a context manager of either colour."""
    if hasattr(manager, "__aenter__"):
        async with manager as inside:
            yield inside
    else:
        with manager as inside:
            yield inside


async def within(session: Any, function: Callable[[Any], Any]) -> Any:
    """Call a function with the sync session, as a driver's own words need it."""
    run_sync = getattr(session, "run_sync", None)
    return function(session) if run_sync is None else await run_sync(function)


async def write(step: Any, text: str) -> None:
    """Write a receipt, and send it to the database."""
    step.session.add(Receipt(order_id=step.id, text=text))
    await call(step.session.flush)


async def run(step: Any, sql: str) -> Any:
    """Run a statement."""
    return await call(step.session.execute, sa.text(sql))


# Opening


Workshops: TypeAlias = dict[Colour, Workshop]


@contextmanager
def open_workshops(database: Database, stage: Stage) -> Iterator[Workshops]:
    """Lay the tables, boot a process of each colour, and close both in the end."""
    lay_tables(database)
    ids = count(1)
    both: Workshops = {colour: Workshop(database, colour, stage, ids) for colour in COLOURS}
    for workshop in both.values():
        stage.wait(workshop.semel.boot)
    try:
        yield both
    finally:
        for workshop in both.values():
            stage.wait(workshop.semel.close)


def lay_tables(database: Database) -> None:
    """Make every table."""
    Base.metadata.create_all(database.engine())
    once = Semel(database.url)
    once.create_tables()
    once.close()
    with database.engine().begin() as connection:
        connection.execute(sa.insert(Account), [{"id": 1}, {"id": 2}])
