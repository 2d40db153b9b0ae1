"""Deliveries, driven by hand: the attempt is taken before the handler runs, and every end of it is written down."""

from __future__ import annotations

from typing import Any

import pytest

from semel.errors import SemelError
from semel.protocols.effect import ATTEMPTS_LIMIT, LONGEST_PAUSE_SECONDS, Owed, deliver_effect
from semel.protocols.heartbeat import beat_claims
from semel.store.ground import Ground
from semel.store.keeping import Keeping
from semel.store.outbox import Outbox
from semel.store.tables import OwnTables
from tests.unit.protocols.by_hand import NAME, Hand, unknown


def deliver(hand: Hand, attempts: int = 0) -> Any:
    """Make one attempt."""
    owed = Owed("e" * 32, "Receipt", "orders", "1", "{}", attempts)
    return hand.run(deliver_effect(Outbox(Ground("sqlite", OwnTables())), owed, "me", 60_000_000))


def test_a_delivery_is_taken_made_and_written_down() -> None:
    """In this order: dying between two of them repeats it, and never loses it."""
    hand = Hand({})
    assert deliver(hand) == "delivered"
    assert hand.asked == ["take_effect_if_due", "Deliver", "deliver_effect_if_taken"]
    assert hand.params["take_effect_if_due"]["attempts"] == 0
    assert hand.params["deliver_effect_if_taken"]["attempts"] == 1


def test_an_attempt_that_somebody_else_has_is_not_made() -> None:
    """The handler is not even called."""
    hand = Hand({"take_effect_if_due": 0})
    assert deliver(hand) == "taken"
    assert hand.asked == ["take_effect_if_due"]


def test_a_failed_delivery_waits_longer_each_time() -> None:
    """Three times as long, up to a bound; at the last attempt it is parked."""
    pauses = []
    for attempts in range(ATTEMPTS_LIMIT):
        hand = Hand({"Deliver": ValueError("no mail today")})
        ended = deliver(hand, attempts)
        if attempts < ATTEMPTS_LIMIT - 1:
            assert ended == "postponed"
            pauses.append(hand.params["postpone_effect_if_taken"]["pause_us"])
        else:
            assert ended == "parked"
            assert hand.params["park_effect_if_taken"]["problem"] == "ValueError: no mail today"
    assert pauses[:3] == [5_000_000, 15_000_000, 45_000_000]
    assert pauses == sorted(pauses)
    assert max(pauses) == LONGEST_PAUSE_SECONDS * 1_000_000


def test_a_handler_that_never_came_to_an_end_is_parked_unasked() -> None:
    """Each attempt was counted when it was taken, so even one that kills its courier every time ends."""
    hand = Hand({})
    assert deliver(hand, ATTEMPTS_LIMIT) == "parked"
    assert "Deliver" not in hand.asked


def test_a_delivery_that_cannot_be_written_down_is_an_error_and_is_made_again_later() -> None:
    """Whether it was written is unknown, so the lease of the attempt decides."""
    with pytest.raises(SemelError, match="SEMEL-STORE-3"):
        deliver(Hand({"deliver_effect_if_taken": unknown()}))


def test_a_beat_answers_which_claims_are_still_held() -> None:
    """One statement for all of them, then one that reads them with their fences."""
    held = [(*("orders", "orders", "1", "pay", "pending"), 5)]
    hand = Hand({"list_claims_of_owner": held})
    assert hand.run(beat_claims(Keeping(Ground("sqlite", OwnTables())), "me")) == {(NAME, 5)}
    assert hand.asked == ["beat_claims_of_owner", "list_claims_of_owner"]
