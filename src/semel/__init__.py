"""State machines that move money over your own SQL tables: once, whatever dies."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from semel.aio import AsyncSemel, AsyncTable
    from semel.app import Semel, Table
    from semel.errors import ConfigError, SemelError, StoreError, UsageError
    from semel.outcomes import Missed, Moved

_ROOMS = {
    "AsyncSemel": "aio",
    "AsyncTable": "aio",
    "ConfigError": "errors",
    "Missed": "outcomes",
    "Moved": "outcomes",
    "Semel": "app",
    "SemelError": "errors",
    "StoreError": "errors",
    "Table": "app",
    "UsageError": "errors",
}

__all__ = [
    "AsyncSemel",
    "AsyncTable",
    "ConfigError",
    "Missed",
    "Moved",
    "Semel",
    "SemelError",
    "StoreError",
    "Table",
    "UsageError",
]


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used: importing semel costs nothing."""
    if name not in _ROOMS:
        raise AttributeError(f"module 'semel' has no attribute {name!r}")
    return getattr(import_module(f"semel.{_ROOMS[name]}"), name)
