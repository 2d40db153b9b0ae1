"""The application object: what it is made of, and nothing else."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI

from . import routes_billing, routes_health, routes_invoices, routes_wallet
from .opening import Store, open_store
from .problems import add_problems
from .settings import Settings


def make_app(settings: Settings) -> FastAPI:
    """Make the application; its start creates what is missing and refuses what cannot be safe."""

    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[dict[str, Store]]:
        async with open_store(settings) as store:
            yield {"store": store}

    app = FastAPI(title="The digital media store", lifespan=lifespan)
    add_problems(app)
    for routes in (routes_health, routes_wallet, routes_billing, routes_invoices):
        app.include_router(routes.router)
    return app
