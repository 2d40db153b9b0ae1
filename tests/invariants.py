"""What must hold in every database that Semel has moved rows in, whoever died when.

A picture is taken in one transaction, so it shows one moment. `find_broken_promises` holds at every moment; after the
keepers have had their time, `find_unfinished_business` finds nothing either.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import sqlalchemy as sa

from semel.workflow.model import Step, Workflow

FINISHES = ("finish", "step")
"""What the journal calls the moves by which a step succeeds: under a claim, and without one."""

MOVES = ("claim", "release", "takeover", "transition", *FINISHES)


@dataclass(frozen=True)
class Picture:
    """One moment: the rows, and what Semel's own tables say about them. Row ids are text, as Semel keeps them."""

    workflow: Workflow
    rows: Mapping[str, tuple[str, int]]
    moves: Mapping[str, list[Any]]
    claims: list[Any]
    effects: list[Any]

    def finishes_of(self, row: str) -> list[Any]:
        """Answer the moves by which steps succeeded on a row."""
        return [move for move in self.moves.get(row, []) if move.kind in FINISHES]

    def step_of(self, move: Any) -> Step | None:
        """Answer the step that a finish was of. A claimed one begins in its claim status."""
        for step in self.workflow.steps:
            claim = step.claim_for(move.requester)
            begins = claim.into if claim and move.kind == "finish" else step.status
            if (step.key, begins) == (move.step_key, move.from_status):
                return step
        return None


def take_picture(connection: sa.Connection, workflow: Workflow, prefix: str = "semel_") -> Picture:
    """Read everything at one moment, in a transaction that the caller has not begun."""
    if connection.dialect.name == "postgresql":
        connection = connection.execution_options(isolation_level="REPEATABLE READ")
    names = {"table": workflow.table, "id": workflow.id_column or "id"}
    names |= {"status": workflow.status_column, "version": workflow.version_column}
    with connection.begin():
        rows = connection.execute(sa.text("SELECT {id}, {status}, {version} FROM {table}".format(**names))).all()
        read = {"entity": workflow.table, "workflow": workflow.name}
        moves = _read(connection, f"{prefix}journal", "entity = :entity", read, "version")
        claims = _read(connection, f"{prefix}claims", "workflow = :workflow", read, "claimed_us")
        effects = _read(connection, f"{prefix}outbox", "entity = :entity", read, "version, ordinal")
    chains: dict[str, list[Any]] = defaultdict(list)
    for move in moves:
        if move.kind in MOVES:
            chains[move.row_id].append(move)
    return Picture(workflow, {str(row): (status, version) for row, status, version in rows}, chains, claims, effects)


def _read(connection: sa.Connection, table: str, where: str, values: Mapping[str, str], order: str) -> list[Any]:
    wanted = {name: value for name, value in values.items() if f":{name}" in where}
    return list(connection.execute(sa.text(f"SELECT * FROM {table} WHERE {where} ORDER BY {order}"), wanted).all())


@dataclass(frozen=True)
class Written:
    """What actions wrote: how many user rows each row has (none where it is not named), and how many a finish writes."""

    counts: Mapping[str, int]
    per_finish: int


def find_broken_promises(picture: Picture, written: Written | None = None) -> list[str]:
    """Find what may never be, not even for a moment."""
    found = [
        *find_broken_chains(picture),
        *find_left_terminals(picture),
        *find_lying_claims(picture),
        *find_wrong_passes(picture),
        *find_wrong_effects(picture),
    ]
    return found + ([] if written is None else list(find_half_steps(picture, written)))


def find_unfinished_business(picture: Picture) -> list[str]:
    """Find what keepers should have ended by now."""
    return [*find_stranded_rows(picture), *find_undelivered_effects(picture)]


def find_broken_chains(picture: Picture) -> Iterator[str]:
    """Every row's moves are one chain: each begins where the last one ended, no version is missing or taken twice."""
    for row, (status, version) in picture.rows.items():
        chain = picture.moves.get(row, [])
        for last, move in pairwise(chain):
            if move.from_status != last.to_status:
                yield f"{row}: {_show(last)} is followed by {_show(move)}"
        versions = [move.version for move in chain]
        if versions != list(range(version - len(chain) + 1, version + 1)):
            yield f"{row}: the row has version {version}, but its moves made {versions}"
        if chain and chain[-1].to_status != status:
            yield f"{row}: the row is {status!r}, but its last move was {_show(chain[-1])}"
        if not chain and status != picture.workflow.initial:
            yield f"{row}: the row is {status!r}, and no move brought it there"


