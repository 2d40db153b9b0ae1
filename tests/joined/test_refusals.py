"""What cannot be joined is refused before anything is written, each with its own code and what to do instead."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from typing import Any

import aiosqlite
import asyncmy
import asyncpg
import psycopg
import pymysql
import pytest
import sqlalchemy as sa
from django.db import connections, transaction
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import Session

from semel import StoreError, UsageError
from tests.joined.django_handles import ALIAS, configure_django
from tests.joined.raw_handles import connect_psycopg, connect_pymysql, connect_sqlite, mysql_words
from tests.joined.shop import PAID, UNTOUCHED, Order, Receipt, Shop
from tests.joined.sqlalchemy_handles import open_async_engine, open_engine


def refuse(shop: Shop, on: Any, code: str) -> UsageError:
    """Try a sync handle on a pending order; answer the refusal, after making sure that nothing was written."""
    order = shop.add_order()
    with pytest.raises(UsageError, match=f"{code}:") as refusal:
        shop.orders.transition(order, "pending", to="paid", on=on)
    assert shop.see(order) == UNTOUCHED
    return refusal.value


async def refuse_async(shop: Shop, on: Any, code: str) -> UsageError:
    """The same for an async handle."""
    order = shop.add_order()
    with pytest.raises(UsageError, match=f"{code}:") as refusal:
        await shop.async_orders.transition(order, "pending", to="paid", on=on)
    assert shop.see(order) == UNTOUCHED
    return refusal.value


AUTOCOMMIT: dict[str, tuple[str, Callable[[Shop], Any]]] = {
    "psycopg": ("postgresql", lambda shop: connect_psycopg(shop, autocommit=True)),
    "sqlite3": ("sqlite", lambda shop: connect_sqlite(shop, isolation_level=None)),
    "PyMySQL": ("mariadb", lambda shop: connect_pymysql(shop, autocommit=True)),
}


@pytest.mark.parametrize("kind", AUTOCOMMIT)
def test_a_driver_in_autocommit_without_a_transaction_is_refused(kind: str, request: pytest.FixtureRequest) -> None:
    """Every statement on it would be a commit of its own; the same handle is taken once its user has begun."""
    family, connect = AUTOCOMMIT[kind]
    shop: Shop = request.getfixturevalue(f"{family}_shop")
    with closing(connect(shop)) as on:
        assert "Open one" in refuse(shop, on, "SEMEL-ON-2").remedy
        on.cursor().execute("BEGIN")
        order = shop.add_order() if family != "sqlite" else next(shop.ids)
        if family == "sqlite":
            on.execute(f"INSERT INTO orders (id, status, total) VALUES ({order}, 'pending', 100)")
        assert shop.orders.transition(order, "pending", to="paid", on=on)
        on.commit()
        assert shop.see(order) == PAID


async def open_asyncpg(shop: Shop) -> Any:
    """What asyncpg connects, which is in autocommit by nature."""
    return await asyncpg.connect(shop.database.url)


async def open_psycopg_async(shop: Shop) -> Any:
    """What psycopg connects to be awaited, in autocommit."""
    return await psycopg.AsyncConnection.connect(shop.database.url, autocommit=True)


async def open_aiosqlite(shop: Shop) -> Any:
    """What aiosqlite connects, in autocommit."""
    return await aiosqlite.connect(shop.database.name, isolation_level=None)


async def open_asyncmy(shop: Shop) -> Any:
    """What asyncmy connects, in autocommit."""
    return await asyncmy.connect(**mysql_words(shop, autocommit=True))


ASYNC_AUTOCOMMIT = {
    "asyncpg": ("postgresql", open_asyncpg),
    "psycopg async": ("postgresql", open_psycopg_async),
    "aiosqlite": ("sqlite", open_aiosqlite),
    "asyncmy": ("mariadb", open_asyncmy),
}


@pytest.mark.parametrize("kind", ASYNC_AUTOCOMMIT)
def test_an_async_driver_in_autocommit_without_a_transaction_is_refused(
    kind: str, request: pytest.FixtureRequest
) -> None:
    """As for the sync ones."""
    family, connect = ASYNC_AUTOCOMMIT[kind]
    shop: Shop = request.getfixturevalue(f"{family}_shop")

    async def story() -> None:
        on = await connect(shop)
        try:
            await refuse_async(shop, on, "SEMEL-ON-2")
        finally:
            await (on.ensure_closed() if kind == "asyncmy" else on.close())

    shop.loop.run_until_complete(story())


@pytest.mark.parametrize("level", ["engine", "connection"])
@pytest.mark.parametrize("kind", [sa.Engine.connect, Session])
def test_sqlalchemy_in_autocommit_is_refused_before_the_session_flushes(shop: Shop, kind: Any, level: str) -> None:
    """A flush there would be a commit of its own, so not even the user's pending change is written."""
    words = {"isolation_level": "AUTOCOMMIT"}
    with open_engine(shop.database.sync_url, **(words if level == "engine" else {})) as engine:
        used = engine if level == "engine" else engine.execution_options(**words)
        with closing(kind(used)) as on:
            order = shop.add_order()
            if isinstance(on, Session):
                on.add(Order(id=(unsaved := next(shop.ids)), status="pending", total=1))
            refuse(shop, on, "SEMEL-ON-2")
            assert shop.see(order) == UNTOUCHED
            if isinstance(on, Session):
                assert shop.see(unsaved) is None
                on.expunge_all()


