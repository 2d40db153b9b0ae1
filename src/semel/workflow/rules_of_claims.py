"""R1, R3 to R6, R11 to R13: a claim is unambiguous, is nothing but a claim, and is taken wherever it is needed."""

from __future__ import annotations

from collections.abc import Iterator

from semel.workflow.model import Claim, Step
from semel.workflow.problem import show
from semel.workflow.reading import Declared
from semel.workflow.rule import Finding, Registry, name_requester, name_step, place_of, place_of_claim


def find_malformed_claims(declared: Declared) -> Iterator[Finding]:
    """R1: a claim is a pair of strings."""
    for claim in declared.malformed_claims:
        yield Finding(
            claim.place,
            f"a claim is a pair of statuses, the one to claim into and the one to go back to, such as "
            f'["closing", "approved"]; found {show(claim.given)}.',
        )


def find_claims_that_stay(declared: Declared) -> Iterator[Finding]:
    """R3: into is not back_to."""
    for step, requester, claim in list_claims(declared):
        if claim.into == claim.back_to:
            yield Finding(
                place_of_claim(step, requester),
                f"the claim goes into {claim.into!r} and back to the same status, so nobody could tell claimed "
                "from free; claim into a status of its own.",
            )


def find_claims_into_own_status(declared: Declared) -> Iterator[Finding]:
    """R4: into is not the step's status."""
    for step, requester, claim in list_claims(declared):
        if claim.into == step.status:
            yield Finding(
                place_of_claim(step, requester),
                f"the claim goes into {claim.into!r}, where the step starts, so a second caller would claim too; "
                "claim into a status of its own.",
            )


def find_claims_into_success(declared: Declared) -> Iterator[Finding]:
    """R5: into is not a successful state of the step."""
    for step, requester, claim in list_claims(declared):
        if any(claim.into in successes for _, successes in step.successes):
            yield Finding(
                place_of_claim(step, requester),
                f"the claim goes into {claim.into!r}, which is the step's success, so claimed would look finished; "
                "claim into a status of its own.",
            )


def find_shared_claims_that_differ(declared: Declared) -> Iterator[Finding]:
    """R6: every step that claims into a status has the same back_to and the same recovery."""
    first_of: dict[str, tuple[Step, Claim]] = {}
    for step, requester, claim in list_claims(declared):
        first, model = first_of.setdefault(claim.into, (step, claim))
        remedy = f"make them equal, or claim into a status of its own, such as {claim.into}_from_{claim.back_to}."
        if claim.back_to != model.back_to:
            yield Finding(
                place_of_claim(step, requester),
                f"{claim.into!r} goes back to {claim.back_to!r} here, but to {model.back_to!r} in {name_step(first)}; "
                + remedy,
            )
        if step.recovery != first.recovery:
            yield Finding(
                place_of_claim(step, requester),
                f"{claim.into!r} recovers by {step.recovery} here, but by {first.recovery} in {name_step(first)}; "
                + remedy,
            )


def ask_for_missing_claims(declared: Declared, registry: Registry) -> Iterator[Finding]:
    """R11: a step whose action must not run twice claims for every requester that may take it."""
    for step in declared.workflow.steps:
        for requester in step.requesters:
            action = step.action_for(requester)
            if action in registry.unrepeatable_actions and step.claim_for(requester) is None:
                yield Finding(
                    place_of(step, "action", requester),
                    f"{action!r} is registered with idempotent=False, and {name_requester(step, requester)} takes "
                    f"{name_step(step)} without a claim, so two callers could run it at once; "
                    "add a claim to successful_claim_state.",
                )


def find_claims_with_second_meaning(declared: Declared) -> Iterator[Finding]:
    """R12: a claim status is only a claim status, and back_to is the step's status."""
    for step, requester, claim in list_claims(declared):
        meanings = list(list_meanings(declared, claim.into))
        if meanings:
            yield Finding(
                place_of_claim(step, requester),
                f"{claim.into!r} is also {', '.join(meanings)}, so a keeper could take a finished or a free row "
                "for a claimed one; claim into a status of its own.",
            )
        if claim.back_to != step.status:
            yield Finding(
                place_of_claim(step, requester),
                f"the claim goes back to {claim.back_to!r}, but the step starts from {step.status!r}; "
                f"write [{claim.into!r}, {step.status!r}].",
            )


def find_calls_without_claim(declared: Declared) -> Iterator[Finding]:
    """R13: a step with calls claims for every requester that may take it."""
    for step in declared.workflow.steps:
        for requester in step.requesters if step.calls else ():
            if step.claim_for(requester) is None:
                yield Finding(
                    place_of_claim(step, requester),
                    f"{name_step(step)} makes calls, and {name_requester(step, requester)} takes it without a claim, "
                    "so two callers could call at once; add a claim to successful_claim_state.",
                )


def list_claims(declared: Declared) -> Iterator[tuple[Step, str, Claim]]:
    """List every claim of a file: its step, its requester, and the pair."""
    for step in declared.workflow.steps:
        for requester, claim in step.claims:
            yield step, requester, claim


def list_meanings(declared: Declared, status: str) -> Iterator[str]:
    """List what a status is besides a claim status, for a sentence."""
    workflow = declared.workflow
    if status == workflow.initial:
        yield "the initial status"
    if status in workflow.terminal:
        yield "terminal"
    for step in workflow.steps:
        if status == step.status:
            yield f"the status of {name_step(step)}"
        if any(status in successes for _, successes in step.successes):
            yield f"a successful state of {name_step(step)}"
        if any(status == refused for _, refused in step.refused):
            yield f"a refused state of {name_step(step)}"
