"""`run_once` and `settle_operation`, driven by hand: every gap around a commit, and every bound."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from semel.asks import Ask, Asking, Execute, Fetch, Fresh, Tick, Together, Wait
from semel.errors import ConflictedError, OutcomeUnknownError, SemelError, StoreError, error
from semel.protocols import operation
from semel.protocols.operation import Mark, pause_before, run_once


class Words:
    """A statement that is only a name."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.writes = True


WORK, ABANDON = Words("work"), Words("abandon")
IDS = ["00000000000000000000000000000000", "000000000000000000000000000000ff", "0000000000000000000000000000ffff"]


def attempt(operation_id: str) -> Asking[str]:
    """Do the work in one statement."""
    count = yield Execute(WORK, {"operation": operation_id})
    return f"{operation_id[-4:]} worked {count}"


def recall(mark: Mark) -> str:
    """Say what a mark meant."""
    return f"recalled {mark.version}"


class Hand:
    """Drives the protocol: time stands still unless it waits, and answers come from a list."""

    def __init__(self, *answers: object, work: Callable[[str], Asking[Any]] = attempt) -> None:
        self.protocol = run_once(work, recall, ABANDON)
        self.answers = list(answers)
        self.asked: list[Ask] = []
        self.now = 100.0
        self.ids = iter(IDS * 200)

    def run(self) -> Any:
        """Answer what the protocol answers."""
        try:
            ask = next(self.protocol)
            while True:
                self.asked.append(ask)
                assert len(self.asked) < 2_000, "it never ends"
                answer = self.answer(ask)
                ask = self.protocol.throw(answer) if isinstance(answer, SemelError) else self.protocol.send(answer)
        except StopIteration as stop:
            return stop.value

    def answer(self, ask: Ask) -> object:
        match ask:
            case Tick():
                return self.now
            case Fresh():
                return next(self.ids)
            case Wait(seconds=seconds):
                self.now += seconds
                return None
            case _:
                return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]

    def list_names(self) -> list[tuple[str, str]]:
        """List the statements that were run, each with the last digits of its operation id."""
        asks = [ask for ask in self.asked if isinstance(ask, Fetch | Execute)]
        return [(ask.statement.name, str(ask.params["operation"])[-4:]) for ask in asks]


def unknown() -> SemelError:
    return error("SEMEL-STORE-3", reason="the line went dead", seconds=0.0)


def conflict() -> SemelError:
    return error("SEMEL-STORE-1", reason="deadlock")


def test_work_that_is_answered_is_done_once() -> None:
    """One attempt, nothing asked afterwards."""
    hand = Hand(1)
    assert hand.run() == "0000 worked 1"
    assert hand.list_names() == [("work", "0000")]


def test_a_lost_answer_whose_work_has_committed_is_recalled() -> None:
    """The id is asked for once, the work is not run again."""
    hand = Hand(unknown(), [("transition", 7)])
    assert hand.run() == "recalled 7"
    assert hand.list_names() == [("work", "0000"), ("abandon", "0000")]


def test_a_lost_answer_whose_work_has_not_committed_is_run_again_under_a_new_id() -> None:
    """The first id is abandoned for good before the second attempt begins."""
    hand = Hand(unknown(), [("abandoned", None)], 1)
    assert hand.run() == "00ff worked 1"
    assert hand.list_names() == [("work", "0000"), ("abandon", "0000"), ("work", "00ff")]


def test_work_that_gave_way_is_run_again_without_being_asked_for() -> None:
    """Nothing was written, so there is nothing to find out; each attempt has an id of its own, after a pause."""
    hand = Hand(conflict(), conflict(), 1)
    assert hand.run() == "ffff worked 1"
    assert hand.list_names() == [("work", "0000"), ("work", "00ff"), ("work", "ffff")]
    assert sum(isinstance(ask, Wait) for ask in hand.asked) == 2


@pytest.mark.parametrize("code", ["SEMEL-STORE-2", "SEMEL-STORE-7", "SEMEL-STORE-5", "SEMEL-ROW-1"])
def test_what_has_waited_or_can_never_work_is_raised_at_once(code: str) -> None:
    """A held row, an empty pool, a refused statement, a row that is not there: no second attempt."""
    facts = {"seconds": 5, "reason": "x", "limit": 2, "ids": 1, "table": "orders"}
    hand = Hand(error(code, **facts), 1)
    with pytest.raises(SemelError) as caught:
        hand.run()
    assert caught.value.code == code
    assert len(hand.list_names()) == 1


