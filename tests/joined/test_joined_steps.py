"""A step without a claim in the user's transaction: it is the user's commit that makes it true, on every handle."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import sqlalchemy as sa

from semel import AsyncSemel, Done, Rejected, Semel
from tests.joined.lent import Cell, Lent
from tests.joined.shop import PAID, UNTOUCHED, Order, Seen, Shop

FLOW = {
    "workflow": "orders",
    "entity_table": "orders",
    "status_types": ["pending", "paid"],
    "initial": "pending",
    "terminal": ["paid"],
    "steps": [
        {
            "step_id": 1,
            "step_key": "pay",
            "status": "pending",
            "successful_state": "paid",
            "validate": {"*": [], "fraud": "No"},
            "success_after_effect": "Tell",
        }
    ],
}


class Steps:
    """The shop with a workflow, seen from a handle of either colour."""

    def __init__(self, shop: Shop, cell: Cell) -> None:
        self.shop = shop
        self.is_async = cell.colour == "async"
        self.once: Any = (AsyncSemel if self.is_async else Semel)(shop.database.url, workflows=FLOW)
        self.orders = self.once.table(Order)
        if self.is_async:
            self._register_async()
        else:
            self.once.validator("No")(lambda _step: "it smells")
            self.once.effect("Tell")(lambda _effect: None)

    def _register_async(self) -> None:
        @self.once.validator("No")
        async def say_no(_step: Any) -> str:
            return "it smells"

        @self.once.effect("Tell")
        async def tell(_effect: Any) -> None:
            """Nobody delivers here."""

    async def pay(self, order: int, lent: Lent, by: str = "customer") -> Any:
        """Take the step on a handle."""
        outcome = self.orders.advance(order, "pay", by=by, on=lent.on)
        return await outcome if self.is_async else outcome

    def count_owed(self, order: int) -> int:
        """Answer how many after-effects the order owes."""
        owed = sa.text("SELECT count(*) FROM semel_outbox WHERE row_id = :row")
        with self.shop.database.engine().connect() as connection:
            return int(connection.scalar(owed, {"row": str(order)}) or 0)


@pytest.fixture
def steps(cell_shop: Shop, cell: Cell) -> Iterator[Steps]:
    """A Semel with the workflow, of the handle's colour."""
    steps = Steps(cell_shop, cell)
    yield steps
    if steps.is_async:
        cell_shop.loop.run_until_complete(steps.once.close())
    else:
        steps.once.close()


def test_a_rollback_takes_back_a_step_that_came_first(cell_shop: Shop, cell: Cell, steps: Steps) -> None:
    """Even as the transaction's very first statement, a step commits nothing of its own: not the row, not what it owes."""
    order = cell_shop.add_order()

    async def story(lent: Lent) -> None:
        assert await steps.pay(order, lent) == Done("paid")
        await lent.rollback()

    cell.play(cell_shop, story)
    assert (cell_shop.see(order), steps.count_owed(order)) == (UNTOUCHED, 0)


def test_a_commit_keeps_the_step_and_what_it_owes(cell_shop: Shop, cell: Cell, steps: Steps) -> None:
    """The row, its journal and its after-effect are there after the user's commit, and not before."""
    order = cell_shop.add_order()

    async def story(lent: Lent) -> None:
        assert await steps.pay(order, lent) == Done("paid")
        assert (cell_shop.see(order), steps.count_owed(order)) == (UNTOUCHED, 0)
        await lent.commit()

    cell.play(cell_shop, story)
    assert (cell_shop.see(order), steps.count_owed(order)) == (PAID, 1)


def test_a_rejected_step_leaves_the_users_write(cell_shop: Shop, cell: Cell, steps: Steps) -> None:
    """What a validator says no to is rolled back to the savepoint, and the user's own write before it commits."""
    order = cell_shop.add_order()

    async def story(lent: Lent) -> None:
        await lent.write_receipt(order)
        assert await steps.pay(order, lent, by="fraud") == Rejected("it smells")
        await lent.commit()

    cell.play(cell_shop, story)
    assert (cell_shop.see(order), steps.count_owed(order)) == (Seen("pending", 0, receipts=1), 0)
