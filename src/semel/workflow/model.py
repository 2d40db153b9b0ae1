"""The declared values: a workflow, its steps, and the questions that the rest of Semel asks of them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Generic, Literal, TypeAlias, TypeVar

Value = TypeVar("Value")
Recovery: TypeAlias = Literal["revert", "resume", "review"]
EdgeKind: TypeAlias = Literal["step", "claim", "release", "refused"]

EVERYONE = "*"
"""The requester under which a plain value is kept: it holds for everyone who is not named."""

HASH_BYTES = 16  # 128 bits: two versions of a file meet by accident never, and 32 digits fit the claim row


@dataclass(frozen=True, slots=True)
class ByRequester(Generic[Value]):
    """One value for each requester. `of` answers None where neither the requester nor everyone is named."""

    values: tuple[tuple[str, Value], ...] = ()

    @classmethod
    def from_mapping(cls, mapping: Mapping[str, Value]) -> ByRequester[Value]:
        """Keep the pairs in the order of the names, so that equal maps are equal values."""
        return cls(tuple(sorted(mapping.items(), key=lambda pair: pair[0])))

    def of(self, requester: str | None) -> Value | None:
        """Answer what holds for this requester; None as requester is somebody without a name."""
        everyone: Value | None = None
        for name, value in self.values:
            if name == requester:
                return value
            if name == EVERYONE:
                everyone = value
        return everyone

    @property
    def names(self) -> tuple[str, ...]:
        """The requesters that are named, `*` among them if everyone is."""
        return tuple(name for name, _ in self.values)

    def __iter__(self) -> Iterator[tuple[str, Value]]:
        """Go through the pairs of requester and value."""
        return iter(self.values)

    def __bool__(self) -> bool:
        """Answer whether anybody is named."""
        return bool(self.values)


@dataclass(frozen=True, slots=True)
class Claim:
    """Where a claim moves the row to, and where its release moves it back to."""

    into: str
    back_to: str


@dataclass(frozen=True, slots=True)
class CallPlan:
    """One outside call of a step: `stripe.charge`. With a payload it is declared: Semel makes it, not the action."""

    provider: str
    payload: str | None = None


@dataclass(frozen=True)
class Step:
    """One step of a workflow: who may take it, from which status, to where, and how it is recovered."""

    step_id: int
    key: str
    status: str
    successes: ByRequester[tuple[str, ...]]
    claims: ByRequester[Claim] = ByRequester()
    refused: ByRequester[str] = ByRequester()
    actions: ByRequester[str] = ByRequester()
    validators: ByRequester[tuple[str, ...]] = ByRequester()
    after_effects: ByRequester[tuple[str, ...]] = ByRequester()
    calls: tuple[CallPlan, ...] = ()
    recovery: Recovery = "revert"
    lease_seconds: float | None = None
    wait_seconds: float | None = None
    retired: bool = False
    secret_input: tuple[str, ...] = ()
    position: int = field(default=0, compare=False)
    """Where the step stands in its file, counted from 0."""

    def may_be_taken_by(self, requester: str | None) -> bool:
        """Answer whether `successful_state` names this requester, or everyone."""
        return self.successes.of(requester) is not None

    def successes_for(self, requester: str | None) -> tuple[str, ...]:
        """The statuses this requester may finish in, the default first. Empty: the step is not for this requester."""
        return self.successes.of(requester) or ()

    def claim_for(self, requester: str | None) -> Claim | None:
        """The claim this requester takes first. None: the step is one transaction."""
        return self.claims.of(requester)

    def refused_state_for(self, requester: str | None) -> str | None:
        """Where a provider's refusal leaves the row. None: where the claim's release leaves it."""
        return self.refused.of(requester)

    def action_for(self, requester: str | None) -> str | None:
        """The action to run. None: the step only moves the row."""
        return self.actions.of(requester)

    def validators_for(self, requester: str | None) -> tuple[str, ...]:
        """The validators to ask before the action, in order."""
        return self.validators.of(requester) or ()

    def after_effects_for(self, requester: str | None) -> tuple[str, ...]:
        """The after-effects to record with the success, in order."""
        return self.after_effects.of(requester) or ()

    @property
    def has_declared_calls(self) -> bool:
        """Answer whether Semel makes the calls itself, from payload functions, before the action runs."""
        return bool(self.calls) and all(call.payload is not None for call in self.calls)

    @cached_property
    def requesters(self) -> tuple[str, ...]:
        """Everyone who may take the step and is told apart somewhere in it; `*` stands for all others."""
        maps = (self.successes, self.claims, self.refused, self.actions, self.validators, self.after_effects)
        named = sorted({name for each in maps for name in each.names})
        return tuple(name for name in named if self.may_be_taken_by(name))

    def edges(self) -> Iterator[Edge]:
        """Go through every move of this step. A claim nobody may take still counts: a row may be in it."""
        for requester in dict.fromkeys((*self.requesters, *self.claims.names)):
            claim = self.claim_for(requester)
            if claim:
                yield Edge(self.status, claim.into, "claim", self)
                yield Edge(claim.into, claim.back_to, "release", self)
            source = claim.into if claim else self.status
            for success in self.successes_for(requester):
                yield Edge(source, success, "step", self)
            refused = self.refused_state_for(requester)
            if refused is not None and self.may_be_taken_by(requester):
                yield Edge(source, refused, "refused", self)


@dataclass(frozen=True)
class Edge:
    """One declared move: by taking a step, claiming it, releasing the claim, or being refused by a provider."""

    source: str
    target: str
    kind: EdgeKind
    step: Step


@dataclass(frozen=True)
class Workflow:
    """Everything declared about one status column of one table."""

    name: str
    table: str
    statuses: tuple[str, ...]
    initial: str
    terminal: tuple[str, ...]
    steps: tuple[Step, ...]
    outside: tuple[str, ...] = ()
    owning_module: str | None = None
    status_column: str = "status"
    version_column: str = "version"
    id_column: str | None = None
    """None: the table's primary key."""
    file: str = field(default="", compare=False)

    def step_for(self, key: str, status: str, requester: str | None) -> Step | None:
        """The step this requester may take now. None: there is none, or it is retired, or not for this requester."""
        step = self.step_at(key, status)
        return step if step and not step.retired and step.may_be_taken_by(requester) else None

    def step_at(self, key: str, status: str) -> Step | None:
        """The step of this key at this status, retired or not: what a keeper looks up for a claim row."""
        return self._steps_by_place.get((key, status))

    @cached_property
    def claim_statuses(self) -> frozenset[str]:
        """The statuses that only a claim may hold."""
        return frozenset(claim.into for step in self.steps for _, claim in step.claims)

    def edges(self) -> tuple[Edge, ...]:
        """Every declared move, each once, in the order of the file."""
        return self._edges

    def allows(self, source: str, target: str) -> bool:
        """Answer whether a bare transition may make this move.

        False: a claim status is involved, the source is terminal, a status is unknown, or no step that is still taken
        declares the move. Statuses listed in `outside` may be left and entered: other code does so too.
        """
        ends = {source, target}
        if not ends <= set(self.statuses) or ends & self.claim_statuses or source in self.terminal:
            return False
        if ends & set(self.outside):
            return True
        return any(edge.source == source and edge.target == target and not edge.step.retired for edge in self._edges)

    @cached_property
    def hash(self) -> str:
        """The digest of what is declared: the same for the same meaning, whatever the file's layout or format."""
        content = asdict(self)
        del content["file"]  # where it was read, and below in which order, means nothing
        steps = sorted(content.pop("steps"), key=lambda step: (step["step_id"], step["key"], step["status"]))
        for step in steps:
            del step["position"]
        for unordered in ("statuses", "terminal", "outside"):
            content[unordered] = sorted(content[unordered])
        text = json.dumps({**content, "steps": steps}, sort_keys=True, separators=(",", ":"))
        return hashlib.blake2b(text.encode(), digest_size=HASH_BYTES).hexdigest()

    @cached_property
    def _steps_by_place(self) -> Mapping[tuple[str, str], Step]:
        return {(step.key, step.status): step for step in reversed(self.steps)}

    @cached_property
    def _edges(self) -> tuple[Edge, ...]:
        seen = {
            (edge.source, edge.target, edge.kind, step.position): edge for step in self.steps for edge in step.edges()
        }
        return tuple(seen.values())
