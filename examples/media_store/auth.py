"""Who is asking: a customer by `Bearer user-<id>`, or the operator by `Bearer operator`.

These are coroutines although they never wait: FastAPI would send a plain function to a thread.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Annotated, TypeAlias

from fastapi import Depends, Header

from .problems import Problem
from .stock import USERS

TOKEN = re.compile(r"(?i:Bearer) (?:user-(?P<user_id>[1-9][0-9]{0,8})|operator)")


@dataclass(frozen=True)
class Customer:
    """A user of the store."""

    user_id: int
    requester: str = "customer"


@dataclass(frozen=True)
class Operator:
    """Who runs the store; it acts as the requester `admin`."""

    requester: str = "admin"


Caller: TypeAlias = Customer | Operator


async def read_caller(authorization: Annotated[str | None, Header()] = None) -> Caller:
    """Answer who sent this request, or refuse it: 401."""
    found = TOKEN.fullmatch(authorization or "")
    if found is None:
        raise not_known()
    if found["user_id"] is None:
        return Operator()
    user_id = int(found["user_id"])
    # The users are always the same ones, so that this needs no query.
    if user_id > USERS:
        raise not_known()
    return Customer(user_id)


def not_known() -> Problem:
    """Make the answer to somebody we do not know."""
    detail = f"Send Authorization: Bearer user-<1 to {USERS}>, or Bearer operator."
    return Problem(401, "not_known", detail, {"WWW-Authenticate": "Bearer"})


async def read_customer(caller: Annotated[Caller, Depends(read_caller)]) -> Customer:
    """Answer the customer who sent this request, or refuse the operator: 403."""
    if not isinstance(caller, Customer):
        raise Problem(403, "customers_only", "This belongs to a customer; send Authorization: Bearer user-<id>.")
    return caller


async def read_operator(caller: Annotated[Caller, Depends(read_caller)]) -> Operator:
    """Answer the operator who sent this request, or refuse a customer: 403."""
    if not isinstance(caller, Operator):
        raise Problem(403, "operator_only", "Only the operator may do this; send Authorization: Bearer operator.")
    return caller


ByCaller = Annotated[Caller, Depends(read_caller)]
ByCustomer = Annotated[Customer, Depends(read_customer)]
ByOperator = Annotated[Operator, Depends(read_operator)]
