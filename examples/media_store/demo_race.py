"""Callers that begin at the same moment and end when they end: nothing here slows or orders them."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

Watch: TypeAlias = Callable[[int], None]


@dataclass(frozen=True)
class Answers:
    """What the callers were told, and how long all of them took."""

    told: tuple[bool | Exception, ...]
    seconds: float


def race(call: Callable[[], bool], callers: int, watch: Watch) -> Answers:
    """Let threads call at once, and tell `watch` how many have their answer."""
    gate = threading.Barrier(callers + 1)
    told: list[bool | Exception] = []

    def run() -> None:
        gate.wait()
        try:
            told.append(call())
        except Exception as problem:  # noqa: BLE001 - what a caller was told is counted, whatever it is
            told.append(problem)
        watch(len(told))

    threads = [threading.Thread(target=run) for _ in range(callers)]
    for thread in threads:
        thread.start()
    gate.wait()
    started = time.perf_counter()
    for thread in threads:
        thread.join()
    return Answers(tuple(told), time.perf_counter() - started)
