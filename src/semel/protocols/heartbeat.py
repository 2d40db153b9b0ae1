"""The heartbeat: one statement says for every claim of a process that its holder lives.

The crash argument: a beat only pushes back when keepers look. A beat that is lost, late or doubled changes no status and no
fence; at worst a keeper looks sooner or later. Only an answer can say that a claim is lost: an error is not an answer.
"""

from __future__ import annotations

from semel.asks import Asking, ClaimName, Execute, Fetch
from semel.store.keeping import HELD_LIMIT, Keeping


def beat_claims(keeping: Keeping, owner: str) -> Asking[frozenset[tuple[ClaimName, int]]]:
    """Beat for every claim of this owner, and answer which ones it still holds, with their fences."""
    yield Execute(keeping.beat_claims_of_owner, {"owner": owner}, rows_limit=HELD_LIMIT)
    rows = yield Fetch(keeping.list_claims_of_owner, {"owner": owner})
    return frozenset((ClaimName(*row[:5]), row[5]) for row in rows)
