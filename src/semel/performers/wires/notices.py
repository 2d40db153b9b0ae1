"""The one warning that changes what a COMMIT means."""

from __future__ import annotations


def warns_of_replication(severity: str | None, message: str | None) -> bool:
    """Whether PostgreSQL said that it stopped waiting for its synchronous standby: committed here, perhaps nowhere else.

    The sentence has no code of its own, and a server may speak another language; its words for replication and standby
    stay recognisable in those PostgreSQL is translated into with Latin letters. A false alarm costs one more statement.
    """
    if severity != "WARNING" or not message:
        return False
    words = message.lower()
    return "replica" in words or "réplica" in words or "replik" in words or "standby" in words
