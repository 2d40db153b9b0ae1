"""ORM objects of the user's session, after a move that their session did not make."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import Session, load_only

from semel import ConfigError, Missed, Moved
from tests.joined import mapped
from tests.joined.mapped import CardPayment, Invoice, Payment, State, Ticket, TicketShown
from tests.joined.shop import PAID, Order, Shop
from tests.joined.sqlalchemy_handles import open_async_engine


@pytest.fixture(autouse=True)
def tables(shop: Shop) -> None:
    """The tables of the mapped classes."""
    mapped.Base.metadata.create_all(shop.database.engine())


@pytest.fixture
def session(shop: Shop) -> Iterator[Session]:
    """A session of the user's."""
    with Session(shop.database.engine()) as session:
        yield session


@asynccontextmanager
async def open_session(shop: Shop, **options: Any) -> AsyncIterator[AsyncSession]:
    """An async session of the user's."""
    async with open_async_engine(shop.database.async_url) as engine, AsyncSession(engine, **options) as session:
        yield session


def note_of(shop: Shop, order: int) -> str | None:
    """What is committed of the column that only the user writes."""
    with shop.database.engine().connect() as connection:
        return connection.scalar(sa.select(Order.note).where(Order.id == order))


def test_an_object_shows_where_its_row_is_now(shop: Shop, session: Session) -> None:
    """The session never wrote it, so without being told the object would show what it had read."""
    order = session.get_one(Order, row := shop.add_order())
    assert shop.orders.transition(row, "pending", to="paid", on=session) == Moved(1, provisional=True)
    assert (order.status, order.version) == ("paid", 1)


def test_a_miss_corrects_what_an_object_believed(shop: Shop) -> None:
    """It was read in an earlier transaction, and somebody else has moved the row since."""
    with Session(shop.database.engine(), expire_on_commit=False) as session:
        order = session.get_one(Order, row := shop.add_order())
        session.commit()
        with shop.database.engine().begin() as rival:
            rival.execute(sa.update(Order).where(Order.id == row).values(status="cancelled"))
        assert shop.orders.transition(row, "pending", to="paid", on=session) == Missed("cancelled")
        assert order.status == "cancelled"


def test_what_the_user_changed_is_flushed_first_and_kept(shop: Shop, session: Session) -> None:
    """The change goes before the move, as before a query of the user's, and both commit."""
    order = session.get_one(Order, row := shop.add_order())
    order.note = "gift"
    assert shop.orders.transition(row, "pending", to="paid", on=session, note="gift")
    session.commit()
    assert shop.see(row) == PAID
    assert note_of(shop, row) == "gift"


def test_a_later_flush_does_not_write_status_and_version_back(shop: Shop, session: Session) -> None:
    """Only what the user changes on the object is written."""
    order = session.get_one(Order, row := shop.add_order())
    assert shop.orders.transition(row, "pending", to="paid", on=session)
    order.note = "later"
    session.commit()
    assert shop.see(row) == PAID
    assert note_of(shop, row) == "later"


def test_a_change_of_the_status_that_was_not_flushed_is_given_up(shop: Shop, session: Session) -> None:
    """Without autoflush the object's own idea of the status would else overwrite the move."""
    order = session.get_one(Order, row := shop.add_order())
    with session.no_autoflush:
        order.status, order.version, order.note = "draft", 40, "kept"
        assert shop.orders.transition(row, "pending", to="paid", on=session)
    session.commit()
    assert shop.see(row) == PAID
    assert note_of(shop, row) == "kept"


def test_a_version_id_of_the_users_own_goes_on_counting(shop: Shop, session: Session) -> None:
    """The object's own optimistic lock is not disturbed by the move, nor does it disturb the fence."""
    invoices = shop.once.table(Invoice)
    session.add(invoice := Invoice(status="pending"))
    session.flush()
    assert invoices.transition(invoice.id, "pending", to="paid", on=session) == Moved(1, provisional=True)
    invoice.note = "later"
    session.flush()
    assert invoices.transition(invoice.id, "paid", to="shipped", on=session) == Moved(2, provisional=True)
    assert (invoice.status, invoice.version, invoice.writes) == ("shipped", 2, 2)
    invoice.note = "later still"
    session.commit()
    assert (invoice.status, invoice.version, invoice.writes) == ("shipped", 2, 3)


def test_a_class_with_names_of_its_own_is_found_by_its_reference(shop: Shop, session: Session) -> None:
    """Attributes that are not called like their columns, an enum, and an id that is not the key."""
    tickets = shop.once.table(Ticket, status=Ticket.state, version="fence", id=Ticket.reference)
    reference = f"T-{next(shop.ids)}"
    session.add(ticket := Ticket(reference=reference, state=State.PENDING))
    session.add(other := Ticket(reference=f"{reference}-other", state=State.PENDING))
    assert tickets.transition(reference, State.PENDING, to=State.PAID, on=session, note=None)
    assert "state" not in sa.inspect(other).unloaded
    assert (ticket.state, ticket.fence) == (State.PAID, 1)
    session.expire(ticket, ["reference"])
    assert tickets.transition(reference, State.PAID, to=State.CANCELLED, on=session)
    assert (ticket.state, ticket.fence) == (State.CANCELLED, 2)


