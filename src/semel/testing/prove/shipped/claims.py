"""Steps under a claim."""

from __future__ import annotations

from typing import Any

from semel.testing.prove.hands import Hands
from semel.testing.prove.life import Deeds
from semel.testing.prove.scenario import actor
from semel.testing.prove.shipped.shop import Shop, make_workflow, write_receipt

CLAIM = {"successful_claim_state": ["charging", "pending"], "action": "Charge"}
TRIES = 2


class ClaimWithRevert(Shop):
    """Two callers pay one order under a claim; a janitor releases what one of them leaves behind."""

    workflows = (make_workflow(**CLAIM, recovery="revert"),)
    actions = {"Charge": write_receipt}
    keepers = ("janitor",)
    finishes = True

    @actor(times=2)
    def customer(self, once: Hands) -> Deeds:
        """Pay, and try once more if somebody else was at it."""
        told: list[Any] = []
        for _ in range(TRIES):
            told.append((yield from once.advance("orders", 1, "pay")))
            if told[-1]:
                break
        return tuple(told)
