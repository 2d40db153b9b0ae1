"""What routes ask of a request before they begin."""

from __future__ import annotations

from typing import Annotated, cast

from fastapi import Depends, Path, Request

from .opening import Store

LARGEST_ID = 2**63 - 1
"""What a BIGINT holds; a larger number would be the database's error instead of the client's."""


async def find_store(request: Request) -> Store:
    """Answer the store that the lifespan opened."""
    return cast("Store", request.state.store)


InStore = Annotated[Store, Depends(find_store)]
RowId = Annotated[int, Path(ge=1, le=LARGEST_ID)]
