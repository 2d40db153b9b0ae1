"""A real process that does what a line of JSON tells it, in a child of its own, which may be killed or stopped on its way.

    python -m tests.crash.actor URL sync|async

It boots once and forks a child for each line it reads. It answers with a line for each thing that happens: what the child
answered, that it was stopped, or how it ended. Boundaries are counted before and after everything that is sent to the
database; `kill_at` names the one at which the child kills itself, as abruptly as a machine dies.
"""

from __future__ import annotations

import inspect
import json
import os
import signal
import sys
import time
from collections.abc import Callable
from typing import Any

import sqlalchemy as sa

from semel.clock import SystemClock
from tests.conformance.faces import open_stage
from tests.shop.process import LEASE_SECONDS, Shop
from tests.shop.tables import OFFSET_TABLE

WIRE_CALLS = ("fetch", "execute", "begin", "commit", "rollback")


class SkippingClock(SystemClock):
    """The machine's clock, with a database whose time the test moves, and which itself can skip a lease."""

    skipped = 0.0

    def tick(self) -> float:
        """Answer the local monotonic clock in seconds."""
        return time.monotonic() + SkippingClock.skipped


class Boundaries:
    """Counts the boundaries that this process comes to, and kills it at one of them."""

    def __init__(self, kill_at: int | None) -> None:
        self.count = 0
        self.kill_at = kill_at

    def cross(self, *_: Any) -> None:
        """Come to a boundary."""
        self.count += 1
        if self.count == self.kill_at:
            os.kill(os.getpid(), signal.SIGKILL)

    def guard(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Answer the function with a boundary before and after it."""

        async def cross_later(awaitable: Any) -> Any:
            answer = await awaitable
            self.cross()
            return answer

        def call(*words: Any) -> Any:
            self.cross()
            answer = function(*words)
            if inspect.isawaitable(answer):
                return cross_later(answer)
            self.cross()
            return answer

        return call

    def guard_shop(self, shop: Shop) -> None:
        """Guard the connections of Semel's own, and the engine that actions write through."""
        wire = shop.semel._performer.pool.shelf.wire
        for name in WIRE_CALLS:
            setattr(wire, name, self.guard(getattr(wire, name)))
        engine = getattr(shop.semel._engine, "sync_engine", shop.semel._engine)
        sa.event.listen(engine, "before_cursor_execute", self.cross)
        sa.event.listen(engine, "after_cursor_execute", self.cross)
        for name in ("do_commit", "do_rollback"):
            setattr(engine.dialect, name, self.guard(getattr(engine.dialect, name)))


def serve(url: str, colour: Any) -> None:
    """Boot, then fork a child for every line until there are no more."""
    with open_stage() as stage:
        shop = Shop(colour, url, stage, SkippingClock(OFFSET_TABLE))
        shop.boot()
    say(booted=True)
    for line in sys.stdin:
        told = json.loads(line)
        if "wake" in told:
            os.kill(told["wake"], signal.SIGCONT)
            watch(told["wake"])
            continue
        child = os.fork()
        if child == 0:
            act(shop, told)
        watch(child)


def watch(child: int) -> None:
    """Say how a child ended, or that it was stopped."""
    _, status = os.waitpid(child, os.WUNTRACED)
    if os.WIFSTOPPED(status):
        say(stopped=child)
    else:
        say(ended=os.waitstatus_to_exitcode(status))


def act(shop: Shop, told: dict[str, Any]) -> None:
    """Do what was told as a process of its own, say what came of it, and end without a goodbye."""
    boundaries = Boundaries(told.get("kill_at"))
    boundaries.guard_shop(shop)
    shop.here = lambda place, _step: stop() if place == told.get("stop_at") else None
    try:
        with open_stage() as shop.stage:
            say(answer=take(shop, told), boundaries=boundaries.count)
    finally:
        os._exit(0)


def take(shop: Shop, told: dict[str, Any]) -> str:
    """Take a step, or look twice as a keeper, and answer what came of it."""
    if "duty" in told:
        shop.look(told["duty"])
        SkippingClock.skipped += LEASE_SECONDS + 1
        return repr(shop.look(told["duty"]))
    try:
        return repr(shop.advance(told["row"], told["step"], input=told["input"]))
    except Exception as problem:  # noqa: BLE001 - whatever it is, the test is to hear of it
        return repr(problem)


def stop() -> None:
    """Stop this process as an overloaded machine would: everything in it, its heart too."""
    os.kill(os.getpid(), signal.SIGSTOP)


def say(**words: Any) -> None:
    """Answer with a line."""
    os.write(1, (json.dumps(words) + "\n").encode())


if __name__ == "__main__":
    serve(*sys.argv[1:])
