"""Layers: which node of a drawing stands in which row, and in which order, so that few lines cross.

fast-sugiyama does it where it is installed; a longest path and a few sweeps do it otherwise. Either way the graph is
made free of cycles first: the compiled part of fast-sugiyama ends the whole process when it meets a loop.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, TypeAlias

Line: TypeAlias = tuple[int, int]
"""From a node to a node. Nodes are counted from 0; bends of long lines are counted on from there."""

SWEEPS = 8  # each halves most crossings of a picture that anybody would look at; more change nothing


@dataclass(frozen=True)
class Layers:
    """The rows from the top, each from left to right, and for each line the nodes and bends on its way."""

    rows: tuple[tuple[int, ...], ...]
    ways: Mapping[Line, tuple[int, ...]]


def turn_downwards(count: int, first: int, lines: Iterable[Line]) -> set[Line]:
    """Answer which lines must be turned so that no circle is left and the first node stands as high as it can."""
    targets: dict[int, list[int]] = {node: [] for node in range(count)}
    for source, target in lines:
        if source != target:
            targets[source].append(target)
    turned: set[Line] = set()
    done: set[int] = set()
    for start in (first, *range(count)):
        # A walk in depth without recursion: a workflow may be longer than Python's stack.
        path, waiting = [start], [list(reversed(targets[start]))]
        while path:
            if not waiting[-1]:
                done.add(path.pop())
                waiting.pop()
                continue
            target = waiting[-1].pop()
            if target in path:
                turned.add((path[-1], target))
            elif target not in done:
                path.append(target)
                waiting.append(list(reversed(targets[target])))
    return turned


def find_layers(count: int, lines: Sequence[Line]) -> Layers:
    """Put nodes into rows so that every line, none of which may be part of a circle, leads downwards."""
    try:
        from fast_sugiyama import from_edges
    except ImportError:
        return find_layers_simply(count, lines)
    connected = {node for line in lines for node in line}
    rows: dict[int, list[int]] = {0: [node for node in range(count) if node not in connected]}
    followers: dict[int, list[int]] = {}
    bends = count
    for piece in find_pieces(lines):
        # Each piece is handed over alone, its nodes numbered without holes: only then are the numbers of bends unique.
        names = sorted({node for line in piece for node in line})
        numbers = {node: number for number, node in enumerate(names)}
        renumbered = [(numbers[source], numbers[target]) for source, target in piece]
        made: Any = from_edges(renumbered, dummy_vertices=True)
        (positions, _, _, parts) = made[0]
        heights = sorted({y for _, (_, y) in positions}, reverse=True)
        renamed = {}
        # Bends are numbered differently each time; in the order of their places they are the same.
        for node, (_, y) in sorted(positions, key=lambda placed: (-placed[1][1], placed[1][0])):
            renamed[node] = names[node] if node < len(names) else bends
            bends += node >= len(names)
            rows.setdefault(heights.index(y), []).append(renamed[node])
        for source, target in parts:
            followers.setdefault(renamed[source], []).append(renamed[target])
    return Layers(tuple(tuple(rows[rank]) for rank in sorted(rows)), follow_bends(count, lines, followers))


def find_pieces(lines: Iterable[Line]) -> list[list[Line]]:
    """Sort the lines by the connected pieces of the picture, in the order in which the pieces begin."""
    piece_of: dict[int, list[Line]] = {}
    for source, target in lines:
        own = piece_of.setdefault(source, [])
        other = piece_of.setdefault(target, own)
        own.append((source, target))
        if other is not own:
            own.extend(other)
            piece_of.update((node, own) for line in other for node in line)
    return list({id(piece): sorted(piece) for piece in piece_of.values()}.values())


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
