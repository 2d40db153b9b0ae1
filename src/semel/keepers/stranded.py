"""Finding claims whose holder seems dead: the part that janitor and resumer share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from semel.asks import Asking, ClaimName, Fetch, Row, Tick
from semel.keepers.duty import SWEEP_LIMIT, Looks, Report
from semel.protocols.takeover import Stranded
from semel.store.claims import Claims
from semel.store.keeping import Keeping

MICROSECONDS = 1_000_000


@dataclass(frozen=True)
class Territory:
    """What a keeper of this process may look after: the workflows it covers, and their tables' statements by name."""

    keeping: Keeping
    workflows: Callable[[], Sequence[str]]
    claims_of: Callable[[str], Claims | None]


@dataclass(frozen=True)
class Due:
    """A claim whose lease is over, as this look saw it."""

    stranded: Stranded
    owner: str | None
    lease_us: int
    resumes: int


def find_due(territory: Territory, recovery: str) -> Asking[list[Due]]:
    """Find claims whose lease is over, the longest over first. A table this process does not know is left to others."""
    workflows = sorted(territory.workflows())
    if not workflows:
        return []
    params: dict[str, object] = {f"workflow{number}": name for number, name in enumerate(workflows)}
    params |= {"recovery": recovery, "sweep_limit": SWEEP_LIMIT}
    rows = yield Fetch(territory.keeping.find_due_claims(len(workflows)), params)
    return [due for row in rows if (due := read_due(territory, row)) is not None]


def read_due(territory: Territory, row: Row) -> Due | None:
    """Read one line of the search."""
    name = ClaimName(*row[:5])
    fence, beats, lease_us, owner, claim_status, back_to, resumes = row[5:]
    claims = territory.claims_of(name.entity)
    if claims is None:
        return None
    stranded = Stranded(claims, name, claims.entity.parse_id(name.row_id), fence, beats, claim_status, back_to)
    return Due(stranded, owner, lease_us, resumes)


def find_stranded(territory: Territory, recovery: str, looks: Looks, report: Report) -> Asking[list[Due]]:
    """Find claims that were seen twice with the same heartbeat, or whose holder gave its lease up."""
    due = yield from find_due(territory, recovery)
    now: float = yield Tick()
    looks.keep_only({each.stranded.name for each in due})
    report.found += len(due)
    return [each for each in due if each.owner is None or is_second_look(looks, each, now)]


def is_second_look(looks: Looks, due: Due, now: float) -> bool:
    """Ask the keeper's memory."""
    stranded = due.stranded
    seconds = due.lease_us / MICROSECONDS
    return looks.is_stranded(stranded.name, stranded.fence, stranded.beats, seconds=seconds, now=now)
