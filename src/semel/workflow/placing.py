"""Placing: from rows of boxes to places on paper, so that no two boxes touch and lines run as straight as they can."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from semel.workflow.layers import Layers, average

SIDE_GAP = 24.0  # between neighbours in a row: room for a line to be told from the next one
ROW_GAP = 36.0  # between rows: room for a line to swing from one side to the other
STRAIGHTENINGS = 12  # the places settle within a handful of rounds; beyond that they move by less than a pixel


@dataclass(frozen=True, slots=True)
class Size:
    """How much room something takes to both sides of its middle, through which its line runs, and from top to bottom."""

    left: float
    right: float
    height: float


@dataclass(frozen=True, slots=True)
class Spot:
    """Where the middle of something is, and from where to where its row reaches."""

    x: float
    y: float
    top: float
    bottom: float


NO_SIZE = Size(0.0, 0.0, 0.0)


def place(layers: Layers, sizes: Mapping[int, Size]) -> dict[int, Spot]:
    """Place every node and bend. The top left corner of the picture is at 0, 0."""
    middles = find_middles(layers, sizes)
    left = min((middles[node] - sizes.get(node, NO_SIZE).left for row in layers.rows for node in row), default=0.0)
    spots: dict[int, Spot] = {}
    top = 0.0
    for row in layers.rows:
        height = max((sizes.get(node, NO_SIZE).height for node in row), default=0.0)
        for node in row:
            spots[node] = Spot(middles[node] - left, top + height / 2, top, top + height)
        top += height + ROW_GAP
    return spots


def find_middles(layers: Layers, sizes: Mapping[int, Size]) -> dict[int, float]:
    """Find the middle of each node: as near as it may be to the middle of its neighbours, upwards and downwards in turn."""
    above: dict[int, list[int]] = {}
    below: dict[int, list[int]] = {}
    for way in layers.ways.values():
        for upper, lower in pairwise(way):
            above.setdefault(lower, []).append(upper)
            below.setdefault(upper, []).append(lower)
    middles = {node: 0.0 for row in layers.rows for node in row}
    for row in layers.rows:
        settle(row, sizes, middles, dict.fromkeys(row, 0.0))
    for turn in range(STRAIGHTENINGS):
        neighbours, rows = (below, layers.rows[::-1]) if turn % 2 else (above, layers.rows)
        for row in rows:
            wishes = {
                node: average([middles[near] for near in neighbours[node]]) if node in neighbours else middles[node]
                for node in row
            }
            settle(row, sizes, middles, wishes)
    return middles


def settle(
    row: Sequence[int], sizes: Mapping[int, Size], middles: dict[int, float], wishes: Mapping[int, float]
) -> None:
    """Give every node of a row the place nearest to its wish that keeps the order and the gaps.

    Nodes that would overlap are pooled and share the average of their wishes: the least sum of squares.
    """
    offsets = [0.0]
    for before, node in pairwise(row):
        offsets.append(offsets[-1] + sizes.get(before, NO_SIZE).right + SIDE_GAP + sizes.get(node, NO_SIZE).left)
    pools: list[list[float]] = []
    for node, offset in zip(row, offsets, strict=True):
        pools.append([wishes[node] - offset])
        while len(pools) > 1 and average(pools[-2]) > average(pools[-1]):
            pools[-2].extend(pools.pop())
    starts = [average(pool) for pool in pools for _ in pool]
    for node, start, offset in zip(row, starts, offsets, strict=True):
        middles[node] = start + offset
