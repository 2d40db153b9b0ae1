"""Mutants of the keepers and of takeovers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from semel.asks import Asking, Fetch
from semel.keepers import stranded
from semel.keepers.duty import Looks
from semel.performers.heart import Watches
from semel.protocols import takeover
from semel.protocols.claim import Held
from semel.protocols.takeover import Stranded
from semel.store.keeping import Keeping
from semel.store.statements import Statement
from semel.testing.prove.budgets import Budgets
from semel.testing.prove.mutants.mutant import Change, Mutant
from semel.testing.prove.mutants.tampering import is_named, run_tampered
from semel.testing.prove.shipped.claims import ClaimWithResume, ClaimWithRevert, TwoVersions


def without_condition(column: str) -> Any:
    """Make the search for due claims without its condition on one column."""

    def find(self: Keeping, workflows: int) -> Statement:
        statement = _find_due_claims(self, workflows)
        select = statement.construct._generate()  # noqa: SLF001 - SQLAlchemy has no public way to take a condition away
        kept = [each for each in select.whereclause.clauses if column not in str(each)]
        select._where_criteria = tuple(kept)  # noqa: SLF001 - as above
        return Statement("find_due_claims", select, writes=False)

    return find


_find_due_claims = Keeping._find_due_claims  # noqa: SLF001 - a mutant changes the inside


def obey_own_files(territory: Any, recovery: str, *rest: Any) -> Asking[Any]:
    """Take for one's own what another version's claim says is a resumer's."""

    def meddle(ask: Any) -> Asking[Any]:
        reply = yield ask
        if is_named(ask, "find_due_claims") and recovery == "revert":
            others = yield Fetch(ask.statement, {**ask.params, "recovery": "resume"})
            return [*reply, *others]
        return reply

    return run_tampered(_find_due(territory, recovery, *rest), meddle)


_find_due = stranded.find_due


def first_look(self: Looks, *_name: Any, **_now: Any) -> bool:  # noqa: ARG001 - the product's signature
    """Believe at the first look that a holder is dead."""
    return True


def ignore_beats(self: Looks, name: Any, fence: int, beats: int, *, seconds: float, now: float) -> bool:  # noqa: ARG001 - as above
    """Look at the fence only."""
    return _is_stranded(self, name, fence, 0, seconds=seconds, now=now)


_is_stranded = Looks.is_stranded


def hear_nothing(self: Watches, *_heard: Any) -> None:
    """Tell nobody that their claim is gone."""


def take_over_as_it_was(found: Stranded) -> Asking[Any]:
    """Believe that the claim still is as it was seen."""

    def meddle(ask: Any) -> Asking[Any]:
        reply = yield ask
        if is_named(ask, "lock_claim") and reply:
            return [(reply[0][0], found.fence, found.beats, *reply[0][3:])]
        return reply

    return run_tampered(_lock_stranded(found), meddle)


_lock_stranded = takeover.lock_stranded


def keep_the_fence(found: Stranded, *rest: Any) -> Asking[Any]:
    """Give the claim to a new owner under the old fence."""

    def meddle(ask: Any) -> Asking[Any]:
        if is_named(ask, "raise_fence"):
            return 1
        if is_named(ask, "retake_claim"):
            return (yield replace(ask, params={**ask.params, "fence": found.fence}))
        if is_named(ask, "write_move"):
            return 1
        return (yield ask)

    taken = yield from run_tampered(_take_locked(found, *rest), meddle)
    return replace(taken, fence=found.fence) if isinstance(taken, Held) else taken


_take_locked = takeover.take_locked

MUTANTS = (
    Mutant(
        "janitor ignores the lease",
        "janitor",
        ClaimWithRevert,
        (Change(Keeping, "_find_due_claims", without_condition("next_look_us")),),
    ),
    Mutant(
        "janitor takes over after one look", "janitor", ClaimWithRevert, (Change(Looks, "is_stranded", first_look),)
    ),
    Mutant(
        "janitor obeys its own config",
        "janitor",
        TwoVersions,
        (Change(stranded, "find_due", obey_own_files),),
    ),
    Mutant(
        "keeper ignores heartbeats",
        "janitor",
        ClaimWithRevert,
        (Change(Looks, "is_stranded", ignore_beats),),
        Budgets(0, 0, 2, 0),
    ),
    Mutant("heartbeat ignored", "heartbeat", ClaimWithResume, (Change(Watches, "tell", hear_nothing),)),
    Mutant(
        "takeover without a second judgement",
        "takeover",
        ClaimWithRevert,
        (Change(takeover, "lock_stranded", take_over_as_it_was),),
    ),
    Mutant(
        "fence not raised on takeover",
        "takeover",
        ClaimWithResume,
        (Change(takeover, "take_locked", keep_the_fence),),
    ),
)
