"""A borrowed SQLite handle whose commits a power cut may undo is joined, but not in silence."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager

import aiosqlite
import pytest
import sqlalchemy as sa
from django.db import transaction
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import Session

from tests.joined.django_handles import ALIAS, configure_django
from tests.joined.raw_handles import connect_sqlite
from tests.joined.shop import Shop
from tests.joined.sqlalchemy_handles import open_async_engine, open_engine

NORMAL = "PRAGMA synchronous = NORMAL"


@contextmanager
def warned_here() -> Iterator[None]:
    """Expect one warning that says what to do and points at the line of this file that passed the handle."""
    with pytest.warns(UserWarning, match="synchronous below FULL.*Set it") as warned:
        yield
    assert [each.filename for each in warned] == [__file__]


def test_a_driver_below_full_is_warned_of(sqlite_shop: Shop) -> None:
    """The move itself happens: the warning is about what the user's commit is worth."""
    order = sqlite_shop.add_order()
    with closing(connect_sqlite(sqlite_shop)) as on:
        on.execute(NORMAL)
        with warned_here():
            assert sqlite_shop.orders.transition(order, "pending", to="paid", on=on)


def test_sqlalchemy_below_full_is_warned_of(sqlite_shop: Shop) -> None:
    """Connections and sessions alike."""
    order = sqlite_shop.add_order()
    with open_engine(sqlite_shop.database.sync_url) as engine:
        sa.event.listen(engine, "connect", lambda raw, _: raw.execute(NORMAL))
        with engine.connect() as connection, warned_here():
            assert sqlite_shop.orders.transition(order, "pending", to="paid", on=connection)
        with Session(engine) as session, warned_here():
            assert sqlite_shop.orders.transition(order, "pending", to="paid", on=session)


def test_django_below_full_is_warned_of(sqlite_shop: Shop) -> None:
    """Through Django's own way of setting it."""
    order = sqlite_shop.add_order()
    with (
        configure_django(sqlite_shop, OPTIONS={"init_command": NORMAL}),
        transaction.atomic(using=ALIAS),
        warned_here(),
    ):
        assert sqlite_shop.orders.transition(order, "pending", to="paid", on=ALIAS)


def test_async_handles_below_full_are_warned_of(sqlite_shop: Shop) -> None:
    """Also where the question has to be awaited."""
    shop, order = sqlite_shop, sqlite_shop.add_order()

    async def story() -> None:
        async with aiosqlite.connect(shop.database.name) as on:
            await on.execute(NORMAL)
            with warned_here():
                assert await shop.async_orders.transition(order, "pending", to="paid", on=on)
            await on.rollback()
        async with open_async_engine(shop.database.async_url) as engine, AsyncSession(engine) as session:
            await session.execute(sa.text(NORMAL))
            with warned_here():
                assert await shop.async_orders.transition(order, "pending", to="paid", on=session)

    shop.loop.run_until_complete(story())