def find_left_terminals(picture: Picture) -> Iterator[str]:
    """A terminal row never changes."""
    for row, chain in picture.moves.items():
        yield from (f"{row}: {_show(move)}" for move in chain if move.from_status in picture.workflow.terminal)


def find_lying_claims(picture: Picture) -> Iterator[str]:
    """A row is in a claim status exactly while one claim on it is held, under the row's version."""
    held: dict[str, list[Any]] = defaultdict(list)
    for claim in picture.claims:
        if claim.held:
            held[claim.row_id].append(claim)
    for row, (status, version) in picture.rows.items():
        claims = held.get(row, [])
        if len(claims) > 1:
            yield f"{row}: {len(claims)} claims are held at once"
        if (status in picture.workflow.claim_statuses) != bool(claims):
            yield f"{row}: the row is {status!r}, and {len(claims)} claims are held"
        for claim in claims:
            if (claim.claim_status, claim.fence) != (status, version):
                yield f"{row}: held in {claim.claim_status!r} at fence {claim.fence}, the row in {status!r} at {version}"


def find_wrong_passes(picture: Picture) -> Iterator[str]:
    """The pass of a claim grows by its finishes, and by nothing else."""
    for claim in picture.claims:
        chain = picture.moves.get(claim.row_id, [])
        finishes = sum((move.kind, move.step_key) == ("finish", claim.step_key) for move in chain)
        if claim.pass_number != finishes + 1:
            yield f"{claim.row_id}: {finishes} finishes of {claim.step_key}, but its pass is {claim.pass_number}"


def find_wrong_effects(picture: Picture) -> Iterator[str]:
    """After-effects are recorded exactly with the finishes that owe them."""
    recorded: dict[tuple[str, int], Counter[str]] = defaultdict(Counter)
    for effect in picture.effects:
        recorded[effect.row_id, effect.version][effect.name] += 1
    for row in picture.rows:
        for move in picture.finishes_of(row):
            found, step = recorded.pop((row, move.version), Counter[str]()), picture.step_of(move)
            declared = Counter(step.after_effects_for(move.requester) if step else ())
            if declared - found:
                yield f"{row}: {_show(move)} owes {dict(declared)}, and recorded are {dict(found)}"
    yield from (f"{row}: recorded without a finish at version {version}" for row, version in recorded)


def find_half_steps(picture: Picture, written: Written) -> Iterator[str]:
    """What an action wrote is there exactly as often as its step finished."""
    for row in picture.rows:
        finishes = len([move for move in picture.finishes_of(row) if _acts(picture, move)])
        if written.counts.get(row, 0) != finishes * written.per_finish:
            yield f"{row}: {finishes} finishes wrote {written.per_finish} rows each, and {written.counts.get(row, 0)} are there"


def _acts(picture: Picture, move: Any) -> bool:
    step = picture.step_of(move)
    return step is not None and step.action_for(move.requester) is not None


def find_stranded_rows(picture: Picture) -> Iterator[str]:
    """Every claim ends, or a person has been called."""
    for claim in picture.claims:
        if claim.held and claim.review is None:
            yield f"{claim.row_id}: still held by {claim.owner} for {claim.step_key}, after {claim.resumes} resumes"


def find_undelivered_effects(picture: Picture) -> Iterator[str]:
    """Every after-effect is delivered, or parked with a reason."""
    for effect in picture.effects:
        if effect.state != "delivered" and not (effect.state == "parked" and effect.problem):
            tried = f"{effect.state} after {effect.attempts} attempts: {effect.problem}"
            yield f"{effect.row_id}: the after-effect {effect.name} is {tried}"


def find_lost_deliveries(picture: Picture, delivered_ids: Iterable[str]) -> list[str]:
    """Find what is delivered without a delivery, and what was delivered without being owed."""
    noted = {effect.effect_id for effect in picture.effects if effect.state == "delivered"}
    owed, delivered = {effect.effect_id for effect in picture.effects}, set(delivered_ids)
    return [f"noted, never delivered: {each}" for each in sorted(noted - delivered)] + [
        f"delivered, never owed: {each}" for each in sorted(delivered - owed)
    ]


def _show(move: Any) -> str:
    return f"{move.kind} {move.from_status} -> {move.to_status} (version {move.version})"
