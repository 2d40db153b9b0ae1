from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncSession, create_async_engine
from sqlalchemy.orm import Session
from sqlalchemy.pool import NullPool

from semel import UsageError
from semel.asks import Deliver
from semel.performers.effects import AsyncEffect, Effect
from semel.performers.fresh import fresh_id
from tests.joined.lent import run_through
from tests.steps.workshop import Receipt, Workshop, call, entered


def make_effect(workshop: Workshop) -> Any:
    """Make an after-effect as the courier delivers it."""
    kind = Effect if workshop.colour == "sync" else AsyncEffect
    deliver = Deliver(fresh_id(), "Mail", "orders", "1", "{}", 1)
    return kind(deliver, workshop.semel._setup.outbox.note_delivery_once)


def handle(workshop: Workshop, tell: Callable[[Any], Any], **options: Any) -> Any:
    """Tell a handler's story with a session of its own, on an engine of the user's."""
    make: Any = sa.create_engine if workshop.colour == "sync" else create_async_engine
    make_session: Any = Session if workshop.colour == "sync" else AsyncSession

    async def whole() -> Any:
        engine = make(workshop.other_url(), poolclass=NullPool, **options)
        async with entered(make_session(engine)) as session:
            answer = await tell(session)
        await call(engine.dispose)
        return answer

    return workshop.stage.wait(whole) if workshop.colour == "async" else run_through(whole())


def test_an_effect_is_handled_the_first_time_only(workshop: Workshop) -> None:
    """The note is part of the handler's commit: it stands after that, and another consumer has one of its own."""
    effect = make_effect(workshop)

    async def tell(session: Any) -> list[bool]:
        first = [await call(effect.first_time, session), await call(effect.first_time, session)]
        await call(session.commit)
        again = [await call(effect.first_time, session), await call(effect.first_time, session, "ledger")]
        return first + again

    assert handle(workshop, tell) == [True, False, False, True]


def test_a_handler_that_rolls_back_is_called_as_if_for_the_first_time(workshop: Workshop) -> None:
    """What it wrote is gone, so the note must be gone with it."""
    effect, row = make_effect(workshop), workshop.add_order()

    async def tell(session: Any) -> list[bool]:
        first = [await call(effect.first_time, session)]
        session.add(Receipt(order_id=row, text="lost"))
        await call(session.flush)
        await call(session.rollback)
        return [*first, await call(effect.first_time, session)]

    assert handle(workshop, tell) == [True, True]
    assert workshop.see(row).receipts == ()


def test_a_session_that_commits_each_statement_is_refused(workshop: Workshop) -> None:
    """The note would be kept although the handler fails afterwards: the effect would be lost without a trace."""
    effect = make_effect(workshop)

    async def tell(session: Any) -> None:
        await call(effect.first_time, session)

    with pytest.raises(UsageError, match="SEMEL-ON-2"):
        handle(workshop, tell, isolation_level="AUTOCOMMIT")

    async def tell_properly(session: Any) -> bool:
        return bool(await call(effect.first_time, session))

    assert handle(workshop, tell_properly) is True
