"""Where the parts of a drawing stand: layers from left to right along the bonds, rows drawn to their neighbours.

A bond over several layers passes through a point of its own in each. The same graph always gives the same drawing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

import numpy as np

Point = complex  # x and y
SWEEPS = 24
ACROSS, DOWN, BESIDE = 64.0, 26.0, 14.0  # pixels between layers, between rows, between leaves
FIRM, SLIGHT = 1e3, 1e-3  # weight of borders, and distance along bonds where borders decide


@dataclass
class Node:
    """A box by its centre. Leaves stand above and below it; ``left``, ``up`` and ``down`` reach to their ends, and
    ``column`` to the border of the layer."""

    width: float
    height: float
    side: int = 0  # -1 stays in the first layer, 1 in the last
    x: float = 0.0
    y: float = 0.0
    leaves: list[Node] = field(default_factory=list)
    left: float = 0.0
    up: float = 0.0
    down: float = 0.0
    column: float = 0.0

    @property
    def at(self) -> Point:
        return complex(self.x, self.y)

    @property
    def rows(self) -> tuple[tuple[float, list[Node]], ...]:
        """The leaves below and above, by turns."""
        return (1.0, self.leaves[1::2]), (-1.0, self.leaves[::2])


class Edge(NamedTuple):
    """A line between two nodes, ``turned`` if it leads to the left; its ends lie so far below their centres."""

    start: str
    end: str
    turned: bool = False
    below: tuple[float, float] = (0.0, 0.0)


class Placed(NamedTuple):
    """Corners of bonds between their ends, and the rectangle that holds everything."""

    corners: Sequence[Sequence[Point]]
    width: float
    height: float


def place(
    nodes: Mapping[str, Node], edges: Sequence[Edge], leaves: Mapping[str, str], alone: Iterable[Node] = ()
) -> Placed:
    """Centres of all nodes: ``leaves`` belong to another node, and nodes without edges stand ``alone`` below."""
    for leaf, holder in leaves.items():
        nodes[holder].leaves.append(nodes[leaf])
    points = {name: node for name, node in nodes.items() if name not in leaves}
    for node in points.values():
        wide = [sum(leaf.width + BESIDE for leaf in row) - BESIDE for _, row in node.rows]
        node.left = 0.5 * max(node.width, *wide)
        node.down, node.up = (
            0.5 * node.height + max((leaf.height + 0.75 * ACROSS for leaf in row), default=0.0) for _, row in node.rows
        )
    inner = {k: edge for k, edge in enumerate(edges) if not leaves.keys() & {edge.start, edge.end}}
    layer = _layers(points, list(inner.values()))
    ways = {k: _way(points, layer, k, edge) for k, edge in inner.items()}
    columns: list[list[str]] = [[] for _ in range(max(layer.values(), default=0) + 1)]
    for name in points:
        columns[layer[name]].append(name)
    _set_columns(points, columns)
    _set_rows(points, columns, [(ways[k], edge.below) for k, edge in inner.items()])
    for node in nodes.values():
        _set_leaves(node)
    corners = [_corners(points, ways.get(k, [])) for k in range(len(edges))]
    return _into_view([*nodes.values()], list(alone), corners)


def _layers(nodes: Mapping[str, Node], edges: Sequence[Edge]) -> dict[str, int]:
    """The longest way to each node from the left; then the middle of where it may stand."""
    if not nodes:
        return {}
    x = _from_left_to_right(nodes, edges)
    before: dict[str, set[str]] = {name: set() for name in nodes}
    behind: dict[str, set[str]] = {name: set() for name in nodes}
    order = sorted(nodes, key=x.__getitem__)
    for edge in edges:
        a, b = sorted(edge[:2], key=order.index)
        before[b].add(a)
        behind[a].add(b)
    layer: dict[str, int] = {}
    for name in order:
        layer[name] = max((layer[a] + 1 for a in before[name]), default=0)
    for name in order:
        if behind[name]:
            last = min(layer[b] for b in behind[name]) - 1
            layer[name] = (max(layer[a] + 1 for a in before[name]) + last) // 2 if before[name] else last
    ends = {-1: 0, 1: max(layer.values())}
    return {name: ends.get(node.side, layer[name]) for name, node in nodes.items()}


def _from_left_to_right(nodes: Mapping[str, Node], edges: Sequence[Edge]) -> dict[str, float]:
    """Every node a step behind those that lead to it, as nearly as can be; where the drawing has ports on both borders,
    between its neighbours, as in a network of equal resistors between the borders."""
    number = {name: k for k, name in enumerate(nodes)}
    sides = [node.side for node in nodes.values()]
    step, one = SLIGHT if {-1, 1} <= set(sides) else 1.0, np.eye(len(nodes))
    apart = [one[number[edge.end]] - one[number[edge.start]] for edge in edges]
    steps = [-step if edge.turned else step for edge in edges]
    borders = [FIRM * side**2 * row for side, row in zip(sides, one, strict=True)]
    x = np.linalg.lstsq(np.array([*apart, *borders]), np.array([*steps, *(FIRM * side for side in sides)]))[0]
    return dict(zip(nodes, x.round(6).tolist(), strict=True))


def _way(points: dict[str, Node], layer: dict[str, int], number: int, edge: Edge) -> list[str]:
    """An edge as nodes in neighbouring layers, with points of its own between."""
    a, b = edge[:2]
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
            points[name].x, points[name].column = x + half, half
        x += 2.0 * half + ACROSS


def _set_rows(
    points: Mapping[str, Node], columns: Sequence[list[str]], ways: Sequence[tuple[Sequence[str], tuple[float, float]]]
) -> None:
    """Each column ordered by the mean height of neighbours, and drawn there as far as nodes leave each other space."""
    near: dict[str, list[tuple[str, float]]] = {name: [] for name in points}
    for way, below in ways:
        ends = {way[0]: below[0], way[-1]: below[1]}
        for a, b in pairwise(way):
            near[a].append((b, ends.get(b, 0.0) - ends.get(a, 0.0)))
            near[b].append((a, ends.get(a, 0.0) - ends.get(b, 0.0)))
    for column in columns:
        _set_apart([points[name] for name in column], [0.0] * len(column))
    for sweep in range(SWEEPS):
        for column in columns[:: 1 if sweep % 2 == 0 else -1]:
            heights = {name: [points[each].y + lower for each, lower in near[name] or [(name, 0.0)]] for name in column}
            wanted = {name: float(np.mean(each)) for name, each in heights.items()}
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
    """A bond crosses a whole layer before it bends."""
    ahead = 1.0 if way and points[way[0]].x < points[way[-1]].x else -1.0
    between = [points[name] for name in way[1:-1]]
    return [node.at + sign * node.column for node in between for sign in (-ahead, ahead)]


def _into_view(nodes: Sequence[Node], alone: Sequence[Node], corners: Sequence[Sequence[Point]]) -> Placed:
    """Everything moved to positive places, with the row of nodes without edges below."""
    low, high = _extent(nodes, corners)
    tallest = max((node.height for node in alone), default=0.0)
    x = 0.5 * (low.real + high.real - sum(node.width + DOWN for node in alone) + DOWN)
    for node in alone:
        node.x, node.y = x + 0.5 * node.width, high.imag + (0.6 * ACROSS if nodes else 0.0) + 0.5 * tallest
        x += node.width + DOWN
    low, high = _extent([*nodes, *alone], corners)
    for node in (*nodes, *alone):
        node.x, node.y = node.x - low.real, node.y - low.imag
    return Placed([[point - low for point in way] for way in corners], (high - low).real, (high - low).imag)


def _extent(nodes: Sequence[Node], corners: Sequence[Sequence[Point]]) -> tuple[Point, Point]:
    """The corners of the rectangle around nodes and points."""
    half = [complex(node.width, node.height) / 2 for node in nodes]
    every = [node.at + sign * side for node, side in zip(nodes, half, strict=True) for sign in (-1, 1)]
    every += [point for way in corners for point in way]
    x, y = np.real(every or [0.0]), np.imag(every or [0.0])
    return complex(x.min(), y.min()), complex(x.max(), y.max())
