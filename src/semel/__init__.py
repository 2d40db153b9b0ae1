"""State machines that move money over your own SQL tables: once, whatever dies."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from semel.aio import AsyncSemel, AsyncTable
    from semel.app import Semel, Table
    from semel.errors import ConfigError, SemelError, StoreError, UsageError
    from semel.outcomes import Busy, Done, Finish, Missed, Moved, NotAllowed, Pending, Refused, Rejected
    from semel.performers.effects import AsyncEffect, Effect
    from semel.performers.steps import AsyncStep, Step

_ROOMS = {
    "AsyncEffect": "performers.effects",
    "AsyncSemel": "aio",
    "AsyncStep": "performers.steps",
    "AsyncTable": "aio",
    "Busy": "outcomes",
    "ConfigError": "errors",
    "Done": "outcomes",
    "Effect": "performers.effects",
    "Finish": "outcomes",
    "Missed": "outcomes",
    "Moved": "outcomes",
    "NotAllowed": "outcomes",
    "Pending": "outcomes",
    "Refused": "outcomes",
    "Rejected": "outcomes",
    "Semel": "app",
    "SemelError": "errors",
    "Step": "performers.steps",
    "StoreError": "errors",
    "Table": "app",
    "UsageError": "errors",
}

__all__ = [
    "AsyncEffect",
    "AsyncSemel",
    "AsyncStep",
    "AsyncTable",
    "Busy",
    "ConfigError",
    "Done",
    "Effect",
    "Finish",
    "Missed",
    "Moved",
    "NotAllowed",
    "Pending",
    "Refused",
    "Rejected",
    "Semel",
    "SemelError",
    "Step",
    "StoreError",
    "Table",
    "UsageError",
]


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used: importing semel costs nothing."""
    if name not in _ROOMS:
        raise AttributeError(f"module 'semel' has no attribute {name!r}")
    return getattr(import_module(f"semel.{_ROOMS[name]}"), name)
