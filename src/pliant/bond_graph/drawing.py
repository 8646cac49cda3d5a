"""Bond graphs as pictures (SVG): half arrows, causal strokes, vector bonds, signals, and components as boxes.

`draw` shows a graph down to a level: deeper components are closed boxes, others frames around what they hold. `browse`
gives one file in which a reader opens and closes them by a click: what a component holds is drawn small inside its box, and
the view moves there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from xml.sax.saxutils import escape, quoteattr

import numpy as np

from pliant.bond_graph.causality import causality
from pliant.bond_graph.elements import C, I, Junction, Part, R, Source, TwoPort, ZeroJunction
from pliant.bond_graph.expression import NAME
from pliant.bond_graph.flat import flatten
from pliant.bond_graph.graph import Bond, Component, Integral, modulators, shown, split_end
from pliant.bond_graph.layout import Node, Placed, Point, place, row_below
from pliant.errors import InvalidInput
from pliant.whole_file import whole_file

Path = tuple[str, ...]
LETTER, TEXT, SMALL = 0.62, 15.0, 11.0  # width of a letter against its height, heights in pixels
MARGIN, TITLE, BARB, STROKE, GAP = 16.0, 24.0, 9.0, 8.0, 5.0
ASIDE = 9.0  # pixels by which signals pass beside bonds
MOST_SIGNALS = 8  # that the box of a component lists
SIGNALS, PORT = "#signals", "#port "
STYLE = """
text { font-family: 'DejaVu Sans', Arial, sans-serif; font-size: 15px; text-anchor: middle; dominant-baseline: central; fill: #1a1a1a }
.small { font-size: 11px; fill: #555 } .size { font-size: 11px; fill: #444; paint-order: stroke; stroke: #fff; stroke-width: 3px }
.box { fill: #eef3f8; stroke: #35516d; stroke-width: 1.4 } .frame { fill: #fff; stroke: #35516d; stroke-width: 1.2 }
.signals { fill: #fbf7ea; stroke: #b9a15a; stroke-width: 1 } .blank { fill: #fff }
.bond { fill: none; stroke: #1a1a1a; stroke-width: 1.4 } .wide { stroke-width: 4.6 } .core { stroke: #fff; stroke-width: 1.8 }
.stroke { stroke: #1a1a1a; stroke-width: 2.2 } .signal { fill: none; stroke: #b9a15a; stroke-width: 1 } .tip { fill: #b9a15a; stroke: none }
.lead { fill: none; stroke: #35516d; stroke-width: 1 } .title { font-weight: bold; fill: #35516d }
"""
SCRIPT = """
(function () {
  var svg = document.documentElement;
  function fit(group) {
    var b = group.getBBox(), m = group.getCTM(), base = svg.getCTM(), k = base.inverse().multiply(m), pad = 0.04;
    var x = k.a * b.x + k.e, y = k.d * b.y + k.f, w = k.a * b.width, h = k.d * b.height;
    svg.setAttribute('viewBox', [x - pad * w, y - pad * h, w * (1 + 2 * pad), h * (1 + 2 * pad)].join(' '));
  }
  svg.addEventListener('click', function (event) {
    var part = event.target.closest('.component');
    if (!part) { svg.setAttribute('viewBox', svg.getAttribute('data-whole')); return; }
    var open = part.classList.contains('open');
    if (open && !event.target.closest('.handle')) { fit(part); return; }
    part.classList.toggle('open');
    var around = open ? part.parentNode.closest('.component') : part;
    if (around) { fit(around); } else { svg.setAttribute('viewBox', svg.getAttribute('data-whole')); }
  });
})();
"""
FOLDING = """
.component { cursor: pointer } .component > .inside { display: none } .component.open > .inside { display: inline }
.component.open > .closed { display: none }
"""


@dataclass(frozen=True)
class Drawing:
    """A picture of a bond graph as the text of an SVG file."""

    svg: str
    width: float
    height: float

    def _repr_svg_(self) -> str:
        return self.svg

    def save(self, path: str | PathLike[str], overwrite: bool = False) -> None:
        """Write the file, whole or not at all."""
        with whole_file(path, overwrite) as temporary:
            temporary.write_text(self.svg, encoding="utf-8")


def draw(graph: Component, level: int | None = 1, at: Sequence[str] = ()) -> Drawing:
    """A graph with components open down to ``level``; all of them if that is None.

    ``at`` is the path of the component to be shown, by default the whole graph.
    """
    if level is not None and (isinstance(level, bool) or not isinstance(level, int) or level < 1):
        raise InvalidInput(f"level = {level!r} must be a whole number from 1 on; 1 shows components as closed boxes")
    return _document(_Artist(graph, nested=True).sheet(tuple(at), level), "", "")


def browse(graph: Component, level: int = 1, at: Sequence[str] = ()) -> Drawing:
    """One file for all levels: a click on a box opens it, a click on the title of a frame closes it.

    Components are open down to ``level`` at first.
    """
    return _document(_Artist(graph, nested=False, opened=level).sheet(tuple(at), None), FOLDING, SCRIPT)


def _document(sheet: _Sheet, style: str, script: str) -> Drawing:
    width, height = sheet.width + 2 * MARGIN, sheet.height + 2 * MARGIN
    view = f"0 0 {width:.1f} {height:.1f}"
    code = f"<script><![CDATA[{script}]]></script>" if script else ""
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" viewBox="{view}"'
        f' data-whole="{view}"><title>{escape(sheet.title)}</title><style><![CDATA[{STYLE}{style}]]></style>'
        f'<rect class="blank" width="100%" height="100%"/>'
        f'<g transform="translate({MARGIN:g} {MARGIN:g})">{sheet.content}</g>{code}</svg>\n'
    )
    return Drawing(svg, width, height)


@dataclass(frozen=True)
class _Sheet:
    """What a component holds, drawn; ``ports`` are the places of its ports on the border."""

    title: str
    content: str
    width: float
    height: float
    ports: Mapping[str, Point]


@dataclass(frozen=True)
class _BondLook:
    size: int = 1
    stroke_at_end: bool | None = None


class _Artist:
    """Draws components of one graph, whose bonds know their size and causality from the whole of it."""

    def __init__(self, graph: Component, nested: bool, opened: int = 1) -> None:
        self.graph, self.nested, self.opened = graph, nested, opened
        self.looks = _looks(graph)

    def sheet(self, path: Path, level: int | None, sides: Mapping[str, int] | None = None) -> _Sheet:
        """A component with its parts, and with its ports on these sides."""
        scope = self.graph.at(path)
        if not isinstance(scope, Component):
            raise InvalidInput(f"'{shown(path)}' is an element and holds nothing to be drawn; name a component")
        if not scope.parts:
            return _words(path, scope)
        sides = _sides(scope) if sides is None else sides
        of_parts = {name: _sides(part, scope, name) for name, part in scope.parts.items()}
        inner: dict[str, _Sheet] = {}
        nodes: dict[str, Node] = {}
        for name, part in scope.parts.items():
            if isinstance(part, Component) and part.parts and (level is None or level > 1 or not self.nested):
                deeper = level if level is None else level - 1
                inner[name] = self.sheet((*path, name), deeper, of_parts[name])
            nodes[name] = _node(name, part, inner.get(name) if self.nested else None)
        for port in scope.ports:
            nodes[PORT + port] = Node(8.0 + SMALL * LETTER * len(port), 18.0, side=sides[port])
        edges = [(split_end(bond.start)[0], split_end(bond.end)[0]) for bond in scope.bonds]
        edges += [(PORT + port, split_end(target)[0]) for port, target in scope.ports.items()]
        joined = {name for edge in edges for name in edge}
        alone = {name: nodes.pop(name) for name in list(nodes) if name not in joined and len(joined) > 1}
        turned = [_turned(of_parts, bond) for bond in scope.bonds]
        turned += [nodes[PORT + port].side > 0 for port in scope.ports]
        placed = place(nodes, edges, turned, _leaves(scope, edges))
        return self._drawn(path, scope, placed, alone, inner)

    def _drawn(
        self, path: Path, scope: Component, placed: Placed, alone: dict[str, Node], inner: Mapping[str, _Sheet]
    ) -> _Sheet:
        listed = _signal_lines(scope)
        if listed:
            wide = max(len(line) for line in listed) * SMALL * LETTER + 2 * GAP
            alone[SIGNALS] = Node(wide, len(listed) * 1.4 * SMALL + 2 * GAP)
        width, height = row_below(placed, list(alone.values()))
        nodes = {**placed.nodes, **alone}
        out = [*self._signal_arrows(scope, nodes)]
        if listed:
            out += _signal_box(nodes[SIGNALS], listed)
        for name, part in scope.parts.items():
            out += self._part((*path, name), nodes[name], part, inner.get(name))
        beside = _shifts(scope)
        for number, (bond, corners) in enumerate(zip(scope.bonds, placed.corners)):
            look = self.looks.get((path, number), _BondLook())
            ends = [self._anchor(nodes, inner, text) for text in (bond.start, bond.end)]
            aside = beside[number] if all(node.width for node, _ in ends) else 0.0
            out += _bond(_beside(_clipped(ends, corners), aside), look)
        for (port, target), corners in zip(scope.ports.items(), placed.corners[len(scope.bonds) :]):
            dot, other = nodes[PORT + port], self._anchor(nodes, inner, target)
            way = _clipped([(dot, (dot.x, dot.y)), other], corners)
            out.append(f'<path class="lead" d="{_line(way)}"/>')
            out.append(f'<text class="small" x="{dot.x:.1f}" y="{dot.y:.1f}">{escape(port)}</text>')
        ports = {port: (nodes[PORT + port].x, nodes[PORT + port].y) for port in scope.ports}
        return _Sheet(path[-1] if path else "bond graph", "".join(out), width, height, ports)

    def _anchor(self, nodes: Mapping[str, Node], inner: Mapping[str, _Sheet], text: str) -> tuple[Node, Point]:
        """The box of a part and the point of it that a bond leads to."""
        name, port = split_end(text)
        node, sheet = nodes[name], inner.get(name)
        if sheet is None or not self.nested or port not in sheet.ports:
            return node, (node.x, node.y)
        x, y = sheet.ports[port]
        edge = node.x + (-0.5 if x < 0.5 * sheet.width else 0.5) * node.width
        top = node.y - 0.5 * node.height + TITLE + 0.5 * (node.height - TITLE - sheet.height)
        return Node(0.0, 0.0), (edge, top + y)

    def _part(self, path: Path, node: Node, part: Part | Component, sheet: _Sheet | None) -> Iterator[str]:
        name = path[-1]
        if isinstance(part, Part):
            yield from _element(name, part, node)
            return
        closed = _box(node, name, part.about)
        if sheet is None:
            yield closed
        elif self.nested:
            yield _frame(node, name, sheet, 1.0)
        else:
            room = node.width - 2 * GAP, node.height - TITLE * 0.5 - GAP
            scale = min(room[0] / (sheet.width + 2 * MARGIN), room[1] / (sheet.height + TITLE + 2 * MARGIN))
            state = " open" if len(path) < self.opened else ""
            yield f'<g class="component{state}" data-path={quoteattr(shown(path))}>'
            yield f'<g class="closed">{closed}</g><g class="inside">{_frame(node, name, sheet, scale)}</g></g>'

    def _signal_arrows(self, scope: Component, nodes: Mapping[str, Node]) -> Iterator[str]:
        """From parts and from the signals of the component to what they modulate."""
        pairs: dict[tuple[str, str], None] = {}
        for name, part in scope.parts.items():
            if isinstance(part, Part):
                for each in modulators(part):
                    pairs[_source(scope, each.name), name] = None
        for wire in scope.wires:
            pairs[_source(scope, wire.start), split_end(wire.end)[0]] = None
        for value in scope.signals.values():
            for each in () if _is_alias(value) else _names(value):
                pairs[_source(scope, each), SIGNALS] = None
        for start, end in pairs:
            if start in nodes and end in nodes and start != end:
                a, b = nodes[start], nodes[end]
                way = _beside(_clipped([(a, (a.x, a.y)), (b, (b.x, b.y))], ()), ASIDE)
                yield f'<path class="signal" d="{_line(way)}"/>{_arrow_head(way)}'


def _looks(graph: Component) -> dict[tuple[Path, int], _BondLook]:
    """Sizes and causal strokes of all bonds, where the graph is whole; of a component alone the sizes."""
    whole, at = graph, 0
    if graph.ports:
        whole, at = _closed(graph), 1
    try:
        flat = flatten(whole)
    except InvalidInput:  # word models have no elements inside; they are drawn with plain bonds
        return {}
    strokes = {} if graph.ports else causality(graph).strokes
    return {
        (each.path[at:], each.number): _BondLook(each.size, strokes.get((each.path, each.number)))
        for each in flat.bonds
        if len(each.path) >= at
    }


def _closed(graph: Component) -> Component:
    """A component alone, with a junction at each of its ports."""
    bonds = []
    for port in graph.ports:
        leaves = _leads_to_b(graph, port)
        bonds.append(Bond("inside." + port, "to " + port) if leaves else Bond("to " + port, "inside." + port))
    return Component({"inside": graph, **{"to " + port: ZeroJunction() for port in graph.ports}}, bonds)


def _leads_to_b(scope: Component, port: str) -> bool:
    """Whether a port is in the end the port b of a two-port, which power leaves."""
    name, inner = split_end(scope.ports[port])
    part = scope.parts.get(name)
    if isinstance(part, Component):
        return inner in part.ports and _leads_to_b(part, inner)
    return isinstance(part, TwoPort) and inner == "b"


def _sides(part: Part | Component, scope: Component | None = None, name: str = "") -> dict[str, int]:
    """On which border of a component its ports lie, -1 left and 1 right.

    The first one lies on the left, the second on the right, others, such as drives, on the left. Where all bonds leave a
    component, or it has one port only, it lies where its bonds lead.
    """
    if not isinstance(part, Component):
        return {}
    sides = {port: 1 if k == 1 else -1 for k, port in enumerate(part.ports)}
    if scope is not None and part.ports:
        starts = [bond for bond in scope.bonds if split_end(bond.start)[0] == name]
        ends = [bond for bond in scope.bonds if split_end(bond.end)[0] == name]
        if len(part.ports) == 1 and starts and not ends:
            other, port = split_end(starts[0].end)
            to = _sides(scope.parts[other]).get(port, -1) if len(getattr(scope.parts[other], "ports", ())) > 1 else -1
            return {next(iter(part.ports)): -to}
        if starts and not ends and not set(scope.ports.values()) & {f"{name}.{port}" for port in part.ports}:
            return dict.fromkeys(part.ports, 1)
    return sides


def _turned(sides: Mapping[str, Mapping[str, int]], bond: Bond) -> bool:
    """Whether a bond leads to the left: from a port on the left, or to one on the right."""
    first, last = (sides[name].get(port, 0) for name, port in map(split_end, (bond.start, bond.end)))
    return first < last


def _leaves(scope: Component, edges: Sequence[tuple[str, str]]) -> dict[str, str]:
    """Elements with one bond, and the junction or box above or below which they hang.

    The last one of a node that leads nowhere else stands behind it, and so does the first source before it.
    """
    hang: dict[str, str] = {}
    for name, part in scope.parts.items():
        own = [edge for edge in edges if name in edge]
        if isinstance(part, (C, I, R, Source)) and len(own) == 1:
            hang[name] = own[0][0] if own[0][1] == name else own[0][1]
    hang = {leaf: on for leaf, on in hang.items() if on not in hang and isinstance(scope.parts.get(on), Part)}
    for holder in dict.fromkeys(hang.values()):
        mine = [leaf for leaf, on in hang.items() if on == holder]
        others = [edge for edge in edges if holder in edge and edge[0] not in mine and edge[1] not in mine]
        behind = [leaf for leaf in mine if not isinstance(scope.parts[leaf], Source)]
        before = [leaf for leaf in mine if isinstance(scope.parts[leaf], Source)]
        if before and not any(b == holder for _, b in others):
            del hang[before[0]]
        if behind and not any(a == holder for a, _ in others):
            del hang[behind[-1]]
    return hang


def _node(name: str, part: Part | Component, sheet: _Sheet | None) -> Node:
    if sheet is not None:
        wide = max(sheet.width, TEXT * LETTER * len(name)) + 2 * MARGIN
        return Node(wide, sheet.height + TITLE + 2 * MARGIN)
    if isinstance(part, Component):
        return Node(max(84.0, TEXT * LETTER * len(name) + 24.0), 46.0)
    if isinstance(part, Junction):
        return Node(22.0, 22.0)
    return Node(TEXT * LETTER * len(_label(name, part)) + 6.0, 22.0)


def _label(name: str, part: Part) -> str:
    modulated = "M" if modulators(part) and isinstance(part, (TwoPort, Source, R)) else ""
    return f"{modulated}{part.symbol}" if name == part.symbol else f"{modulated}{part.symbol}: {name}"


def _source(scope: Component, name: str) -> str:
    first = name.partition(".")[0]
    return first if first in scope.parts else SIGNALS


def _names(value: object) -> Iterator[str]:
    from pliant.bond_graph.expression import names_in

    formulas = value.formulas if isinstance(value, Integral) else value
    for each in names_in(*formulas):  # type: ignore[misc]
        if "." in each.name:
            yield each.name


def _is_alias(value: object) -> bool:
    """Whether a signal is another name for one of a part."""
    return isinstance(value, tuple) and all(each.operation == NAME for each in value)


def _signal_lines(scope: Component) -> list[str]:
    """One line for each signal that the component computes or takes in; integrals carry their sign."""
    lines = [f"\u2192 {name}" for name in scope.inputs]
    for name, value in scope.signals.items():
        if _is_alias(value):
            continue
        size = len(value.formulas) if isinstance(value, Integral) else len(value)  # type: ignore[arg-type]
        many = f" ({size})" if size > 1 else ""
        lines.append(f"\u222b {name}{many}" if isinstance(value, Integral) else f"{name}{many}")
    if len(lines) > MOST_SIGNALS:
        lines = [*lines[: MOST_SIGNALS - 1], f"and {len(lines) - MOST_SIGNALS + 1} more signals"]
    return lines


def _rect(node: Node, kind: str, corner: float) -> str:
    x, y = node.x - 0.5 * node.width, node.y - 0.5 * node.height
    size = f'width="{node.width:.1f}" height="{node.height:.1f}"'
    return f'<rect class="{kind}" x="{x:.1f}" y="{y:.1f}" {size} rx="{corner:g}"/>'


def _box(node: Node, name: str, about: str) -> str:
    told = f"<title>{escape(about)}</title>" if about else ""
    return f'<g>{told}{_rect(node, "box", 5)}<text x="{node.x:.1f}" y="{node.y:.1f}">{escape(name)}</text></g>'


def _frame(node: Node, name: str, sheet: _Sheet, scale: float) -> str:
    x, y = node.x - 0.5 * node.width, node.y - 0.5 * node.height
    title = TITLE * (1.0 if scale == 1.0 else 0.5)
    size = "" if scale == 1.0 else f' style="font-size:{0.7 * title:.1f}px"'
    inside_x = node.x - 0.5 * scale * sheet.width
    inside_y = y + title + 0.5 * (node.height - title - scale * sheet.height)
    return (
        f'{_rect(node, "frame", 5)}<g class="handle"><rect class="box" x="{x:.1f}" y="{y:.1f}"'
        f' width="{node.width:.1f}" height="{title:.1f}" rx="5"/><text class="title"{size} x="{node.x:.1f}"'
        f' y="{y + 0.5 * title:.1f}">{escape(name)}</text></g>'
        f'<g transform="translate({inside_x:.2f} {inside_y:.2f}) scale({scale:.5g})">{sheet.content}</g>'
    )


def _element(name: str, part: Part, node: Node) -> Iterator[str]:
    yield _rect(node, "blank", 0)
    if isinstance(part, Junction):
        yield f'<g><title>{escape(name)}</title><text x="{node.x:.1f}" y="{node.y:.1f}">{part.symbol}</text></g>'
    else:
        yield f'<text x="{node.x:.1f}" y="{node.y:.1f}">{escape(_label(name, part))}</text>'


def _signal_box(node: Node, lines: Sequence[str]) -> Iterator[str]:
    yield _rect(node, "signals", 8)
    for k, line in enumerate(lines):
        y = node.y - 0.5 * node.height + GAP + (k + 0.5) * 1.4 * SMALL
        yield f'<text class="small" x="{node.x:.1f}" y="{y:.1f}">{escape(line)}</text>'


def _words(path: Path, scope: Component) -> _Sheet:
    """A component without elements says why."""
    text = scope.about or "nothing is inside"
    width, height = SMALL * LETTER * len(text), 2 * SMALL
    content = f'<text class="small" x="{0.5 * width:.1f}" y="{0.5 * height:.1f}">{escape(text)}</text>'
    ports = {port: (0.0 if k == 0 else width, 0.5 * height) for k, port in enumerate(scope.ports)}
    return _Sheet(path[-1] if path else "bond graph", content, width, height, ports)


def _clipped(ends: Sequence[tuple[Node, Point]], corners: Sequence[Point]) -> list[Point]:
    """The way from box to box: it begins and ends at their borders."""
    way = [ends[0][1], *corners, ends[1][1]]
    (first, _), (last, _) = ends
    start, end = _border(first, way[0], way[1]), _border(last, way[-1], way[-2])
    return [start, *way[1:-1], end]


def _shifts(scope: Component) -> list[float]:
    """How far bonds between the same two parts are drawn aside, so that each is seen."""
    pairs = [tuple(sorted(split_end(end)[0] for end in (bond.start, bond.end))) for bond in scope.bonds]
    return [12.0 * (pairs[:k].count(pair) - 0.5 * (pairs.count(pair) - 1)) for k, pair in enumerate(pairs)]


def _beside(way: list[Point], shift: float) -> list[Point]:
    """A straight way moved aside, to the same side whichever way it leads."""
    if len(way) > 2 or not shift:
        return way
    (x0, y0), (x1, y1) = way
    n = np.array([y0 - y1, x1 - x0]) / (np.hypot(x1 - x0, y1 - y0) or 1.0)
    n *= shift if (x1, y1) > (x0, y0) else -shift
    return [(x0 + float(n[0]), y0 + float(n[1])), (x1 + float(n[0]), y1 + float(n[1]))]


def _border(node: Node, at: Point, towards: Point) -> Point:
    d = np.subtract(towards, at)
    length = float(np.hypot(*d)) or 1.0
    half = np.array([0.5 * node.width, 0.5 * node.height])
    far = min(float(np.min(half / np.maximum(np.abs(d), 1e-9))), 0.45) + 3.0 / length
    return float(at[0] + far * d[0]), float(at[1] + far * d[1])


def _line(way: Sequence[Point]) -> str:
    return "M" + " L".join(f"{x:.1f} {y:.1f}" for x, y in way)


def _along(way: Sequence[Point], last: bool) -> tuple[Point, Point, Point]:
    """An end of a way, the direction to it and across."""
    end, before = (way[-1], way[-2]) if last else (way[0], way[1])
    d = np.subtract(end, before)
    u = d / (float(np.hypot(*d)) or 1.0)
    return end, (float(u[0]), float(u[1])), (float(-u[1]), float(u[0]))


def _bond(way: list[Point], look: _BondLook) -> Iterator[str]:
    """A line with a half arrow, double where it carries a vector, and with its causal stroke."""
    end, u, n = _along(way, last=True)
    line = _line(way)
    if look.size > 1:
        yield f'<path class="bond wide" d="{line}"/><path class="bond core" d="{line}"/>'
        k = (len(way) - 1) // 2
        x, y = np.add(way[k], way[k + 1]) / 2 + np.multiply(n, -9.0)
        yield f'<text class="size" x="{x:.1f}" y="{y:.1f}">{look.size}</text>'
    else:
        yield f'<path class="bond" d="{line}"/>'
    barb = (end[0] - BARB * u[0] + 0.6 * BARB * n[0], end[1] - BARB * u[1] + 0.6 * BARB * n[1])
    yield f'<path class="bond" d="{_line([end, barb])}"/>'
    if look.stroke_at_end is not None:
        (x, y), _, (a, b) = _along(way, last=look.stroke_at_end)
        both = [(x - STROKE * a, y - STROKE * b), (x + STROKE * a, y + STROKE * b)]
        yield f'<path class="stroke" d="{_line(both)}"/>'


def _arrow_head(way: Sequence[Point]) -> str:
    (x, y), (u, v), (a, b) = _along(way, last=True)
    left, right = ((x - 8 * u + s * 3 * a, y - 8 * v + s * 3 * b) for s in (1.0, -1.0))
    return f'<path class="tip" d="{_line([(x, y), left, right])} Z"/>'
