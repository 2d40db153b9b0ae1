"""A gate in an action: whoever comes to it waits until the test opens it."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

from tests.shop.process import Shop

PATIENCE_SECONDS = 30
"""Longer than anything a test does while somebody stands at its gate."""


class Gate:
    """Stops a shop's actions at one place."""

    def __init__(self, shop: Shop, place: str = "begun") -> None:
        self.place = place
        self.reached = threading.Event()
        self.opened = threading.Event()
        shop.here = self.stop if shop.colour == "sync" else self.stop_async

    def stop(self, place: str, _step: Any) -> None:
        """Wait here, if this is the place."""
        if place == self.place:
            self.reached.set()
            assert self.opened.wait(PATIENCE_SECONDS), "nobody opened the gate"

    async def stop_async(self, place: str, step: Any) -> None:
        """Wait here, if this is the place, while other tasks go on."""
        await asyncio.to_thread(self.stop, place, step)

    def wait_for_somebody(self) -> None:
        """Return once somebody stands at the gate."""
        assert self.reached.wait(PATIENCE_SECONDS), "nobody came to the gate"

    def open(self) -> None:
        """Let everybody go on."""
        self.opened.set()
