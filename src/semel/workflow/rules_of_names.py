"""R7, R8, R14 and the unnumbered ones: calls can be recovered, names mean one thing, and everything named exists."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from semel.workflow.model import EVERYONE, Step
from semel.workflow.problem import Place, suggest
from semel.workflow.reading import CLAIM_KEY, Declared
from semel.workflow.rule import Finding, Registry, name_step, place_of

LEASES_PER_CALL = 2  # a call sent in the first half of a lease ends within it; sent later, it waits for the heartbeat


def find_calls_that_revert(declared: Declared) -> Iterator[Finding]:
    """R7: a step with calls does not recover by revert."""
    for step in declared.workflow.steps:
        if step.calls and step.recovery == "revert":
            yield Finding(
                place_of(step, "recovery"),
                f"{name_step(step)} makes calls, and a call may have happened although its answer never came, "
                'so going back could repeat it; write "resume" or "review".',
            )


def ask_for_calls_that_repeat(declared: Declared, registry: Registry) -> Iterator[Finding]:
    """R7: a call that its provider cannot deduplicate is recovered by a person only."""
    for step in declared.workflow.steps:
        for call in step.calls:
            known = call.provider in registry.calls
            if known and step.recovery == "resume" and not registry.calls[call.provider].deduplicates:
                yield Finding(
                    place_of(step, "recovery"),
                    f"the provider cannot deduplicate {call.provider!r} by its key, so resuming {name_step(step)} "
                    'could repeat the call; write "recovery": "review".',
                )


def ask_for_missing_names(declared: Declared, registry: Registry) -> Iterator[Finding]:
    """R8: every named action, validator, effect, provider and probe exists."""
    for step in declared.workflow.steps:
        for requester, action in step.actions:
            yield from tell_missing(place_of(step, "action", requester), "action", action, registry.actions)
        for requester, validators in step.validators:
            for position, name in enumerate(validators):
                place = place_of(step, "validate", requester, position)
                yield from tell_missing(place, "validator", name, registry.validators)
        for requester, effects in step.after_effects:
            for position, name in enumerate(effects):
                place = place_of(step, "success_after_effect", requester, position)
                yield from tell_missing(place, "effect", name, registry.effects)
        yield from ask_for_missing_calls(step, registry)


def ask_for_missing_calls(step: Step, registry: Registry) -> Iterator[Finding]:
    """R8 for the calls of one step: the call, its probe, and its payload function."""
    for position, call in enumerate(step.calls):
        place = place_of(step, "calls", position)
        if call.provider not in registry.calls:
            nearest = suggest(call.provider, registry.calls)
            yield Finding(
                (*place, "provider"),
                f"no provider offers the call {call.provider!r}; add the provider to providers={{…}} or "
                f"@once.provider, or correct the name.{nearest}",
            )
        elif not registry.calls[call.provider].has_probe:
            yield Finding(
                (*place, "provider"),
                f"the provider has no probe for {call.provider!r}, so nobody could ask what became of "
                "an unanswered call; give it one.",
            )
        if call.payload is not None:
            yield from tell_missing((*place, "payload"), "payload", call.payload, registry.payloads)


def tell_missing(place: Place, kind: str, name: str, known: Collection[str]) -> Iterator[Finding]:
    """Say that a name is not registered, and how to register it."""
    if name not in known:
        yield Finding(
            place,
            f"no {kind} is registered as {name!r}; add @once.{kind}({name!r}), or correct it.{suggest(name, known)}",
        )


def find_repeated_steps(declared: Declared) -> Iterator[Finding]:
    """R14: (step_key, status) is unique, and so is step_id."""
    ids: dict[int, Step] = {}
    places: dict[tuple[str, str], Step] = {}
    for step in declared.workflow.steps:
        twin = ids.setdefault(step.step_id, step)
        if twin is not step:
            yield Finding(
                place_of(step, "step_id"),
                f"the step_id {step.step_id} is taken by {name_step(twin)}; choose another.",
            )
        twin = places.setdefault((step.key, step.status), step)
        if twin is not step:
            yield Finding(
                place_of(step, "step_key"),
                f"{name_step(twin)} has the same step_key at the same status {step.status!r}, so nobody could tell "
                "which one to take; choose another key, or join them and tell them apart by requester.",
            )


def find_unheard_requesters(declared: Declared) -> Iterator[Finding]:
    """A requester is named only where it may take the step."""
    for step in declared.workflow.steps:
        maps = {
            CLAIM_KEY: step.claims.names,
            "refused_state": step.refused.names,
            "action": step.actions.names,
            "validate": step.validators.names,
            "success_after_effect": step.after_effects.names,
        }
        for key, named in maps.items():
            for requester in named:
                if not (step.may_be_taken_by(requester) or requester == EVERYONE):
                    yield Finding(
                        place_of(step, key, requester),
                        f"successful_state does not name {requester!r}, so this is never used; name it there, "
                        f"or correct it.{suggest(requester, step.successes.names)}",
                    )


def find_unclear_calls(declared: Declared) -> Iterator[Finding]:
    """A step names each call once, and either declares the payloads of all its calls or of none."""
    for step in declared.workflow.steps:
        named = [call.provider for call in step.calls]
        for position, provider in enumerate(named):
            if provider in named[:position]:
                yield Finding(
                    place_of(step, "calls", position),
                    f"{provider!r} is already named; name it once, and tell several calls of one pass apart in the "
                    'action: step.call(…, item="…").',
                )
        if any(call.payload for call in step.calls) and not step.has_declared_calls:
            yield Finding(
                place_of(step, "calls"),
                "some calls have a payload and some do not, but Semel makes the former before the action runs, "
                "and the action can make no call after that; give all of them a payload, or none.",
            )


def ask_for_short_leases(declared: Declared, registry: Registry) -> Iterator[Finding]:
    """A lease is at least twice as long as the longest call made under it."""
    for step in declared.workflow.steps:
        facts = [registry.calls[call.provider] for call in step.calls if call.provider in registry.calls]
        longest = max((fact.longest_seconds or 0 for fact in facts), default=0)
        lease = registry.lease_seconds if step.lease_seconds is None else step.lease_seconds
        if lease < LEASES_PER_CALL * longest:
            yield Finding(
                place_of(step, "lease_seconds"),
                f"a lease of {lease:g} s is too short for a call that may take {longest:g} s; "
                f"write at least {LEASES_PER_CALL * longest:g}, or shorten the provider's deadline.",
            )


def compare_owners(all_declared: Sequence[Declared]) -> Iterator[tuple[Declared, Finding]]:
    """A table's status column belongs to one workflow, and a workflow's name to one file."""
    names: dict[str, Declared] = {}
    columns: dict[tuple[str, str], Declared] = {}
    for declared in all_declared:
        workflow = declared.workflow
        twin = names.setdefault(workflow.name, declared)
        if twin is not declared:
            sentence = f"{workflow.name!r} is already declared in {twin.workflow.file}; rename one of them."
            yield declared, Finding(("workflow",), sentence)
        twin = columns.setdefault((workflow.table, workflow.status_column), declared)
        if twin is not declared:
            sentence = (
                f"{workflow.table}.{workflow.status_column} already belongs to the workflow {twin.workflow.name!r} "
                f"in {twin.workflow.file}; join them, or give this one another status_column."
            )
            yield declared, Finding(("entity_table",), sentence)
