"""The processes of a storm: web processes in which people press buttons, and workers; each may be killed at any moment."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import threading
import time
from collections.abc import Callable
from multiprocessing import connection, parent_process
from typing import Literal, TypeAlias

import sqlalchemy as sa
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from semel import SemelError

from .database import open_sqlite
from .demo_naive import live_invoices, look_naively, press_naively
from .demo_plan import Plan, Press
from .models import Invoice
from .opening import Store, open_store
from .settings import Settings
from .working import LOOK_SECONDS, run_worker

Side: TypeAlias = Literal["naive", "semel"]
Role: TypeAlias = Literal["web", "worker"]

LEASE_SECONDS = 1.0
"""Short, because the audience waits for it twice; still many times what a step takes here."""

LATE_SECONDS = 0.3
"""A press that is later than this is left out: its moment, in which others pressed too, is over."""


def run_actor(side: Side, role: Role, url: str, plan: Plan, began: float) -> None:
    """Be one process of a storm that began at this moment of the monotonic clock, which all processes share."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # who stops the demo stops all of them
    logging.disable()  # what keepers say would be printed over the progress
    threading.Thread(target=end_with_parent, daemon=True).start()
    if side == "naive":
        act_naively(role, open_sqlite(url), plan, began)
        return
    settings = Settings(url, lease_seconds=LEASE_SECONDS)
    asyncio.run(run_worker(settings) if role == "worker" else press_with_semel(settings, plan, began))


def end_with_parent() -> None:
    """End when the demo does, however that ended."""
    parent = parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        os._exit(1)


def act_naively(role: Role, engine: sa.Engine, plan: Plan, began: float) -> None:
    """Press buttons, or do what the day brings, with code that looks and then writes."""
    never = threading.Event()
    if role == "worker":
        while True:
            try_to(look_naively, engine)
            never.wait(LOOK_SECONDS)
    for press in plan.presses:
        left = seconds_until(press, began)
        if left > -LATE_SECONDS:
            never.wait(max(left, 0))
            try_to(press_naively, engine, press)


def try_to(do: Callable[..., None], *arguments: object) -> None:
    """Do something as a web framework would: an error is one answer, and the next request comes."""
    try:
        do(*arguments)
    except SQLAlchemyError:
        return


async def press_with_semel(settings: Settings, plan: Plan, began: float) -> None:
    """Press buttons in a process of the store."""
    never = asyncio.Event()
    async with open_store(settings) as store:
        for press in plan.presses:
            left = seconds_until(press, began)
            if left > -LATE_SECONDS:
                await wait_for(never, left)
                await press_once(store, press)


async def wait_for(never: asyncio.Event, seconds: float) -> None:
    """Wait for the moment of a press."""
    try:
        await asyncio.wait_for(never.wait(), max(seconds, 0))
    except TimeoutError:
        return


def seconds_until(press: Press, began: float) -> float:
    """Answer how long it is until a press; less than 0 where it should have been."""
    return began + press.at_seconds - time.monotonic()


async def press_once(store: Store, press: Press) -> None:
    """Do what the button says; what the person is answered does not matter here, only what is in the database."""
    try:
        if press.kind == "close":
            await store.periods.advance(press.period, "close", by="admin")
            return
        invoice_id = await store.database.read(lambda session: find_live_id(session, press.number))
        if invoice_id is None:
            return
        if press.kind == "regenerate":
            await store.invoices.advance(invoice_id, "regenerate", by="admin")
        else:
            given = {"amount_minor": press.amount_minor}
            await store.invoices.advance(invoice_id, "apply_payment", by="customer", input=given)
    except (SemelError, SQLAlchemyError):
        return


def find_live_id(session: Session, number: str) -> int | None:
    """Find the live invoice of a number, as the page shows it."""
    invoice = session.scalars(live_invoices().where(Invoice.number == number)).first()
    return None if invoice is None else invoice.id
