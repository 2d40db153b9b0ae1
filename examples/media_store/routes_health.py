"""Whether this process is ready, and whether keepers look."""

from __future__ import annotations

import time
from typing import Any

import sqlalchemy as sa
from fastapi import APIRouter
from sqlalchemy.orm import Session

from .asking import InStore

router = APIRouter()

SILENT_SECONDS = 10
"""After how long a keeper does not count any more: ten looks that did not come."""

# The store looks at Semel's own table: there is no verb yet that lists keepers.
KEEPERS = sa.table("semel_keepers", sa.column("duty"), sa.column("looked_us"))


@router.get("/healthz")
async def show_health(store: InStore) -> dict[str, Any]:
    """Answer 200 when the store has booted and its database answers. `keepers` counts those that looked just now."""
    return {"status": "ok", "boot": "done", "keepers": await store.database.read(count_keepers)}


def count_keepers(session: Session) -> dict[str, int]:
    """Count the keepers that live, for each duty; a duty of which none does is not there."""
    since_us = int((time.time() - SILENT_SECONDS) * 1_000_000)
    living = sa.select(KEEPERS.c.duty, sa.func.count()).where(KEEPERS.c.looked_us > since_us)
    return dict(session.execute(living.group_by(KEEPERS.c.duty)).all())
