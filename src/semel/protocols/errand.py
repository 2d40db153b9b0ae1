"""An errand: a step that somebody asked to take, and what is told to its action and read from its answer.

The crash argument: nothing is written here. The one read only chooses among steps, and whichever is chosen judges the row
again under its lock.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from semel.asks import Acted, Asking, Fetch, Fresh, Recorded, StepFacts
from semel.errors import error
from semel.outcomes import Finish, Rejected
from semel.store.claims import Claims
from semel.store.entity import Id
from semel.workflow.model import Step, Workflow

HIDDEN = "semel_secret"
"""The key of what stands for a secret in a stored input. Nothing of the secret is kept: a digest of three digits is guessed."""

TORN = "SEMEL-STEP-8"
"""The error of a transaction that its action has ended."""


@dataclass(frozen=True)
class Errand:
    """A step that somebody asked to take on a row."""

    claims: Claims
    workflow: Workflow
    row: Id
    key: str
    requester: str
    input_text: str | None
    input: object
    owner: str
    lease_us: int
    request: str | None = None
    steps: Mapping[str, Step] = field(default_factory=dict)

    def name_of_claim(self, step: Step) -> dict[str, object]:
        """Answer the parameters that name a claim of this step on the row."""
        return {
            "workflow": self.workflow.name,
            "entity": self.claims.entity.name,
            "row_id": self.row_id,
            "step_key": step.key,
            "status": step.status,
        }

    @property
    def row_id(self) -> str:
        """The row's id as text, as Semel's own tables keep it."""
        return str(self.row)


def read_status(errand: Errand) -> Asking[str]:
    """Read which status the row has, to choose among steps of one key."""
    rows = yield Fetch(errand.claims.read_status, {"id0": errand.row})
    if not rows:
        raise error("SEMEL-ROW-1", ids=repr(errand.row), table=errand.claims.entity.name)
    return errand.claims.entity.codec.decode(rows[0][0])


def refuse(step: Step, requester: str, acted: Acted) -> Rejected | BaseException | None:
    """Answer why the step is not to be finished, if it is not."""
    if acted.problem is not None:
        return acted.problem
    if isinstance(acted.value, Rejected):
        return acted.value
    try:
        read_finish(step, requester, acted.value)
    except Exception as problem:  # noqa: BLE001 - what the action returned is judged like what it raised
        return problem
    return None


def read_finish(step: Step, requester: str, value: Any) -> Finish:
    """Read what an action returned: the first successful state, unless it picked another."""
    successes = step.successes_for(requester)
    finish = value if isinstance(value, Finish) else Finish(result=value)
    # The workflow's own text is what is written: an enum member that equals it may print as something else.
    picked = next((status for status in successes if finish.status in (None, status)), None)
    if picked is None:
        raise error("SEMEL-STEP-1", step=step.key, status=finish.status, known=", ".join(successes))
    return Finish(picked, finish.result)


def facts_of(errand: Errand, step: Step, values: Mapping[str, object], *, fence: int | None, attempt: int) -> StepFacts:
    """Answer what the action is told."""
    return StepFacts(
        workflow=errand.workflow.name,
        step_key=step.key,
        status=step.status,
        requester=errand.requester,
        entity=errand.claims.entity.name,
        row=errand.row,
        input=errand.input,
        fence=fence,
        values=values,
        attempt=attempt,
    )


def name_effects(step: Step, requester: str, acted: Acted) -> Asking[tuple[tuple[str, Recorded], ...]]:
    """Give every after-effect its id: the declared ones first, then those the action asked for."""
    declared = [Recorded(name, "{}") for name in step.after_effects_for(requester)]
    named = []
    for effect in (*declared, *acted.effects):
        effect_id = yield Fresh()
        named.append((effect_id, effect))
    return tuple(named)
