"""What users write to take steps: actions, validators, handlers, and what `advance` answers, as type checkers see it."""

from __future__ import annotations

from typing import Any, assert_never, assert_type

from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column

from semel import (
    AsyncEffect,
    AsyncSemel,
    AsyncStep,
    AsyncTable,
    Busy,
    Done,
    Effect,
    Finish,
    NotAllowed,
    Pending,
    Refused,
    Rejected,
    Semel,
    Step,
    Table,
)


class Base(DeclarativeBase):
    pass


class Order(Base):
    __tablename__ = "orders"

    id: Mapped[int] = mapped_column(primary_key=True)
    status: Mapped[str]
    version: Mapped[int]
    total: Mapped[int]
    email: Mapped[str]


once = Semel("sqlite:///shop.db", workflows="workflows/", modules=["shop.orders"], lease_seconds=10)
later = AsyncSemel("sqlite:///shop.db", workflows=[{"workflow": "orders"}])


@once.action("ChargeOrder", idempotent=False)
def charge(step: Step[Order]) -> Finish | Rejected | dict[str, int]:
    """The row reads like the mapped class, and the session is the finishing transaction's."""
    assert_type(step.row, Order)
    assert_type(step.row.total, int)
    assert_type(step.session, Session)
    if step.row.total == 0:
        return Rejected("nothing to pay")
    step.after("SendReceipt", to=step.row.email)
    return Finish("paid") if step.input["fast"] else {"attempt": step.attempt}


@once.validator("HasTotal")
def has_total(step: Step[Order]) -> str | None:
    """A validator answers the reason for a no."""
    return None if step.row.total else "no total"


@once.effect("SendReceipt")
def send(effect: Effect) -> None:
    """A handler has an id that stays the same, and a payload."""
    assert_type(effect.id, str)
    assert_type(effect.payload, dict[str, Any])


@later.action("ChargeOrder")
async def charge_later(step: AsyncStep[Order]) -> None:
    """The async step has the async session."""
    assert_type(step.session, AsyncSession)
    await step.session.flush()


@later.effect("SendReceipt")
async def send_later(effect: AsyncEffect) -> None:
    """The async effect asks in the user's own session."""
    async with AsyncSession() as session:
        assert_type(await effect.first_time(session), bool)


@later.action("Wrong")  # pyright: ignore[reportArgumentType, reportUntypedFunctionDecorator] # a def action of AsyncSemel
def wrong(step: AsyncStep[Order]) -> None:
    """The wrong colour is refused by the type checker before boot does."""
    step.after("SendReceipt")


def take(orders: Table[Order]) -> str:
    """The answers are a closed union; only `Done` is true."""
    outcome = orders.advance(1, "pay", by="customer", input={"fast": True})
    assert_type(outcome, Done | Refused | Rejected | Busy | Pending | NotAllowed)
    if outcome:
        assert_type(outcome, Done)
        return outcome.status
    match outcome:
        case Refused(reason=reason, now=_) | Rejected(reason=reason):
            return reason
        case Busy(holder=holder):
            return holder
        case Pending(call=call):
            return call or "a keeper finishes it"
        case NotAllowed(now=now):
            return now
        case _:
            assert_never(outcome)


async def take_later(orders: AsyncTable[Order], session: AsyncSession) -> None:
    """A step without a claim joins a transaction."""
    assert_type(
        await orders.advance(1, "cancel", by="customer", on=session),
        Done | Refused | Rejected | Busy | Pending | NotAllowed,
    )


once.janitor("billing")
