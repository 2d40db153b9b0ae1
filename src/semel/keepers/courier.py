"""The courier delivers after-effects, each row's in their order."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence

from semel.asks import Asking, Fetch
from semel.keepers.duty import SWEEP_LIMIT, Report, is_stopping
from semel.protocols.effect import Owed, deliver_effect
from semel.store.outbox import Outbox

logger = logging.getLogger("semel")

LEASE_US = 60_000_000
"""How long one attempt may take before another is made: a handler that needs longer is a job."""

LEASES_IN_AN_ATTEMPT = 2
"""An application that sets its own lease means all of its waits; nothing beats beside a handler, so it has two."""


class Courier:
    """Delivers what this process has handlers for."""

    name = "courier"

    def __init__(
        self, outbox: Outbox, names: Callable[[], Sequence[str]], owner: Callable[[], str], lease_us: int = LEASE_US
    ) -> None:
        """Keep which effects have a handler here."""
        self.outbox = outbox
        self.names = names
        self.owner = owner
        self.lease_us = lease_us

    def look(self) -> Asking[Report]:
        """Deliver what is due."""
        report = Report()
        names = sorted(self.names())
        if not names:
            return report
        params: dict[str, object] = {f"name{number}": name for number, name in enumerate(names)}
        rows = yield Fetch(self.outbox.find_due_effects(len(names)), params | {"sweep_limit": SWEEP_LIMIT})
        report.found = len(rows)
        for row in rows:
            if is_stopping():
                break
            owed = Owed(*row)
            try:
                delivered = yield from deliver_effect(self.outbox, owed, self.owner(), self.lease_us)
            except Exception as problem:  # noqa: BLE001 - one delivery that cannot be written down holds up no other
                report.note(f"{owed.name} {owed.effect_id}", problem)
                continue
            report.done += delivered == "delivered"
            if delivered == "parked":
                logger.error(
                    "the after-effect %s of %s %s is parked: semel effects list", owed.name, owed.entity, owed.row_id
                )
        return report
