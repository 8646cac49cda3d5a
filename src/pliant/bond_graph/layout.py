"""Where the parts of a drawing stand: layers from left to right along the bonds, rows drawn to their neighbours.

A bond over several layers passes through a point of its own in each. The same graph always gives the same drawing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

Point = complex  # x and y
Edge = tuple[str, str]
SWEEPS = 24
ACROSS, DOWN, BESIDE = 64.0, 26.0, 14.0  # pixels between layers, between rows, between leaves


@dataclass
class Node:
    """A box by its centre. Leaves stand above and below it; ``left``, ``up`` and ``down`` reach to their ends."""

    width: float
    height: float
    side: int = 0  # -1 stays in the first layer, 1 in the last
    x: float = 0.0
    y: float = 0.0
    leaves: list[Node] = field(default_factory=list)
    left: float = 0.0
    up: float = 0.0
    down: float = 0.0

    @property
    def at(self) -> Point:
        return complex(self.x, self.y)

    @property
    def rows(self) -> tuple[tuple[float, list[Node]], ...]:
        """The leaves below and above, by turns."""
        return (1.0, self.leaves[1::2]), (-1.0, self.leaves[::2])


@dataclass(frozen=True)
class Placed:
    """Corners of bonds between their ends, and the rectangle that holds everything."""

    corners: Sequence[Sequence[Point]]
    width: float
    height: float


def place(
    nodes: Mapping[str, Node],
    edges: Sequence[Edge],
    turned: Sequence[bool],
    leaves: Mapping[str, str],
    alone: Iterable[Node] = (),
) -> Placed:
    """Centres of all nodes: ``turned`` edges lead to the left, ``leaves`` belong to another node, and nodes without
    edges stand ``alone`` in a row below."""
    for leaf, holder in leaves.items():
        nodes[holder].leaves.append(nodes[leaf])
    points = {name: node for name, node in nodes.items() if name not in leaves}
    for node in points.values():
        wide = [sum(leaf.width + BESIDE for leaf in row) - BESIDE for _, row in node.rows]
        node.left = 0.5 * max(node.width, *wide)
        node.down, node.up = (
            0.5 * node.height + max((leaf.height + 0.75 * ACROSS for leaf in row), default=0.0) for _, row in node.rows
        )
    inner = [k for k, edge in enumerate(edges) if not leaves.keys() & set(edge)]
    layer = _layers(points, [edges[k][::-1] if turned[k] else edges[k] for k in inner])
    ways = {k: _way(points, layer, k, *edges[k]) for k in inner}
    columns: list[list[str]] = [[] for _ in range(max(layer.values(), default=0) + 1)]
    for name in points:
        columns[layer[name]].append(name)
    _set_columns(points, columns)
    _set_rows(points, columns, list(ways.values()))
    for node in nodes.values():
        _set_leaves(node)
    corners = [_corners(points, ways.get(k, [])) for k in range(len(edges))]
    return _into_view([*nodes.values()], list(alone), corners)


def _layers(nodes: Mapping[str, Node], edges: Sequence[Edge]) -> dict[str, int]:
    """The longest way to each node, edges that close a cycle turned round; then the middle of where it may stand."""
    behind: dict[str, list[str]] = {name: [] for name in nodes}
    for a, b in _from_left_to_right(nodes, edges):
        start, end = (b, a) if _reaches(behind, b, a) else (a, b)
        behind[start].append(end)
    layer = dict.fromkeys(nodes, 0)
    for _ in nodes:
        for a, others in behind.items():
            for b in others:
                layer[b] = max(layer[b], layer[a] + 1)
    for name in sorted(nodes, key=layer.__getitem__):
        before = [layer[a] + 1 for a, others in behind.items() if name in others]
        if behind[name]:
            last = min(layer[b] for b in behind[name]) - 1
            layer[name] = (max(before) + last) // 2 if before else last
    ends = {-1: 0, 1: max(layer.values(), default=0)}
    return {name: ends.get(node.side, layer[name]) for name, node in nodes.items()}


def _from_left_to_right(nodes: Mapping[str, Node], edges: Sequence[Edge]) -> list[Edge]:
    """Where the drawing has ports on both borders, every node stands between its neighbours, as in a network of equal
    resistors between the borders; edges are turned to lead to the right there."""
    sides = np.array([node.side for node in nodes.values()])
    if not {-1, 1} <= set(sides.tolist()):
        return list(edges)
    number = {name: k for k, name in enumerate(nodes)}
    matrix, right = 1e-9 * np.eye(len(nodes)), np.full(len(nodes), 0.5e-9)
    for a, b in edges:
        pair = np.array([number[a], number[b]])
        matrix[np.ix_(pair, pair)] += [[1.0, -1.0], [-1.0, 1.0]]
    matrix[sides != 0], right[sides != 0] = np.eye(len(nodes))[sides != 0], 0.5 + 0.5 * sides[sides != 0]
    x = np.linalg.solve(matrix, right)
    return [(b, a) if x[number[a]] > x[number[b]] + 1e-6 else (a, b) for a, b in edges]


def _reaches(behind: Mapping[str, Sequence[str]], start: str, end: str) -> bool:
    seen, waiting = {start}, [start]
    while waiting:
        new = [each for each in behind[waiting.pop()] if each not in seen]
        seen.update(new)
        waiting += new
    return end in seen


def _way(points: dict[str, Node], layer: dict[str, int], number: int, a: str, b: str) -> list[str]:
    """An edge as nodes in neighbouring layers, with points of its own between."""
    step = 1 if layer[b] >= layer[a] else -1
    between = [(f"#{number} {k}", k) for k in range(layer[a] + step, layer[b], step)]
    for name, k in between:
        points[name], layer[name] = Node(0.0, 4.0, up=2.0, down=2.0), k
    return [a, *(name for name, _ in between), b]


def _set_columns(points: Mapping[str, Node], columns: Sequence[Sequence[str]]) -> None:
    x = 0.0
    for column in columns:
        half = max((points[name].left for name in column), default=0.0)
        for name in column:
            points[name].x = x + half
            if not points[name].width:  # of a bond, which crosses the whole layer before it bends
                points[name].left = half
        x += 2.0 * half + ACROSS


def _set_rows(points: Mapping[str, Node], columns: Sequence[list[str]], ways: Sequence[Sequence[str]]) -> None:
    """Each column ordered by the mean height of neighbours, and drawn there as far as nodes leave each other space."""
    near: dict[str, list[str]] = {name: [] for name in points}
    for a, b in (pair for way in ways for pair in pairwise(way)):
        near[a].append(b)
        near[b].append(a)
    for column in columns:
        _set_apart([points[name] for name in column], [0.0] * len(column))
    for sweep in range(SWEEPS):
        for column in columns[:: 1 if sweep % 2 == 0 else -1]:
            wanted = {name: float(np.mean([points[each].y for each in (near[name] or [name])])) for name in column}
            if sweep < SWEEPS // 2:
                column.sort(key=wanted.__getitem__)
            _set_apart([points[name] for name in column], [wanted[name] for name in column])


def _set_apart(nodes: Sequence[Node], wanted: Sequence[float]) -> None:
    """The heights nearest to the wanted ones that keep order and distances."""
    from scipy.optimize import isotonic_regression

    offset = np.cumsum([0.0, *(a.down + DOWN + b.up for a, b in pairwise(nodes))])[: len(nodes)]
    if nodes:
        for node, y in zip(nodes, isotonic_regression(np.subtract(wanted, offset)).x + offset, strict=True):
            node.y = float(y)


def _set_leaves(node: Node) -> None:
    for sign, row in node.rows:
        x = node.x - 0.5 * (sum(leaf.width + BESIDE for leaf in row) - BESIDE)
        for leaf in row:
            leaf.x, x = x + 0.5 * leaf.width, x + leaf.width + BESIDE
            leaf.y = node.y + sign * (0.5 * (node.height + leaf.height) + 0.75 * ACROSS)


def _corners(points: Mapping[str, Node], way: Sequence[str]) -> list[Point]:
    ahead = 1.0 if way and points[way[0]].x < points[way[-1]].x else -1.0
    between = [points[name] for name in way[1:-1]]
    return [node.at + sign * node.left for node in between for sign in (-ahead, ahead)]


def _into_view(nodes: Sequence[Node], alone: Sequence[Node], corners: Sequence[Sequence[Point]]) -> Placed:
    """Everything moved to positive places, with the row of nodes without edges below."""
    half = ((node, complex(node.width, node.height) / 2) for node in nodes)
    every = [at for node, side in half for at in (node.at - side, node.at + side)]
    every += [point for way in corners for point in way]
    x, y = np.real(every or [0.0]), np.imag(every or [0.0])
    low, high = np.array([x.min(), y.min()]), np.array([x.max(), y.max()])
    row = sum(node.width + DOWN for node in alone) - DOWN
    x = 0.5 * (low[0] + high[0] - row)
    tallest = max((node.height for node in alone), default=0.0)
    bottom = high[1] + (0.6 * ACROSS if nodes else 0.0)
    for node in alone:
        node.x, node.y, x = x + 0.5 * node.width, bottom + 0.5 * tallest, x + node.width + DOWN
    if alone:
        low, high = np.minimum(low, [x - row - DOWN, low[1]]), np.maximum(high, [x - DOWN, bottom + tallest])
    for node in (*nodes, *alone):
        node.x, node.y = float(node.x - low[0]), float(node.y - low[1])
    moved = [[point - complex(*low) for point in way] for way in corners]
    return Placed(moved, float(high[0] - low[0]), float(high[1] - low[1]))
