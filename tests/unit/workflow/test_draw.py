"""Drawings: everything is on them, and nothing is on top of anything else."""

from __future__ import annotations

import random
import re
import sys
from itertools import combinations
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from semel.errors import UsageError
from semel.workflow.draw import draw
from semel.workflow.layers import find_layers, find_layers_simply, turn_downwards
from semel.workflow.load import load
from semel.workflow.model import Workflow
from semel.workflow.picture import list_links, list_statuses
from semel.workflow.sheet import BOX_LETTER, LABEL_LETTER, lay_out
from tests.unit.workflow.examples import INVOICES_TOML, billing, changed, orders

SVG = "{http://www.w3.org/2000/svg}"
Box = tuple[float, float, float, float]


def one(document: dict[str, Any]) -> Workflow:
    """The workflow of a document that can be read, whether or not it follows the rules."""
    (declared,) = load(document).declared
    return declared.workflow


def invoices(tmp_path: Any) -> Workflow:
    """A workflow with several claims, loops and an outside status."""
    (tmp_path / "invoices.toml").write_text(INVOICES_TOML)
    (workflow,) = load(tmp_path).workflows
    return workflow


@pytest.fixture(params=["fast-sugiyama", "simple"])
def layout(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Both ways to find rows: with the extra, and as it is without."""
    if request.param == "simple":
        monkeypatch.setitem(sys.modules, "fast_sugiyama", None)
    return request.param


def wild(seed: int) -> Workflow:
    """A workflow that makes little sense, with many steps between few statuses."""
    dice = random.Random(seed)
    statuses = [f"status_{'x' * dice.randrange(12)}{number}" for number in range(dice.randint(1, 9))]
    steps = [
        {
            "step_id": number,
            "step_key": f"step_{number}",
            "status": dice.choice(statuses),
            "successful_state": {name: dice.choice(statuses) for name in dice.sample(["admin", "cron", "*"], 2)},
            "successful_claim_state": {"admin": dice.sample([*statuses, "claimed"], 2)} if dice.random() < 0.5 else {},
            "refused_state": dice.choice(statuses) if dice.random() < 0.3 else {},
        }
        for number in range(dice.randint(0, 10))
    ]
    return one({"workflow": "w", "entity_table": "t", "status_types": statuses, "initial": statuses[0], "steps": steps})


def list_boxes(svg: str) -> list[Box]:
    """Every frame and every label of a drawing, as left, top, right, bottom."""
    boxes = []
    for element in ET.fromstring(svg).iter():
        if element.tag == f"{SVG}rect":
            x, y, width, height = (float(element.get(key)) for key in ("x", "y", "width", "height"))
            boxes.append((x, y, x + width, y + height))
        if element.tag == f"{SVG}text" and element.get("text-anchor") is None:
            x, y = float(element.get("x")), float(element.get("y"))
            boxes.append((x, y - 9, x + LABEL_LETTER * len(element.text), y + 2))
    return boxes


def list_lines(svg: str) -> list[list[tuple[float, float]]]:
    """Every line of a drawing, as points close to each other."""
    lines = []
    for element in ET.fromstring(svg).iter(f"{SVG}path"):
        points: list[tuple[float, float]] = []
        for sign, numbers in re.findall(r"([MVHC])([^MVHC]*)", element.get("d")):
            values = [float(number) for number in numbers.split()]
            if sign == "C":
                start, (x1, y1, x2, y2, x3, y3) = points[-1], values
                for t in (number / 20 for number in range(1, 21)):
                    weights = ((1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t**3)
                    xs, ys = (start[0], x1, x2, x3), (start[1], y1, y2, y3)
                    points.append(tuple(sum(w * v for w, v in zip(weights, vs, strict=True)) for vs in (xs, ys)))
            elif sign == "M":
                points.append((values[0], values[1]))
            else:
                points.append((values[0], points[-1][1]) if sign == "H" else (points[-1][0], values[0]))
        lines.append(points)
    return lines


def find_group(root: ET.Element, text: str) -> ET.Element:
    """The group of a drawing that has this text."""
    return next(group for group in root.iter(f"{SVG}g") if group.find(f"{SVG}text").text == text)


def is_inside(point: tuple[float, float], box: Box) -> bool:
    """Whether a point lies in a box, its border aside."""
    return box[0] + 0.5 < point[0] < box[2] - 0.5 and box[1] + 0.5 < point[1] < box[3] - 0.5


def overlap(one: Box, other: Box) -> bool:
    """Whether two boxes share room; a frame in a frame is the doubled border of a terminal status."""
    doubled = all(abs(a - b) == pytest.approx(3.5) for a, b in zip(one, other, strict=True))
    apart = one[2] <= other[0] or other[2] <= one[0] or one[3] <= other[1] or other[3] <= one[1]
    return not (apart or doubled)


def assert_readable(svg: str) -> None:
    """Nothing is on top of anything else, and everything is on the sheet."""
    boxes = list_boxes(svg)
    assert not [pair for pair in combinations(boxes, 2) if overlap(*pair)]
    for line in list_lines(svg):
        assert not [(point, box) for point in line for box in boxes if is_inside(point, box)]
    left, top, width, height = (float(number) for number in ET.fromstring(svg).get("viewBox").split())
    for box in boxes:
        assert left <= box[0]
        assert top <= box[1]
        assert box[2] <= left + width
        assert box[3] <= top + height


def test_no_label_touches_a_box_or_a_line(layout: str, tmp_path: Any) -> None:
    """The examples can be read, with the extra and without it."""
    assert layout
    for workflow in (one(billing()), one(orders()), invoices(tmp_path)):
        assert_readable(draw(workflow))


@pytest.mark.parametrize("seed", range(40))
def test_every_label_is_drawn_once(seed: int) -> None:
    """A link between two boxes, and a loop at one, are each there exactly once."""
    workflow = wild(seed)
    texts = [element.text for element in ET.fromstring(draw(workflow)).iter(f"{SVG}text")]
    labels = [label for link in list_links(workflow) for label in link.labels]
    assert sorted(texts) == sorted([*list_statuses(workflow), *labels])


@pytest.mark.parametrize("seed", range(40))
def test_even_a_wild_workflow_can_be_read(layout: str, seed: int) -> None:
    """Whatever is declared, nothing is written over anything else, and the drawing is the same each time."""
    assert layout
    workflow = wild(seed)
    svg = draw(workflow)
    assert_readable(svg)
    assert svg == draw(workflow)


def test_claims_are_dashed_and_terminal_is_doubled() -> None:
    """The frames of an SVG tell what a status is."""
    groups = {group.find(f"{SVG}text").text: group for group in ET.fromstring(draw(one(billing()))).iter(f"{SVG}g")}
    frames = {text: group.findall(f"{SVG}rect") for text, group in groups.items()}
    assert [len(frames[status]) for status in ("draft", "approved", "closing", "closed")] == [1, 1, 1, 2]
    assert frames["closing"][0].get("stroke-dasharray")
    assert frames["closed"][0].get("stroke-dasharray") is None
    assert groups["draft"].find(f"{SVG}circle") is not None
    assert groups["release"].find(f"{SVG}path").get("stroke-dasharray")


def test_every_link_ends_in_an_arrow_that_points_at_its_target() -> None:
    """A release points up, where it goes back to; a success points down."""
    root = ET.fromstring(draw(one(billing())))
    tops = {}
    heads = {}
    for group in root.iter(f"{SVG}g"):
        text = group.find(f"{SVG}text").text
        if "semel-link" in group.get("class"):
            heads[text] = [float(corner.split(",")[1]) for corner in group.find(f"{SVG}polygon").get("points").split()]
        else:
            frame = group.find(f"{SVG}rect")
            tops[text] = (float(frame.get("y")), float(frame.get("y")) + float(frame.get("height")))
    assert heads["release"][0] == tops["approved"][1] < heads["release"][1]
    assert heads["close (admin)"][0] == tops["closing"][0] > heads["close (admin)"][1]
    # A line ends where its arrow head begins, and touches the box at its other end.
    (up,) = list_lines(ET.tostring(find_group(root, "release"), encoding="unicode"))
    (down,) = list_lines(ET.tostring(find_group(root, "close (admin)"), encoding="unicode"))
    assert (up[0][1], up[-1][1]) == (heads["release"][1], tops["closing"][0])
    assert (down[0][1], down[-1][1]) == (tops["approved"][1], heads["close (admin)"][1])


def test_lines_leave_a_box_in_the_order_in_which_they_part(tmp_path: Any) -> None:
    """Two lines of one box never cross right at its border."""
    sheet = lay_out(invoices(tmp_path))
    for box in range(len(sheet.statuses)):
        for side, bend in (("upper", 1), ("lower", -2)):
            links = [drawn for drawn in sheet.drawn if getattr(drawn, side) == box]
            parting = sorted((sheet.spots[sheet.way_of(drawn)[bend]].x, sheet.port_of(drawn, box)) for drawn in links)
            assert [port for _, port in parting] == sorted(port for _, port in parting)


def test_releases_lead_up_wherever_they_can(tmp_path: Any) -> None:
    """The eye follows a row's life downwards; what goes back goes up."""
    drawn = lay_out(invoices(tmp_path)).drawn
    assert {each.leads_up for each in drawn if each.link.kind == "release"} == {True}
    assert {each.leads_up for each in drawn if each.link.kind == "claim"} == {False}


def test_retired_links_are_faint(tmp_path: Any) -> None:
    """What nobody takes any more steps back."""
    groups = [
        group for group in ET.fromstring(draw(invoices(tmp_path))).iter(f"{SVG}g") if "semel-link" in group.get("class")
    ]
    retired = {group.find(f"{SVG}text").text for group in groups if group.get("opacity")}
    assert "apply_payment [retired]" in retired
    assert retired.isdisjoint({"apply_payment", "mark_as_overdue (cron)"})


def test_names_cannot_break_a_drawing() -> None:
    """What is a sign of SVG or mermaid in a name is only text in the drawing."""
    evil = 'a<b>&"c'
    document = changed(billing(), "steps", 0, "step_key", to=evil)
    assert f"{evil} (admin)" in [element.text for element in ET.fromstring(draw(one(document))).iter(f"{SVG}text")]
    assert evil not in draw(one(document), "mermaid")
    assert "a#60;b#62;#38;#34;c (admin)" in draw(one(document), "mermaid")


def test_wide_letters_get_their_room() -> None:
    """A status in Chinese fits into its frame."""
    document = changed(orders(), "status_types", to=[*orders()["status_types"], "已经付款了"])
    frames = list(ET.fromstring(draw(one(document))).iter(f"{SVG}rect"))
    assert float(frames[-1].get("width")) >= 10 * BOX_LETTER


def test_text_shows_every_status_and_what_leads_out_of_it() -> None:
    """The drawing for a terminal is whole."""
    assert draw(one(billing()), "text") == (
        "billing (billing_periods.status)\n"
        "\n"
        "[ draft ] initial\n"
        "    approve (admin) ──▶ [ approved ]\n"
        "\n"
        "[ approved ]\n"
        "    close (admin) ╌╌▶ ┆ closing ┆\n"
        "    close (cron) ──▶ ║ closed ║\n"
        "\n"
        "┆ closing ┆ claim\n"
        "    release ╌╌▶ [ approved ]\n"
        "    close ──▶ ║ closed ║\n"
        "\n"
        "║ closed ║ terminal\n"
    )


def test_retired_refused_and_outside_show(tmp_path: Any) -> None:
    """What is special about a step or a status can be seen."""
    assert "pay refused ──▶ ║ declined ║" in draw(one(orders()), "text")
    text = draw(invoices(tmp_path), "text")
    assert "apply_payment [retired] ──▶ ║ paid ║" in text
    assert "( imported ) outside" in text
    assert "mark_as_overdue (cron)" in text
    anyone = {"*": "closed", "cron": "closed"}
    others = draw(one(changed(billing(), "steps", 1, "successful_state", to=anyone)), "text")
    assert "close (others, cron) ──▶ ║ closed ║" in others


def test_mermaid_has_a_line_for_each_link() -> None:
    """The mermaid text can be pasted into any renderer."""
    text = draw(one(billing()), "mermaid")
    assert text.startswith("stateDiagram-v2\n")
    assert "    s1 --> s2: close (admin)\n" in text
    assert "    s2 --> s1: release\n" in text
    assert "    [*] --> s0\n" in text
    assert "    s3 --> [*]\n" in text
    assert "    classDef claim stroke-dasharray: 5 5\n    class s2 claim\n" in text


def test_an_unknown_form_is_refused() -> None:
    """The error names what there is."""
    with pytest.raises(UsageError, match="svg, mermaid, text") as caught:
        draw(one(billing()), "png")
    assert caught.value.code == "SEMEL-FLOW-3"


@pytest.mark.parametrize("seed", range(60))
@pytest.mark.parametrize("find", [find_layers, find_layers_simply])
def test_every_line_leads_downwards_row_by_row(find: Any, seed: int) -> None:
    """Rows hold each node once, and each line passes every row between its ends exactly once."""
    dice = random.Random(seed)
    count = dice.randint(1, 25)
    raw = [(dice.randrange(count), dice.randrange(count)) for _ in range(dice.randint(0, 40))]
    turned = turn_downwards(count, 0, raw)
    lines = sorted({line[::-1] if line in turned else line for line in raw if line[0] != line[1]})
    layers = find(count, lines)
    rank = {node: number for number, row in enumerate(layers.rows) for node in row}
    assert len(rank) == sum(len(row) for row in layers.rows)
    assert set(range(count)) <= set(rank)
    assert set(layers.ways) == set(lines)
    for way in layers.ways.values():
        assert [rank[node] for node in way] == list(range(rank[way[0]], rank[way[-1]] + 1))
    assert layers == find(count, lines)
