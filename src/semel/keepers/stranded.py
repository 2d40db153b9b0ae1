"""Finding claims whose holder seems dead: the part that janitor and resumer share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from semel.asks import Asking, ClaimName, Fetch, Row, Tick
from semel.keepers.duty import PROBLEM_CHARACTERS, SIGHT_LIMIT, SWEEP_LIMIT, Looks, Report
from semel.protocols.takeover import Stranded
from semel.protocols.wording import tell_problem
from semel.store.claims import Claims
from semel.store.keeping import Keeping

MICROSECONDS = 1_000_000


@dataclass(frozen=True)
class Territory:
    """What a keeper of this process may look after: the workflows it covers, and each claim's statements."""

    keeping: Keeping
    workflows: Callable[[], Sequence[str]]
    claims_of: Callable[[ClaimName], Claims | None]


@dataclass(frozen=True)
class Due:
    """A claim whose lease is over, as this look saw it."""

    stranded: Stranded
    owner: str | None
    lease_us: int
    resumes: int

    @property
    def shown(self) -> str:
        """How a report calls it."""
        return f"{self.stranded.name.entity} {self.stranded.name.row_id}"


def find_due(territory: Territory, recovery: str, report: Report) -> Asking[list[Due]]:
    """Find claims whose lease is over, the longest over first. What this process does not know is left to others."""
    workflows = sorted(territory.workflows())
    if not workflows:
        return []
    params: dict[str, object] = {f"workflow{number}": name for number, name in enumerate(workflows)}
    params |= {"recovery": recovery, "sweep_limit": SIGHT_LIMIT}
    rows = yield Fetch(territory.keeping.find_due_claims(len(workflows)), params)
    found = []
    for row in rows:
        try:
            found.append(read_due(territory, row))
        except Exception as problem:  # noqa: BLE001 - one line that cannot be read hides no other
            name = ClaimName(*row[:5])
            report.passed_over[f"{name.workflow} on {name.entity}: {tell_problem(problem, PROBLEM_CHARACTERS)}"] += 1
    return found


def read_due(territory: Territory, row: Row) -> Due:
    """Read one line of the search, or raise why this process cannot."""
    name = ClaimName(*row[:5])
    fence, beats, lease_us, owner, claim_status, back_to, resumes = row[5:]
    claims = territory.claims_of(name)
    if claims is None:
        raise LookupError("this process knows no such table of that workflow; is it spelled alike everywhere?")
    stranded = Stranded(claims, name, claims.entity.parse_id(name.row_id), fence, beats, claim_status, back_to)
    return Due(stranded, owner, lease_us, resumes)


def find_stranded(territory: Territory, recovery: str, looks: Looks, report: Report) -> Asking[list[Due]]:
    """Find claims that were seen twice with the same heartbeat, or whose holder gave its lease up: as many as one look does."""
    due = yield from find_due(territory, recovery, report)
    now: float = yield Tick()
    looks.keep_only({each.stranded.name for each in due})
    report.found += len(due)
    return take_turns([each for each in due if each.owner is None or is_second_look(looks, each, now)], looks)


def take_turns(due: Iterable[Due], looks: Looks) -> list[Due]:
    """Answer those whose turn it is: what was tried in vain lines up again, so it holds up nobody."""
    return sorted(due, key=lambda each: looks.turn_of(each.stranded.name))[:SWEEP_LIMIT]


def is_second_look(looks: Looks, due: Due, now: float) -> bool:
    """Ask the keeper's memory."""
    stranded = due.stranded
    seconds = due.lease_us / MICROSECONDS
    return looks.is_stranded(stranded.name, stranded.fence, stranded.beats, seconds=seconds, now=now)