def test_async_sqlalchemy_in_autocommit_is_refused(shop: Shop) -> None:
    """Through the adapters of the async drivers too."""

    async def story() -> None:
        async with open_async_engine(shop.database.async_url, isolation_level="AUTOCOMMIT") as engine:
            async with engine.connect() as connection:
                await refuse_async(shop, connection, "SEMEL-ON-2")
            async with AsyncSession(engine) as session:
                await refuse_async(shop, session, "SEMEL-ON-2")

    shop.loop.run_until_complete(story())


def test_a_session_that_does_not_begin_by_itself_is_refused_until_it_has_begun(shop: Shop) -> None:
    """`autobegin=False` makes beginning the user's act."""
    order = shop.add_order()
    with open_engine(shop.database.sync_url) as engine, Session(engine, autobegin=False) as session:
        assert "session.begin()" in refuse(shop, session, "SEMEL-ON-2").remedy
        with session.begin():
            assert shop.orders.transition(order, "pending", to="paid", on=session)
    assert shop.see(order) == PAID


def test_a_session_of_several_databases_joins_the_one_that_holds_the_table(shop: Shop) -> None:
    """It is found by the mapped class or by the table, as a query of the user's would find it."""
    order, other = shop.add_order(), shop.add_order()
    by_table = shop.once.table(Order.__table__)
    with open_engine("sqlite://") as elsewhere:
        for kind, row in ((Order, order), (Order.__table__, other)):
            with Session(binds={kind: shop.database.engine(), Receipt: elsewhere}) as session:
                assert (shop.orders if kind is Order else by_table).transition(row, "pending", to="paid", on=session)
                session.commit()
    assert [shop.see(order), shop.see(other)] == [PAID, PAID]


def test_a_session_without_a_database_is_refused(shop: Shop) -> None:
    """What SQLAlchemy says about it is the reason."""
    with Session() as session:
        assert "UnboundExecutionError" in refuse(shop, session, "SEMEL-ON-7").happened


def test_a_database_that_cannot_be_reached_is_no_fault_of_the_handle(postgresql_shop: Shop) -> None:
    """A handle connects when it is first looked at: what fails then is the database's, and may be tried again."""
    order = postgresql_shop.add_order()
    nowhere = sa.create_engine("postgresql+psycopg://127.0.0.1:1/nowhere")
    with Session(nowhere) as session, pytest.raises(StoreError, match="SEMEL-STORE-4"):
        postgresql_shop.orders.transition(order, "pending", to="paid", on=session)
    with configure_django(postgresql_shop, PORT="1"), pytest.raises(StoreError, match="SEMEL-STORE-4"):
        postgresql_shop.orders.transition(order, "pending", to="paid", on=ALIAS)
    assert postgresql_shop.see(order) == UNTOUCHED


def test_a_django_alias_outside_atomic_is_refused(shop: Shop) -> None:
    """Outside `atomic` Django commits every statement."""
    with configure_django(shop):
        assert "atomic" in refuse(shop, ALIAS, "SEMEL-ON-2").remedy


def test_a_django_alias_without_autocommit_needs_no_atomic(shop: Shop) -> None:
    """Its user commits by hand, so the handle is in a transaction already."""
    order = shop.add_order()
    with configure_django(shop, AUTOCOMMIT=False):
        assert shop.orders.transition(order, "pending", to="paid", on=ALIAS)
        assert shop.see(order) == UNTOUCHED
        transaction.commit(using=ALIAS)
    assert shop.see(order) == PAID


