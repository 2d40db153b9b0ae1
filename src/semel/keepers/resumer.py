"""The resumer re-enters: it takes a stranded claim over and runs the step again, with the input that was stored.

At most five times, each later than the last; then the claim is parked for a person, with the reason.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from semel.asks import Asking, Execute, Fetch, Tick
from semel.keepers.duty import Looks, Report, is_stopping
from semel.keepers.stranded import MICROSECONDS, Due, Territory, find_due, take_turns
from semel.outcomes import Done, Rejected
from semel.protocols.advance import act_under_claim
from semel.protocols.claim import Held, vars_of
from semel.protocols.errand import HIDDEN, Errand
from semel.protocols.takeover import take_over
from semel.workflow.model import Step

RESUMES_LIMIT = 5
"""How often a step is run again before a person looks: what fails five times, minutes apart, does not mend itself."""

LONGEST_PAUSE_SECONDS = 600.0
"""The longest time between two runs of one step."""


class Resumer:
    """Runs stranded steps again."""

    name = "resumer"

    def __init__(
        self,
        territory: Territory,
        errand_of: Callable[[Due, Any], tuple[Errand, Step] | None],
        owner: Callable[[], str],
    ) -> None:
        """Keep how an errand is made of a claim row; None means that this process does not know the step or its action."""
        self.territory = territory
        self.errand_of = errand_of
        self.owner = owner
        self.looks = Looks()

    def look(self) -> Asking[Report]:
        """Run again what is stranded, one after the other."""
        report = Report()
        due = yield from find_due(self.territory, "resume", report)
        now: float = yield Tick()
        self.looks.keep_only({each.stranded.name for each in due})
        report.found = len(due)
        for each in take_turns([each for each in due if self.is_due(each, now)], self.looks):
            if is_stopping():
                break
            self.looks.note_try(each.stranded.name)
            try:
                report.done += yield from self.resume(each, report)
            except (GeneratorExit, KeyboardInterrupt):
                raise
            except BaseException as problem:  # noqa: BLE001 - what one action raises keeps no other step from being run again
                report.note(each.shown, problem)
        return report

    def is_due(self, due: Due, now: float) -> bool:
        """Whether it is time: after a lease for the first run, twice as long for each later one."""
        stranded = due.stranded
        seconds = min(due.lease_us / MICROSECONDS * 2**due.resumes, LONGEST_PAUSE_SECONDS)
        seen = self.looks.is_stranded(stranded.name, stranded.fence, stranded.beats, seconds=seconds, now=now)
        return seen or (due.owner is None and due.resumes == 0)

    def resume(self, due: Due, report: Report) -> Asking[bool]:
        """Take the claim over and run the step, or park it; answer whether anything was done."""
        stranded = due.stranded
        if due.resumes >= RESUMES_LIMIT:
            yield from self.park(due, f"run again {due.resumes} times without an end")
            return True
        rows = yield Fetch(stranded.claims.read_claim, vars_of(stranded.name))
        if not rows:
            return False
        found = self.errand_of(due, rows[0])
        if found is None:
            name = stranded.name
            report.passed_over[
                f"{name.workflow}: this process knows no step {name.step_key!r} from {name.status!r}"
            ] += 1
            return False
        errand, step = found
        if any(isinstance(value, dict) and HIDDEN in value for value in secrets_of(errand, step)):
            yield from self.park(due, "the input had secrets, which are not stored: take the step again by hand")
            return True
        taken = yield from take_over(stranded, self.owner(), errand.requester)
        self.looks.forget(stranded.name)
        if not isinstance(taken, Held):
            return False
        held = replace(
            taken, resumes=due.resumes + 1, wish=replace(taken.wish, lease_us=due.lease_us, recovery="resume")
        )
        outcome = yield from act_under_claim(errand, step, held)
        return isinstance(outcome, Done | Rejected)

    def park(self, due: Due, review: str) -> Asking[None]:
        """Set the claim aside for a person, with the reason."""
        params = {**vars_of(due.stranded.name), "fence": due.stranded.fence, "review": review}
        yield Execute(self.territory.keeping.park_claim, params)
        self.looks.forget(due.stranded.name)


def secrets_of(errand: Errand, step: Step) -> list[Any]:
    """Answer what was stored in place of the step's secrets."""
    given = errand.input if isinstance(errand.input, dict) else {}
    return [given[key] for key in step.secret_input if key in given]
