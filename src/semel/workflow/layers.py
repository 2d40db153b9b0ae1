"""Layers: which node of a drawing stands in which row, and in which order, so that few lines cross.

fast-sugiyama does it where it is installed; a longest path and a few sweeps do it otherwise. Either way the graph is
made free of cycles first: the compiled part of fast-sugiyama ends the whole process when it meets a loop.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

Line: TypeAlias = tuple[int, int]
"""From a node to a node. Nodes are counted from 0; bends of long lines are counted on from there."""

SWEEPS = 8  # each halves most crossings of a picture that anybody would look at; more change nothing


@dataclass(frozen=True)
class Layers:
    """The rows from the top, each from left to right, and for each line the nodes and bends on its way."""

    rows: tuple[tuple[int, ...], ...]
    ways: Mapping[Line, tuple[int, ...]]


def turn_downwards(count: int, lines: Iterable[Line]) -> set[Line]:
    """Answer which lines must be turned around so that no circle is left; lines from a node to itself are not among them."""
    targets: dict[int, list[int]] = {node: [] for node in range(count)}
    for source, target in lines:
        if source != target:
            targets[source].append(target)
    turned: set[Line] = set()
    done: set[int] = set()
    for start in range(count):
        # A walk in depth without recursion: a workflow may be longer than Python's stack.
        path, waiting = [start], [iter(targets[start])]
        while path:
            target = next(waiting[-1], None)
            if target is None:
                done.add(path.pop())
                waiting.pop()
            elif target in path:
                turned.add((path[-1], target))
            elif target not in done:
                path.append(target)
                waiting.append(iter(targets[target]))
    return turned


def find_layers(count: int, lines: Sequence[Line]) -> Layers:
    """Put nodes into rows so that every line, none of which may be part of a circle, leads downwards."""
    try:
        from fast_sugiyama import from_edges
    except ImportError:
        return find_layers_simply(count, lines)
    if not lines:
        return find_layers_simply(count, lines)
    rows: dict[int, list[int]] = {0: []}
    followers: dict[int, list[int]] = {}
    bends = count
    for positions, _, _, parts in sorted(from_edges(list(lines), dummy_vertices=True), key=find_first_node):
        heights = sorted({y for _, (_, y) in positions}, reverse=True)
        # Each piece of the picture numbers its bends anew, and differently each time; by their places they are the same.
        renamed = {}
        for node, (_, y) in sorted(positions, key=lambda placed: (-placed[1][1], placed[1][0])):
            renamed[node] = node if node < count else bends
            bends += node >= count
            rows.setdefault(heights.index(y), []).append(renamed[node])
        for source, target in parts or ():
            followers.setdefault(renamed[source], []).append(renamed[target])
    placed = {node for row in rows.values() for node in row}
    rows[0].extend(node for node in range(count) if node not in placed)
    return Layers(tuple(tuple(rows[rank]) for rank in sorted(rows)), follow_bends(count, lines, followers))


def find_first_node(piece: tuple[Sequence[tuple[int, object]], object, object, object]) -> int:
    """Answer by which node a piece of the picture is sorted among the others."""
    return min(node for node, _ in piece[0])


def follow_bends(
    count: int, lines: Sequence[Line], followers: Mapping[int, Sequence[int]]
) -> dict[Line, tuple[int, ...]]:
    """Follow every line over its bends."""
    ways = {}
    for source in {source for source, _ in lines}:
        for follower in followers[source]:
            way = [source, follower]
            while way[-1] >= count:
                way.extend(followers[way[-1]])
            ways[(source, way[-1])] = tuple(way)
    return ways


def find_layers_simply(count: int, lines: Sequence[Line]) -> Layers:
    """Find layers without any library: ranks by the longest path, order by where the neighbours stand."""
    ranks = rank_by_longest_path(count, lines)
    rows: list[list[int]] = [[] for _ in range(max(ranks, default=0) + 1)]
    for node in range(count):
        rows[ranks[node]].append(node)
    ways, bends = {}, count
    for source, target in lines:
        way = [source]
        for rank in range(ranks[source] + 1, ranks[target]):
            rows[rank].append(bends)
            way.append(bends)
            bends += 1
        ways[(source, target)] = (*way, target)
    sweep(rows, ways)
    return Layers(tuple(tuple(row) for row in rows), ways)


def rank_by_longest_path(count: int, lines: Sequence[Line]) -> list[int]:
    """Rank each node below everything that leads to it."""
    ranks = [0] * count
    waiting = [0] * count
    targets: dict[int, list[int]] = {}
    for source, target in lines:
        waiting[target] += 1
        targets.setdefault(source, []).append(target)
    ready = [node for node in range(count) if not waiting[node]]
    for node in ready:
        for target in targets.get(node, ()):
            ranks[target] = max(ranks[target], ranks[node] + 1)
            waiting[target] -= 1
            if not waiting[target]:
                ready.append(target)
    return ranks


def sweep(rows: list[list[int]], ways: Mapping[Line, Sequence[int]]) -> None:
    """Order each row by the average place of its neighbours, downwards and upwards in turn."""
    above: dict[int, list[int]] = {}
    below: dict[int, list[int]] = {}
    for way in ways.values():
        for upper, lower in pairwise(way):
            above.setdefault(lower, []).append(upper)
            below.setdefault(upper, []).append(lower)
    for turn in range(SWEEPS):
        neighbours, order = (below, range(len(rows) - 1, -1, -1)) if turn % 2 else (above, range(len(rows)))
        for rank in order:
            places = {node: place for row in rows for place, node in enumerate(row)}
            rows[rank].sort(key=lambda node: average([places[near] for near in neighbours.get(node, [node])]))


def average(numbers: Sequence[float]) -> float:
    """Answer the average of some numbers."""
    return sum(numbers) / len(numbers)
