"""The worker: a process of keepers. Any number of them, on any number of machines, share one database."""

from __future__ import annotations

import asyncio
import logging
import signal
import threading
from collections.abc import Callable
from typing import Any

from semel.aio import AsyncSemel
from semel.app import Semel
from semel.keepers.rounds import SWEEP_SECONDS

logger = logging.getLogger("semel")

SIGNALS = (signal.SIGTERM, signal.SIGINT)


def work(
    once: Semel | AsyncSemel, *, sweep_seconds: float = SWEEP_SECONDS, started: Callable[[], Any] = lambda: None
) -> None:
    """Boot and keep, until SIGTERM or SIGINT; then let every look end. A refused boot is raised."""
    if isinstance(once, AsyncSemel):
        asyncio.run(_work_async(once, sweep_seconds, started))
    else:
        _work(once, sweep_seconds, started)


def _work(once: Semel, sweep_seconds: float, started: Callable[[], Any]) -> None:
    stop = threading.Event()
    before = {number: signal.signal(number, lambda *_: stop.set()) for number in SIGNALS}
    try:
        with once:
            rounds = once.rounds(sweep_seconds)
            rounds.start()
            started()
            stop.wait()
            logger.info("the worker stops when every look has ended")
            rounds.stop()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


async def _work_async(once: AsyncSemel, sweep_seconds: float, started: Callable[[], Any]) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in SIGNALS:
        loop.add_signal_handler(number, stop.set)
    try:
        async with once:
            rounds = once.rounds(sweep_seconds)
            rounds.start()
            started()
            await stop.wait()
            logger.info("the worker stops when every look has ended")
            await rounds.stop()
    finally:
        for number in SIGNALS:
            loop.remove_signal_handler(number)
