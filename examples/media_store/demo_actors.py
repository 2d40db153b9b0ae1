"""The processes of a storm: web processes in which people press buttons, and workers; each may be killed at any moment."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from multiprocessing import connection, parent_process
from multiprocessing.connection import Connection
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

READY = "ready"

LATE_SECONDS = 0.3
"""A press that is later than this is left out: its moment, in which others pressed too, is over."""


def run_actor(side: Side, role: Role, url: str, plan: Plan, begin: Connection) -> None:
    """Be one process of a storm, until it is killed. When the storm begins is said over the connection."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # who stops the demo stops all of them
    logging.disable()  # what keepers say would be printed over the progress
    threading.Thread(target=end_with_parent, daemon=True).start()
    if role == "worker":
        begin.send(READY)
        keep(side, url)
    elif side == "naive":
        press_with_naive_code(open_sqlite(url), plan, begin)
    else:
        asyncio.run(press_with_semel(url, plan, begin))


def end_with_parent() -> None:
    """End when the demo does, however that ended."""
    parent = parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        os._exit(1)


def keep(side: Side, url: str) -> None:
    """Do what the day brings; on Semel's side this is the store's own worker, with its keepers."""
    if side == "semel":
        asyncio.run(run_worker(Settings(url, lease_seconds=LEASE_SECONDS)))
    never, engine = threading.Event(), open_sqlite(url)
    while not never.wait(LOOK_SECONDS):
        try_to(look_naively, engine)


def press_with_naive_code(engine: sa.Engine, plan: Plan, begin: Connection) -> None:
    """Press buttons in a process whose code looks and then writes."""
    never = threading.Event()
    for press, moment in list_moments(plan, hear_beginning(begin)):
        never.wait(max(0.0, moment - time.monotonic()))
        try_to(press_naively, engine, press)


def hear_beginning(begin: Connection) -> float:
    """Say that this process is ready, and wait to hear when the storm begins: on the clock that all processes share."""
    begin.send(READY)
    return float(begin.recv())


def list_moments(plan: Plan, began: float) -> Iterator[tuple[Press, float]]:
    """Go through the presses whose moments are not over yet, each with its moment."""
    for press in plan.presses:
        moment = began + press.at_seconds
        if moment > time.monotonic() - LATE_SECONDS:
            yield press, moment


def try_to(do: Callable[..., None], *arguments: object) -> None:
    """Do something as a web framework would: an error is one answer, and the next request comes."""
    try:
        do(*arguments)
    except SQLAlchemyError:
        return


async def press_with_semel(url: str, plan: Plan, begin: Connection) -> None:
    """Press buttons in a process of the store."""
    async with open_store(Settings(url, lease_seconds=LEASE_SECONDS)) as store:
        for press, moment in list_moments(plan, await asyncio.to_thread(hear_beginning, begin)):
            await wait_for(moment)
            await press_once(store, press)


async def wait_for(moment: float) -> None:
    """Wait for the moment of a press."""
    try:
        await asyncio.wait_for(asyncio.Event().wait(), max(0.0, moment - time.monotonic()))
    except TimeoutError:
        return


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
