"""What routes ask of a request before they begin."""

from __future__ import annotations

import re
from typing import Annotated, cast

from fastapi import Depends, Header, Path, Request

from .opening import Store
from .problems import Problem

LARGEST_ID = 2**63 - 1
"""What a BIGINT holds; a larger number would be the database's error instead of the client's."""

REQUEST_KEY = re.compile(r'"[ !#-\[\]-~]{1,255}"|[ -~]{1,255}')
"""A key of printable ASCII, quoted as RFC 8941 has it or bare."""


async def find_store(request: Request) -> Store:
    """Answer the store that the lifespan opened."""
    return cast("Store", request.state.store)


async def read_request_key(idempotency_key: Annotated[str | None, Header()] = None) -> str:
    """Answer the key under which a client may send its request again, or refuse a request without one: 400."""
    if idempotency_key is None:
        raise Problem(400, "idempotency_key_missing", "Send an Idempotency-Key header: a new one for each payment.")
    if REQUEST_KEY.fullmatch(idempotency_key) is None:
        raise Problem(400, "idempotency_key_malformed", "An Idempotency-Key is 1 to 255 printable ASCII characters.")
    return idempotency_key


InStore = Annotated[Store, Depends(find_store)]
RowId = Annotated[int, Path(ge=1, le=LARGEST_ID)]
RequestKey = Annotated[str, Depends(read_request_key)]
