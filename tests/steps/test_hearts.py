from __future__ import annotations

import asyncio
import gc
import subprocess
import sys
import threading
import weakref
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from semel.asks import ClaimName
from semel.performers.heart import AsyncHeart, Heart, Watch
from tests.conformance.faces import Colour, Stage, open_stage
from tests.steps.hand_clock import PATIENCE_SECONDS, HandClock

SECOND_US = 1_000_000


@dataclass
class Watched:
    """What a heart tells."""

    lost: bool = False


@dataclass
class Chest:
    """A heart of either colour, and the beats that the test has seen, by the clock."""

    colour: Colour
    stage: Stage
    clock: HandClock = field(default_factory=HandClock)
    beats: list[float] = field(default_factory=list)
    answer: Callable[[], Any] = frozenset

    def __post_init__(self) -> None:
        self.heart: Any = (Heart if self.colour == "sync" else AsyncHeart)(self.clock, self.beat())  # type: ignore[arg-type]

    def beat(self) -> Callable[[], Any]:
        """Make the beat: it notes the time, and answers what the test says."""

        def beat() -> Any:
            self.beats.append(self.clock.now)
            return self.answer()

        async def beat_async() -> Any:
            return beat()

        return beat if self.colour == "sync" else beat_async

    def watch(self, row: int, lease_seconds: float) -> Watch:
        """Watch a claim."""
        name = ClaimName("orders", "orders", str(row), "pay", "pending")
        watch = Watch(name, 1, int(lease_seconds * SECOND_US), Watched())
        self.call(lambda: self.heart.watch(watch))
        return watch

    def unwatch(self, watch: Watch) -> None:
        """Watch it no more."""
        self.call(lambda: self.heart.unwatch(watch))

    def call(self, call: Callable[[], Any]) -> None:
        """Call where the heart lives."""
        call() if self.colour == "sync" else self.stage.begin(call).result(PATIENCE_SECONDS)

    def settle(self) -> None:
        """Return once the heart has done all it had to do by now."""
        if self.colour == "async":
            self.stage.begin(take_turns).result(PATIENCE_SECONDS)
        self.clock.settle()

    def move(self, seconds: float) -> None:
        """Let time pass, and the heart beat."""
        self.clock.move(seconds)
        self.settle()


async def take_turns() -> None:
    """Let every other task of the loop go on until it waits for the clock: none needs more than a few turns."""
    for _ in range(10):
        await asyncio.sleep(0)


@pytest.fixture
def chest(colour: Colour, stage: Stage) -> Iterator[Chest]:
    """A heart, which stops in the end."""
    chest = Chest(colour, stage)
    watches: list[Watch] = []
    watch = chest.watch

    def watch_and_note(row: int, lease_seconds: float) -> Watch:
        watches.append(watch(row, lease_seconds))
        return watches[-1]

    chest.watch = watch_and_note  # type: ignore[method-assign] # so that each is unwatched in the end
    yield chest
    for each in watches:
        chest.unwatch(each)
    chest.clock.move(1_000)


def test_the_shortest_lease_sets_the_pace(chest: Chest) -> None:
    """A long lease is no reason to let a short one beside it run out, and the pace slows down when that has ended."""
    chest.watch(1, 30)
    chest.settle()
    chest.move(5)
    assert chest.beats == []
    short = chest.watch(2, 1.5)
    chest.settle()
    chest.move(0.5)
    chest.move(0.5)
    assert chest.beats == [5, 5.5, 6]
    chest.unwatch(short)
    chest.move(9)
    assert chest.beats == [5, 5.5, 6]
    chest.move(1.5)
    assert chest.beats == [5, 5.5, 6, 16.5]


def test_a_storm_of_short_claims_starves_nobody(chest: Chest) -> None:
    """However many claims begin and end meanwhile, the one that goes on is beaten for three times in its lease."""
    chest.watch(0, 3)
    chest.settle()
    for row in range(1, 200):
        short = chest.watch(row, 2.7)
        chest.settle()
        chest.move(0.05)
        chest.unwatch(short)
    gaps = [later - earlier for earlier, later in zip([0, *chest.beats], chest.beats, strict=False)]
    assert chest.clock.now > 9
    assert max(gaps) <= 1


def test_a_lost_claim_is_told_only_of_what_was_there(chest: Chest) -> None:
    """A claim that is taken while a beat is under way is not in its answer, and is not lost for that."""
    old, new = Watch(name_of(1), 1, SECOND_US, Watched()), Watch(name_of(2), 1, SECOND_US, Watched())

    def answer() -> frozenset[Any]:
        chest.heart.watch(new)
        chest.answer = lambda: frozenset({(new.name, new.fence)})
        return frozenset()

    chest.answer = answer
    chest.call(lambda: chest.heart.watch(old))
    chest.settle()
    chest.move(1)
    assert (old.watched.lost, new.watched.lost) == (True, False)
    chest.move(1)
    assert new.watched.lost is False
    for watch in (old, new):
        chest.unwatch(watch)


def name_of(row: int) -> ClaimName:
    return ClaimName("orders", "orders", str(row), "pay", "pending")


