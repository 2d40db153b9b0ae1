"""A scenario: a small world, those who act in it, and what must be true at its end."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

from semel.testing.prove.budgets import Budgets
from semel.testing.prove.stage import LEASE_US, Owned

Body = TypeVar("Body", bound=Callable[..., Any])

SOMETIMES = ("a crash at every boundary", "a losing CAS", "a fenced zombie", "a takeover", "a late arrival")
"""What a scenario must have seen to count as proven."""

_TIMES = "__semel_times__"


def actor(times: int = 1) -> Callable[[Body], Body]:
    """Mark a method of a scenario as what an actor does; `times` of them do it at once."""

    def mark(body: Body) -> Body:
        setattr(body, _TIMES, times)
        return body

    return mark


@dataclass(frozen=True)
class Part:
    """One actor of a scenario, before they are given a life."""

    name: str
    body: Callable[..., Any]


class Scenario:
    """Inherit, and say what the world is, who acts, and what must be true at the end."""

    app: ClassVar[str | None] = None
    """Your Semel as `module:name`. None: the scenario brings its own tables, workflows and functions, see below."""
    outside: ClassVar[Mapping[str, str]] = {}
    """Functions that reach outside, as `module:name`, each with the name under which `effects` counts what it does."""
    tables: ClassVar[tuple[Owned, ...]] = ()
    extra: ClassVar[tuple[str, ...]] = ()
    """More tables, as SQL."""
    workflows: ClassVar[tuple[Mapping[str, Any], ...]] = ()
    actions: ClassVar[Mapping[str, Callable[[Any], Any]]] = {}
    validators: ClassVar[Mapping[str, Callable[[Any], Any]]] = {}
    effects: ClassVar[Mapping[str, Callable[[Any], Any] | None]] = {}
    keepers: ClassVar[tuple[str, ...]] = ()
    """Which keepers act beside."""
    looks: ClassVar[int] = 2
    """How often each looks: once to see a heartbeat, once to see the same one again."""
    recovery: ClassVar[tuple[str, ...]] = ()
    """Which keepers look at the end; those that act, where nothing is said."""
    keeper_count: ClassVar[Mapping[str, int]] = {}
    """How many of a keeper act; one, where nothing is said."""
    lease_us: ClassVar[int] = LEASE_US
    beats: ClassVar[int] = 1
    """How many heartbeats an actor may send while it acts."""
    budgets: ClassVar[Budgets] = Budgets()
    sometimes: ClassVar[tuple[str, ...]] = SOMETIMES
    finishes: ClassVar[bool] = True
    """Whether every row of a workflow is terminal at the end of a history without faults."""

    once_per_intent: ClassVar[bool] = True
    """Whether what is done outside twice with the same arguments, under two keys, is wrong."""
    engines: ClassVar[tuple[str, ...]] = ()
    """SQLAlchemy engines of the application's own, as `module:name`, that reach the same database."""

    def world(self, w: Any) -> None:
        """Insert what is there before anybody acts."""

    def check(self, w: Any) -> None:
        """Assert what must be true when everybody has ended and the keepers had their time."""

    @property
    def name(self) -> str:
        """What the scenario is called."""
        words = "".join(f" {letter.lower()}" if letter.isupper() else letter for letter in type(self).__name__)
        return words.strip()

    def parts(self) -> Sequence[Part]:
        """Answer everyone who acts, in the order in which they are written down."""
        return list(self._parts())

    def _parts(self) -> Iterator[Part]:
        for key, body in _members(type(self)):
            times = getattr(body, _TIMES, 0)
            for number in range(times):
                shown = key.replace("_", " ")
                yield Part(f"{shown} {number + 1}" if times > 1 else shown, body)


def _members(kind: type) -> Iterator[tuple[str, Any]]:
    seen: dict[str, Any] = {}
    for each in reversed(kind.__mro__):
        seen |= vars(each)
    yield from seen.items()
