"""A workflow as SVG: boxes in rows, lines downwards and back up.

Colours are attributes, because a strict content security policy forbids style sheets inside a page; they are chosen to be
read on white and on black.
"""

from __future__ import annotations

from collections.abc import Mapping
from xml.sax.saxutils import escape, quoteattr

from semel.workflow.model import EdgeKind, Workflow
from semel.workflow.picture import Look, look_of
from semel.workflow.sheet import (
    BOX_HEIGHT,
    LABEL_INDENT,
    LABEL_LINE,
    LOOP_ROOM,
    START_ROOM,
    Drawn,
    Sheet,
    lay_out,
    list_loop_labels,
)

MARGIN = 16.0
ARROW = 8.0
FONT = "ui-monospace, SFMono-Regular, Menlo, Consolas, monospace"

FILLS: Mapping[Look, str] = {"plain": "#eef2f8", "claim": "#fff3d1", "terminal": "#dff3e6", "outside": "#f1eef6"}
STROKES: Mapping[Look, str] = {"plain": "#5c6f8c", "claim": "#a87100", "terminal": "#2f8058", "outside": "#7d6b99"}
DASHES: Mapping[Look, str] = {"plain": "", "claim": "6 4", "terminal": "", "outside": "1.5 3.5"}
INK = "#17202c"
# Each has about the same contrast to white as to black: 4 to 5.
INKS: Mapping[EdgeKind, str] = {"step": "#767676", "claim": "#a46e00", "release": "#a46e00", "refused": "#cb4b40"}
LINE_DASHES: Mapping[EdgeKind, str] = {"step": "", "claim": "6 4", "release": "2 4", "refused": ""}


