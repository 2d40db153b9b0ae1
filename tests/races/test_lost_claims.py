from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

import pytest

from semel import Busy, Done, Pending
from semel.errors import ClaimLeft
from tests.crash.recovery import OVER_A_LEASE, see
from tests.databases import Database
from tests.shop.clock import VirtualClock
from tests.shop.fixtures import OpenShop
from tests.shop.gate import Gate
from tests.shop.process import ActionFailedError, Shop
from tests.shop.tables import lay_orders


@dataclass
class Zombie:
    """A caller whose claim is taken from it while it stands in its action."""

    shop: Shop
    keeper: Shop
    database: Database
    clock: VirtualClock

    def begin(self, step: str, told: dict[str, Any] | None = None) -> Future[Any]:
        """Take the step until its action stands at the gate, and let keepers recover the row meanwhile."""
        lay_orders(self.database, [1])
        self.gate = Gate(self.shop)
        future = self.shop.begin_advance(1, step, input=told or {})
        self.gate.wait_for_somebody()
        for _ in range(3):
            self.clock.move(self.database, OVER_A_LEASE)
            self.keeper.look("janitor")
            self.keeper.look("resumer")
        return future

    def end(self, future: Future[Any]) -> Any:
        """Let the action go on, and answer what its caller hears."""
        self.gate.open()
        return future.result(30)


@pytest.fixture
def zombie(database: Database, shop: Shop, open_shop: OpenShop, clock: VirtualClock) -> Iterator[Zombie]:
    """A caller that will lose its claim, and the keeper that will take it."""
    zombie = Zombie(shop, open_shop(like=shop), database, clock)
    yield zombie
    zombie.gate.open()


ENDS = {
    "writes": {"rows": 1, "effects": 1},
    "writes nothing": {"rows": 0, "effects": 1},
    "says no": {"rows": 0, "end": "reject"},
    "says no after writing": {"rows": 1, "end": "reject"},
}


@pytest.mark.parametrize("told", ENDS.values(), ids=ENDS)
@pytest.mark.parametrize(("step", "end"), [("pay", "pending"), ("deliver", "delivered")])
def test_whoever_lost_its_claim_hears_pending(zombie: Zombie, step: str, end: str, told: dict[str, Any]) -> None:
    """However its action ends, it changes nothing, and is not told Done or Rejected: that is the new owner's to say."""
    future = zombie.begin(step, told)
    rows = told["rows"] if not told.get("end") else 0
    before = see(zombie.keeper, zombie.database, rows)
    assert zombie.end(future) == Pending(None)
    assert see(zombie.keeper, zombie.database, rows) == before
    assert before.rows["1"][0] == ("pending" if told.get("end") else end)


def test_what_a_lost_action_raises_is_raised_with_a_note(zombie: Zombie) -> None:
    """The exception is its own; the note says that the claim was lost, so nobody repeats the step blindly."""
    future = zombie.begin("deliver", {"rows": 0, "end": "raise"})
    with pytest.raises(ActionFailedError) as caught:
        zombie.end(future)
    assert any("lost" in note for note in caught.value.__notes__)


@pytest.mark.parametrize("step", ["pay", "deliver"])
def test_a_lost_action_cannot_end_the_claim_of_the_next_caller(zombie: Zombie, open_shop: OpenShop, step: str) -> None:
    """The row is in the same claim status again, under somebody else's fence: the zombie's finish does not fit it."""
    future = zombie.begin("pay", {"rows": 0})
    other = open_shop(like=zombie.shop)
    gate = Gate(other)
    second = other.begin_advance(1, "pay", input={"rows": 0})
    gate.wait_for_somebody()
    before = see(zombie.keeper, zombie.database, 0)
    assert zombie.end(future) == Pending(None)
    assert see(zombie.keeper, zombie.database, 0) == before
    assert zombie.keeper.advance(1, step) == Busy("pay")
    gate.open()
    assert second.result(30) == Done("paid")


def test_an_action_that_swallows_the_loss_still_changes_nothing(zombie: Zombie) -> None:
    """`except BaseException` keeps it running, but what it returns is not taken for an end of the step."""
    swallow_all(zombie.shop)
    future = zombie.begin("pay", {"rows": 1})
    before = see(zombie.keeper, zombie.database)
    assert zombie.end(future) == Pending(None)
    assert see(zombie.keeper, zombie.database) == before


def swallow_all(shop: Shop) -> None:
    """Let the shop's action swallow whatever it meets."""
    registered = shop.semel._setup.registry.actions
    act = registered["Act"].function
    swallowed: list[BaseException] = []

    def swallow(step: Any) -> Any:
        try:
            return act(step)
        except BaseException as problem:  # noqa: BLE001 - as careless as users can be
            swallowed.append(problem)
            return "all is well"

    async def swallow_async(step: Any) -> Any:
        try:
            return await act(step)
        except BaseException as problem:  # noqa: BLE001 - as careless as users can be
            swallowed.append(problem)
            return "all is well"

    registered["Act"] = type(registered["Act"])(swallow if shop.colour == "sync" else swallow_async)


@pytest.mark.parametrize("word", ["session", "after", "read"])
def test_every_word_to_a_lost_step_leaves_the_action(
    zombie: Zombie, monkeypatch: pytest.MonkeyPatch, word: str
) -> None:
    """Once the heart knows that the claim is gone, the action leaves at its next word, by no Exception."""
    left = speak_after_the_gate(zombie.shop, word)
    monkeypatch.setattr(zombie.shop.semel._performer.conductor.actors, "heart", TellingHeart(zombie))
    future = zombie.begin("pay")
    assert zombie.end(future) == Pending(None)
    assert left == [ClaimLeft]


class TellingHeart:
    """A heart whose one beat comes when the keepers have taken the claim."""

    def __init__(self, zombie: Zombie) -> None:
        self.zombie = zombie

    def watch(self, watch: Any) -> None:
        """Tell as soon as the gate is opened."""
        opened = self.zombie.gate.open

        def tell_and_open() -> None:
            watch.watched.lost = True
            opened()

        self.zombie.gate.open = tell_and_open  # type: ignore[method-assign] # the test's own gate

    def unwatch(self, watch: Any) -> None:
        """There is nothing to stop."""


def speak_after_the_gate(shop: Shop, word: str) -> list[type[BaseException]]:
    """Register an action that says one word to its step; answer what it left by."""
    left: list[type[BaseException]] = []
    words: dict[str, Callable[[Any], Any]] = {
        "session": lambda step: step.session,
        "after": lambda step: step.after("Mail"),
        "read": lambda step: step.read("SELECT 1"),
    }

    def act(step: Any) -> None:
        shop.here("begun", step)
        try:
            words[word](step)
        except BaseException as problem:
            left.append(type(problem))
            raise

    async def act_async(step: Any) -> None:
        await shop.here("begun", step)
        try:
            answer = words[word](step)
            await answer
        except BaseException as problem:
            left.append(type(problem))
            raise

    registered = shop.semel._setup.registry.actions
    registered["Act"] = type(registered["Act"])(act if shop.colour == "sync" else act_async)
    return left
