"""A transition: the conditional UPDATE, its fence and its journal row, in one commit.

The crash argument, gap by gap
- Own connection: the move is one statement (PostgreSQL) or one transaction; see `operation` for every gap around it. Inside
  it the row is locked before it is judged, so nothing can change between the judgement and the write.
- Borrowed handle: nothing is committed here. Dying between the asks is the user's transaction dying: all of it or nothing.
  The answer is provisional, because only the user's own commit makes it true; nothing is run again, because what ran
  before in that transaction cannot be run again from here.
- Several rows: one transaction, rows locked in the order of their ids; all that fit move, or none does.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar

from semel.asks import Asking, Execute, Fetch, Fresh, Row, Together
from semel.errors import error
from semel.outcomes import Missed, Moved
from semel.protocols.operation import Mark, run_once
from semel.store.entity import Id
from semel.store.journal import WRITE_SIZES, shared_values
from semel.store.transitions import Move, ids_as_params

Each = TypeVar("Each")

IDS_LIMIT = 10_000
"""How many rows one transaction may move: it holds all their locks, and the journal rows are one commit."""


def move_one(move: Move, row: Id) -> Asking[Moved | Missed]:
    """Move one row on a connection of Semel's own."""

    def attempt(operation: str) -> Asking[Moved | Missed]:
        if move.statements.in_one_statement:
            return (yield from move_at_once(move, row, operation, joined=False))
        outcomes: dict[Id, Moved | Missed] = yield Together(
            lambda: move_in_steps(move, (row,), operation, joined=False)
        )
        return outcomes[row]

    return run_once(attempt, recall_move, move.statements.journal.abandon_operation_unless_committed)


def move_one_joined(move: Move, row: Id) -> Asking[Moved | Missed]:
    """Move one row in the user's transaction."""
    operation = yield Fresh()
    if move.statements.in_one_statement:
        outcome = yield from move_at_once(move, row, operation, joined=True)
    else:
        outcome = (yield from move_joined_in_steps(move, (row,), operation))[row]
    return as_provisional(outcome)


def move_many(move: Move, rows: Sequence[Id]) -> Asking[dict[Id, Moved | Missed]]:
    """Move many rows in one transaction of Semel's own; answer for each of them, in the order given."""
    found: dict[Id, Moved | Missed] = {}

    def attempt(operation: str) -> Asking[dict[Id, Moved | Missed]]:
        def begin() -> Asking[dict[Id, Moved | Missed]]:
            found.clear()
            found.update((yield from move_in_steps(move, rows, operation, joined=False)))
            return found

        yield Together(begin)
        return found

    # A commit whose answer was lost was the last one tried, so what it found is what it did.
    return (
        yield from run_once(attempt, lambda _mark: found, move.statements.journal.abandon_operation_unless_committed)
    )


def move_many_joined(move: Move, rows: Sequence[Id]) -> Asking[dict[Id, Moved | Missed]]:
    """Move many rows in the user's transaction."""
    operation = yield Fresh()
    outcomes = yield from move_joined_in_steps(move, rows, operation)
    return {row: as_provisional(outcome) for row, outcome in outcomes.items()}


def recall_move(mark: Mark) -> Moved | Missed:
    """Answer the move that committed although its answer was lost. A miss leaves no mark, so it was a move."""
    assert mark.version is not None, "a move's mark carries its version"
    return Moved(mark.version)


def as_provisional(outcome: Moved | Missed) -> Moved | Missed:
    """Say that the user's own commit is still to come."""
    return Moved(outcome.fence, provisional=True) if isinstance(outcome, Moved) else outcome


def move_at_once(move: Move, row: Id, operation: str, *, joined: bool) -> Asking[Moved | Missed]:
    """Lock, judge, move and journal in one statement."""
    entity = move.entity
    params = {**move.decided, **journal_values(move, operation), "id0": row, "row_id": str(row)}
    statement = move.statements.move_row_if_in_source(joined=joined)
    ((found, status, fits, version, *_),) = yield Fetch(statement, params)
    if found is None:
        raise error("SEMEL-ROW-1", ids=repr(row), table=entity.name)
    if not fits:
        return Missed(entity.codec.decode(status) or None)
    if version is None:
        # A trigger swallowed the UPDATE: to call that a miss would say that somebody else was first.
        raise error("SEMEL-STORE-6", statement=statement.name, counted=0, expected=1)
    return Moved(version)


def move_joined_in_steps(move: Move, rows: Sequence[Id], operation: str) -> Asking[dict[Id, Moved | Missed]]:
    """Move rows in the user's transaction, all or none: what fails half-way leaves the transaction as it found it."""
    if move.statements.take_write_lock is not None:
        yield Execute(move.statements.take_write_lock, {})
    outcomes: dict[Id, Moved | Missed] = yield Together(lambda: move_in_steps(move, rows, operation, joined=True))
    return outcomes


def move_in_steps(move: Move, rows: Sequence[Id], operation: str, *, joined: bool) -> Asking[dict[Id, Moved | Missed]]:
    """Lock, judge, move and journal, chunk by chunk, inside a transaction that is already open."""
    # All rows are locked before any is moved: a row that does not exist must find a borrowed transaction as it was.
    found: dict[Id, Row] = {}
    for chunk in in_chunks(sorted(set(rows))):
        locked = yield Fetch(
            move.statements.lock_rows(len(chunk), joined=joined), {**move.decided, **ids_as_params(chunk)}
        )
        found |= {line[0]: line for line in locked if line[0] is not None}
        absent = [row for row in chunk if row not in found]
        if absent:
            raise error("SEMEL-ROW-1", ids=", ".join(map(repr, absent)), table=move.entity.name)
    yield from move_locked(move, [line for line in found.values() if line[3]], operation)
    outcomes = {
        row: Moved(version + 1) if fits else Missed(move.entity.codec.decode(status) or None)
        for row, status, version, fits, *_ in found.values()
    }
    return {row: outcomes[row] for row in rows}


def move_locked(move: Move, lines: Sequence[Row], operation: str) -> Asking[None]:
    """Move rows that are locked and were found fitting, and journal them."""
    ordinal = 0
    for part in in_chunks(lines):
        ids = ids_as_params([line[0] for line in part])
        statement = move.statements.move_locked_rows_if_in_source(len(part))
        moved = yield Execute(statement, {**move.decided, **ids}, rows_limit=len(part))
        if moved != len(part):
            raise error("SEMEL-STORE-6", statement=statement.name, counted=moved, expected=len(part))
        params = journal_values(move, operation)
        for number, (row, status, version, *_) in enumerate(part):
            params[f"ordinal{number}"] = ordinal + number
            params[f"row_id{number}"] = str(row)
            params[f"from_status{number}"] = move.entity.codec.decode(status)
            params[f"version{number}"] = version + 1
        yield Execute(move.statements.journal.write_rows(len(part)), params, rows_limit=len(part))
        ordinal += len(part)


def journal_values(move: Move, operation: str) -> dict[str, object]:
    """Answer the journal's columns that all rows of this move share."""
    return dict(shared_values(operation, move.entity.name, move.target, requester=move.requester))


def in_chunks(items: Sequence[Each]) -> Iterator[Sequence[Each]]:
    """Cut a sequence into the sizes that statements exist for."""
    start = 0
    for size in WRITE_SIZES:
        while len(items) - start >= size:
            yield items[start : start + size]
            start += size
