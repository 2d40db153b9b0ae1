"""The janitor releases: claims of steps whose every write is in the finishing transaction, so nothing has happened yet.

It obeys the claim row, which says where the row goes back to; its own files may be newer or older than the holder's. Claims
whose recovery is `review` it releases never: it only writes down that a person has to look.
"""

from __future__ import annotations

from semel.asks import Asking, Execute
from semel.keepers.duty import Looks, Report
from semel.keepers.stranded import Due, Territory, find_stranded
from semel.protocols.claim import vars_of
from semel.protocols.takeover import release_stranded

WAITS_FOR_A_PERSON = "its holder stopped answering, and its recovery is review"


class Janitor:
    """Moves stranded rows back."""

    name = "janitor"

    def __init__(self, territory: Territory) -> None:
        """Remember nothing yet."""
        self.territory = territory
        self.looks = Looks()
        self.looks_for_review = Looks()

    def look(self) -> Asking[Report]:
        """Release what is stranded; a row that is locked is left for the next look."""
        report = Report()
        for due in (yield from find_stranded(self.territory, "revert", self.looks, report)):
            self.looks.note_try(due.stranded.name)
            try:
                released = yield from release_stranded(due.stranded, self.name)
            except Exception as problem:  # noqa: BLE001 - one row that cannot be released holds up no other
                report.note(due.shown, problem)
                continue
            self.looks.forget(due.stranded.name)
            report.done += released != "gone"
        for due in (yield from find_stranded(self.territory, "review", self.looks_for_review, report)):
            self.looks_for_review.note_try(due.stranded.name)
            try:
                report.done += yield from self.park(due)
            except Exception as problem:  # noqa: BLE001 - see above
                report.note(due.shown, problem)
        return report

    def park(self, due: Due) -> Asking[int]:
        """Write down that a person has to look. A holder that was only slow still finishes, and the note goes with it."""
        params = {**vars_of(due.stranded.name), "fence": due.stranded.fence, "review": WAITS_FOR_A_PERSON}
        self.looks_for_review.forget(due.stranded.name)
        parked: int = yield Execute(self.territory.keeping.park_claim, params)
        return parked
