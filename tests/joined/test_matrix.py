"""Every handle on every database: the move and the user's own write share one fate, and nothing in between spoils it."""

from __future__ import annotations

import pytest

from semel import Missed, Moved, StoreError, UsageError
from semel.protocols.transition import IDS_LIMIT
from tests.joined.lent import Cell, Lent
from tests.joined.shop import PAID, PAID_WITH_RECEIPT, UNTOUCHED, Seen, Shop


def test_a_commit_keeps_the_move_its_journal_and_the_users_write(cell_shop: Shop, cell: Cell) -> None:
    """Both writes are there after the user's commit and not before; until then the move says that it is provisional."""
    order = cell_shop.add_order()

    async def story(lent: Lent) -> None:
        await lent.write_receipt(order)
        assert await lent.move(order) == Moved(1, provisional=True)
        assert cell_shop.see(order) == UNTOUCHED
        await lent.commit()

    cell.play(cell_shop, story)
    assert cell_shop.see(order) == PAID_WITH_RECEIPT


def test_a_rollback_loses_the_move_its_journal_and_the_users_write(cell_shop: Shop, cell: Cell) -> None:
    """Nothing of either is left, and the order can be moved again."""
    order = cell_shop.add_order()

    async def story(lent: Lent) -> None:
        await lent.write_receipt(order)
        assert await lent.move(order)
        await lent.rollback()

    cell.play(cell_shop, story)
    assert cell_shop.see(order) == UNTOUCHED
    assert cell_shop.orders.transition(order, "pending", to="paid") == Moved(1)


def test_a_miss_tells_the_truth_and_leaves_the_transaction_working(cell_shop: Shop, cell: Cell) -> None:
    """A miss by status or by guard names the status, and the user's write before it still commits."""
    order = cell_shop.add_order(status="cancelled")

    async def story(lent: Lent) -> None:
        await lent.write_receipt(order)
        assert await lent.move(order) == Missed("cancelled")
        assert await lent.move(order, "cancelled", to="pending", total=99) == Missed("cancelled")
        assert await lent.move_many([order]) == {order: Missed("cancelled")}
        await lent.commit()

    cell.play(cell_shop, story)
    assert cell_shop.see(order) == Seen("cancelled", 0, receipts=1)


def test_a_misuse_leaves_the_transaction_as_it_was(cell_shop: Shop, cell: Cell) -> None:
    """Rows that do not exist, wrong words and too many ids are refused without a trace: the user goes on and commits."""
    order, others = cell_shop.add_order(), [cell_shop.add_order() for _ in range(2)]

    async def story(lent: Lent) -> None:
        await lent.write_receipt(order)
        with pytest.raises(UsageError, match="SEMEL-ROW-1"):
            await lent.move(987_654_321)
        with pytest.raises(UsageError, match="SEMEL-ROW-1"):
            await lent.move(2**40)  # more than the id's column could hold
        with pytest.raises(UsageError, match="SEMEL-ROW-1"):
            await lent.move_many([*others, 987_654_321])
        with pytest.raises(UsageError, match="SEMEL-ROW-4"):
            await lent.move(order, nonsense=1)
        with pytest.raises(UsageError, match="SEMEL-ROW-5"):
            await lent.move_many(range(IDS_LIMIT + 1))
        assert await lent.move(order)
        await lent.commit()

    cell.play(cell_shop, story)
    assert cell_shop.see(order) == PAID_WITH_RECEIPT
    assert [cell_shop.see(other) for other in others] == [UNTOUCHED, UNTOUCHED]


def test_many_rows_move_in_the_users_transaction(cell_shop: Shop, cell: Cell) -> None:
    """More rows than one statement takes: those that fit move, those that do not are missed, all with the user's commit."""
    fitting = [cell_shop.add_order() for _ in range(13)]
    other = cell_shop.add_order(status="cancelled")

    async def story(lent: Lent) -> None:
        outcomes = await lent.move_many([*reversed(fitting), other])
        assert list(outcomes) == [*reversed(fitting), other]
        assert outcomes == {**dict.fromkeys(fitting, Moved(1, provisional=True)), other: Missed("cancelled")}
        assert {cell_shop.see(order) for order in fitting} == {UNTOUCHED}
        await lent.commit()

    cell.play(cell_shop, story)
    assert {cell_shop.see(order) for order in fitting} == {PAID}


def test_an_error_half_way_leaves_the_transaction_as_it_was(cell_shop: Shop, cell: Cell) -> None:
    """Ten rows have moved when the eleventh breaks a constraint: none has, and the user goes on and commits."""
    orders = [cell_shop.add_order() for _ in range(10)]
    unpayable = cell_shop.add_order(note="unpayable")

    async def story(lent: Lent) -> None:
        await lent.write_receipt(orders[0])
        with pytest.raises(StoreError, match="SEMEL-STORE-5"):
            await lent.move_many([*orders, unpayable])
        assert await lent.read(f"SELECT SUM(version) FROM orders WHERE id >= {orders[0]}") == [(0,)]
        assert await lent.move(orders[0])
        await lent.commit()

    cell.play(cell_shop, story)
    assert cell_shop.see(orders[0]) == PAID_WITH_RECEIPT
    assert {cell_shop.see(order) for order in (*orders[1:], unpayable)} == {UNTOUCHED}


def test_rolling_back_to_a_savepoint_loses_the_move_alone(cell_shop: Shop, cell: Cell) -> None:
    """What came before the savepoint commits; the move after it is gone with its journal."""
    order = cell_shop.add_order()

    async def story(lent: Lent) -> None:
        await lent.write_receipt(order)
        await lent.savepoint()
        assert await lent.move(order)
        await lent.back_to_savepoint()
        await lent.commit()

    cell.play(cell_shop, story)
    assert cell_shop.see(order) == Seen("pending", 0, receipts=1)


def test_a_row_of_the_same_transaction_can_be_moved(cell_shop: Shop, cell: Cell) -> None:
    """The user inserts an order and moves it before anybody else can see it."""
    order = next(cell_shop.ids)

    async def story(lent: Lent) -> None:
        await lent.insert_order(order)
        assert await lent.move(order) == Moved(1, provisional=True)
        assert cell_shop.see(order) is None
        assert await lent.read(f"SELECT version FROM orders WHERE id = {order}") == [(1,)]
        await lent.commit()

    cell.play(cell_shop, story)
    assert cell_shop.see(order) == PAID
