"""What an outcome is over HTTP, for every framework: a status, headers, and a body that is bytes already.

A success is JSON; everything else is `application/problem+json` (RFC 9457) with a `code` that stays the same for ever.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, assert_never

from semel.outcomes import Busy, Done, Missed, Moved, NotAllowed, Outcome, Pending, Refused, Rejected
from semel.performers.steps import write_json

JSON = {"Content-Type": "application/json"}
PROBLEM = {"Content-Type": "application/problem+json"}

AGAIN = {"Retry-After": "1"}
"""When to ask again about what is not over yet: the shortest pause the header can name, and longer than most steps."""


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer over HTTP, ready to be sent or stored."""

    status: int
    headers: Mapping[str, str]
    body: bytes


def answer_of(outcome: Outcome | Moved | Missed, row: Any = None) -> Answer:
    """Make the answer to an outcome. `row` is what the client is shown after a success, instead of status and result.

    A `Moved` on a handle of your own is provisional: answer only when your transaction has committed.
    """
    match outcome:
        case Done(status, result):
            return show({"status": status, "result": result} if row is None else row)
        case Moved():
            return show({"moved": True} if row is None else row)
        case Refused(reason, now):
            return tell(402, "refused", f"The provider refused: {reason}.", {"reason": reason, "now": now})
        case Rejected(reason):
            return tell(422, "rejected", reason)
        case Busy():
            return tell(409, "busy", "another operation is already in progress", headers=AGAIN)
        case Pending():
            return tell(202, "pending", "There is no answer yet; the operation will be finished.", headers=AGAIN)
        case NotAllowed(now):
            return tell(409, "not_allowed", f"This may not be done while the status is {now!r}.", {"now": now})
        case Missed(now):
            where = "was not where this begins" if now is None else f"is {now!r} by now"
            return tell(409, "missed", f"Nothing was done: the row {where}.", {"now": now})
    assert_never(outcome)


def show(body: Any) -> Answer:
    """Make the answer to a success."""
    return Answer(200, JSON, write_json(body, "the answer to a client").encode())


def tell(
    status: int,
    code: str,
    detail: str,
    more: Mapping[str, Any] | None = None,
    headers: Mapping[str, str] | None = None,
) -> Answer:
    """Make the answer to anything else."""
    title = HTTPStatus(status).phrase
    problem = {"type": "about:blank", "title": title, "status": status, "code": code, "detail": detail, **(more or {})}
    return Answer(status, {**PROBLEM, **(headers or {})}, write_json(problem, "the answer to a client").encode())
