"""R2, R9, R10: every status is known, can be reached and left, and what is terminal stays."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from semel.workflow.problem import Place, suggest
from semel.workflow.reading import CLAIM_KEY, Declared
from semel.workflow.rule import Finding, name_step, place_of

PICTURE = frozenset({"status_types", "initial", "terminal", "outside", "steps", "refused_state", CLAIM_KEY})
"""Without any of these, the picture is not whole, and nothing can be said about reaching and leaving."""


def find_unknown_statuses(declared: Declared) -> Iterator[Finding]:
    """R2: every status named anywhere is in status_types."""
    known = declared.workflow.statuses
    for place, status in list_named_statuses(declared):
        if status not in known and place[0] not in declared.unread:
            yield Finding(
                place, f"{status!r} is not in status_types; add it there, or correct it.{suggest(status, known)}"
            )


def find_dead_ends(declared: Declared) -> Iterator[Finding]:
    """R9: every status can be reached, and every status that is not terminal has a way out."""
    workflow = declared.workflow
    edges = [(edge.source, edge.target) for edge in workflow.edges()]
    left = {source for source, target in edges if source != target}
    reached = walk(edges, (workflow.initial, *workflow.outside))
    # An unknown initial status is R2's to report; from there, everything would be out of reach.
    begins = workflow.initial in workflow.statuses
    for position, status in enumerate(workflow.statuses):
        if status in workflow.outside:
            continue
        if begins and status not in reached:
            yield Finding(
                ("status_types", position),
                f"no step leads from {workflow.initial!r} to {status!r}; add one, take the status out, "
                "or list it in outside if other code enters it.",
            )
        if status not in left and status not in workflow.terminal:
            yield Finding(
                ("status_types", position),
                f"nothing leads out of {status!r}, so a row in it is stuck; add a step, or list it in terminal, "
                "or in outside if other code leaves it.",
            )


def find_steps_from_terminal(declared: Declared) -> Iterator[Finding]:
    """R10: no step leaves a terminal status."""
    for step in declared.workflow.steps:
        if step.status in declared.workflow.terminal:
            yield Finding(
                place_of(step, "status"),
                f"{name_step(step)} starts from {step.status!r}, which is terminal; take the status out of terminal, "
                "or let the step start elsewhere.",
            )


def list_named_statuses(declared: Declared) -> Iterator[tuple[Place, str]]:
    """List every status that a file names, outside of status_types itself."""
    workflow = declared.workflow
    yield ("initial",), workflow.initial
    for key, statuses in (("terminal", workflow.terminal), ("outside", workflow.outside)):
        for position, status in enumerate(statuses):
            yield (key, position), status
    for step in workflow.steps:
        yield place_of(step, "status"), step.status
        for requester, claim in step.claims:
            yield place_of(step, CLAIM_KEY, requester, 0), claim.into
            yield place_of(step, CLAIM_KEY, requester, 1), claim.back_to
        for requester, successes in step.successes:
            for position, status in enumerate(successes):
                yield place_of(step, "successful_state", requester, position), status
        for requester, status in step.refused:
            yield place_of(step, "refused_state", requester), status


def walk(edges: Iterable[tuple[str, str]], starts: Iterable[str]) -> set[str]:
    """Answer everything that can be reached from the starts, themselves included."""
    targets: dict[str, list[str]] = {}
    for source, target in edges:
        targets.setdefault(source, []).append(target)
    reached: set[str] = set()
    waiting = list(starts)
    while waiting:
        status = waiting.pop()
        if status not in reached:
            reached.add(status)
            waiting.extend(targets.get(status, ()))
    return reached
