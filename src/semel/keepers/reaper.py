"""The reaper deletes what nobody will ask about again, in small bites."""

from __future__ import annotations

from semel.asks import Asking, Execute, Tick
from semel.keepers.duty import Report
from semel.store.reaping import Reaping

REAP_LIMIT = 1_000
"""How many rows one statement deletes: a few milliseconds, and no long lock."""

REAP_SECONDS = 60.0
"""How often the reaper really looks: retention is counted in days."""

DAY_US = 86_400_000_000

EFFECTS_DAYS = 30
"""How long a delivered after-effect is kept: the time in which somebody asks whether the mail went out."""

JOURNAL_DAYS = 400
"""How long a move is kept: a year and a month, so that last year's question can be answered."""

KEEPERS_DAYS = 7
"""How long a keeper that fell silent is shown."""


class Reaper:
    """Deletes rows whose retention is over."""

    name = "reaper"

    def __init__(self, reaping: Reaping) -> None:
        """Look at once, then every minute."""
        self.reaping = reaping
        self._last: float | None = None

    def look(self) -> Asking[Report]:
        """Delete some of each kind."""
        report = Report()
        now: float = yield Tick()
        if self._last is not None and now - self._last < REAP_SECONDS:
            return report
        self._last = now
        for statement, days in (
            (self.reaping.delete_delivered_effects, EFFECTS_DAYS),
            (self.reaping.delete_old_moves, JOURNAL_DAYS),
            (self.reaping.delete_silent_keepers, KEEPERS_DAYS),
        ):
            # One operation id may be several rows, so what is deleted can be more than what was looked up.
            params = {"retention_us": days * DAY_US, "reap_limit": REAP_LIMIT}
            report.done += yield Execute(statement, params, rows_limit=REAP_LIMIT * 10_000)
        report.found = report.done
        return report
