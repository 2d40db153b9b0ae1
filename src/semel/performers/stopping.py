"""Being cancelled: what a claim writes is known to its end before a cancelled caller leaves.

A task can be cancelled wherever it awaits, also while the answer to a claim is on its way. Leaving then would leave a claim
that nobody works under, and its row would be busy for a lease. So an ask that is `whole` is awaited in a task of its own. A
caller that is cancelled meanwhile waits for its answer; the action is not begun any more, the protocol releases the claim as
after any other error, and only then the cancellation goes on its way.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from semel.asks import Act, Acted, Ask, Asking, Deliver, Drop
from semel.errors import SemelError

Answer = TypeVar("Answer")

STOP_SECONDS = 10.0
"""How long a cancelled caller waits at most: two lock waits. A database that takes longer leaves the claim to its lease."""


async def perform_asks(protocol: Asking[Answer], answer: Callable[[Ask], Awaitable[Any]]) -> Answer:
    """Drive a protocol to its answer, asking `answer` for each reply."""
    stop = Stop()
    before = count_cancellations()
    reply: Any = None
    problem: SemelError | None = None
    while True:
        try:
            ask = protocol.send(reply) if problem is None else protocol.throw(problem)
        except StopIteration as done:
            if stop.why is not None:
                raise stop.why from None
            if count_cancellations() > before:
                raise asyncio.CancelledError from None  # a driver has swallowed it
            return done.value  # type: ignore[no-any-return]
        except BaseException as trouble:
            if stop.why is not None and trouble is not stop.why:
                raise stop.why from trouble
            raise
        reply, problem = None, None
        try:
            reply = await stop.answer(ask, answer)
        except SemelError as trouble:
            problem = trouble


def is_being_cancelled() -> bool:
    """Whether this task was asked to stop. An action may raise CancelledError by itself, which is its own affair."""
    return count_cancellations() > 0


def count_cancellations() -> int:
    """Answer how often this task was asked to stop; a caller may have lived through some of them before."""
    task = asyncio.current_task()
    return 0 if task is None else task.cancelling()


class Stop:
    """Whether one caller was cancelled, and how long it still waits."""

    def __init__(self) -> None:
        """Go on."""
        self.why: BaseException | None = None
        self._deadline = 0.0

    async def answer(self, ask: Ask, answer: Callable[[Ask], Awaitable[Any]]) -> Any:
        """Answer one ask; to its end, if it is whole or the caller is already leaving."""
        if isinstance(ask, Act):
            if self.why is not None:
                return Acted(problem=self.why)
            acted: Acted = await answer(ask)
            if isinstance(acted.problem, asyncio.CancelledError) and is_being_cancelled():
                self.note(acted.problem)
            return acted
        if isinstance(ask, Deliver) or not (
            self.why is not None or isinstance(ask, Drop) or getattr(ask, "whole", False)
        ):
            return await answer(ask)
        return await self.know(asyncio.ensure_future(answer(ask)))

    def note(self, why: BaseException) -> None:
        """Remember the first cancellation. Some libraries repeat theirs until the task has left."""
        if self.why is None:
            self.why = why
            self._deadline = asyncio.get_running_loop().time() + STOP_SECONDS

    async def know(self, answering: asyncio.Future[Any]) -> Any:
        """Wait for an answer, whoever cancels meanwhile, in bounds."""
        while not answering.done():
            left = None if self.why is None else self._deadline - asyncio.get_running_loop().time()
            if self.why is not None and left is not None and left <= 0:
                answering.cancel()
                answering.add_done_callback(lambda given_up: given_up.cancelled() or given_up.exception())
                raise self.why
            try:
                await asyncio.wait([answering], timeout=left)
            except asyncio.CancelledError as why:
                self.note(why)
        return answering.result()
