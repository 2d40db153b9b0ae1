"""Claims, driven by hand: which asks they make, in which order, and what becomes of answers that never came."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from semel import Busy, NotAllowed, Pending
from semel.asks import Recorded
from semel.errors import ConflictedError, OutcomeUnknownError, SemelError, StoreError
from semel.protocols.claim import Held, Leave, leave_claim, take_claim
from tests.unit.protocols.by_hand import Hand, conflict, make_held, make_wish, unknown

STEPS = {
    "lock_row_or_skip": [(1, "pending", 4)],
    "write_claim": [(3,)],
}
AT_ONCE = {"take_claim_if_in_status": [(1, "pending", 3, 1, "paying", 5)]}
COMMITTED, ABANDONED = [("claim", 5)], [("abandoned", None)]
ABANDON = "abandon_operation_unless_committed"


def test_a_claim_locks_judges_moves_and_writes_down() -> None:
    """Row, claim row and journal, in this order and in one transaction; the fence is one above what was locked."""
    hand = Hand(STEPS)
    held = hand.run(take_claim(make_wish("mariadb")))
    assert (held.fence, held.pass_number, held.values) == (5, 3, {"id": 1, "status": "paying", "version": 5})
    assert hand.asked == [
        "together",
        "lock_row_or_skip",
        "move_row_into_claim_if_in_status",
        "write_claim",
        "write_move",
        "commit",
    ]
    assert hand.params["write_claim"]["fence"] == hand.params["write_move"]["version"] == 5


def test_where_it_can_be_a_claim_is_one_statement() -> None:
    """And says the same."""
    hand = Hand(AT_ONCE)
    held = hand.run(take_claim(make_wish("postgresql")))
    assert (held.fence, held.pass_number, held.values) == (5, 3, {"id": 1, "status": "paying", "version": 5})
    assert hand.asked == ["take_claim_if_in_status"]


@pytest.mark.parametrize(
    ("found", "holders", "expected"),
    [
        ([(1, "paid", 4)], [], NotAllowed("paid")),
        ([(1, "paying", 4)], [("them", "pay", "paying", None)], Busy("pay")),
        ([(1, "paying", 4)], [], Busy("paying")),
        ([], [("them", "pay", "paying", None)], Busy("pay")),
        ([], [], Busy("lock")),
    ],
)
def test_a_row_that_is_not_to_be_had_says_why(found: Any, holders: Any, expected: Any) -> None:
    """Elsewhere, claimed by somebody, in a claim status without a claim, or locked: each is an answer, nothing is written."""
    hand = Hand({"lock_row_or_skip": found, "read_holder": holders, "read_status": [("pending",)]})
    assert hand.run(take_claim(make_wish("sqlite"))) == expected
    assert not any(name.startswith(("move", "write")) for name in hand.asked)
    status = found[0][1] if found else None
    seen = {"take_claim_if_in_status": [(1, status, None, None, None, None)]}
    hand = Hand({**seen, "read_holder": holders, "read_status": [("pending",)]})
    assert hand.run(take_claim(make_wish("postgresql"))) == expected


def test_a_row_that_is_not_there_is_an_error() -> None:
    """It is told apart from one that somebody holds."""
    hand = Hand({"lock_row_or_skip": [], "read_holder": [], "read_status": []})
    with pytest.raises(SemelError, match="SEMEL-ROW-1"):
        hand.run(take_claim(make_wish("mariadb")))
    hand = Hand({"take_claim_if_in_status": [(None,) * 6]})
    with pytest.raises(SemelError, match="SEMEL-ROW-1"):
        hand.run(take_claim(make_wish("postgresql")))


def test_a_trigger_that_swallows_the_move_is_no_claim() -> None:
    """A row that was there and did not move is neither busy nor elsewhere: the statement's promise was broken."""
    with pytest.raises(StoreError, match="SEMEL-STORE-6"):
        Hand({**STEPS, "move_row_into_claim_if_in_status": 0}).run(take_claim(make_wish("mariadb")))
    with pytest.raises(StoreError, match="SEMEL-STORE-6"):
        Hand({"take_claim_if_in_status": [(1, "pending", None, None, None, None)]}).run(
            take_claim(make_wish("postgresql"))
        )


def list_lost_claim(family: Any, mark: Any, *, row: Any = (1, "paying", 5)) -> tuple[Any, list[str]]:
    """Take a claim whose answer is lost once; answer what came of it, and what was asked."""
    lost = (
        {"commit": (unknown(), None)}
        if family == "mariadb"
        else {"take_claim_if_in_status": (unknown(), [(1, "pending", 3, 1, "paying", 5)])}
    )
    rows = {"lock_row": [row] if row else [], "read_claim": [("customer", None, 3, 0, 30, "paying", "pending", "h")]}
    hand = Hand({**STEPS, **lost, **rows, ABANDON: mark})
    return hand.run(take_claim(make_wish(family))), hand.asked


@pytest.mark.parametrize("family", ["mariadb", "postgresql"])
def test_a_claim_that_committed_although_its_answer_was_lost_is_ours(family: Any) -> None:
    """Its mark says so; what the answer would have said is read again, and no second claim is taken."""
    held, asked = list_lost_claim(family, COMMITTED)
    assert isinstance(held, Held)
    assert (held.fence, held.pass_number, held.values["version"]) == (5, 3, 5)
    assert asked.count("write_claim") + asked.count("take_claim_if_in_status") == 1
    assert asked[-2:] == ["lock_row", "read_claim"]