def test_a_table_given_by_name_still_tells_the_objects_mapped_to_it(shop: Shop, session: Session) -> None:
    """Whatever class it is mapped to, even one that leaves Semel's column out."""
    tickets = shop.once.table("tickets")
    session.add(ticket := Ticket(reference=f"T-{next(shop.ids)}", state=State.PENDING))
    session.flush()
    shown = session.get_one(TicketShown, ticket.key)
    assert shown.status is State.PENDING
    assert tickets.transition(ticket.key, "pending", to="paid", on=session)
    assert (ticket.state, ticket.fence, shown.status) == (State.PAID, 1, State.PAID)


def test_many_moved_rows_tell_all_their_objects(shop: Shop, session: Session) -> None:
    """Those that moved and those that were missed; others keep what they had loaded."""
    rows = [shop.add_order(), shop.add_order(status="cancelled"), shop.add_order()]
    moved, missed, other = (session.get_one(Order, row) for row in rows)
    assert shop.orders.transition_many(rows[:2], "pending", to="paid", on=session)
    assert not sa.inspect(other).unloaded
    assert [(each.status, each.version) for each in (moved, missed)] == [("paid", 1), ("cancelled", 0)]


def test_an_object_follows_its_transaction_back(shop: Shop, session: Session) -> None:
    """Back to a savepoint, or all the way: the object shows what the row is again, although it had shown the move."""
    order = session.get_one(Order, row := shop.add_order())
    nested = session.begin_nested()
    assert shop.orders.transition(row, "pending", to="paid", on=session)
    assert order.status == "paid"
    nested.rollback()
    assert (order.status, order.version) == ("pending", 0)
    assert shop.orders.transition(row, "pending", to="paid", on=session)
    assert order.status == "paid"
    session.rollback()
    assert (order.status, order.version) == ("pending", 0)


def test_an_object_of_an_async_session_can_be_read_at_once(shop: Shop) -> None:
    """An attribute cannot be loaded on access there, so it has been loaded before the verb answers."""
    row, others = shop.add_order(), [shop.add_order(), shop.add_order()]

    async def story() -> None:
        async with open_session(shop, expire_on_commit=False) as session:
            order = await session.get_one(Order, row)
            held = [await session.get_one(Order, other) for other in others]
            order.note = "gift"
            assert await shop.async_orders.transition(row, "pending", to="paid", on=session, note="gift")
            assert (order.status, order.version) == ("paid", 1)
            assert await shop.async_orders.transition(row, "pending", to="paid", on=session) == Missed("paid")
            assert (order.status, order.version) == ("paid", 1)
            await shop.async_orders.transition_many(others, "pending", to="paid", on=session)
            assert [(each.status, each.version) for each in held] == [("paid", 1), ("paid", 1)]
            order.note = "later"
            await session.commit()
            assert order.status == "paid"

    shop.loop.run_until_complete(story())
    assert shop.see(row) == PAID
    assert note_of(shop, row) == "later"


def test_an_async_session_reads_nothing_that_it_does_not_hold(shop: Shop) -> None:
    """Without the object in the session, the verb costs no SELECT of the object."""
    row = shop.add_order()

    async def story() -> None:
        async with open_session(shop) as session:
            heard: list[str] = []
            engine = (await session.connection()).engine
            sa.event.listen(
                engine.sync_engine, "before_cursor_execute", lambda *words: heard.append(words[2].split()[0])
            )
            assert await shop.async_orders.transition(row, "pending", to="paid", on=session)
            last = "WITH" if shop.family == "postgresql" else "RELEASE"
            assert heard[-1] == last

    shop.loop.run_until_complete(story())


def test_a_partly_loaded_object_is_told_too(shop: Shop, session: Session) -> None:
    """What was never loaded is loaded when it is asked for."""
    row = shop.add_order()
    order = session.scalars(sa.select(Order).where(Order.id == row).options(load_only(Order.status))).one()
    assert shop.orders.transition(row, "pending", to="paid", on=session)
    assert (order.status, order.version) == ("paid", 1)


def test_a_parent_class_moves_the_rows_of_its_children(shop: Shop, session: Session) -> None:
    """With joined tables the status is in the parent's table, and the child's object is told."""
    payments = shop.once.table(Payment)
    session.add(payment := CardPayment(status="pending", card="4242"))
    session.flush()
    assert payments.transition(payment.id, "pending", to="paid", on=session)
    assert (payment.status, payment.version, payment.card) == ("paid", 1, "4242")


def test_a_child_class_is_refused_with_the_name_of_its_parent(shop: Shop) -> None:
    """Its own table has no status, and a handle on it would move its siblings as well."""
    with pytest.raises(ConfigError, match="SEMEL-TABLE-2") as refusal:
        shop.once.table(CardPayment)
    assert "once.table(Payment)" in refusal.value.remedy
