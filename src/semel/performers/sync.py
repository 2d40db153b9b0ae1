"""The sync performer: a step is a call."""

from __future__ import annotations

from typing import Any, TypeVar

from semel.asks import Asking
from semel.clock import Clock
from semel.performers.conduct import JoinedConductor, OwnConductor, Steps
from semel.performers.pool import Pool
from semel.performers.wires.wire import Wire

Answer = TypeVar("Answer")


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


class SyncPerformer:
    """Performs protocols over own connections, in the caller's thread."""

    def __init__(self, wire: Wire, clock: Clock, read_clock: Any, connections_limit: int) -> None:
        """Open nothing yet."""
        self.pool = Pool(wire, connections_limit)
        self.conductor = OwnConductor(wire, clock, read_clock, self.pool)

    def perform(self, protocol: Asking[Answer]) -> Answer:
        """Answer what the protocol answers."""
        return take_steps(self.conductor.conduct(protocol))

    def perform_on(self, wire: Wire, handle: Any, protocol: Asking[Answer]) -> Answer:
        """Answer what the protocol answers in the transaction of a borrowed handle."""
        own = self.conductor
        return take_steps(JoinedConductor(wire, own.clock, own.read_clock, handle).conduct(protocol))

    def close(self) -> None:
        """Close the connections."""
        self.pool.close()
