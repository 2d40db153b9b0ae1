"""What a rule is, and what the application tells the rules that the files cannot say."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from semel.workflow.model import EVERYONE, Step
from semel.workflow.problem import Place
from semel.workflow.reading import CLAIM_KEY, Declared


class Finding(NamedTuple):
    """Where a rule is broken, and the sentence that says how to mend it."""

    place: Place
    sentence: str


@dataclass(frozen=True, slots=True)
class CallFacts:
    """What a provider says of one of its calls."""

    has_probe: bool
    deduplicates: bool
    """Whether the provider itself makes a repeated key one effect."""
    longest_seconds: float | None = None
    """The longest the call may take. None: the provider does not say."""


class Registry(Protocol):
    """What the application has registered by name."""

    @property
    def actions(self) -> Collection[str]:
        """The names of all actions."""

    @property
    def unrepeatable_actions(self) -> Collection[str]:
        """The names of the actions registered with `idempotent=False`."""

    @property
    def validators(self) -> Collection[str]:
        """The names of all validators."""

    @property
    def effects(self) -> Collection[str]:
        """The names of all after-effects."""

    @property
    def payloads(self) -> Collection[str]:
        """The names of all payload functions."""

    @property
    def calls(self) -> Mapping[str, CallFacts]:
        """All calls of all providers, by the name that a file writes: `stripe.charge`."""

    @property
    def lease_seconds(self) -> float:
        """The lease of steps that do not set their own."""


@dataclass(frozen=True)
class Rule:
    """One rule. `find` looks at one file, `ask` also at the registry, `compare` at all files together.

    A rule is silent about a file in which one of the keys it `needs` could not be read.
    """

    code: str
    title: str
    why: str
    find: Callable[[Declared], Iterator[Finding]] | None = None
    ask: Callable[[Declared, Registry], Iterator[Finding]] | None = None
    compare: Callable[[Sequence[Declared]], Iterator[tuple[Declared, Finding]]] | None = None
    needs: frozenset[str] = frozenset()


def place_of(step: Step, *rest: str | int) -> Place:
    """The place of something in a step."""
    return ("steps", step.position, *rest)


def place_of_claim(step: Step, requester: str) -> Place:
    """The place of the claim of one requester."""
    return place_of(step, CLAIM_KEY, requester)


def name_step(step: Step) -> str:
    """Name a step in a sentence."""
    return f"step {step.step_id} ({step.key})"


def name_requester(step: Step, requester: str) -> str:
    """Name a requester of a step in a sentence."""
    if requester != EVERYONE:
        return repr(requester)
    return "every requester" if step.requesters == (EVERYONE,) else "every other requester"
