"""Whether this process is ready."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from fastapi import APIRouter

from .asking import InStore

router = APIRouter()


@router.get("/healthz")
async def show_health(store: InStore) -> dict[str, Any]:
    """Answer 200 when the store has booted and its database answers. There are no keepers yet."""
    await store.database.read(lambda session: session.scalar(sa.select(1)))
    return {"status": "ok", "boot": "done", "keepers": {}}
