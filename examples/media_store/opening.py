"""Open the store: the part of a process's start that the server and the worker share."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from semel import AsyncSemel, AsyncTable

from .database import Database, open_database
from .models import Invoice
from .settings import Settings
from .stock import create_what_is_missing


@dataclass(frozen=True)
class Store:
    """What the routes work with: Semel for moves, the database for reads."""

    settings: Settings
    once: AsyncSemel
    invoices: AsyncTable[Invoice]
    database: Database


@asynccontextmanager
async def open_store(settings: Settings) -> AsyncIterator[Store]:
    """Create what is missing, let Semel check everything, and refuse to start on anything that cannot be safe."""
    once = AsyncSemel(settings.db)
    invoices = once.table(Invoice)
    database = open_database(settings.db)
    try:
        await once.create_tables()
        await database.set_up(create_what_is_missing)
        await once.boot()
        yield Store(settings, once, invoices, database)
    finally:
        await once.close()
        await database.close()
