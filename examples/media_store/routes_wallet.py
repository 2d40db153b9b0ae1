"""A customer's points."""

from __future__ import annotations

from fastapi import APIRouter

from .asking import InStore
from .auth import ByCustomer
from .models import User

router = APIRouter()


@router.get("/wallet")
async def show_wallet(store: InStore, customer: ByCustomer) -> dict[str, int]:
    """Answer how many points the caller has."""
    user = await store.database.read(lambda session: session.get_one(User, customer.user_id))
    return {"points": user.points}
