"""What a person sees: what waits and why, one row's story, what a table still owes.

The crash argument: nothing here changes a row. Each question is one statement, so an answer is true of its own moment; two
answers may be of different moments, and a claim may be taken or finished between them. Where that could tell a lie, the
row's version is read before and after: every move of Semel's raises it, so a row that kept it was not moved.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from semel.asks import Asking, Fetch, Now, Row, Statement, Tick, Wait
from semel.protocols.transition import in_chunks
from semel.store.sights import Sights
from semel.store.strays import Strays

PAUSE_SECONDS = 1.0
"""How long to wait before looking again whether a table is drained: a person watches, and the database has other work."""

ROWS_LIMIT = 10_000
"""How many rows in claim statuses are compared with the claim rows: as many as are hardly ever taken at once."""

Seen = TypeVar("Seen")


@dataclass(frozen=True, slots=True)
class ClaimSeen:
    """A claim row, without its input. The fields are those of the statements, in their order."""

    workflow: str
    entity: str
    row_id: str
    step_key: str
    status: str
    held: int
    fence: int
    beats: int
    claim_status: str
    back_to: str
    requester: str
    recovery: str
    owner: str | None
    lease_us: int
    resumes: int
    next_look_us: int
    review: str | None
    pass_number: int
    claimed_us: int

    def is_alive(self, now_us: int) -> bool:
        """Whether its holder has said within the lease that it lives. False: it may live all the same."""
        return self.owner is not None and now_us < self.next_look_us


@dataclass(frozen=True, slots=True)
class EffectSeen:
    """An after-effect, without its payload. `blocked` counts the later ones of its row that it holds up."""

    effect_id: str
    name: str
    entity: str
    row_id: str
    version: int
    ordinal: int
    state: str
    owner: str | None
    attempts: int
    next_look_us: int
    problem: str | None
    recorded_us: int
    delivered_us: int | None
    blocked: int = 0


@dataclass(frozen=True, slots=True)
class MoveSeen:
    """One line of the journal."""

    operation_id: str
    ordinal: int
    kind: str
    from_status: str | None
    to_status: str | None
    version: int | None
    workflow: str | None
    step_key: str | None
    requester: str | None
    detail: str | None
    at_us: int


@dataclass(frozen=True, slots=True)
class KeeperSeen:
    """A keeper, as it last wrote itself down."""

    keeper_id: str
    duty: str
    started_us: int
    looked_us: int
    done: int
    problem: str | None


@dataclass(frozen=True, slots=True)
class Some(Generic[Seen]):
    """What was found, within a limit. `more`: there is more than was looked at."""

    found: tuple[Seen, ...] = ()
    more: bool = False


@dataclass(frozen=True, slots=True)
class Waiting:
    """What waits in a database, as far as Semel's own tables tell it."""

    now_us: int
    overdue: Some[ClaimSeen]
    in_review: Some[ClaimSeen]
    parked: Some[EffectSeen]
    late: Some[EffectSeen]
    keepers: Some[KeeperSeen]


def see_waiting(sights: Sights, limit: int, late_us: int) -> Asking[Waiting]:
    """Look at everything that could wait."""
    now: int = yield Now()
    overdue = yield from see(sights.find_overdue_claims, limit)
    in_review = yield from see(sights.find_claims_in_review, limit)
    parked = yield from see(sights.find_parked_effects, limit)
    late = yield from see(sights.find_late_effects, limit, late_us=late_us)
    keepers = yield from see(sights.find_keepers, limit)
    return Waiting(
        now_us=now,
        overdue=in_kind(overdue, ClaimSeen),
        in_review=in_kind(in_review, ClaimSeen),
        parked=in_kind(parked, EffectSeen),
        late=in_kind(late, EffectSeen),
        keepers=in_kind(keepers, KeeperSeen),
    )


def see(statement: Statement, limit: int, **params: object) -> Asking[Some[Row]]:
    """Answer at most `limit` lines, and whether there are more."""
    rows: list[Row] = yield Fetch(statement, {**params, "sight_limit": limit + 1})
    return Some(tuple(rows[:limit]), more=len(rows) > limit)


def in_kind(some: Some[Row], kind: type[Seen]) -> Some[Seen]:
    """Read lines as values."""
    return Some(tuple(kind(*row) for row in some.found), some.more)


# Rows where nobody put them


@dataclass(frozen=True, slots=True)
class RowSeen:
    """A row of the user's table."""

    id: Any
    status: str
    version: int

    @property
    def row_id(self) -> str:
        """The id as Semel's own tables keep it."""
        return str(self.id)


def see_foreign(
    sights: Sights, strays: Strays, workflow: str, claim_statuses: Iterable[str], limit: int = ROWS_LIMIT
) -> Asking[Some[RowSeen]]:
    """Find rows in a claim status without a held claim row. `more`: not all rows in claim statuses were looked at."""
    statuses = sorted(claim_statuses)
    if not statuses:
        return Some()
    rows = yield from see(strays.find_rows_in(len(statuses)), limit, **name_statuses(strays, statuses))
    candidates = {row.row_id: row for row in read_rows(strays, rows.found)}
    for chunk in in_chunks(sorted(candidates)):
        params = {"workflow": workflow, "entity": strays.entity.name}
        held = yield Fetch(
            sights.find_held_rows(len(chunk)), {**params, **{f"row_id{n}": each for n, each in enumerate(chunk)}}
        )
        for row_id, claim_status in held:
            if row_id in candidates and candidates[row_id].status == claim_status:
                del candidates[row_id]
    kept = yield from keep_unmoved(strays, list(candidates.values()))
    return Some(kept, rows.more)


