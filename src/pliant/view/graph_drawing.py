"""Bond graphs as pictures (SVG): half arrows, causal strokes, vector bonds, signals, and components as boxes.

`draw` shows a graph down to a level: deeper components are closed boxes, others frames around what they hold. `browse`
gives one file in which a reader opens and closes them by a click: what a component holds is drawn small inside its
box, and the view moves there.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from itertools import pairwise
from math import copysign
from os import PathLike
from typing import NamedTuple, cast
from xml.sax.saxutils import escape, quoteattr

from pliant.bond_graph.causality import causality
from pliant.bond_graph.elements import C, I, Junction, Part, R, Source, TwoPort, Vector
from pliant.bond_graph.flat import flatten
from pliant.bond_graph.graph import Component, Integral, modulators, shown, split_end
from pliant.errors import InvalidInput, clip
from pliant.formulas.expression import NAME, names_in
from pliant.view.graph_layout import Edge, Node, Point, place
from pliant.whole_file import whole_file

Path = tuple[str, ...]
Anchor = tuple[Node, list[Point]]  # a box, and the points at it that a line leads through
End = tuple[str, str]  # part and port of an end of a bond
LETTER, TEXT, SMALL = 0.62, 15.0, 11.0  # width of a letter against its height, heights in pixels
MARGIN, TITLE, BARB, STROKE, INSET = 16.0, 24.0, 9.0, 8.0, 5.0
LOW_TITLE = 7.0  # of a box that is opened by a click and then fills the view
PARALLEL, ASIDE = 18.0, 9.0  # pixels between bonds of the same two parts, and from bonds to signals
CLEAR = 12.0  # pixels from the size of a bond to other bonds, which leave it readable
MOST_SIGNALS = 8  # that the box of a component lists
ONE_PORTS = (C, I, R, Source)  # or fields of several
SIGNALS, PORT = "#signals", "#port "
STYLE, FOLDING, SCRIPT = ("drawing.css", "browsing.css", "browsing.js")  # files of the folder graph


@dataclass(frozen=True)
class Drawing:
    """A picture of a bond graph as the text of an SVG file."""

    svg: str

    def _repr_svg_(self) -> str:
        return self.svg

    def save(self, path: str | PathLike[str], overwrite: bool = False) -> None:
        """Write the file, whole or not at all."""
        with whole_file(path, overwrite) as temporary:
            temporary.write_text(self.svg, encoding="utf-8")


def draw(graph: Component, level: int | None = 1, at: Sequence[str] = ()) -> Drawing:
    """A graph with components open down to ``level``; all of them if that is None.

    ``at`` is the path of the component to be shown, by default the whole graph. Sizes and strokes follow from a whole
    graph; a component alone has plain bonds.
    """
    if level is not None and (isinstance(level, bool) or not isinstance(level, int) or level < 1):
        raise InvalidInput(
            f"level = {clip(repr(level))} must be a whole number from 1 on; 1 shows components as closed boxes"
        )
    return _document(_Artist(graph, nested=True).sheet(tuple(at), level), STYLE)


def browse(graph: Component, level: int = 1, at: Sequence[str] = ()) -> Drawing:
    """One file for all levels: a click on a box opens it, a click on the title of a frame closes it.

    Components are open down to ``level`` at first.
    """
    return _document(_Artist(graph, nested=False, opened=level).sheet(tuple(at), None), STYLE, FOLDING, SCRIPT)


class _Sheet(NamedTuple):
    """What a component holds, drawn; ``ports`` are the places of its ports."""

    content: str
    width: float
    height: float
    ports: Mapping[str, Point]


def _document(sheet: _Sheet, *files: str) -> Drawing:
    style, *more = (resources.files("pliant.view").joinpath("graph", file).read_text("utf-8") for file in files)
    folding, script = more or ("", "")
    width, height = sheet.width + 2 * MARGIN, sheet.height + 2 * MARGIN
    view = f"0 0 {width:.1f} {height:.1f}"
    code = f"<script><![CDATA[{script}]]></script>" if script else ""
    return Drawing(
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" viewBox="{view}"'
        f' data-whole="{view}"><style><![CDATA[{style}{folding}]]></style>'
        f'<rect class="blank" width="100%" height="100%"/>'
        f'<g transform="translate({MARGIN:g} {MARGIN:g})">{sheet.content}</g>{code}</svg>\n'
    )


class _Artist:
    """Draws components of one graph, whose bonds know their size and causality from the whole of it."""

    def __init__(self, graph: Component, nested: bool, opened: int = 1) -> None:
        self.graph, self.nested, self.opened = graph, nested, opened
        self.sizes: dict[tuple[Path, int], int] = {}
        self.strokes: dict[tuple[Path, int], bool] = {}
        try:
            self.sizes = {(bond.path, bond.number): bond.size for bond in flatten(graph).bonds}
            self.strokes = causality(graph).strokes
        except InvalidInput:  # words without elements, or a component alone
            pass

    def sheet(self, path: Path, level: int | None, sides: Mapping[str, int] | None = None) -> _Sheet:
        """A component with its parts, and with its ports on these sides."""
        scope = self.graph.at(path)
        if not isinstance(scope, Component):
            raise InvalidInput(f"'{shown(path)}' is an element and holds nothing to be drawn; name a component")
        borders = {name: _sides(part, scope, name) for name, part in scope.parts.items()}
        inner = {
            name: self.sheet((*path, name), level and level - 1, borders[name])
            for name, part in scope.parts.items()
            if isinstance(part, Component) and (level is None or level > 1)
        }
        frames = inner if self.nested else {}
        nodes = {name: _node(name, part, frames.get(name)) for name, part in scope.parts.items()}
        for port, side in (_sides(scope) if sides is None else sides).items():
            nodes[PORT + port] = Node(8.0 + SMALL * LETTER * len(port), 18.0, side)
            borders[PORT + port] = {"": -2 * side}
        lines = [(bond.start, bond.end) for bond in scope.bonds]
        lines += [(PORT + port, target) for port, target in scope.ports.items() if scope.parts]
        edges = [_edge(borders, frames, *map(split_end, line)) for line in lines]
        pairs = [sorted(edge[:2]) for edge in edges]
        for name in {name for pair in pairs if pairs.count(pair) > 1 for name in pair if name in scope.parts}:
            if not isinstance(scope.parts[name], (Component, Junction)):
                nodes[name].height += 2 * PARALLEL  # so that bonds of the part below cross none of them
        joined = {name for edge in edges for name in edge[:2]}
        alone = {name: nodes.pop(name) for name in list(nodes) if name not in joined}
        words = _signal_lines(scope) or ([] if scope.parts else [scope.about])
        if words:
            wide = max(map(len, words)) * SMALL * LETTER + 2 * INSET
            alone[SIGNALS] = Node(wide, len(words) * 1.4 * SMALL + 2 * INSET)
        placed = place(nodes, edges, _leaves(scope, edges), alone.values())
        nodes |= alone
        content = [*_signals(scope, nodes, words)]
        for name, part in scope.parts.items():
            content += self._part((*path, name), nodes[name], part, inner.get(name))
        ways = []
        for k, (line, corners) in enumerate(zip(lines, placed.corners, strict=True)):
            way = _clipped([_anchor(nodes, frames, *split_end(end)) for end in line], corners)
            shift = PARALLEL * (pairs[:k].count(pairs[k]) - 0.5 * (pairs.count(pairs[k]) - 1))
            ways.append(way if frames.keys() & pairs[k] else _beside(way, shift))
        for k, way in enumerate(ways):
            if k >= len(scope.bonds):
                content.append(_path("lead", way))
                continue
            others = [*ways[:k], *ways[k + 1 :]]
            content += _bond(way, self.sizes.get((path, k), 1), self.strokes.get((path, k)), others)
        content += [_text(nodes[PORT + port].at, port, "small") for port in scope.ports]
        ports = {port: nodes[PORT + port].at for port in scope.ports}
        return _Sheet("".join(content), placed.width, placed.height, ports)

    def _part(self, path: Path, node: Node, part: Part | Component, sheet: _Sheet | None) -> Iterator[str]:
        name, kind = path[-1], "blank" if isinstance(part, Part) else "box"
        told = name if isinstance(part, Part) else part.about
        closed = f"<g><title>{escape(told)}</title>{_rect(node, kind)}{_text(node.at, _label(name, part))}</g>"
        if sheet is None:
            yield closed
        elif self.nested:
            yield _frame(node, name, sheet, 1.0)
        else:
            wide, high = sheet.width + 2 * MARGIN, sheet.height + 2 * MARGIN
            scale = min((node.width - 2 * INSET) / wide, (node.height - LOW_TITLE - INSET) / high)
            state = " open" if len(path) < self.opened else ""
            yield f'<g class="component{state}" data-path={quoteattr(shown(path))}><g class="closed">{closed}</g>'
            yield f'<g class="inside">{_frame(node, name, sheet, scale)}</g></g>'


def _sides(part: Part | Component, scope: Component | None = None, name: str = "") -> dict[str, int]:
    """On which border of a component its ports lie, -1 left and 1 right: the first on the left, the second on the
    right, others, such as drives, on the left. A component that bonds only leave has them all where its bonds lead."""
    if not isinstance(part, Component):
        return {}
    if scope is not None:
        ends = [split_end(text)[0] for text in (*(bond.end for bond in scope.bonds), *scope.ports.values())]
        leaving = [split_end(bond.end) for bond in scope.bonds if split_end(bond.start)[0] == name]
        if leaving and name not in ends:
            other, port = leaving[0]
            return dict.fromkeys(part.ports, -_sides(scope.parts[other]).get(port, -1))
    return {port: 1 if k == 1 else -1 for k, port in enumerate(part.ports)}


def _edge(sides: Mapping[str, Mapping[str, int]], frames: Mapping[str, _Sheet], start: End, end: End) -> Edge:
    """A bond, which leads to the left from a port on the left or to one on the right."""
    first, last = (sides[name].get(port, 0) for name, port in (start, end))
    below = [_below(frames[name], port) if name in frames else 0.0 for name, port in (start, end)]
    return Edge(start[0], end[0], first < last, (below[0], below[1]))


def _below(sheet: _Sheet, port: str) -> float:
    """How far below the middle of its frame a port lies."""
    return 0.5 * TITLE + sheet.ports[port].imag - 0.5 * sheet.height if port in sheet.ports else 0.0


def _anchor(nodes: Mapping[str, Node], frames: Mapping[str, _Sheet], name: str, port: str) -> Anchor:
    """The end of a bond: the centre of a box, or the place of a port on the border of a frame, from where it leads to
    the border of the layer."""
    node = nodes[name]
    if name not in frames or port not in frames[name].ports:
        return node, [node.at]
    side = -1 if frames[name].ports[port].real < 0.5 * frames[name].width else 1
    at = node.at + 1j * _below(frames[name], port)
    return Node(0.0, 0.0), [at + side * 0.5 * node.width, at + side * max(node.column, 0.5 * node.width + INSET)]


def _leaves(scope: Component, edges: Sequence[Edge]) -> dict[str, str]:
    """Elements with one bond, which stand above or below the part at its other end. Of a part that holds all its
    neighbours so, the first stands before it."""
    near: dict[str, list[str]] = defaultdict(list)
    for edge in edges:
        near[edge.start].append(edge.end)
        near[edge.end].append(edge.start)
    single = {name for name, part in scope.parts.items() if isinstance(part, ONE_PORTS) and len(near[name]) == 1}
    leaf = {name: near[name][0] for name in scope.parts if name in single}
    leaf = {name: on for name, on in leaf.items() if on not in single and isinstance(scope.parts.get(on), Part)}
    alone = [mine[0] for on, mine in near.items() if on not in single and set(mine) <= single]
    return {name: on for name, on in leaf.items() if name not in alone}


def _node(name: str, part: Part | Component, sheet: _Sheet | None) -> Node:
    text = TEXT * LETTER * len(_label(name, part))
    if sheet is not None:
        return Node(max(sheet.width, text) + 2 * MARGIN, sheet.height + TITLE + 2 * MARGIN)
    return Node(max(84.0, text + 24.0), 46.0) if isinstance(part, Component) else Node(text + 8.0, 22.0)


def _label(name: str, part: Part | Component) -> str:
    if isinstance(part, Component):
        return name
    symbol = f"M{part.symbol}" if isinstance(part, (TwoPort, Source, R)) and modulators(part) else part.symbol
    return symbol if isinstance(part, Junction) or name == part.symbol else f"{symbol}: {name}"


def _computed(scope: Component) -> dict[str, tuple[bool, Vector]]:
    """The signals that a component computes: whether they are integrals, and their formulas. Others are names for those
    of parts."""
    found = {
        name: (True, value.formulas) if isinstance(value, Integral) else (False, cast(Vector, value))
        for name, value in scope.signals.items()
    }
    return {name: own for name, own in found.items() if own[0] or any(each.operation != NAME for each in own[1])}


def _signal_lines(scope: Component) -> list[str]:
    """One line for each signal that the component computes or takes in; integrals carry their sign."""
    lines = [f"\u2192 {name}" for name in scope.inputs]
    for name, (is_integral, formulas) in _computed(scope).items():
        many = f" ({len(formulas)})" if len(formulas) > 1 else ""
        lines.append(("\u222b " if is_integral else "") + name + many)
    if len(lines) > MOST_SIGNALS:
        lines = [*lines[: MOST_SIGNALS - 1], f"and {len(lines) - MOST_SIGNALS + 1} more signals"]
    return lines


def _signals(scope: Component, nodes: Mapping[str, Node], words: Sequence[str]) -> Iterator[str]:
    """Arrows from where to where signals lead, parts or the box of those of the component, and that box."""
    found = [(each, name) for name, part in scope.parts.items() if isinstance(part, Part) for each in modulators(part)]
    found += [(each, SIGNALS) for _, formulas in _computed(scope).values() for each in names_in(*formulas)]
    texts = [(each.name, end) for each, end in found]
    texts += [(wire.start, split_end(wire.end)[0]) for wire in scope.wires]
    firsts = [(split_end(start)[0], end) for start, end in texts]
    for first, end in dict.fromkeys((start if start in scope.parts else SIGNALS, end) for start, end in firsts):
        if {first, end} <= nodes.keys() and first != end:
            way = _signal(nodes[first], nodes[end])
            point, ahead, across = _along(way, True)
            head = [point, *(point - 8 * ahead + 3 * side * across for side in (1, -1))]
            yield _path("signal", way) + _path("tip", head)
    if words:
        box = nodes[SIGNALS]
        yield _rect(box, "signals")
        for k, line in enumerate(words):
            yield _text(box.at + 1j * (k + 0.5 - 0.5 * len(words)) * 1.4 * SMALL, line, "small")


def _rect(node: Node, kind: str) -> str:
    at = f'x="{node.x - 0.5 * node.width:.1f}" y="{node.y - 0.5 * node.height:.1f}"'
    return f'<rect class="{kind}" {at} width="{node.width:.1f}" height="{node.height:.1f}" rx="5"/>'


def _text(at: Point, text: str, kind: str = "", more: str = "") -> str:
    return f'<text class="{kind}" x="{at.real:.1f}" y="{at.imag:.1f}"{more}>{escape(text)}</text>'


def _path(kind: str, way: Sequence[Point]) -> str:
    return f'<path class="{kind}" d="M{" L".join(f"{at.real:.1f} {at.imag:.1f}" for at in way)}"/>'


def _frame(node: Node, name: str, sheet: _Sheet, scale: float) -> str:
    """An open component: a title, and what it holds below."""
    title = TITLE if scale == 1.0 else LOW_TITLE
    bar = Node(node.width, title, x=node.x, y=node.y - 0.5 * node.height + 0.5 * title)
    x, y = node.x - 0.5 * scale * sheet.width, node.y + 0.5 * title - 0.5 * scale * sheet.height
    text = _text(bar.at, name, "title", "" if scale == 1.0 else f' style="font-size:{0.7 * title:.1f}px"')
    return (
        f'{_rect(node, "frame")}<g class="handle">{_rect(bar, "box")}{text}</g>'
        f'<g transform="translate({x:.2f} {y:.2f}) scale({scale:.5g})">{sheet.content}</g>'
    )


def _clipped(ends: Sequence[Anchor], corners: Sequence[Point] = ()) -> list[Point]:
    """The way from box to box: it begins and ends at their borders."""
    first, last = ends
    way = [*first[1], *corners, *reversed(last[1])]
    return [_border(first[0], way[0], way[1]), *way[1:-1], _border(last[0], way[-1], way[-2])]


def _border(node: Node, at: Point, towards: Point, off: Point = 0j) -> Point:
    """Where a way leaves a box that it begins in, ``off`` its centre, and a little further."""
    d = towards - at
    wide = (0.5 * node.width - copysign(off.real, off.real * d.real)) / max(abs(d.real), 1e-9)
    high = (0.5 * node.height - copysign(off.imag, off.imag * d.imag)) / max(abs(d.imag), 1e-9)
    return at + (max(min(wide, high), 0.0) + 3.0 / (abs(d) or 1.0)) * d


def _signal(first: Node, last: Node) -> list[Point]:
    """The way beside a bond, between the borders that it meets there: what lay inside a box would be hidden."""
    a, b = _beside([first.at, last.at], ASIDE)
    return [_border(first, a, b, a - first.at), _border(last, b, a, b - last.at)]


def _beside(way: list[Point], shift: float) -> list[Point]:
    """A straight way moved aside, to the same side whichever way it leads."""
    if len(way) > 2:
        return way
    ahead = (way[1].real, way[1].imag) > (way[0].real, way[0].imag)
    return [point + (shift if ahead else -shift) * _along(way, True)[2] for point in way]


def _along(way: Sequence[Point], last: bool) -> tuple[Point, Point, Point]:
    """An end of a way, the direction to it and across."""
    end, before = (way[-1], way[-2]) if last else (way[0], way[1])
    ahead = (end - before) / (abs(end - before) or 1.0)
    return end, ahead, 1j * ahead


def _distance(at: Point, way: Sequence[Point]) -> float:
    """From a place to a way, as far as that counts."""
    near = CLEAR
    for a, b in pairwise(way):
        along = (at - a) / ((b - a) or 1.0)
        near = min(near, abs(at - a - min(max(along.real, 0.0), 1.0) * (b - a)))
    return near


def _bond(way: list[Point], size: int, stroke_at_end: bool | None, others: Sequence[list[Point]]) -> Iterator[str]:
    """A line with a half arrow, double where it carries a vector, and with its causal stroke; its size stands where it
    is clear of the ``others``."""
    end, ahead, across = _along(way, True)
    if size > 1:
        yield _path("bond wide", way) + _path("bond core", way)
        a, b = max(pairwise(way), key=lambda ends: abs(ends[1] - ends[0]))
        places = [0.5 * (a + b) + side * 9 * _along((a, b), True)[2] for side in (-1, 1)]
        yield _text(
            max(places, key=lambda at: min((_distance(at, other) for other in others), default=CLEAR)),
            str(size),
            "size",
        )
    else:
        yield _path("bond", way)
    yield _path("bond", [end, end - BARB * ahead + 0.6 * BARB * across])
    if stroke_at_end is not None:
        end, _, across = _along(way, stroke_at_end)
        yield _path("stroke", [end + side * STROKE * across for side in (-1, 1)])
