"""The sync performer: a step is a call."""

from __future__ import annotations

from typing import Any, TypeVar

from semel.asks import Asking
from semel.clock import Clock
from semel.performers.actors import SyncActors
from semel.performers.conduct import JoinedConductor, OwnConductor
from semel.performers.handles import Borrowed
from semel.performers.joining import JoinedActors, SyncJoined
from semel.performers.pool import Pool
from semel.performers.stepping import take_steps
from semel.performers.wires.wire import Wire

Answer = TypeVar("Answer")


class SyncPerformer:
    """Performs protocols over own connections, in the caller's thread."""

    def __init__(self, wire: Wire, clock: Clock, read_clock: Any, connections_limit: int) -> None:
        """Open nothing yet."""
        self.pool = Pool(wire, connections_limit)
        self.conductor = OwnConductor(wire, clock, read_clock, self.pool)

    def perform(self, protocol: Asking[Answer]) -> Answer:
        """Answer what the protocol answers."""
        return take_steps(self.conductor.conduct(protocol))

    def perform_on(self, borrowed: Borrowed, protocol: Asking[Answer]) -> Answer:
        """Answer what the protocol answers in the transaction of a borrowed handle."""
        own = self.conductor
        joined = JoinedConductor(borrowed.wire, own.clock, own.read_clock, borrowed.handle)
        joined.actors = JoinedActors(own.actors, SyncJoined(borrowed).begin)
        return take_steps(joined.conduct(protocol))

    def engage(self, actors: SyncActors) -> None:
        """From now on user functions are run by these actors."""
        self.conductor.actors = actors

    def close(self) -> None:
        """Close the connections."""
        self.pool.close()
