"""Errors, sorted by whose fault they are.

`ConfigError` is yours, at boot. `UsageError` is yours, at a call. `StoreError` is the database's; its `retryable` says
whether the same call may be made again. Every text is a row of `TEXTS`: a stable code, one sentence on what happened,
and what to do next. The page `docs/reference/errors.md` is drawn from that table.
"""

from __future__ import annotations

from semel.errors.at_boot import AT_BOOT
from semel.errors.at_calls import AT_CALLS
from semel.errors.kinds import (
    ClaimLeft,
    ClaimLostError,
    ConfigError,
    ConflictedError,
    LockHeldError,
    OutcomeUnknownError,
    PoolEmptyError,
    SemelError,
    StoreError,
    UsageError,
)
from semel.errors.text import Text

TEXTS: dict[str, Text] = {**AT_BOOT, **AT_CALLS}


def error(code: str, /, *, operation: str | None = None, **facts: object) -> SemelError:
    """Make the error of this code, its text filled in with the facts. The caller raises it."""
    text = TEXTS[code]
    happened, remedy = (
        text.happened.format(operation=operation, **facts),
        text.remedy.format(operation=operation, **facts),
    )
    if issubclass(text.kind, StoreError):
        return text.kind(code, happened, remedy, operation=operation, reason=str(facts.get("reason", "")))
    return text.kind(code, happened, remedy)


__all__ = [
    "TEXTS",
    "ClaimLeft",
    "ClaimLostError",
    "ConfigError",
    "ConflictedError",
    "LockHeldError",
    "OutcomeUnknownError",
    "PoolEmptyError",
    "SemelError",
    "StoreError",
    "Text",
    "UsageError",
    "error",
]