OTHERS = {"sqlite": "postgresql", "postgresql": "mariadb", "mariadb": "sqlite"}


def test_a_handle_of_another_database_is_refused(shop: Shop, request: pytest.FixtureRequest) -> None:
    """Whatever lends it: SQLAlchemy, a driver, Django. A database that Semel does not know is named as it is."""
    other: Shop = request.getfixturevalue(f"{OTHERS[shop.family]}_shop")
    connect = {"sqlite": connect_sqlite, "postgresql": connect_psycopg, "mariadb": connect_pymysql}[other.family]
    with other.database.engine().connect() as connection, Session(other.database.engine()) as session:
        for on in (connection, session):
            assert other.family in refuse(shop, on, "SEMEL-ON-3").happened
    with closing(connect(other)) as on:
        refuse(shop, on, "SEMEL-ON-3")
    with configure_django(other):
        refuse(shop, ALIAS, "SEMEL-ON-3")


def test_an_async_handle_of_another_database_is_refused(shop: Shop, request: pytest.FixtureRequest) -> None:
    """Likewise for those that are awaited."""
    other: Shop = request.getfixturevalue(f"{OTHERS[shop.family]}_shop")
    connect = {"sqlite": open_aiosqlite, "postgresql": open_asyncpg, "mariadb": open_asyncmy}[other.family]

    async def story() -> None:
        async with open_async_engine(other.database.async_url) as engine, AsyncSession(engine) as session:
            await refuse_async(shop, session, "SEMEL-ON-3")
        on = await connect(other)
        try:
            await refuse_async(shop, on, "SEMEL-ON-3")
        finally:
            await (on.ensure_closed() if other.family == "mariadb" else on.close())

    shop.loop.run_until_complete(story())


NONSENSE = {
    "a number": 42,
    "an object": object(),
    "an unknown alias": "no-such-alias",
    "a URL": "postgresql://app:secret@db/shop",
    "an engine": sa.create_engine("sqlite://"),
    "a module": sqlite3,
    "a long list": list(range(10_000)),
}


@pytest.mark.parametrize("on", NONSENSE.values(), ids=NONSENSE)
def test_what_is_no_handle_is_refused_with_the_list_of_those_that_are(sqlite_shop: Shop, on: Any) -> None:
    """The refusal names the kinds that this verb joins, and never shows a text that could hold a password."""
    with configure_django(sqlite_shop):
        refusal = refuse(sqlite_shop, on, "SEMEL-ON-1")
    assert "secret" not in str(refusal)
    assert len(str(refusal)) < 400
    if not isinstance(on, str):
        assert "Session" in refusal.remedy
        assert "psycopg" in refusal.remedy


def test_a_handle_of_the_other_colour_is_refused_with_the_list(postgresql_shop: Shop) -> None:
    """An async handle cannot be used without awaiting, nor a sync one without blocking the loop."""
    shop = postgresql_shop

    async def lend_async_ones() -> list[Any]:
        return [
            AsyncSession(),
            await psycopg.AsyncConnection.connect(shop.database.url),
            await asyncpg.connect(shop.database.url),
        ]

    async def refuse_sync_ones() -> None:
        with Session() as session, closing(connect_psycopg(shop)) as connection:
            for on in (session, connection, ALIAS, 42):
                assert "AsyncSession" in (await refuse_async(shop, on, "SEMEL-ON-1")).remedy

    session, *connections_ = shop.loop.run_until_complete(lend_async_ones())
    for on in (session, *connections_):
        assert "scoped_session" in refuse(shop, on, "SEMEL-ON-1").remedy
    for on in connections_:
        shop.loop.run_until_complete(on.close())
    shop.loop.run_until_complete(refuse_sync_ones())


def without_found_rows(shop: Shop) -> dict[str, Any]:
    """How one connects who does not know the flag."""
    return {name: value for name, value in mysql_words(shop).items() if name != "client_flag"}


