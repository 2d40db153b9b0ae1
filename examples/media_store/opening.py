"""Open the store: the part of a process's start that the server and the worker share."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from semel import AsyncSemel, AsyncTable

from .billing import add_billing
from .database import Database, open_database
from .models import BillingPeriod, Invoice
from .settings import Settings
from .stock import create_what_is_missing

WORKFLOWS = Path(__file__).parent / "workflows"


@dataclass(frozen=True)
class Store:
    """What the routes work with: Semel for moves, the database for reads."""

    settings: Settings
    once: AsyncSemel
    periods: AsyncTable[BillingPeriod]
    invoices: AsyncTable[Invoice]
    database: Database


def make_store(settings: Settings) -> Store:
    """Put the store together; nothing is opened yet."""
    workflows = read_workflows(settings.lease_seconds)
    once = AsyncSemel(settings.db, workflows=workflows, lease_seconds=settings.lease_seconds)
    database = open_database(settings.db)
    add_billing(once, database)
    return Store(settings, once, once.table(BillingPeriod), once.table(Invoice), database)


def read_workflows(lease_seconds: float) -> list[dict[str, Any]]:
    """Read the workflow files. The option of the command line says how long each lease is, whatever a file says."""
    workflows = [json.loads(file.read_text(encoding="utf-8")) for file in sorted(WORKFLOWS.glob("*.json"))]
    for workflow in workflows:
        for step in workflow["steps"]:
            step["lease_seconds"] = lease_seconds
    return workflows


async def create_store(store: Store) -> None:
    """Create what is missing."""
    await store.once.create_tables()
    await store.database.set_up(create_what_is_missing)


@asynccontextmanager
async def open_store(settings: Settings) -> AsyncIterator[Store]:
    """Create what is missing, let Semel check everything, and refuse to start on anything that cannot be safe."""
    store = make_store(settings)
    try:
        await create_store(store)
        await store.once.boot()
        yield store
    finally:
        await store.once.close()
        await store.database.close()
