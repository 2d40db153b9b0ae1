"""The one warning that changes what a COMMIT means."""

from __future__ import annotations

WAIT_FOR_STANDBY = "SyncRepWaitForLSN"
"""The function of the server that gives up waiting for its synchronous standby. Its words have no code and many languages."""


def warns_of_replication(source_function: str | None) -> bool:
    """Whether PostgreSQL said that a commit is on this server only: a failover could lose it."""
    return source_function == WAIT_FOR_STANDBY
