"""A handle of the user's, whatever it is, behind one face: write, read, commit, roll back, go back to a savepoint.

Stories are told once, as coroutines. Those of sync handles never wait, so they are run through without an event loop,
which sync verbs would refuse.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from semel import Missed, Moved
from tests.joined.shop import Order, Shop

Story: TypeAlias = Callable[["Lent"], Coroutine[Any, Any, Any]]


class Lent:
    """What a test does with a handle. `on` is what it passes to Semel."""

    is_async = False

    def __init__(self, shop: Shop, on: Any) -> None:
        self.shop = shop
        self.on = on

    async def move(self, row: int, source: Any = "pending", *, to: str = "paid", **more: Any) -> Moved | Missed:
        """Move an order on this handle."""
        if self.is_async:
            return await self.shop.async_orders.transition(row, source, to=to, on=self.on, **more)
        return self.shop.orders.transition(row, source, to=to, on=self.on, **more)

    async def move_many(self, rows: Any, source: Any = "pending", *, to: str = "paid") -> dict[Any, Moved | Missed]:
        """Move several orders on this handle."""
        if self.is_async:
            return await self.shop.async_orders.transition_many(rows, source, to=to, on=self.on)
        return self.shop.orders.transition_many(rows, source, to=to, on=self.on)

    async def write_receipt(self, row: int) -> None:
        """The user's own write."""
        await self.run(f"INSERT INTO receipts (order_id) VALUES ({row})")

    async def insert_order(self, row: int) -> None:
        """The user's own new row."""
        table = Order.__tablename__
        await self.run(f"INSERT INTO {table} (id, status, version, total) VALUES ({row}, 'pending', 0, 100)")

    async def run(self, sql: str) -> None:
        """Run a statement of the user's."""
        raise NotImplementedError

    async def read(self, sql: str) -> list[tuple[Any, ...]]:
        """Run a query of the user's."""
        raise NotImplementedError

    async def commit(self) -> None:
        """Commit the user's transaction."""
        raise NotImplementedError

    async def rollback(self) -> None:
        """Roll the user's transaction back."""
        raise NotImplementedError

    async def savepoint(self) -> None:
        """Open a savepoint the way this handle's users do."""
        await self.run("SAVEPOINT before_the_move")

    async def back_to_savepoint(self) -> None:
        """Roll back to it."""
        await self.run("ROLLBACK TO SAVEPOINT before_the_move")


@dataclass(frozen=True)
class Cell:
    """One cell of the matrix: a kind of handle on a family of databases."""

    name: str
    family: str
    colour: Literal["sync", "async"]
    lend: Callable[[Shop], AbstractAsyncContextManager[Lent]]

    def play(self, shop: Shop, story: Story) -> Any:
        """Tell a story with such a handle, and answer what it answers."""

        async def whole() -> Any:
            async with self.lend(shop) as lent:
                return await story(lent)

        return shop.loop.run_until_complete(whole()) if self.colour == "async" else run_through(whole())


def run_through(story: Coroutine[Any, Any, Any]) -> Any:
    """Run a coroutine that never waits."""
    try:
        story.send(None)
    except StopIteration as stop:
        return stop.value
    story.close()
    raise AssertionError("the story of a sync handle waited")


def as_tuple(row: Any) -> tuple[Any, ...]:
    """Answer a row as a tuple, whatever the user's row factory makes of it."""
    return tuple(row.values()) if isinstance(row, dict) else tuple(row)