def test_giving_way_ends_after_its_time() -> None:
    """About twenty seconds; then the error tells how often and why, and that it may be tried later."""
    hand = Hand(conflict())
    with pytest.raises(ConflictedError, match="deadlock") as caught:
        hand.run()
    assert caught.value.code == "SEMEL-STORE-8"
    assert operation.RERUN_SECONDS < hand.now - 100 < operation.RERUN_SECONDS + operation.LONGEST_PAUSE_SECONDS
    assert len(hand.list_names()) < operation.RERUNS_LIMIT


def test_giving_way_ends_after_its_count(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no time passes, the attempts are counted."""
    monkeypatch.setattr(operation, "pause_before", lambda _count, _operation: 0.0)
    hand = Hand(conflict())
    with pytest.raises(ConflictedError, match=f"{operation.RERUNS_LIMIT} times in 0 s"):
        hand.run()
    assert len(hand.list_names()) == operation.RERUNS_LIMIT


@pytest.mark.parametrize(
    "trouble",
    [
        unknown(),
        conflict(),
        error("SEMEL-STORE-2", seconds=5, reason="locked"),
        error("SEMEL-STORE-4", reason="no route"),
        error("SEMEL-STORE-5", reason="disk full"),
        error("SEMEL-STORE-7", seconds=10, limit=2),
    ],
    ids=lambda problem: problem.code,
)
def test_whatever_goes_wrong_while_asking_is_asked_again(trouble: SemelError) -> None:
    """It cannot say what became of the operation, and is never told as if it did."""
    hand = Hand(unknown(), trouble, trouble, trouble, [("transition", 3)])
    assert hand.run() == "recalled 3"
    assert hand.list_names() == [("work", "0000")] + [("abandon", "0000")] * 4


@pytest.mark.parametrize("trouble", [conflict(), error("SEMEL-STORE-5", reason="disk full")], ids=lambda it: it.code)
def test_asking_ends_after_its_time_and_says_that_nobody_knows(trouble: SemelError) -> None:
    """About thirty seconds; the error is of the unknown kind and carries the operation id."""
    hand = Hand(unknown(), trouble)
    with pytest.raises(OutcomeUnknownError, match="the line went dead; then") as caught:
        hand.run()
    assert (caught.value.operation, caught.value.retryable) == (IDS[0], False)
    assert operation.RESOLVE_SECONDS < hand.now - 100 < operation.RESOLVE_SECONDS + operation.LONGEST_PAUSE_SECONDS


def test_a_semel_that_was_closed_while_asking_says_that_nobody_knows() -> None:
    """Not even a mistake of the caller's turns an unknown outcome into a known one; and it is of no use to go on."""
    hand = Hand(unknown(), error("SEMEL-APP-2"))
    with pytest.raises(OutcomeUnknownError, match="was closed") as caught:
        hand.run()
    assert caught.value.operation == IDS[0]
    assert len(hand.list_names()) == 2


def test_one_second_of_a_dead_database_is_a_handful_of_questions() -> None:
    """Waits double from a small transaction to half a second, and are spread by the operation id."""
    first, last = "0" * 32, "0" * 28 + "ffff"
    for count in range(1, 300):
        shortest, longest = pause_before(count, first), pause_before(count, last)
        assert operation.FIRST_PAUSE_SECONDS <= shortest == longest / 2
        assert longest <= operation.LONGEST_PAUSE_SECONDS
    assert pause_before(1, last) < pause_before(2, last) < pause_before(3, last)


def test_a_transaction_is_begun_anew_for_each_attempt() -> None:
    """`Together` is handed a function, so what the first attempt read is not used by the second."""
    begun: list[str] = []

    def work(operation_id: str) -> Asking[object]:
        def begin() -> Asking[object]:
            begun.append(operation_id)
            yield Execute(WORK, {"operation": operation_id})
            return None

        return (yield Together(begin))

    hand = Hand(conflict(), "done", work=work)
    assert hand.run() == "done"
    asked = [ask for ask in hand.asked if isinstance(ask, Together)]
    for ask in asked:
        next(ask.begin())
    assert begun == IDS[:2]


def test_errors_of_the_store_say_whether_they_may_be_retried() -> None:
    """What gave way may be; what is unknown may not."""
    assert [getattr(problem, "retryable", None) for problem in (conflict(), unknown())] == [True, False]
    assert isinstance(unknown(), StoreError)