def test_an_error_is_no_answer(chest: Chest) -> None:
    """A beat that fails says nothing about any claim; the next one comes as if it had not."""

    def answer() -> frozenset[Any]:
        raise ConnectionResetError

    chest.answer = answer
    watch = chest.watch(1, 3)
    chest.settle()
    chest.move(1)
    chest.move(1)
    assert chest.beats == [1, 2]
    assert watch.watched.lost is False


def test_a_heart_with_nothing_to_beat_for_stops(chest: Chest) -> None:
    """Not even a beat that was due comes any more: the process may have closed its connections. It begins again when asked."""
    watch = chest.watch(1, 3)
    chest.settle()
    chest.unwatch(watch)
    if chest.colour == "sync":
        thread = chest.heart._thread
        chest.clock.move(100)
        thread.join(PATIENCE_SECONDS)
        assert not thread.is_alive()
    else:
        chest.stage.begin(take_turns).result(PATIENCE_SECONDS)
        chest.clock.move(100)
    assert chest.beats == []
    chest.watch(2, 3)
    chest.settle()
    chest.move(1)
    assert chest.beats == [101]


@pytest.mark.parametrize("colour", ["async"], indirect=True)
def test_two_event_loops_have_two_hearts(chest: Chest) -> None:
    """Each is told of its own claims, and goes on when the other has ended."""
    with open_stage() as other:
        here = chest.watch(1, 3)
        there = Watch(name_of(2), 1, 3 * SECOND_US, Watched())
        other.begin(lambda: chest.heart.watch(there)).result(PATIENCE_SECONDS)
        chest.clock.settle(2)
        chest.answer = lambda: frozenset({(here.name, here.fence)})
        chest.clock.move(1)
        chest.clock.settle(2)
        assert (here.watched.lost, there.watched.lost, chest.beats) == (False, True, [1, 1])
        other.begin(lambda: chest.heart.unwatch(there)).result(PATIENCE_SECONDS)
        other.begin(take_turns).result(PATIENCE_SECONDS)
    chest.settle()
    chest.move(1)
    assert chest.beats == [1, 1, 2]


def test_a_heart_keeps_no_event_loop_alive() -> None:
    """Scripts and tests run one loop after the other."""
    heart = AsyncHeart(HandClock(), beat_never)

    async def live() -> weakref.ref[asyncio.AbstractEventLoop]:
        watch = Watch(name_of(1), 1, SECOND_US, Watched())
        heart.watch(watch)
        await take_turns()
        heart.unwatch(watch)
        await take_turns()
        return weakref.ref(asyncio.get_running_loop())

    loop = asyncio.run(live())
    gc.collect()
    assert loop() is None


async def beat_never() -> frozenset[Any]:
    raise AssertionError("nobody moves this clock")


FORK = """
import asyncio, os, sys, threading, warnings
from semel.asks import ClaimName
from semel.clock import SYSTEM
from semel.performers.heart import AsyncHeart, Heart, Watch

warnings.filterwarnings("ignore", "This process .* is multi-threaded", DeprecationWarning)
beaten = threading.Event()

def watch(lease_us):
    return Watch(ClaimName("w", "e", "1", "s", "t"), 1, lease_us, type("Watched", (), {"lost": False})())

def beat():
    beaten.set()
    return frozenset()

async def beat_async():
    return beat()

async def live(lease_us):
    heart.watch(watch(lease_us))
    await asyncio.to_thread(beaten.wait, 20) if lease_us < 1_000_000 else await asyncio.sleep(0)

def begin(lease_us):
    if sys.argv[1] == "async":
        asyncio.run(live(lease_us))
    else:
        heart.watch(watch(lease_us))

heart = Heart(SYSTEM, beat) if sys.argv[1] == "sync" else AsyncHeart(SYSTEM, beat_async)
begin(60_000_000)
if sys.argv[1] == "sync":
    heart._lock.acquire()
child = os.fork()
if child == 0:
    begin(60_000)
    os._exit(0 if beaten.wait(20) else 1)
assert not beaten.is_set()
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.parametrize("colour", ["sync", "async"], indirect=True)
def test_a_forked_child_has_a_heart_of_its_own(colour: Colour) -> None:
    """Its parent's beating thread does not exist there, and the lock that was held at that moment would never be released."""
    ran = subprocess.run([sys.executable, "-c", FORK, colour], capture_output=True, text=True, timeout=60, check=False)
    assert ran.returncode == 0, ran.stderr


def test_many_claims_begin_at_once_with_one_beating_thread(stage: Stage) -> None:
    """Sixteen threads watch at the same time: nothing is lost, and one thread beats for all."""
    chest = Chest("sync", stage)
    together = threading.Barrier(16)
    watches: list[Watch] = []

    def begin(row: int) -> None:
        together.wait()
        watches.append(chest.watch(row, 3))

    threads = [threading.Thread(target=begin, args=(row,)) for row in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    chest.settle()
    assert sum(thread.name == "semel-heart" and thread is chest.heart._thread for thread in threading.enumerate()) == 1
    chest.move(1)
    assert chest.beats == [1]
    assert all(watch.watched.lost for watch in watches)
    for watch in watches:
        chest.unwatch(watch)
    chest.clock.move(100)
