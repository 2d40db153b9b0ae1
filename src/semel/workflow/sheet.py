"""The sheet: where every box, line and label of a drawing is.

Labels are nodes of the layout like boxes are, so nothing is ever written over anything.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from semel.workflow.layers import Line, find_layers, turn_downwards
from semel.workflow.model import Workflow
from semel.workflow.picture import Link, list_links, list_statuses
from semel.workflow.placing import Size, Spot, place

BOX_HEIGHT = 34.0
BOX_PADDING = 14.0
BOX_LETTER = 8.45  # the width of one letter of a monospace font of 14 px, which is 0.6 em nearly everywhere
LABEL_LETTER = 7.25  # the same for 12 px
LABEL_LINE = 15.0
LABEL_INDENT = 8.0  # from the line to its label
START_ROOM = 34.0  # for the dot and the arrow at the initial status
LOOP_ROOM = 24.0  # for a line that returns to its own box
PORTS_APART = 22.0  # lines that leave one box, where there is room
PORTS_APART_LEAST = 14.0  # two arrow heads side by side; a box grows until its lines have that


@dataclass(frozen=True, slots=True)
class Drawn:
    """A link on its way to paper, from the upper box over the label to the lower box."""

    link: Link
    upper: int
    label: int
    lower: int
    leads_up: bool


@dataclass(frozen=True)
class Sheet:
    """Everything that is known once the picture has been laid out. Boxes are numbered like `statuses`, labels follow."""

    workflow: Workflow
    statuses: Sequence[str]
    drawn: Sequence[Drawn]
    loops: Mapping[int, Sequence[Link]]
    widths: Mapping[int, float]
    """How wide the frame of each box is."""
    sizes: Mapping[int, Size]
    spots: Mapping[int, Spot]
    ways: Mapping[Line, Sequence[int]]

    def way_of(self, drawn: Drawn) -> tuple[int, ...]:
        """The nodes and bends on the way of a link, both boxes included."""
        return (*self.ways[drawn.upper, drawn.label], *self.ways[drawn.label, drawn.lower][1:])

    def port_of(self, drawn: Drawn, box: int) -> float:
        """Where a link touches one of its boxes: beside the other links of that side, in the order in which they leave."""
        side = [each for each in self.drawn if (each.upper if box == drawn.upper else each.lower) == box]
        side.sort(key=lambda each: self.spots[self.way_of(each)[1 if box == drawn.upper else -2]].x)
        room = self.widths[box] - 2 * BOX_PADDING
        apart = min(PORTS_APART, room / max(len(side) - 1, 1))
        return self.spots[box].x + (side.index(drawn) - (len(side) - 1) / 2) * apart

    @property
    def width(self) -> float:
        """How wide the picture is."""
        return max(self.spots[node].x + size.right for node, size in self.sizes.items())

    @property
    def height(self) -> float:
        """How high the picture is."""
        return max(spot.bottom for spot in self.spots.values())


def lay_out(workflow: Workflow) -> Sheet:
    """Give every box and every label its place."""
    statuses = list_statuses(workflow)
    numbers = {status: number for number, status in enumerate(statuses)}
    links = list_links(workflow)
    straight = [link for link in links if link.source != link.target]
    loops = {number: [link for link in links if link.source == link.target == name] for name, number in numbers.items()}
    # Releases come last, so that it is they that lead upwards.
    ends = [(numbers[link.source], numbers[link.target]) for link in sorted(straight, key=is_release)]
    turned = turn_downwards(len(statuses), numbers[workflow.initial], ends)
    drawn = []
    for label, link in enumerate(straight, start=len(statuses)):
        line = (numbers[link.source], numbers[link.target])
        upper, lower = line[::-1] if line in turned else line
        drawn.append(Drawn(link, upper, label, lower, line in turned))
    widths = {number: measure_frame(status, number, drawn) for status, number in numbers.items()}
    starts = numbers[workflow.initial]
    sizes = {box: measure_box(width, loops[box], is_initial=box == starts) for box, width in widths.items()}
    sizes |= {each.label: measure_label(each.link.labels) for each in drawn}
    lines = [line for each in drawn for line in ((each.upper, each.label), (each.label, each.lower))]
    layers = find_layers(len(sizes), lines)
    return Sheet(workflow, statuses, drawn, loops, widths, sizes, place(layers, sizes), layers.ways)


def is_release(link: Link) -> bool:
    """Answer whether a link only goes back."""
    return link.kind == "release"


def measure_text(text: str, letter: float) -> float:
    """Measure a text; letters of wide scripts count twice."""
    return letter * sum(2 if unicodedata.east_asian_width(sign) in "WF" else 1 for sign in text)


def measure_label(labels: Sequence[str]) -> Size:
    """Measure a label, which stands to the right of its line."""
    width = max(measure_text(label, LABEL_LETTER) for label in labels)
    return Size(0.0, LABEL_INDENT + width, LABEL_LINE * len(labels))


def measure_frame(status: str, box: int, drawn: Sequence[Drawn]) -> float:
    """Measure the frame of a box: wide enough for its text, and for its lines side by side."""
    lines = max(sum(each.upper == box for each in drawn), sum(each.lower == box for each in drawn), 1)
    return 2 * BOX_PADDING + max(measure_text(status, BOX_LETTER), (lines - 1) * PORTS_APART_LEAST)


def measure_box(width: float, loops: Sequence[Link], *, is_initial: bool) -> Size:
    """Measure a box with what stands beside its frame: the start to its left, its loops to its right."""
    labels = list_loop_labels(loops)
    before = START_ROOM if is_initial else 0.0
    behind = LOOP_ROOM + measure_label(labels).right if labels else 0.0
    return Size(width / 2 + before, width / 2 + behind, max(BOX_HEIGHT, LABEL_LINE * len(labels)))


def list_loop_labels(loops: Sequence[Link]) -> list[str]:
    """List the labels of all lines that return to one box."""
    return [label for link in loops for label in link.labels]
