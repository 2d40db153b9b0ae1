"""Once: run work under an operation id until the database has said what became of it.

Every transaction of Semel that writes carries an operation id of its own, made here and written in the same commit as the
journal row that says what moved (unique by operation id and ordinal).

The crash argument, gap by gap
- Before the work: nothing was written.
- In the work: it is one statement or one transaction, so a death leaves all of it or nothing.
- The answer to the commit never came (`OutcomeUnknownError`): the work may have happened, may never happen, or may still be on
  its way. Running it again would do it twice; reporting failure would lie. So the id itself is asked: it is inserted as
  abandoned. If that finds the id taken by a move, the work has committed. If it goes in, the work has not committed, and
  its late commit would break the unique id and can no longer succeed. Only then is the work run again, under a new id.
- Dying while asking: the row is as the database has it; nobody was told anything.
- Asking fails for whatever reason: it is asked again, and after the last time the caller is told that the outcome is
  unknown, with the operation id; never that nothing was written.
- Giving way (`ConflictedError`: serialization, deadlock, a connection lost before the commit was sent): the performer has rolled
  back, nothing was written, and the work is run again from its start.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from semel.asks import Asking, Fetch, Fresh, Statement, Tick, Wait
from semel.errors import (
    ConflictedError,
    LockHeldError,
    OutcomeUnknownError,
    PoolEmptyError,
    SemelError,
    StoreError,
    error,
)

Answer = TypeVar("Answer")

RERUN_SECONDS = 20.0
"""How long work gives way to others: a failover takes about this long, and an HTTP client waits a little longer."""

RERUNS_LIMIT = 200
"""How often work gives way: 64 callers of one serializable row need at most one turn each, three times over."""

RESOLVE_SECONDS = 30.0
"""How long the outcome of a lost commit is asked for: longer than a failover, because giving up leaves a person to look."""

FIRST_PAUSE_SECONDS = 0.002
"""The first wait: about one small transaction. It doubles up to the longest."""

LONGEST_PAUSE_SECONDS = 0.5
"""A wait nobody notices twice; a database that is down is asked twice a second."""


@dataclass(frozen=True, slots=True)
class Mark:
    """The journal row that a committed operation left."""

    version: int | None


def run_once(
    attempt: Callable[[str], Asking[Answer]], recall: Callable[[Mark], Answer], abandon: Statement
) -> Asking[Answer]:
    """Answer what `attempt` answered, or, if only its answer was lost, what `recall` makes of its mark.

    `attempt` is given a new operation id each time and must write it in the same commit as everything else.
    """
    started = yield Tick()
    for count in range(1, RERUNS_LIMIT + 1):
        operation = yield Fresh()
        try:
            return (yield from attempt(operation))
        except (LockHeldError, PoolEmptyError):
            raise  # it has waited once, and to wait again would only hide what for
        except OutcomeUnknownError as problem:
            mark = yield from settle_operation(operation, abandon, problem)
            if mark is not None:
                return recall(mark)
            trouble: StoreError = problem
        except ConflictedError as problem:
            trouble = problem
        now = yield Tick()
        if now - started > RERUN_SECONDS or count == RERUNS_LIMIT:
            raise error("SEMEL-STORE-8", attempts=count, seconds=now - started, reason=trouble.reason) from trouble
        yield Wait(pause_before(count, operation))
    raise AssertionError("the last attempt returns or raises")


def settle_operation(operation: str, abandon: Statement, problem: OutcomeUnknownError) -> Asking[Mark | None]:
    """Answer the mark of a committed operation. None means that it has not committed and no longer can."""
    started = yield Tick()
    count = 0
    while True:
        count += 1
        try:
            ((kind, version),) = yield Fetch(abandon, {"operation": operation})
        except SemelError as trouble:
            # Whatever is wrong now, it cannot say what became of the operation, and must not be told as if it did.
            now = yield Tick()
            if now - started > RESOLVE_SECONDS or not isinstance(trouble, StoreError):
                reason = f"{problem.reason}; then {trouble.code}: {trouble.happened}"
                raise error("SEMEL-STORE-3", reason=reason, seconds=now - started, operation=operation) from trouble
            yield Wait(pause_before(count, operation))
        else:
            return None if kind == "abandoned" else Mark(version=version)


def pause_before(count: int, operation: str) -> float:
    """Answer how long to wait before the next attempt: doubling, spread by the operation id so that rivals part."""
    longest: float = min(LONGEST_PAUSE_SECONDS, FIRST_PAUSE_SECONDS * 2 ** min(count, 16))
    spread = int(operation[-4:], 16) / 0xFFFF
    return longest * (0.5 + spread / 2)
