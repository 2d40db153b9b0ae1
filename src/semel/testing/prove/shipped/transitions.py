"""Bare transitions."""

from __future__ import annotations

import itertools
from typing import Any, ClassVar

from semel.testing.prove.hands import Hands
from semel.testing.prove.life import Deeds
from semel.testing.prove.scenario import Scenario, actor
from semel.testing.prove.shipped.shop import insist
from semel.testing.prove.stage import Owned

PATH = ("ordered", "packed", "sent", "delivered")
TRIES = 2


def make_workflow() -> dict[str, Any]:
    """Make the workflow of a parcel: along the path, or cancelled before it is sent."""
    steps = [
        {"step_id": number, "step_key": f"to {target}", "status": source, "successful_state": target}
        for number, (source, target) in enumerate(itertools.pairwise(PATH), 1)
    ]
    cancel = {"step_id": 9, "step_key": "cancel", "status": "ordered", "successful_state": "cancelled"}
    return {
        "workflow": "parcels",
        "entity_table": "parcels",
        "status_types": [*PATH, "cancelled"],
        "initial": "ordered",
        "terminal": ["delivered", "cancelled"],
        "steps": [*steps, cancel],
    }


class Transitions(Scenario):
    """Two move a parcel along its path, each step of it, while a third wants to cancel."""

    tables: ClassVar[Any] = (Owned("parcels"),)
    workflows: ClassVar[Any] = (make_workflow(),)
    sometimes: ClassVar[Any] = ("a crash at every boundary", "a losing CAS", "a late arrival")

    def world(self, w: Any) -> None:
        """Insert the parcel."""
        w.insert("parcels", id=1, status="ordered")

    @actor(times=2)
    def mover(self, once: Hands) -> Deeds:
        """Move it along, and try each move twice."""
        told: list[Any] = []
        for source, target in itertools.pairwise(PATH):
            told.extend((yield from insist(lambda s=source, t=target: once.transition("parcels", 1, s, t), TRIES)))
        return tuple(told)

    @actor()
    def customer(self, once: Hands) -> Deeds:
        """Cancel, and insist however often it is too late."""
        return insist(lambda: once.transition("parcels", 1, "ordered", "cancelled"), 6)


class BulkTransitions(Scenario):
    """Two move two parcels at once, named in different orders, and a third cancels one of them."""

    tables: ClassVar[Any] = (Owned("parcels"),)
    workflows: ClassVar[Any] = (make_workflow(),)
    sometimes: ClassVar[Any] = Transitions.sometimes
    finishes = False

    def world(self, w: Any) -> None:
        """Insert the parcels."""
        w.insert("parcels", id=1, status="ordered")
        w.insert("parcels", id=2, status="ordered")

    @actor()
    def packer(self, once: Hands) -> Deeds:
        """Pack both."""
        return once.transition_many("parcels", (1, 2), "ordered", "packed")

    @actor()
    def other_packer(self, once: Hands) -> Deeds:
        """Pack both, the second first."""
        return once.transition_many("parcels", (2, 1), "ordered", "packed")

    @actor()
    def customer(self, once: Hands) -> Deeds:
        """Cancel the second."""
        return insist(lambda: once.transition("parcels", 2, "ordered", "cancelled"), 2)
