"""The rounds: each duty looks again and again, until it is told to stop. Worker and lifespan both start them."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from semel.asks import Asking, Execute
from semel.errors import SemelError
from semel.keepers.duty import SWEEP_LIMIT, Duty, Report, is_stopping
from semel.store.keeping import Keeping

logger = logging.getLogger("semel")

SWEEP_SECONDS = 5.0
"""How often a keeper looks: the worst wait for a stranded row is lease + sweep + lease."""

Perform: TypeAlias = Callable[[Asking[Report]], Report]
PerformAsync: TypeAlias = Callable[[Asking[Report]], Awaitable[Report]]


@dataclass(frozen=True)
class Beat:
    """What every round needs beside its duty."""

    keeping: Keeping
    keeper_id: str
    wait: Callable[..., Any]
    """How time passes: a thread's wait is told when to stop early, a task's is cancelled."""
    sweep_seconds: float = SWEEP_SECONDS


def look_and_note(duty: Duty, beat: Beat) -> Asking[Report]:
    """Look once, and write down that this keeper lives: one that stopped shows."""
    report = yield from duty.look()
    problem = "; ".join(report.troubles)[:1_000] or None
    params: dict[str, object] = {
        "keeper_id": beat.keeper_id,
        "duty": duty.name,
        "done": report.done,
        "problem": problem,
    }
    if not (yield Execute(beat.keeping.note_look, params)):
        yield Execute(beat.keeping.write_keeper, params)
    return report


def log(duty: Duty, report: Report) -> None:
    """Say what a look did."""
    if report.done:
        logger.info("the %s did %d of %d", duty.name, report.done, report.found)
    for problem in report.troubles:
        logger.warning("the %s met a problem: %s", duty.name, problem)


class Rounds:
    """Makes rounds on threads, one for each duty: a long delivery holds up no release."""

    def __init__(self, duties: Sequence[Duty], perform: Perform, beat: Beat) -> None:
        """Start nothing yet."""
        self._perform = perform
        self._beat = beat
        self._stop = threading.Event()
        self._threads = [
            threading.Thread(target=self._run, args=(duty,), name=f"semel-{duty.name}", daemon=True) for duty in duties
        ]

    def start(self) -> None:
        """Start the rounds."""
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Let every look end, and come home."""
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def _run(self, duty: Duty) -> None:
        while not self._stop.is_set():
            try:
                log(duty, self._perform(look_and_note(duty, self._beat)))
            except SemelError as problem:
                logger.warning("the %s got no answer: %s", duty.name, problem.happened)
            except BaseException:
                # A function of the user's that means to end its thread would end this duty for good.
                logger.exception("the %s met an unexpected problem", duty.name)
            self._beat.wait(self._stop, self._beat.sweep_seconds)


class AsyncRounds:
    """Makes rounds in tasks of the running loop, one for each duty."""

    def __init__(self, duties: Sequence[Duty], perform: PerformAsync, beat: Beat) -> None:
        """Start nothing yet."""
        self._duties = duties
        self._perform = perform
        self._beat = beat
        self._stopping = False
        self._tasks: list[asyncio.Task[None]] = []
        self._waits: set[asyncio.Task[None]] = set()

    def start(self) -> None:
        """Start the rounds."""
        loop = asyncio.get_running_loop()
        self._tasks = [loop.create_task(self._run(duty), name=f"semel-{duty.name}") for duty in self._duties]

    async def stop(self) -> None:
        """Let every look end, and come home."""
        self._stopping = True
        for wait in list(self._waits):
            wait.cancel()
        await asyncio.gather(*self._tasks)

    async def _run(self, duty: Duty) -> None:
        while self._goes_on():
            try:
                log(duty, await self._perform(look_and_note(duty, self._beat)))
            except SemelError as problem:
                logger.warning("the %s got no answer: %s", duty.name, problem.happened)
            except (GeneratorExit, KeyboardInterrupt):
                raise
            except BaseException:
                if is_stopping():
                    raise
                logger.exception("the %s met an unexpected problem", duty.name)
            if self._goes_on():
                await self._wait()

    def _goes_on(self) -> bool:
        return not self._stopping and not is_stopping()

    async def _wait(self) -> None:
        wait = asyncio.get_running_loop().create_task(self._beat.wait(self._beat.sweep_seconds))
        self._waits.add(wait)
        try:
            await asyncio.wait([wait])
        finally:
            wait.cancel()
            self._waits.discard(wait)


__all__ = ["SWEEP_LIMIT", "SWEEP_SECONDS", "AsyncRounds", "Rounds"]
