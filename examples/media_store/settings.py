"""What a process of the store is started with."""

from __future__ import annotations

from dataclasses import dataclass

LEASE_SECONDS = 4.0
"""Twice the longest call to the gateway (2 s), which is the least that can tell slow from dead."""


@dataclass(frozen=True)
class Settings:
    """The options of the command line."""

    db: str
    gateway: str | None = None
    artifacts: str | None = None
    lease_seconds: float = LEASE_SECONDS
