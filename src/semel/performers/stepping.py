"""The two ways to take a conductor's steps: call each, or await each."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any, TypeAlias, TypeVar

Answer = TypeVar("Answer")
Step: TypeAlias = Callable[[], Any]
Steps: TypeAlias = Generator[Step, Any, Answer]


def take_steps(steps: Steps[Answer]) -> Answer:
    """Call every step and send its answer back, until the conductor is done."""
    try:
        step = next(steps)
        while True:
            try:
                reply = step()
            except BaseException as problem:  # noqa: BLE001 - the conductor decides about every one
                step = steps.throw(problem)
            else:
                step = steps.send(reply)
    except StopIteration as stop:
        return stop.value  # type: ignore[no-any-return]


async def take_steps_async(steps: Steps[Answer]) -> Answer:
    """Await every step and send its answer back, until the conductor is done."""
    try:
        step = next(steps)
        while True:
            try:
                reply = await step()
            except BaseException as problem:  # noqa: BLE001 - the conductor decides about every one
                step = steps.throw(problem)
            else:
                step = steps.send(reply)
    except StopIteration as stop:
        return stop.value  # type: ignore[no-any-return]
