"""Takeovers, driven by hand: what is locked, what is compared, and that a second keeper finds nothing to do."""

from __future__ import annotations

from typing import Any

import pytest

from semel.protocols.claim import Held
from semel.protocols.takeover import Stranded, release_stranded, take_over
from tests.unit.protocols.by_hand import NAME, Hand, conflict, make_claims, unknown

CLAIM = (1, 5, 7, "paying", "pending", "revert", None)
SEEN = {"lock_row": [(1, "paying", 5)], "lock_claim": [CLAIM]}
ABANDON = "abandon_operation_unless_committed"


def strand() -> Stranded:
    """Strand order 1, as a keeper saw it twice."""
    return Stranded(make_claims("mariadb"), NAME, 1, fence=5, beats=7, claim_status="paying", back_to="pending")


def release() -> Any:
    """Release it as the janitor."""
    return release_stranded(strand(), "janitor")


def take() -> Any:
    """Take it over as the resumer."""
    return take_over(strand(), "me", "customer")


def test_the_row_is_locked_before_its_claim() -> None:
    """The order of all locks: two keepers, or a keeper and a holder, never wait for each other in a ring."""
    for protocol in (release(), take()):
        hand = Hand(SEEN)
        hand.run(protocol)
        assert hand.asked[:3] == ["together", "lock_row", "lock_claim"]


def test_a_release_goes_back_to_where_the_claim_row_says() -> None:
    """And writes down whose claim it was."""
    hand = Hand(SEEN)
    assert hand.run(release()) == "released"
    assert hand.params["move_row_out_of_claim_if_fenced"]["target"] == "pending"
    assert hand.params["write_move"]["kind"] == "release"
    assert "fence 5" in str(hand.params["write_move"]["detail"])


def test_a_takeover_raises_the_fence_of_row_and_claim_together() -> None:
    """From here on everything of the old holder misses."""
    hand = Hand(SEEN)
    held = hand.run(take())
    assert isinstance(held, Held)
    assert held.fence == hand.params["retake_claim"]["fence"] == hand.params["write_move"]["version"] == 6
    assert hand.asked[3:] == ["raise_fence", "retake_claim", "write_move", "commit"]


def test_a_foreign_version_is_taken_over_from() -> None:
    """The claim row is what is compared; the row's own version, whoever changed it, is where the next fence begins."""
    hand = Hand({**SEEN, "lock_row": [(1, "paying", 40)]})
    held = hand.run(take())
    assert held.fence == 41
    hand = Hand({**SEEN, "lock_row": [(1, "paying", 40)]})
    assert hand.run(release()) == "released"
    assert hand.params["move_row_out_of_claim_if_fenced"]["version"] == 40
    assert hand.params["close_claim_if_fenced"]["fence"] == 5


@pytest.mark.parametrize(
    "claim",
    [
        (0, 5, 7, *CLAIM[3:]),
        (1, 6, 7, *CLAIM[3:]),
        (1, 5, 8, *CLAIM[3:]),
        None,
    ],
    ids=["finished", "taken over", "beating", "never there"],
)
def test_a_claim_that_is_not_as_it_was_seen_is_left_alone(claim: Any) -> None:
    """Somebody was first, or the holder lives: nothing is written."""
    for protocol in (release(), take()):
        hand = Hand({**SEEN, "lock_claim": [claim] if claim else []})
        assert hand.run(protocol) == "gone"
        assert hand.asked == ["together", "lock_row", "lock_claim", "commit"]


@pytest.mark.parametrize("rows", [[], [(1, "cancelled", 9)]], ids=["deleted", "moved"])
def test_a_row_that_is_not_in_its_claim_any_more_only_closes_the_claim(rows: Any) -> None:
    """The row is whoever's moved it; no version of it is touched."""
    for protocol in (release(), take()):
        hand = Hand({**SEEN, "lock_row": rows})
        assert hand.run(protocol) == "closed"
        assert hand.asked[3:] == ["close_claim_if_fenced", "commit"]


@pytest.mark.parametrize(("mark", "times"), [([("release", 6)], 1), ([("abandoned", None)], 2)])
def test_a_lost_answer_is_found_out(mark: Any, times: int) -> None:
    """A release or takeover that committed is not done again; one that did not is."""
    hand = Hand({**SEEN, "commit": (unknown(), None), ABANDON: mark})
    assert hand.run(release()) == "released"
    assert hand.asked.count("move_row_out_of_claim_if_fenced") == times
    hand = Hand({**SEEN, "commit": (unknown(), None), ABANDON: mark})
    assert hand.run(take()).fence == 6
    assert hand.asked.count("raise_fence") == times


def test_a_conflict_begins_with_the_locks_again() -> None:
    """What was judged before is judged anew."""
    hand = Hand({**SEEN, "lock_claim": (conflict(), [(0, 5, 7, *CLAIM[3:])])})
    assert hand.run(release()) == "gone"
