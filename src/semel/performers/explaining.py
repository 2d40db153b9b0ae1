"""What a driver's error means, told as an error of Semel's."""

from __future__ import annotations

from semel.errors import SemelError, error
from semel.performers.quoting import quote
from semel.store import dialects
from semel.store.dialects import Fault, classify


def as_told(problem: BaseException, *, writing: bool) -> BaseException:
    """Answer the error to raise: Semel's own and a stop as they are, a driver's explained."""
    if not isinstance(problem, Exception) or isinstance(problem, SemelError | AssertionError):
        return problem
    return explain(problem, writing=writing)


def explain(problem: Exception, *, writing: bool) -> SemelError:
    """Make the error that tells a protocol what a driver's error means. `writing`: a write or COMMIT was under way."""
    reason = quote(problem)
    match classify(problem):
        case Fault.GAVE_WAY:
            return error("SEMEL-STORE-1", reason=reason)
        case Fault.LOCKED:
            return error("SEMEL-STORE-2", seconds=dialects.LOCK_WAIT_SECONDS, reason=reason)
        case Fault.LOST | Fault.UNRECOGNISED if writing:
            return unknown(reason)
        case Fault.LOST | Fault.TURNED_AWAY:
            return error("SEMEL-STORE-4", reason=reason)
        case Fault.POISONED:
            return error("SEMEL-ON-5", given="a handle")
        case _:
            return error("SEMEL-STORE-5", reason=reason)


def unknown(reason: str) -> SemelError:
    """Make the error for a write whose answer never came."""
    return error("SEMEL-STORE-3", reason=reason, seconds=0.0)