@pytest.mark.parametrize("family", ["mariadb", "postgresql"])
def test_a_claim_that_did_not_commit_is_taken_again(family: Any) -> None:
    """Its operation was abandoned first, so a late commit of it cannot come after the second."""
    held, asked = list_lost_claim(family, ABANDONED)
    assert isinstance(held, Held)
    taking = "lock_row_or_skip" if family == "mariadb" else "take_claim_if_in_status"
    assert [name for name in asked if name in (taking, ABANDON)] == [taking, ABANDON, taking]


@pytest.mark.parametrize("row", [(1, "paying", 6), (1, "pending", 6), None])
@pytest.mark.parametrize("family", ["mariadb", "postgresql"])
def test_a_claim_that_a_keeper_took_meanwhile_is_not_ours(family: Any, row: Any) -> None:
    """Nobody beat while the answer was looked for: the row is somebody else's, and no action runs under it."""
    held, asked = list_lost_claim(family, COMMITTED, row=row)
    assert held == Pending(None)
    assert asked[-1] == "give_lease_up"


# Leaving

EFFECTS = (("e1", Recorded("Receipt", "{}")), ("e2", Recorded("Mail", '{"n":1}')))


def test_leaving_moves_closes_and_writes_down_in_one_transaction() -> None:
    """The move is the guard: what follows is written only if the row was still ours."""
    hand = Hand({})
    assert hand.run(leave_claim(make_held("mariadb"), Leave("paid", 1, EFFECTS))) is True
    assert hand.asked == [
        "together",
        "move_row_out_of_claim_if_fenced",
        "close_claim_if_fenced",
        "write_move",
        "write_2_effects",
        "commit",
    ]
    assert hand.params["move_row_out_of_claim_if_fenced"]["version"] == 5
    assert hand.params["write_move"]["version"] == hand.params["write_2_effects"]["version"] == 6
    assert (hand.params["close_claim_if_fenced"]["fence"], hand.params["close_claim_if_fenced"]["passes"]) == (5, 1)


@pytest.mark.parametrize("family", ["mariadb", "sqlite", "postgresql"])
def test_a_lost_claim_writes_nothing_when_it_is_left(family: Any) -> None:
    """Another fence is in the row: no claim row is closed, nothing is journaled, no after-effect is owed."""
    hand = Hand({"move_row_out_of_claim_if_fenced": 0, "leave_claim_if_fenced_2": [(None,)]})
    assert hand.run(leave_claim(make_held(family), Leave("paid", 1, EFFECTS))) is False
    assert not any(name.startswith(("close", "write")) for name in hand.asked)


@pytest.mark.parametrize(("mark", "times"), [([("finish", 6)], 1), (ABANDONED, 2)])
def test_a_finish_whose_answer_was_lost_is_found_or_done_again(mark: Any, times: int) -> None:
    """Never reported as failed, never done twice."""
    for family, finish in (("mariadb", "move_row_out_of_claim_if_fenced"), ("postgresql", "leave_claim_if_fenced_0")):
        lost = {"commit": (unknown(), None), "leave_claim_if_fenced_0": (unknown(), [(6,)])}
        hand = Hand({**lost, ABANDON: mark})
        assert hand.run(leave_claim(make_held(family), Leave("paid", 1))) is True
        assert hand.asked.count(finish) == times


def test_a_finish_that_gave_way_is_done_again() -> None:
    """The claim is still ours, so its finish can be tried as often as the database wants."""
    hand = Hand({"move_row_out_of_claim_if_fenced": (conflict(), conflict(), 1)})
    assert hand.run(leave_claim(make_held("mariadb"), Leave("paid", 1))) is True
    assert hand.asked.count("move_row_out_of_claim_if_fenced") == 3


def test_what_an_action_wrote_is_never_finished_twice() -> None:
    """In the action's own transaction nothing is run again: without the action there would be half a step."""
    for mark, expected in (([("finish", 6)], True), (ABANDONED, ConflictedError)):
        hand = Hand({"commit": unknown(), ABANDON: mark})
        protocol = leave_claim(make_held("mariadb"), Leave("paid", 1), within=object())
        if expected is True:
            assert hand.run(protocol) is True
        else:
            with pytest.raises(ConflictedError):
                hand.run(protocol)
        assert hand.asked.count("move_row_out_of_claim_if_fenced") == 1


def test_an_unknown_finish_that_stays_unknown_is_told_as_unknown() -> None:
    """Never as done, never as not done."""
    hand = Hand({"commit": unknown(), ABANDON: SemelError("SEMEL-X", "the database is gone", "")})
    with pytest.raises(OutcomeUnknownError):
        hand.run(leave_claim(make_held("mariadb"), Leave("paid", 1)))


def test_a_row_that_the_action_itself_moved_is_not_finished() -> None:
    """It is locked under our fence, so only the action can have moved it; a commit would keep half a step."""
    hand = Hand({"move_row_out_of_claim_if_fenced": 0})
    with pytest.raises(SemelError, match="SEMEL-STEP-10"):
        hand.run(leave_claim(make_held("mariadb"), Leave("paid", 1), within=object()))
    assert "commit" not in hand.asked


def test_a_release_is_a_finish_that_goes_back() -> None:
    """The same statements; only the pass does not grow, and the journal says release."""
    hand = Hand({})
    held = replace(make_held("sqlite"), resumes=2)
    assert hand.run(leave_claim(held, Leave("pending", 0, detail="sold out"))) is True
    assert hand.params["close_claim_if_fenced"]["passes"] == 0
    assert (hand.params["write_move"]["kind"], hand.params["write_move"]["detail"]) == ("release", "sold out")