def keep_unmoved(strays: Strays, rows: Sequence[RowSeen]) -> Asking[tuple[RowSeen, ...]]:
    """Answer those rows that still are as they were seen: one that was claimed or finished meanwhile has another version."""
    again: set[RowSeen] = set()
    for chunk in in_chunks(rows):
        params = {f"id{number}": row.id for number, row in enumerate(chunk)}
        again.update(read_rows(strays, (yield Fetch(strays.read_rows(len(chunk)), params))))
    return tuple(row for row in rows if row in again)


def see_unknown(strays: Strays, statuses: Iterable[str], limit: int) -> Asking[Some[RowSeen]]:
    """Find rows in a status that the workflow does not know."""
    known = sorted(statuses)
    rows = yield from see(strays.find_rows_outside(len(known)), limit, **name_statuses(strays, known))
    return Some(tuple(read_rows(strays, rows.found)), rows.more)


def name_statuses(strays: Strays, statuses: Sequence[str]) -> dict[str, object]:
    """Answer the parameters for statuses, as the column holds them."""
    return {f"status{number}": strays.entity.codec.encode(status) for number, status in enumerate(statuses)}


def read_rows(strays: Strays, rows: Iterable[Row]) -> list[RowSeen]:
    """Read lines of the user's table."""
    return [RowSeen(id, strays.entity.codec.decode(status), version) for id, status, version in rows]  # noqa: A001 - its name


# One row's story


@dataclass(frozen=True, slots=True)
class Story:
    """What is known of one row; each list begins with the oldest. `deliveries` are (effect id, when)."""

    now_us: int
    moves: Some[MoveSeen]
    claims: Some[ClaimSeen]
    effects: Some[EffectSeen]
    deliveries: tuple[tuple[str, int], ...]
    row: RowSeen | None

    @property
    def is_empty(self) -> bool:
        """Whether nothing at all is known of the row."""
        return not (self.moves.found or self.claims.found or self.effects.found or self.row)


def see_story(
    sights: Sights, entity: str, row_id: str, limit: int, present: tuple[Strays, Any] | None
) -> Asking[Story]:
    """Read a row's story. `present` says how to read the row itself; None: nobody can."""
    params = {"entity": entity, "row_id": row_id}
    now: int = yield Now()
    moves = yield from see(sights.read_moves_of_row, limit, **params)
    claims = yield from see(sights.read_claims_of_row, limit, **params)
    effects = yield from see(sights.read_effects_of_row, limit, **params)
    deliveries = yield from see(sights.read_deliveries_of_row, limit, **params)
    row: RowSeen | None = None
    if present is not None:
        strays, id_ = present
        rows = read_rows(strays, (yield Fetch(strays.read_rows(1), {"id0": id_})))
        row = rows[0] if rows else None
    return Story(
        now_us=now,
        moves=backwards(in_kind(moves, MoveSeen)),
        claims=backwards(in_kind(claims, ClaimSeen)),
        effects=backwards(in_kind(effects, EffectSeen)),
        deliveries=tuple((str(effect), int(at)) for effect, at in deliveries.found),
        row=row,
    )


def backwards(some: Some[Seen]) -> Some[Seen]:
    """Answer the same with the oldest first."""
    return Some(some.found[::-1], some.more)


# What a table still owes


@dataclass(frozen=True, slots=True)
class Left:
    """What has to end before a table's workflow can be taken out. `effects` counts the undelivered ones by state."""

    now_us: int
    claims: Some[ClaimSeen]
    effects: Mapping[str, int]

    @property
    def is_drained(self) -> bool:
        """Whether nothing is left."""
        return not self.claims.found and not any(self.effects.values())


def see_left(sights: Sights, entity: str, limit: int) -> Asking[Left]:
    """Look at what a table still owes."""
    now: int = yield Now()
    claims = yield from see(sights.find_held_claims_of_table, limit, entity=entity)
    counts = yield Fetch(sights.count_effects_owed_by_table, {"entity": entity})
    return Left(now, in_kind(claims, ClaimSeen), {str(state): int(count) for state, count in sorted(counts)})


def wait_until_drained(sights: Sights, entity: str, limit: int, timeout_seconds: float) -> Asking[Left]:
    """Look again until nothing is left, or the time is over; answer what the last look saw."""
    started: float = yield Tick()
    while True:
        left = yield from see_left(sights, entity, limit)
        now: float = yield Tick()
        remaining = started + timeout_seconds - now
        if left.is_drained or remaining <= 0:
            return left
        yield Wait(min(PAUSE_SECONDS, remaining))


# After-effects by themselves


def see_effects(sights: Sights, state: str | None, limit: int) -> Asking[tuple[int, Some[EffectSeen]]]:
    """Answer the database's time and its after-effects, all or those in one state."""
    now: int = yield Now()
    if state is None:
        found = yield from see(sights.find_effects, limit)
    else:
        found = yield from see(sights.find_effects_in_state, limit, state=state)
    return now, in_kind(found, EffectSeen)
