"""Drawing a workflow from its own declaration: as text, as mermaid, and as SVG. Claims are dashed, terminal is doubled."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from semel.errors import error
from semel.workflow.draw_svg import draw_svg
from semel.workflow.model import EdgeKind, Workflow
from semel.workflow.picture import Link, Look, list_links, list_statuses, look_of

FRAMES: Mapping[Look, str] = {"plain": "[ {} ]", "claim": "┆ {} ┆", "terminal": "║ {} ║", "outside": "( {} )"}
ARROWS: Mapping[EdgeKind, str] = {"step": "──▶", "claim": "╌╌▶", "release": "╌╌▶", "refused": "──▶"}
MERMAID_STYLES: Mapping[Look, str] = {
    "claim": "stroke-dasharray: 5 5",
    "terminal": "stroke-width: 4px",
    "outside": "stroke-dasharray: 1 3",
}
SPEAKING = re.compile(r"[^\w .,()\[\]-]")  # what mermaid might read as its own signs


def draw(workflow: Workflow, form: str = "svg") -> str:
    """Draw a workflow as `svg`, `mermaid` or `text`."""
    if form not in FORMS:
        raise error("SEMEL-FLOW-3", given=form, known=", ".join(FORMS))
    return FORMS[form](workflow)


def draw_text(workflow: Workflow) -> str:
    """Draw for a terminal: each status, and under it what leads out of it."""
    links = list_links(workflow)
    paragraphs = [f"{workflow.name} ({workflow.table}.{workflow.status_column})"]
    for status in list_statuses(workflow):
        look = look_of(workflow, status)
        marks = [word for word, holds in (("initial", status == workflow.initial), (look, look != "plain")) if holds]
        lines = [" ".join([frame(workflow, status), *marks])]
        lines += [f"    {write_link(workflow, link)}" for link in links if link.source == status]
        paragraphs.append("\n".join(lines))
    return "\n\n".join(paragraphs) + "\n"


def frame(workflow: Workflow, status: str) -> str:
    """Write a status with the frame that tells what it is."""
    return FRAMES[look_of(workflow, status)].format(status)


def write_link(workflow: Workflow, link: Link) -> str:
    """Write one link as a line of text."""
    return f"{', '.join(link.labels)} {ARROWS[link.kind]} {frame(workflow, link.target)}"


def draw_mermaid(workflow: Workflow) -> str:
    """Draw as a mermaid state diagram."""
    statuses = list_statuses(workflow)
    names = {status: f"s{number}" for number, status in enumerate(statuses)}
    lines = ["stateDiagram-v2", "    direction TB"]
    lines += [f'    state "{quote_mermaid(status)}" as {name}' for status, name in names.items()]
    lines.append(f"    [*] --> {names[workflow.initial]}")
    for link in list_links(workflow):
        label = quote_mermaid(", ".join(link.labels))
        lines.append(f"    {names[link.source]} --> {names[link.target]}: {label}")
    lines += [f"    {names[status]} --> [*]" for status in statuses if status in workflow.terminal]
    for look, style in MERMAID_STYLES.items():
        alike = [names[status] for status in statuses if look_of(workflow, status) == look]
        if alike:
            lines += [f"    classDef {look} {style}", f"    class {','.join(alike)} {look}"]
    return "\n".join(lines) + "\n"


def quote_mermaid(text: str) -> str:
    """Write text so that mermaid reads none of it as its own signs."""
    return SPEAKING.sub(lambda found: f"#{ord(found[0])};", text)


FORMS: Mapping[str, Callable[[Workflow], str]] = {"svg": draw_svg, "mermaid": draw_mermaid, "text": draw_text}
