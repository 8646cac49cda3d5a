"""Where the parts of a drawing stand: layers from left to right along the bonds, as few crossings as sweeps find.

Long bonds pass through points of their own in the layers between. Everything is deterministic: parts come in their order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

Point = tuple[float, float]
Edge = tuple[str, str]
SWEEPS = 12
ACROSS, DOWN, BESIDE = 64.0, 26.0, 14.0  # gaps between layers, in a layer, between leaves


@dataclass
class Node:
    """A box to be placed, by its centre. Leaves sit above and below it, in the space that ``reserve`` gives them."""

    width: float
    height: float
    side: int = 0  # -1 stays in the first layer, 1 in the last
    x: float = 0.0
    y: float = 0.0
    above: list[str] = field(default_factory=list)
    below: list[str] = field(default_factory=list)
    left: float = 0.0  # from the centre to the ends of what it reserves
    right: float = 0.0
    up: float = 0.0
    down: float = 0.0


@dataclass(frozen=True)
class Placed:
    """Centres of all nodes, corners of bonds between their ends, and the rectangle that holds everything."""

    nodes: Mapping[str, Node]
    corners: list[tuple[Point, ...]]
    width: float
    height: float


def place(nodes: dict[str, Node], edges: Sequence[Edge], turned: Sequence[bool], leaves: Mapping[str, str]) -> Placed:
    """All nodes; ``turned`` edges lead to the left, ``leaves`` maps nodes that hang on another one to it."""
    rows = {name: node for name, node in nodes.items() if name not in leaves}
    for leaf, holder in leaves.items():
        own = nodes[holder]
        (own.above if len(own.above) <= len(own.below) else own.below).append(leaf)
    for node in rows.values():
        _reserve(nodes, node)
    inner = [(a, b) for a, b in edges if a in rows and b in rows]
    led = [(b, a) if back else (a, b) for (a, b), back in zip(edges, turned) if a in rows and b in rows]
    layer = _layers(rows, _directed(rows, led))
    points, ways = _ways(rows, inner, layer)
    order = _ordered(points, ways, layer, rows)
    _columns(points, order)
    _rows(points, ways, order)
    for node in rows.values():
        _hang(nodes, node)
    found = iter(ways)
    corners = []
    for a, b in edges:
        way = [points[each] for each in next(found)[1:-1]] if a in rows and b in rows else []
        ahead = 1.0 if nodes[a].x < nodes[b].x else -1.0
        corners.append(tuple((each.x + side * each.right, each.y) for each in way for side in (-ahead, ahead)))
    return _into_view(nodes, corners)


def _reserve(nodes: dict[str, Node], node: Node) -> None:
    wide = [sum(nodes[each].width + BESIDE for each in row) - BESIDE for row in (node.above, node.below) if row]
    node.left = node.right = 0.5 * max([node.width, *wide])
    node.up = 0.5 * node.height + max([nodes[each].height + 0.75 * ACROSS for each in node.above], default=0.0)
    node.down = 0.5 * node.height + max([nodes[each].height + 0.75 * ACROSS for each in node.below], default=0.0)


def _hang(nodes: dict[str, Node], node: Node) -> None:
    for row, sign in ((node.above, -1.0), (node.below, 1.0)):
        x = node.x - 0.5 * (sum(nodes[each].width + BESIDE for each in row) - BESIDE)
        for each in row:
            leaf = nodes[each]
            leaf.x = x + 0.5 * leaf.width
            leaf.y = node.y + sign * (0.5 * node.height + 0.75 * ACROSS + 0.5 * leaf.height)
            x += leaf.width + BESIDE


def _directed(nodes: Mapping[str, Node], edges: Sequence[Edge]) -> list[Edge]:
    """Edges turned to lead from the left border to the right one, where the drawing has both.

    Every node stands between its neighbours, as a network of equal resistors between the borders has it.
    """
    if not {-1, 1} <= {node.side for node in nodes.values()}:
        return list(edges)
    number = {name: k for k, name in enumerate(nodes)}
    matrix, right = 1e-9 * np.eye(len(nodes)), np.full(len(nodes), 0.5e-9)
    for a, b in edges:
        for i, k in ((number[a], number[b]), (number[b], number[a])):
            matrix[i, i] += 1.0
            matrix[i, k] -= 1.0
    for name, node in nodes.items():
        if node.side:
            matrix[number[name]] = 0.0
            matrix[number[name], number[name]], right[number[name]] = 1.0, 0.5 + 0.5 * node.side
    x = np.linalg.solve(matrix, right)
    return [(b, a) if x[number[a]] > x[number[b]] + 1e-6 else (a, b) for a, b in edges]


def row_below(placed: Placed, alone: Sequence[Node]) -> tuple[float, float]:
    """Nodes without edges in a row under all others; the new width and height."""
    if not alone:
        return placed.width, placed.height
    wide = sum(node.width + DOWN for node in alone) - DOWN
    high = max(node.height for node in alone)
    x = 0.5 * (placed.width - wide)
    if x < 0.0:
        for node in placed.nodes.values():
            node.x -= x
        placed.corners[:] = [tuple((px - x, py) for px, py in way) for way in placed.corners]
        x = 0.0
    for node in alone:
        node.x, node.y = x + 0.5 * node.width, placed.height + 0.6 * ACROSS + 0.5 * high
        x += node.width + DOWN
    return max(placed.width, wide), placed.height + 0.6 * ACROSS + high


def _layers(nodes: Mapping[str, Node], edges: Sequence[Edge]) -> dict[str, int]:
    """The longest way to each node, with bonds that close a cycle turned round."""
    follows: dict[str, list[str]] = {name: [] for name in nodes}
    for a, b in edges:
        follows[a].append(b)
    forward: list[Edge] = []
    done: dict[str, bool] = {}

    def visit(name: str) -> None:
        done[name] = False
        for other in follows[name]:
            if other == name:
                continue
            if other not in done:
                visit(other)
            forward.append((name, other) if done.get(other, True) else (other, name))
        done[name] = True

    first = sorted(nodes, key=lambda name: (nodes[name].side, any(b == name for _, b in edges)))
    for name in first:
        if name not in done:
            visit(name)
    layer = dict.fromkeys(nodes, 0)
    for _ in nodes:
        changed = False
        for a, b in forward:
            if layer[b] <= layer[a]:
                layer[b], changed = layer[a] + 1, True
        if not changed:
            break
    ahead: dict[str, list[int]] = {name: [] for name in nodes}
    for a, b in forward:
        ahead[a].append(layer[b])
    arrives = {b for _, b in forward}
    for name, own in ahead.items():  # what nothing leads to stands beside what it leads to
        if own and name not in arrives and nodes[name].side == 0:
            layer[name] = min(own) - 1
    before: dict[str, list[str]] = {name: [] for name in nodes}
    behind: dict[str, list[str]] = {name: [] for name in nodes}
    for a, b in forward:
        before[b].append(a)
        behind[a].append(b)
    for name in sorted(nodes, key=lambda each: layer[each]):  # in the middle of where it may stand
        if before[name] and behind[name]:
            lowest = max(layer[each] for each in before[name]) + 1
            layer[name] = (lowest + min(layer[each] for each in behind[name]) - 1) // 2
    last = max(layer.values(), default=0)
    for name, node in nodes.items():
        if node.side < 0:
            layer[name] = 0
        elif node.side > 0:
            layer[name] = last
    return layer


def _ways(
    nodes: Mapping[str, Node], edges: Sequence[Edge], layer: dict[str, int]
) -> tuple[dict[str, Node], list[list[str]]]:
    """Every bond as a row of nodes in neighbouring layers, with points of its own between."""
    points = dict(nodes)
    ways = []
    for k, (a, b) in enumerate(edges):
        step = 1 if layer[b] >= layer[a] else -1
        way = [a]
        for between in range(layer[a] + step, layer[b], step):
            name = f"#{k} {between}"
            points[name] = Node(0.0, 4.0)
            _reserve(points, points[name])
            layer[name] = between
            way.append(name)
        ways.append([*way, b])
    return points, ways


def _ordered(
    points: Mapping[str, Node], ways: Sequence[Sequence[str]], layer: Mapping[str, int], nodes: Mapping[str, Node]
) -> list[list[str]]:
    """Names in each layer from top to bottom: by the mean place of neighbours, swept to and fro."""
    order: list[list[str]] = [[] for _ in range(max(layer.values(), default=0) + 1)]
    for name in points:
        order[layer[name]].append(name)
    near: dict[str, list[str]] = {name: [] for name in points}
    for way in ways:
        for a, b in zip(way, way[1:]):
            near[a].append(b)
            near[b].append(a)
    best, least = [list(row) for row in order], _crossings(order, ways)
    for sweep in range(SWEEPS):
        rows = order if sweep % 2 == 0 else order[::-1]
        for before, row in zip(rows, rows[1:]):
            at = {name: k for k, name in enumerate(before)}
            mean = {}
            for k, name in enumerate(row):
                own = [at[other] for other in near[name] if other in at]
                mean[name] = float(np.mean(own)) if own else k
            row.sort(key=lambda name: mean[name])
        count = _crossings(order, ways)
        if count < least:
            best, least = [list(row) for row in order], count
    return best


def _crossings(order: Sequence[Sequence[str]], ways: Sequence[Sequence[str]]) -> int:
    at = {name: (k, i) for k, row in enumerate(order) for i, name in enumerate(row)}
    spans: dict[int, list[tuple[int, int]]] = {}
    for way in ways:
        for a, b in zip(way, way[1:]):
            (ka, ia), (kb, ib) = sorted((at[a], at[b]))
            if ka != kb:
                spans.setdefault(ka, []).append((ia, ib))
    count = 0
    for own in spans.values():
        for k, (a, b) in enumerate(own):
            count += sum((a - c) * (b - d) < 0 for c, d in own[k + 1 :])
    return count


def _columns(points: Mapping[str, Node], order: Sequence[Sequence[str]]) -> None:
    x = 0.0
    for row in order:
        wide = max((points[name].left + points[name].right for name in row), default=0.0)
        for name in row:
            points[name].x = x + 0.5 * wide
            if not points[name].width:  # of a bond, which crosses the whole layer before it bends
                points[name].right = 0.5 * wide
        x += wide + ACROSS


def _rows(points: Mapping[str, Node], ways: Sequence[Sequence[str]], order: Sequence[Sequence[str]]) -> None:
    """Heights: each node is drawn to the mean of its neighbours, and pushed off what stands above it."""
    for row in order:
        y = 0.0
        for name in row:
            y += points[name].up
            points[name].y = y
            y += points[name].down + DOWN
        for name in row:
            points[name].y -= 0.5 * y
    near: dict[str, list[str]] = {name: [] for name in points}
    for way in ways:
        for a, b in zip(way, way[1:]):
            near[a].append(b)
            near[b].append(a)
    for sweep in range(2 * SWEEPS):
        for row in order if sweep % 2 == 0 else order[::-1]:
            wanted = [
                float(np.mean([points[other].y for other in near[name]])) if near[name] else points[name].y
                for name in row
            ]
            _set_apart(points, row, wanted)


def _set_apart(points: Mapping[str, Node], row: Sequence[str], wanted: Sequence[float]) -> None:
    """The heights nearest to the wanted ones that keep the order and the gaps: pools of neighbours that touch."""
    offset = [0.0]
    for a, b in zip(row, row[1:]):
        offset.append(offset[-1] + points[a].down + DOWN + points[b].up)
    pools: list[list[float]] = []  # sum of what they want, count
    for want, off in zip(wanted, offset):
        pools.append([want - off, 1.0])
        while len(pools) > 1 and pools[-2][0] / pools[-2][1] > pools[-1][0] / pools[-1][1]:
            total, count = pools.pop()
            pools[-1][0] += total
            pools[-1][1] += count
    k = 0
    for total, count in pools:
        for _ in range(int(count)):
            points[row[k]].y = total / count + offset[k]
            k += 1


def _into_view(nodes: dict[str, Node], corners: Sequence[tuple[Point, ...]]) -> Placed:
    """Everything moved to positive places."""
    every = [(n.x - 0.5 * n.width, n.y - 0.5 * n.height) for n in nodes.values()]
    every += [(n.x + 0.5 * n.width, n.y + 0.5 * n.height) for n in nodes.values()]
    every += [point for way in corners for point in way]
    if not every:
        return Placed(nodes, [], 0.0, 0.0)
    (x0, y0), (x1, y1) = np.min(every, axis=0), np.max(every, axis=0)
    for node in nodes.values():
        node.x, node.y = node.x - float(x0), node.y - float(y0)
    moved = [tuple((x - float(x0), y - float(y0)) for x, y in way) for way in corners]
    return Placed(nodes, moved, float(x1 - x0), float(y1 - y0))