def test_a_mariadb_connection_that_counts_changed_rows_is_refused(mariadb_shop: Shop) -> None:
    """Raw, under an engine with a creator of its own, and under Django with an option of its own."""
    shop, words = mariadb_shop, without_found_rows(mariadb_shop)
    with closing(pymysql.connect(**words)) as on:
        assert "FOUND_ROWS" in refuse(shop, on, "SEMEL-ON-4").remedy
    with open_engine("mariadb+pymysql://", creator=lambda: pymysql.connect(**words)) as engine:
        with engine.connect() as connection:
            refuse(shop, connection, "SEMEL-ON-4")
        with Session(engine) as session:
            refuse(shop, session, "SEMEL-ON-4")
    with configure_django(shop, OPTIONS={"client_flag": 0}), transaction.atomic(using=ALIAS):
        refuse(shop, ALIAS, "SEMEL-ON-4")


def test_an_async_mariadb_connection_that_counts_changed_rows_is_refused(mariadb_shop: Shop) -> None:
    """Raw, and under an engine with a creator of its own."""
    shop, words = mariadb_shop, without_found_rows(mariadb_shop)

    async def story() -> None:
        on = await asyncmy.connect(**words)
        try:
            await refuse_async(shop, on, "SEMEL-ON-4")
        finally:
            await on.ensure_closed()
        async with (
            open_async_engine("mariadb+asyncmy://", async_creator=lambda: asyncmy.connect(**words)) as engine,
            engine.connect() as connection,
        ):
            await refuse_async(shop, connection, "SEMEL-ON-4")

    shop.loop.run_until_complete(story())


def test_a_closed_handle_is_refused(shop: Shop) -> None:
    """It is named as closed, not as a failing database."""
    connect = {"sqlite": connect_sqlite, "postgresql": connect_psycopg, "mariadb": connect_pymysql}[shop.family]
    raw = connect(shop)
    raw.close()
    assert "it is closed" in refuse(shop, raw, "SEMEL-ON-7").happened
    with shop.database.engine().connect() as connection:
        pass
    assert "closed" in refuse(shop, connection, "SEMEL-ON-7").happened


def test_a_psycopg_pipeline_is_refused(postgresql_shop: Shop) -> None:
    """Its statements are answered later, so how many rows a move matched would not be known in time."""
    order = postgresql_shop.add_order()
    with closing(connect_psycopg(postgresql_shop)) as on:
        with on.pipeline():
            assert "pipeline" in refuse(postgresql_shop, on, "SEMEL-ON-7").happened
        assert postgresql_shop.orders.transition(order, "pending", to="paid", on=on)
        on.commit()
    assert postgresql_shop.see(order) == PAID


def test_a_database_that_semel_does_not_know_is_refused_by_its_name(
    sqlite_shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SQLAlchemy and Django speak to many more."""
    with open_engine("sqlite://") as engine, engine.connect() as connection:
        engine.dialect.name = "duckdb"
        assert "duckdb" in refuse(sqlite_shop, connection, "SEMEL-ON-3").happened
    with configure_django(sqlite_shop), transaction.atomic(using=ALIAS):
        monkeypatch.setattr(connections[ALIAS], "vendor", "oracle")
        assert "oracle" in refuse(sqlite_shop, ALIAS, "SEMEL-ON-3").happened
        monkeypatch.undo()


def test_a_closed_async_handle_is_refused(shop: Shop) -> None:
    """Also what a pool lent and has taken back."""
    connect = {"sqlite": open_aiosqlite, "postgresql": open_asyncpg, "mariadb": open_asyncmy}[shop.family]

    async def story() -> None:
        on = await connect(shop)
        await (on.ensure_closed() if shop.family == "mariadb" else on.close())
        assert "it is closed" in (await refuse_async(shop, on, "SEMEL-ON-7")).happened
        if shop.family == "postgresql":
            async with asyncpg.create_pool(shop.database.url, min_size=1, max_size=1) as pool:
                async with pool.acquire() as lent:
                    pass
                await refuse_async(shop, lent, "SEMEL-ON-7")

    shop.loop.run_until_complete(story())


def test_django_keeps_its_connection_when_it_is_refused(sqlite_shop: Shop) -> None:
    """A refusal is no error of the database: the atomic block it happens in goes on and commits."""
    order = sqlite_shop.add_order()
    with configure_django(sqlite_shop):
        with transaction.atomic(using=ALIAS):
            assert not connections[ALIAS].needs_rollback
            with pytest.raises(UsageError):
                sqlite_shop.orders.transition(order, "pending", to="paid", on="elsewhere")
            assert sqlite_shop.orders.transition(order, "pending", to="paid", on=ALIAS)
        assert sqlite_shop.see(order) == PAID
