"""Reading one document as far as it goes: a fault in one place does not hide the faults in others.

What cannot be read is noted and left out, and the rest is read without it. The rules then know from `unread` which
questions they must not answer, so that one mistake is not reported as five.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from pydantic import BaseModel, TypeAdapter, ValidationError

from semel.workflow.faults import tell_fault
from semel.workflow.model import EVERYONE, ByRequester, CallPlan, Claim, Step, Workflow
from semel.workflow.problem import Place, Problem, path_of, show
from semel.workflow.shape import STEPS_LIMIT, Pair, StepShape, WorkflowShape

CLAIM_KEY = "successful_claim_state"
PAIR = TypeAdapter(Pair)
# Stand-ins for what is required and could not be read. Every rule that would stumble over them needs the real value.
STAND_INS: Mapping[str, Any] = {
    "workflow": "?",
    "entity_table": "?",
    "initial": "?",
    "status_types": ["?"],
    "steps": [],
}

Part = TypeVar("Part", bound=BaseModel)
Document = Mapping[str, Any]


@dataclass(frozen=True)
class MalformedClaim:
    """A claim that is not a pair of statuses, where it stands, and what stands there."""

    place: Place
    given: object


@dataclass(frozen=True)
class Declared:
    """One workflow file as far as it could be read. Only a `whole` one may be run; any may be checked."""

    workflow: Workflow
    document: Document
    whole: bool
    unread: frozenset[str] = frozenset()
    """The keys of which at least one value could not be read."""
    malformed_claims: tuple[MalformedClaim, ...] = ()

    def problem(self, rule: str, place: Place, message: str) -> Problem:
        """Make a problem of this file, at the path that its document really has."""
        return Problem(rule, self.workflow.file, path_of(self.document, place), message)


@dataclass
class Notes:
    """What is written down while a document is read."""

    document: Document
    file: str
    problems: list[Problem] = field(default_factory=list)
    unread: set[str] = field(default_factory=set)
    malformed_claims: list[MalformedClaim] = field(default_factory=list)

    def note_fault(self, place: Place, message: str) -> None:
        """Write down a fault of the shape."""
        self.problems.append(Problem("shape", self.file, path_of(self.document, place), message))


def read_document(
    document: Document, file: str, repeated: Iterable[tuple[Place, str]]
) -> tuple[Declared, list[Problem]]:
    """Read a document into the workflow it declares, and the problems of its shape.

    `repeated` are the objects in which a key stood twice, each with that key.
    """
    notes = Notes(document, file)
    for place, key in repeated:
        notes.note_fault(place, f"the key {show(key)} stands here twice, and only one can count; take the other out.")
    head = read_head(notes)
    workflow = build_workflow(head, read_steps(notes), file)
    whole = not (notes.problems or notes.malformed_claims)
    declared = Declared(workflow, document, whole, frozenset(notes.unread), tuple(notes.malformed_claims))
    return declared, notes.problems


def read_head(notes: Notes) -> WorkflowShape:
    """Read everything but the steps; what is required and unreadable gets a stand-in."""
    given = dict(notes.document)
    if isinstance(given.get("steps"), list):
        given["steps"] = []
    head = read_part(WorkflowShape, given, (), notes, STAND_INS)
    if head is None:
        raise AssertionError("a head of readable values and stand-ins can be read")
    return head


def read_steps(notes: Notes) -> list[Step]:
    """Read the steps one by one; an unreadable one is left out."""
    given = notes.document.get("steps")
    raws = given if isinstance(given, list) else []
    if len(raws) > STEPS_LIMIT:
        notes.note_fault(("steps",), f"{len(raws)} steps, and {STEPS_LIMIT} are the limit; split the workflow.")
    steps = (read_step(position, raw, notes) for position, raw in enumerate(raws[:STEPS_LIMIT]))
    return [step for step in steps if step is not None]


def read_step(position: int, raw: object, notes: Notes) -> Step | None:
    """Read one step. None: so much is missing that the others are read without it."""
    place: Place = ("steps", position)
    rest, guesses = part_malformed_claims(raw, place, notes)
    shape = read_part(StepShape, rest, place, notes, {})
    if shape is None:
        notes.unread.add("steps")
        return None
    return build_step(shape, guesses, position)


def part_malformed_claims(raw: object, place: Place, notes: Notes) -> tuple[object, dict[str, Claim]]:
    """Take malformed claims out of a step; answer the rest, and what those claims most likely meant."""
    if not isinstance(raw, dict) or CLAIM_KEY not in raw:
        return raw, {}
    given = raw[CLAIM_KEY]
    claims = given if isinstance(given, dict) else {EVERYONE: given}
    malformed = {requester: claim for requester, claim in claims.items() if not is_pair(claim)}
    for requester, claim in malformed.items():
        notes.malformed_claims.append(MalformedClaim((*place, CLAIM_KEY, requester), claim))
    guesses = {requester: guess_claim(claim, raw.get("status"), notes) for requester, claim in malformed.items()}
    if None in guesses.values():
        notes.unread.add(CLAIM_KEY)
    sound = {requester: claim for requester, claim in claims.items() if requester not in malformed}
    return {**raw, CLAIM_KEY: sound}, {requester: guess for requester, guess in guesses.items() if guess}


def is_pair(claim: object) -> bool:
    """Answer whether a claim is a pair of names."""
    try:
        PAIR.validate_python(claim)
    except ValidationError:
        return False
    return True


def guess_claim(given: object, status: object, notes: Notes) -> Claim | None:
    """Guess which statuses a malformed claim means, so that only the claim is reported. None: no guess is safe."""
    ends = given if isinstance(given, list) else [given]
    statuses = notes.document.get("status_types")
    if not (ends and isinstance(statuses, list) and isinstance(ends[0], str) and ends[0] in statuses):
        return None
    back_to = ends[1] if len(ends) > 1 and ends[1] in statuses else status
    return Claim(ends[0], back_to) if isinstance(back_to, str) else None


def read_part(model: type[Part], raw: object, place: Place, notes: Notes, stand_ins: Document) -> Part | None:
    """Read one part by its model, without the keys that cannot be read. None: those were required, with no stand-in."""
    try:
        return model.model_validate(raw)
    except ValidationError as error:
        faults = error.errors(include_url=False, include_context=False)
    for fault in faults:
        notes.note_fault((*place, *fault["loc"]), tell_fault(model, fault))
    unread = {str(fault["loc"][0]) for fault in faults if fault["loc"]}
    notes.unread |= unread
    if not isinstance(raw, dict):
        return None
    rest = {key: value for key, value in raw.items() if key not in unread}
    try:
        return model.model_validate({**stand_ins, **rest})
    except ValidationError:
        return None


def build_step(shape: StepShape, guesses: Mapping[str, Claim], position: int) -> Step:
    """Build the step that a shape describes."""
    claims = {requester: Claim(into, back_to) for requester, (into, back_to) in shape.successful_claim_state.items()}
    return Step(
        step_id=shape.step_id,
        key=shape.step_key,
        status=shape.status,
        successes=by_requester(shape.successful_state),
        claims=ByRequester.from_mapping({**claims, **guesses}),
        refused=ByRequester.from_mapping(shape.refused_state),
        actions=ByRequester.from_mapping(shape.action),
        validators=by_requester(shape.validators),
        after_effects=by_requester(shape.success_after_effect),
        calls=tuple(CallPlan(call.provider, call.payload) for call in shape.calls),
        recovery=shape.recovery or ("resume" if shape.calls else "revert"),
        lease_seconds=shape.lease_seconds,
        wait_seconds=shape.wait_seconds,
        retired=shape.retired,
        secret_input=tuple(shape.secret_input),
        position=position,
    )


def by_requester(lists: Mapping[str, list[str]]) -> ByRequester[tuple[str, ...]]:
    """Freeze a map of lists."""
    return ByRequester.from_mapping({requester: tuple(names) for requester, names in lists.items()})


def build_workflow(shape: WorkflowShape, steps: list[Step], file: str) -> Workflow:
    """Build the workflow that a shape describes, from steps that were read on their own."""
    return Workflow(
        name=shape.workflow,
        table=shape.entity_table,
        statuses=tuple(shape.status_types),
        initial=shape.initial,
        terminal=tuple(shape.terminal),
        steps=tuple(steps),
        outside=tuple(shape.outside),
        owning_module=shape.owning_module,
        status_column=shape.status_column,
        version_column=shape.version_column,
        id_column=shape.id_column,
        file=file,
    )
