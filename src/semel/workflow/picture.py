"""A workflow as a picture, before it is text or SVG: its statuses, and the links between them with their labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from semel.workflow.model import EVERYONE, Edge, EdgeKind, Workflow

Look: TypeAlias = Literal["plain", "claim", "terminal", "outside"]


@dataclass(frozen=True, slots=True)
class Link:
    """Everything that leads from one status to another in one way. `labels` has a line for each step."""

    source: str
    target: str
    kind: EdgeKind
    labels: tuple[str, ...]
    retired: bool
    """Whether nobody takes it any more."""


def list_statuses(workflow: Workflow) -> tuple[str, ...]:
    """List the statuses to draw; one that only a step names is drawn too, so that a mistake can be seen."""
    named = [end for edge in workflow.edges() for end in (edge.source, edge.target)]
    return tuple(dict.fromkeys((*workflow.statuses, workflow.initial, *named)))


def look_of(workflow: Workflow, status: str) -> Look:
    """Answer how a status looks."""
    if status in workflow.claim_statuses:
        return "claim"
    if status in workflow.terminal:
        return "terminal"
    return "outside" if status in workflow.outside else "plain"


def list_links(workflow: Workflow) -> tuple[Link, ...]:
    """List the links, in the order of the file."""
    edges: dict[tuple[str, str, EdgeKind], list[Edge]] = {}
    for edge in workflow.edges():
        edges.setdefault((edge.source, edge.target, edge.kind), []).append(edge)
    return tuple(
        Link(source, target, kind, tuple(dict.fromkeys(map(label, alike))), all(edge.step.retired for edge in alike))
        for (source, target, kind), alike in edges.items()
    )


def label(edge: Edge) -> str:
    """Write the label of one edge: the step's key where it is entered, and what happened where it is left."""
    step = edge.step
    if edge.kind == "release":
        return "release"
    words = f"{step.key} refused" if edge.kind == "refused" else step.key
    if edge.source == step.status and edge.kind != "refused":
        words += write_takers(edge)
    return f"{words} [retired]" if step.retired else words


def write_takers(edge: Edge) -> str:
    """Write who enters a step by this edge; nothing, if that is everyone."""
    takers = []
    for requester in edge.step.requesters:
        claim = edge.step.claim_for(requester)
        entered = (claim.into,) if claim else edge.step.successes_for(requester)
        if bool(claim) == (edge.kind == "claim") and edge.target in entered:
            takers.append("others" if requester == EVERYONE else requester)
    return f" ({', '.join(takers)})" if takers and takers != ["others"] else ""
