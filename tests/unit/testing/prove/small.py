"""Scenarios that are small enough to be explored without any of the search's savings."""

from __future__ import annotations

from typing import Any, ClassVar

from semel.testing.prove.hands import Hands
from semel.testing.prove.life import Deeds
from semel.testing.prove.scenario import Scenario, actor
from semel.testing.prove.shipped.shop import CLAIM, Shop, make_workflow, pay
from semel.testing.prove.shipped.transitions import make_workflow as make_parcels
from semel.testing.prove.stage import Owned


class TwoMovers(Scenario):
    """Two move one parcel."""

    tables: ClassVar[Any] = (Owned("parcels"),)
    workflows: ClassVar[Any] = (make_parcels(),)
    finishes = False

    def world(self, w: Any) -> None:
        """Insert the parcel."""
        w.insert("parcels", id=1, status="ordered")

    @actor(times=2)
    def mover(self, once: Hands) -> Deeds:
        """Pack it."""
        return once.transition("parcels", 1, "ordered", "packed")


class OneClaim(Shop):
    """One caller pays under a claim, a janitor looks."""

    workflows: ClassVar[Any] = (make_workflow(**CLAIM, recovery="revert"),)
    keepers: ClassVar[tuple[str, ...]] = ("janitor",)

    @actor()
    def customer(self, once: Hands) -> Deeds:
        """Pay once."""
        return pay(once, tries=1)
