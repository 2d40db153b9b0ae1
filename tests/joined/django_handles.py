"""What Django lends: a database by its alias, inside `atomic`.

Django keeps its settings and its connections for the whole process; what is put in here is taken out again.
"""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import django.conf
import pymysql
import sqlalchemy as sa
from django.apps import apps
from django.db import connections, transaction

from tests.databases import FAMILIES
from tests.joined.lent import Cell, Lent
from tests.joined.shop import Shop

ENGINES = {"sqlite": "sqlite3", "postgresql": "postgresql", "mariadb": "mysql"}
ALIAS = "default"


class LentByDjango(Lent):
    """An alias inside an atomic block."""

    def __init__(self, shop: Shop) -> None:
        super().__init__(shop, ALIAS)
        self.block = transaction.atomic(using=ALIAS)
        self.block.__enter__()
        self.nested: Any = None

    async def run(self, sql: str) -> None:
        with connections[ALIAS].cursor() as cursor:
            cursor.execute(sql)

    async def read(self, sql: str) -> list[tuple[Any, ...]]:
        with connections[ALIAS].cursor() as cursor:
            cursor.execute(sql)
            return [tuple(row) for row in cursor.fetchall()]

    async def commit(self) -> None:
        self.block.__exit__(None, None, None)

    async def rollback(self) -> None:
        transaction.set_rollback(True, using=ALIAS)
        self.block.__exit__(None, None, None)

    async def savepoint(self) -> None:
        self.nested = transaction.atomic(using=ALIAS)
        self.nested.__enter__()

    async def back_to_savepoint(self) -> None:
        transaction.set_rollback(True, using=ALIAS)
        self.nested.__exit__(None, None, None)


@contextmanager
def configure_django(shop: Shop, **options: Any) -> Iterator[None]:
    """Give Django the shop's database, and take it away again."""
    before, mysqldb = django.conf.settings._wrapped, {name: sys.modules.get(name) for name in ("MySQLdb", "_mysql")}
    pymysql.install_as_MySQLdb()
    django.conf.settings._wrapped = django.conf.empty
    django.conf.settings.configure(DATABASES={ALIAS: describe(shop, **options)})
    forget_connections()
    ready, apps.ready = apps.ready, True  # there are no apps here, so none is still being loaded
    try:
        yield
    finally:
        connections[ALIAS].close()
        forget_connections()
        apps.ready = ready
        django.conf.settings._wrapped = before
        for name, module in mysqldb.items():
            if module is None:
                sys.modules.pop(name, None)


def forget_connections() -> None:
    """Make Django read its settings again."""
    connections.__dict__.pop("settings", None)
    connections._settings = None
    if hasattr(connections._connections, ALIAS):
        delattr(connections._connections, ALIAS)


def describe(shop: Shop, **options: Any) -> dict[str, Any]:
    """Write the shop's database down as Django's settings have it."""
    url = sa.make_url(shop.database.url)
    return {
        "ENGINE": f"django.db.backends.{ENGINES[shop.family]}",
        "NAME": url.database,
        "HOST": url.host or "",
        "PORT": str(url.port or ""),
        "USER": url.username or "",
        "PASSWORD": url.password or "",
        **options,
    }


@asynccontextmanager
async def lend(shop: Shop) -> AsyncIterator[Lent]:
    """Lend the alias, inside an atomic block."""
    with configure_django(shop):
        yield LentByDjango(shop)


CELLS = [Cell("Django's alias", family, "sync", lend) for family in FAMILIES]