def draw_svg(workflow: Workflow) -> str:
    """Draw a workflow as one SVG element, which can stand alone or inside a page."""
    sheet = lay_out(workflow)
    width, height = sheet.width + 2 * MARGIN, sheet.height + 2 * MARGIN
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{-MARGIN:g} {-MARGIN:g} {width:.0f} {height:.0f}"'
        f' width="{width:.0f}" height="{height:.0f}" role="img" aria-label={quoteattr(workflow.name)}'
        f' font-family="{FONT}" fill="none">'
    )
    parts = [
        head,
        f"<title>{escape(workflow.name)}: {escape(workflow.table)}.{escape(workflow.status_column)}</title>",
        *(part for drawn in sheet.drawn for part in draw_link(sheet, drawn)),
        *(part for node in range(len(sheet.statuses)) for part in draw_box(sheet, node)),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def draw_box(sheet: Sheet, node: int) -> list[str]:
    """Draw the box of a status: dashed for a claim, doubled for terminal, with a dot before the initial one."""
    status, spot = sheet.statuses[node], sheet.spots[node]
    look = look_of(sheet.workflow, status)
    width = sheet.widths[node]
    left = spot.x - width / 2
    parts = [draw_frame(left, spot.y, width, look, fill=FILLS[look])]
    if look == "terminal":
        parts.append(draw_frame(left, spot.y, width, look, fill="none", inset=3.5))
    parts.append(write_text(spot.x, spot.y + 5, status, INK, 'font-size="14" text-anchor="middle"'))
    if status == sheet.workflow.initial:
        parts += draw_start(left, spot.y)
    if sheet.loops[node]:
        parts += draw_loop(sheet, node)
    return [f'<g class="semel-status semel-{look}">', *parts, "</g>"]


def draw_frame(left: float, middle: float, width: float, look: Look, *, fill: str, inset: float = 0.0) -> str:
    """Draw one frame of a box."""
    return (
        f'<rect x="{left + inset:.1f}" y="{middle - BOX_HEIGHT / 2 + inset:.1f}" width="{width - 2 * inset:.1f}"'
        f' height="{BOX_HEIGHT - 2 * inset:.1f}" rx="{8 - inset:g}" fill="{fill}"'
        f" {stroke(STROKES[look], DASHES[look])}/>"
    )


def draw_start(left: float, middle: float) -> list[str]:
    """Draw the dot and the arrow that lead to the initial status."""
    dot = left - START_ROOM + ARROW
    return [
        f'<circle cx="{dot:.1f}" cy="{middle:.1f}" r="5" fill="{INKS["step"]}"/>',
        f'<path d="M{dot:.1f} {middle:.1f}H{left - ARROW:.1f}" {stroke(INKS["step"])}/>',
        draw_arrow(left, middle, (-1, 0), INKS["step"]),
    ]


def draw_loop(sheet: Sheet, node: int) -> list[str]:
    """Draw the line of the steps that leave a status as it is."""
    spot, loops = sheet.spots[node], sheet.loops[node]
    side = spot.x + sheet.widths[node] / 2
    ink, far = INKS[loops[0].kind], side + LOOP_ROOM
    above, below = spot.y - 9, spot.y + 9
    path = f"M{side:.1f} {above:.1f}C{far:.1f} {above - 6:.1f} {far:.1f} {below:.1f} {side + ARROW:.1f} {below:.1f}"
    line = f'<path d="{path}" {stroke(ink)}/>'
    texts = write_lines(far, spot.y, list_loop_labels(loops), ink)
    return [line, draw_arrow(side, below, (1, 0), ink), *texts]


def draw_link(sheet: Sheet, drawn: Drawn) -> list[str]:
    """Draw a link: its line, its arrow head, its label."""
    link, spots = drawn.link, sheet.spots
    start, end = sheet.port_of(drawn, drawn.upper), sheet.port_of(drawn, drawn.lower)
    top, bottom = spots[drawn.upper].y + BOX_HEIGHT / 2, spots[drawn.lower].y - BOX_HEIGHT / 2
    # Beside its boxes a line runs straight for the length of an arrow head, so that the head sits on it.
    here, height = start, spots[drawn.upper].bottom + ARROW
    path = [f"M{start:.1f} {top + (ARROW if drawn.leads_up else 0):.1f}V{height:.1f}"]
    for node in sheet.way_of(drawn)[1:-1]:
        path.append(f"{swing(here, height, spots[node].x, spots[node].top)}V{spots[node].bottom:.1f}")
        here, height = spots[node].x, spots[node].bottom
    path.append(swing(here, height, end, spots[drawn.lower].top - ARROW))
    path.append(f"V{bottom - (0 if drawn.leads_up else ARROW):.1f}")
    ink = INKS[link.kind]
    label = spots[drawn.label]
    head = draw_arrow(start, top, (0, 1), ink) if drawn.leads_up else draw_arrow(end, bottom, (0, -1), ink)
    faint = ' opacity="0.6"' if link.retired else ""
    return [
        f'<g class="semel-link semel-{link.kind}"{faint}>',
        f'<path d="{"".join(path)}" {stroke(ink, LINE_DASHES[link.kind])}/>',
        head,
        *write_lines(label.x + LABEL_INDENT, label.y, link.labels, ink),
        "</g>",
    ]


def swing(x: float, y: float, to_x: float, to_y: float) -> str:
    """Continue a path to a point lower down; it leaves and arrives straight downwards, and never turns up in between."""
    middle = (y + to_y) / 2
    return f"C{x:.1f} {middle:.1f} {to_x:.1f} {middle:.1f} {to_x:.1f} {to_y:.1f}"


def stroke(ink: str, dashes: str = "") -> str:
    """Write the attributes of a line."""
    return f'stroke="{ink}" stroke-width="1.5"' + (f' stroke-dasharray="{dashes}"' if dashes else "")


def draw_arrow(x: float, y: float, back: tuple[int, int], ink: str) -> str:
    """Draw an arrow head with its tip at a point; `back` is the direction it comes from."""
    base_x, base_y = x + back[0] * ARROW, y + back[1] * ARROW
    half_x, half_y = back[1] * ARROW * 0.45, back[0] * ARROW * 0.45
    corners = ((x, y), (base_x + half_x, base_y + half_y), (base_x - half_x, base_y - half_y))
    return f'<polygon points="{" ".join(f"{cx:.1f},{cy:.1f}" for cx, cy in corners)}" fill="{ink}"/>'


def write_lines(x: float, middle: float, lines: tuple[str, ...] | list[str], ink: str) -> list[str]:
    """Write the lines of a label, centred on a height."""
    first = middle - LABEL_LINE * len(lines) / 2 + LABEL_LINE * 0.75
    return [write_text(x, first + LABEL_LINE * n, line, ink, 'font-size="12"') for n, line in enumerate(lines)]


def write_text(x: float, y: float, text: str, ink: str, attributes: str) -> str:
    """Write one line of text."""
    return f'<text x="{x:.1f}" y="{y:.1f}" fill="{ink}" {attributes}>{escape(text)}</text>'
