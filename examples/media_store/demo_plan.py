"""What happens in a storm, and when: drawn from a seed, so that both sides, and every run of one seed, meet the same."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Literal, TypeAlias

from .stock import FIRST_STATUSES, PERIODS, PRICE_MINOR

WEB_PLACES = (0, 1, 2, 3)
WORKER_PLACES = (4, 5)
PLACES = WEB_PLACES + WORKER_PLACES

PRESSES_A_SECOND = 20
"""As many as one SQLite file takes from four processes without falling behind."""

CUTS_A_SECOND = 2
"""Most take one process. After each, the next one has its place in a moment, so work goes on."""

POWER_CUT_EACH = 3
"""Every third cut takes all web processes at once, and with them whoever holds a claim."""

CUT_WITHIN_SECONDS = 0.02
"""A cut comes so soon after a press that its step is half done: from claim to finish it is a few milliseconds."""

AMOUNTS_MINOR = (PRICE_MINOR, PRICE_MINOR, 500, 333)
"""What is paid: the whole, or a part that fits one, two or three times."""

Kind: TypeAlias = Literal["close", "regenerate", "pay"]


@dataclass(frozen=True)
class Press:
    """A button that is pressed in every web process at the same moment: four people look at the same page."""

    at_seconds: float
    kind: Kind
    period: int
    place: int
    amount_minor: int

    @property
    def number(self) -> str:
        """The invoice that is meant."""
        return f"INV-{self.period}-{self.place}"


@dataclass(frozen=True)
class Cut:
    """Processes that get SIGKILL at one moment; others take their places."""

    at_seconds: float
    places: tuple[int, ...]


@dataclass(frozen=True)
class Plan:
    """Everything that a storm has in store."""

    seed: int
    seconds: float
    presses: tuple[Press, ...]
    cuts: tuple[Cut, ...]
    end: Cut


def make_plan(seed: int, seconds: float) -> Plan:
    """Draw a storm."""
    dice = random.Random(seed)  # noqa: S311 - a storm has to be drawn again, not to be secret
    presses = draw_presses(dice, seconds)
    end = Cut(presses[-1].at_seconds + dice.random() * CUT_WITHIN_SECONDS, PLACES)
    return Plan(seed, seconds, presses, draw_cuts(dice, seconds, presses), end)


def draw_presses(dice: random.Random, seconds: float) -> tuple[Press, ...]:
    """Draw the buttons: one in five closes a period, the others are about its invoices."""
    kinds: tuple[Kind, ...] = ("close", "regenerate", "regenerate", "pay", "pay")
    count = int(seconds * PRESSES_A_SECOND)
    return tuple(
        Press(
            (number + dice.random()) / PRESSES_A_SECOND,
            kinds[number % len(kinds)],
            dice.randint(1, PERIODS),
            dice.randint(1, len(FIRST_STATUSES)),
            dice.choice(AMOUNTS_MINOR),
        )
        for number in range(count)
    )


def draw_cuts(dice: random.Random, seconds: float, presses: tuple[Press, ...]) -> tuple[Cut, ...]:
    """Draw the deaths: each shortly after a press."""
    struck = sorted(dice.sample(range(len(presses) - 1), int(seconds * CUTS_A_SECOND)))
    return tuple(
        Cut(
            presses[press].at_seconds + dice.random() * CUT_WITHIN_SECONDS,
            WEB_PLACES if number % POWER_CUT_EACH == 0 else (dice.choice(PLACES),),
        )
        for number, press in enumerate(struck)
    )
