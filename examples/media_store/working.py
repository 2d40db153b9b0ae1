"""The worker: Semel's keepers, and what happens because a day has come."""

from __future__ import annotations

import asyncio
import logging
import signal

from .cron import take_what_is_due
from .opening import Store, open_store
from .settings import Settings

log = logging.getLogger("media_store")

LOOK_SECONDS = 1.0
"""How often each keeper looks: a stranded row waits for two leases and one look."""


async def run_worker(settings: Settings) -> None:
    """Keep and look until SIGTERM or SIGINT; then let what runs end. A worker that is killed instead leaves no harm."""
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    async with open_store(settings) as store:
        rounds = store.once.rounds(LOOK_SECONDS)
        rounds.start()
        log.info("the worker keeps %s", store.once)
        try:
            await act_as_cron(store, stop)
        finally:
            await rounds.stop()


async def act_as_cron(store: Store, stop: asyncio.Event) -> None:
    """Look for what is due until it is time to stop; what goes wrong at one look may go right at the next."""
    while not stop.is_set():
        try:
            await take_what_is_due(store)
        except Exception:
            log.exception("the cron met a problem")
        await pause(stop)


async def pause(stop: asyncio.Event) -> None:
    """Wait for the next look, or for the end."""
    try:
        await asyncio.wait_for(stop.wait(), LOOK_SECONDS)
    except TimeoutError:
        return
