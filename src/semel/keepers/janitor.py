"""The janitor releases: claims of steps whose every write is in the finishing transaction, so nothing has happened yet.

It obeys the claim row, which says where the row goes back to; its own files may be newer or older than the holder's.
"""

from __future__ import annotations

from semel.asks import Asking
from semel.errors import StoreError
from semel.keepers.duty import Looks, Report
from semel.keepers.stranded import Territory, find_stranded
from semel.protocols.takeover import release_stranded


class Janitor:
    """Moves stranded rows back."""

    name = "janitor"

    def __init__(self, territory: Territory) -> None:
        """Remember nothing yet."""
        self.territory = territory
        self.looks = Looks()

    def look(self) -> Asking[Report]:
        """Release what is stranded; a row that is locked is left for the next look."""
        report = Report()
        for due in (yield from find_stranded(self.territory, "revert", self.looks, report)):
            try:
                released = yield from release_stranded(due.stranded, self.name)
            except StoreError as problem:
                report.problems.append(f"{due.stranded.name.entity} {due.stranded.name.row_id}: {problem.happened}")
                continue
            self.looks.forget(due.stranded.name)
            report.done += released != "gone"
        return report
