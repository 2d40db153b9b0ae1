"""The shape of a workflow file, as pydantic reads it and as the JSON Schema describes it.

A value that may differ between requesters is written as a map, or plainly where everyone gets the same; a list of one
may be written as its only item. Both are unfolded here, so that the model below this file knows one form only.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, Strict

from semel.workflow.model import EVERYONE

NAME_CHARACTERS_LIMIT = 100  # what the columns of the claim row hold; five names and a row id must fit into one index
STATUSES_LIMIT = 500  # a drawing with more is unreadable, and every rule stays quick below it
STEPS_LIMIT = 1_000  # two for each status
ITEMS_LIMIT = 100  # of one list in a step, and of the requesters told apart in one value
STEP_ID_LIMIT = 2**53 - 1  # the largest whole number that every JSON reader keeps exactly
LEASE_SECONDS_LIMIT = 86_400  # a day: a stranded row waits up to two leases, and nobody means longer than that
WAIT_SECONDS_LIMIT = 30 * 86_400  # a month: the slowest bank transfers have answered by then


def refuse_odd_name(name: str) -> str:
    """Refuse what nobody sees: names are compared character by character with a column."""
    if name != name.strip() or not name.isprintable():
        raise ValueError("a name has no spaces around it and no line breaks or other invisible characters in it")
    return name


def refuse_repetition(names: list[str]) -> list[str]:
    """Refuse a list that names one thing twice."""
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise ValueError(f"it names {', '.join(map(repr, repeated))} more than once")
    return names


def unfold_item(value: Any) -> Any:
    """Make a list of a value that is not one."""
    return value if isinstance(value, list | tuple | dict) or value is None else [value]


def unfold_requesters(value: Any) -> Any:
    """Make a map of a value that is not one: it holds for everyone."""
    return value if isinstance(value, dict) else {EVERYONE: value}


def unfold_call(value: Any) -> Any:
    """Make an object of a call that is only named."""
    return {"provider": value} if isinstance(value, str) else value


Name = Annotated[str, Field(min_length=1, max_length=NAME_CHARACTERS_LIMIT), AfterValidator(refuse_odd_name)]
Pair = Annotated[list[Name], Field(min_length=2, max_length=2)]
Names = Annotated[list[Name], Field(max_length=ITEMS_LIMIT)]
SomeNames = Annotated[Names, BeforeValidator(unfold_item, json_schema_input_type=Name | Names)]
AtLeastOne = Annotated[list[Name], Field(min_length=1, max_length=ITEMS_LIMIT)]
Successes = Annotated[AtLeastOne, BeforeValidator(unfold_item, json_schema_input_type=Name | AtLeastOne)]

PairMap = Annotated[dict[Name, Pair], Field(max_length=ITEMS_LIMIT)]
PairByRequester = Annotated[PairMap, BeforeValidator(unfold_requesters, json_schema_input_type=Pair | PairMap)]
NameMap = Annotated[dict[Name, Name], Field(max_length=ITEMS_LIMIT)]
NameByRequester = Annotated[NameMap, BeforeValidator(unfold_requesters, json_schema_input_type=Name | NameMap)]
NamesMap = Annotated[dict[Name, SomeNames], Field(max_length=ITEMS_LIMIT)]
NamesByRequester = Annotated[NamesMap, BeforeValidator(unfold_requesters, json_schema_input_type=SomeNames | NamesMap)]
SuccessesMap = Annotated[dict[Name, Successes], Field(min_length=1, max_length=ITEMS_LIMIT)]
SuccessesByRequester = Annotated[
    SuccessesMap, BeforeValidator(unfold_requesters, json_schema_input_type=Successes | SuccessesMap)
]
Statuses = Annotated[
    list[Name],
    Field(max_length=STATUSES_LIMIT, json_schema_extra={"uniqueItems": True}),
    AfterValidator(refuse_repetition),
]


class Shape(BaseModel):
    """What all parts of a workflow file share: no other keys than the declared ones, and nothing is guessed."""

    model_config = ConfigDict(extra="forbid", validate_by_alias=True, validate_by_name=False, allow_inf_nan=False)


class CallShape(Shape):
    """One outside call of a step, in the declared form."""

    provider: Name = Field(description="The provider and its call, as registered: `stripe.charge`.")
    payload: Name | None = Field(
        default=None,
        description="The registered function that makes the payload from the row and the input, before the claim.",
    )


Call = Annotated[CallShape, BeforeValidator(unfold_call, json_schema_input_type=Name | CallShape)]


class StepShape(Shape):
    """One step: who may take it, from which status, and where it leads."""

    step_id: Annotated[int, Strict()] = Field(
        ge=0, le=STEP_ID_LIMIT, description="A whole number of your choice, unique in the workflow."
    )
    step_key: Name = Field(description='The name by which the step is taken: advance(row, "close").')
    status: Name = Field(description="The status in which a row can take the step.")
    successful_state: SuccessesByRequester = Field(
        description="The status after success, for each requester who may take the step. "
        "A list offers several: the first is the default, and the action picks another with Finish(…)."
    )
    successful_claim_state: PairByRequester = Field(
        default_factory=dict,
        description="The claim, as a pair: the transient status to move into before the action runs, "
        "and the status to go back to if it fails. A requester without one takes the step in one transaction.",
    )
    refused_state: NameByRequester = Field(
        default_factory=dict,
        description="The status after a provider's refusal. Without it, the claim is released.",
    )
    action: NameByRequester = Field(
        default_factory=dict,
        description="The registered action whose writes are the step. Without it, the row only moves.",
    )
    validators: NamesByRequester = Field(
        default_factory=dict,
        alias="validate",
        description="Registered validators, asked in this order on the claimed row before the action.",
    )
    success_after_effect: NamesByRequester = Field(
        default_factory=dict,
        description="Registered effects, recorded with the success and delivered after its commit.",
    )
    calls: list[Call] = Field(
        default_factory=list,
        max_length=ITEMS_LIMIT,
        description="The outside calls of the step: names of calls its action makes, "
        "or objects with a payload function, which are made before the action.",
    )
    recovery: Literal["revert", "resume", "review"] | None = Field(
        default=None,
        description="What happens to a claim whose owner died: revert (the default without calls) releases it, "
        "resume (the default with calls) asks the providers and runs the action again, review waits for a person.",
    )
    lease_seconds: Annotated[float, Strict()] | None = Field(
        default=None,
        gt=0,
        le=LEASE_SECONDS_LIMIT,
        description="How long a claim lives without a heartbeat. Without it, the application's default holds.",
    )
    wait_seconds: Annotated[float, Strict()] | None = Field(
        default=None,
        gt=0,
        le=WAIT_SECONDS_LIMIT,
        description="How long a call may stay answered but not final before it is cancelled at its provider.",
    )
    retired: Annotated[bool, Strict()] = Field(
        default=False, description="True: nobody may take the step any more, but rows already in it keep their keepers."
    )
    secret_input: Names = Field(
        default_factory=list, description="Keys of the input that are never stored, only that they were there."
    )


class WorkflowShape(Shape):
    """A workflow: how the status column of one table may change, and on whose behalf."""

    schema_reference: Any = Field(
        default=None, alias="$schema", description="Where editors find this schema. Semel does not read it."
    )
    workflow: Name = Field(description="The name of the workflow, unique in the application.")
    owning_module: Name | None = Field(
        default=None,
        description="The module that owes this workflow's claims a cover. Without it, the application covers them.",
    )
    entity_table: Name = Field(description="The table whose rows take the steps.")
    status_column: Name = Field(default="status", description="The column that holds the status.")
    version_column: Name = Field(
        default="version", description="The column that holds the version; it is Semel's alone."
    )
    id_column: Name | None = Field(
        default=None, description="The column that identifies a row, if not the primary key."
    )
    status_types: Statuses = Field(min_length=1, description="Every status a row may have.")
    initial: Name = Field(description="The status in which a row is born.")
    terminal: Statuses = Field(default_factory=list, description="The statuses that nothing leaves any more.")
    outside: Statuses = Field(
        default_factory=list,
        description="Statuses that other code enters or leaves; whether they can be reached or left is not checked.",
    )
    steps: list[StepShape] = Field(max_length=STEPS_LIMIT, description="The steps of the workflow.")
