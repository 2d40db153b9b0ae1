"""`Semel` and `AsyncSemel` behind one face, so that a test is written once.

A call to `AsyncSemel` runs in an event loop of a thread of its own and is waited for; many calls at once are threads for
the one and tasks for the other.
"""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, Literal, TypeAlias

from semel import AsyncSemel, Semel

Colour: TypeAlias = Literal["sync", "async"]
COLOURS: tuple[Colour, ...] = ("sync", "async")

CROWD = 64
"""The most callers that a test lets call at once."""


class Stage:
    """Where calls run: threads for sync verbs, one event loop for async ones."""

    def __init__(self, loop: asyncio.AbstractEventLoop, threads: ThreadPoolExecutor) -> None:
        self.loop = loop
        self.threads = threads

    def wait(self, call: Callable[[], Any]) -> Any:
        """Make one call and answer what it answers."""
        answer = call()
        return self.begin(lambda: answer).result() if inspect.isawaitable(answer) else answer

    def begin(self, call: Callable[[], Any]) -> Future[Any]:
        """Begin a call whose answer is awaitable in the loop; the future answers when it has."""
        return asyncio.run_coroutine_threadsafe(self._await(call), self.loop)

    def call_all(self, calls: Sequence[Callable[[], Any]]) -> list[Any]:
        """Make awaitable calls as tasks that all begin in one turn of the loop; when all are done, the first error is raised."""

        async def gather() -> list[Any]:
            return list(await asyncio.gather(*(call() for call in calls), return_exceptions=True))

        answers = self.begin(gather).result()
        for answer in answers:
            if isinstance(answer, BaseException):
                raise answer
        return answers  # type: ignore[no-any-return]

    @staticmethod
    async def _await(call: Callable[[], Any]) -> Any:
        answer = call()
        return await answer if inspect.isawaitable(answer) else answer


@contextmanager
def open_stage() -> Iterator[Stage]:
    """Run an event loop and as many threads as a test may need, and end both."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="event loop")
    thread.start()
    with ThreadPoolExecutor(CROWD) as threads:
        stage = Stage(loop, threads)
        try:
            yield stage
        finally:
            stage.begin(loop.shutdown_default_executor).result()
            stage.begin(loop.shutdown_asyncgens).result()
            loop.call_soon_threadsafe(loop.stop)
            thread.join()
            loop.close()


class Once:
    """One Semel of either colour."""

    def __init__(self, colour: Colour, url: str, stage: Stage, **settings: Any) -> None:
        self.colour = colour
        self.stage = stage
        self.semel: Any = Semel(url, **settings) if colour == "sync" else AsyncSemel(url, **settings)

    def table(self, given: Any, **names: Any) -> Orders:
        """Declare a table."""
        return Orders(self, self.semel.table(given, **names))

    def boot(self) -> None:
        """Boot."""
        self.stage.wait(self.semel.boot)

    def create_tables(self) -> None:
        """Create Semel's own tables."""
        self.stage.wait(self.semel.create_tables)

    def close(self) -> None:
        """Close it where it lives."""
        self.stage.wait(self.semel.close)

    def begin(self, call: Callable[[], Any]) -> Future[Any]:
        """Begin a verb and answer its future."""
        return self.stage.threads.submit(call) if self.colour == "sync" else self.stage.begin(call)

    def call_all(self, calls: Sequence[Callable[[], Any]]) -> list[Any]:
        """Make all calls at once and answer what each answered; the first error is raised."""
        if self.colour == "async":
            return self.stage.call_all(calls)
        together = threading.Barrier(len(calls))

        def call_together(call: Callable[[], Any]) -> Any:
            together.wait()
            return call()

        return [future.result() for future in [self.stage.threads.submit(call_together, call) for call in calls]]


class Orders:
    """The handle of one table, sync or async."""

    def __init__(self, once: Once, table: Any) -> None:
        self.once = once
        self.table = table

    def transition(self, *words: Any, **more: Any) -> Any:
        """Move one row and answer its outcome."""
        return self.once.stage.wait(lambda: self.table.transition(*words, **more))

    def transition_many(self, *words: Any, **more: Any) -> Any:
        """Move many rows and answer their outcomes."""
        return self.once.stage.wait(lambda: self.table.transition_many(*words, **more))

    def begin_transition(self, *words: Any, **more: Any) -> Future[Any]:
        """Begin to move one row."""
        return self.once.begin(lambda: self.table.transition(*words, **more))

    def begin_transition_many(self, *words: Any, **more: Any) -> Future[Any]:
        """Begin to move many rows."""
        return self.once.begin(lambda: self.table.transition_many(*words, **more))
