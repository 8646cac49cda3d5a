"""Drawings: valid files, all bonds with half arrows and strokes, nothing on top of each other, levels, refusals."""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import pytest

import pliant as pl
from pliant.experiments.bond_graph_images import pictures
from pliant.experiments.wang2017.bond_graph import rig_graph
from pliant.view.graph_layout import Edge, Node, place

bg = pl.bond_graph
IMAGES = Path(__file__).parents[2] / "docs" / "images"
NAMESPACE = "{http://www.w3.org/2000/svg}"
LETTER = 0.6  # width of most letters against their height


def oscillator() -> bg.Component:
    parts = {"push": bg.Se(effort=1.0), "v": bg.OneJunction(), "mass": bg.I(inertia=2.0), "spring": bg.C(stiffness=5.0)}
    return bg.Component(parts, [bg.Bond("push", "v"), bg.Bond("v", "mass"), bg.Bond("v", "spring")])


def arm_graph() -> bg.Component:
    return bg.of(pl.load(pl.library.path("damic_two_link")), bg.Beams(2))


GRAPHS = {"oscillator": oscillator, "rig of wang2017": lambda: rig_graph(5), "arm": arm_graph}


def elements(svg: str, kind: str, word: str) -> list[ElementTree.Element]:
    tree = ElementTree.fromstring(svg)
    return [each for each in tree.iter(NAMESPACE + kind) if word in each.get("class", "").split()]


def points(path: ElementTree.Element) -> list[tuple[float, float]]:
    return [(float(x), float(y)) for x, y in re.findall(r"(-?[\d.]+) (-?[\d.]+)", path.get("d", ""))]


def texts(svg: str) -> Counter[str]:
    return Counter(each.text or "" for each in ElementTree.fromstring(svg).iter(NAMESPACE + "text"))


@pytest.mark.parametrize("level", [1, 2, None])
@pytest.mark.parametrize("name", GRAPHS)
def test_drawings_are_valid_files_and_always_the_same(name: str, level: int | None) -> None:
    one, two = (bg.draw(GRAPHS[name](), level) for _ in range(2))
    assert one == two
    root = ElementTree.fromstring(one.svg)
    assert root.tag == NAMESPACE + "svg"
    assert one._repr_svg_() == one.svg


def test_every_bond_has_a_line_a_half_arrow_and_a_stroke() -> None:
    svg = bg.draw(oscillator()).svg
    assert len(elements(svg, "path", "bond")) == 2 * 3
    assert len(elements(svg, "path", "stroke")) == 3
    whole = rig_graph(5)
    bonds = sum(len(part.bonds) for _, part in whole.walk() if isinstance(part, bg.Component)) + len(whole.bonds)
    assert len(elements(bg.draw(whole, None).svg, "path", "stroke")) == bonds


def test_strokes_stand_where_the_effort_acts_and_half_arrows_where_power_goes() -> None:
    """An Se tells its effort to the I: the stroke is at the I, and so is the arrow; a spring takes a flow."""
    for store, at_store in ((bg.I(inertia=1.0), True), (bg.C(stiffness=1.0), False)):
        source = bg.Se(effort=1.0) if at_store else bg.Sf(flow=1.0)
        svg = bg.draw(bg.Component({"source": source, "store": store}, [bg.Bond("source", "store")])).svg
        line, barb = (points(each) for each in elements(svg, "path", "bond"))
        (stroke,) = (points(each) for each in elements(svg, "path", "stroke"))
        middle = sum(x for x, _ in stroke) / 2
        assert barb[0] == line[-1]
        assert middle == pytest.approx(line[-1 if at_store else 0][0], abs=0.2)


def test_vector_bonds_are_double_and_show_their_size() -> None:
    svg = bg.draw(rig_graph(5)).svg
    assert len(elements(svg, "path", "wide")) == 2  # from hub to beam, and from its end
    assert texts(svg)["6"] == 2
    assert not elements(bg.draw(oscillator()).svg, "path", "wide")


def test_levels_open_one_after_the_other() -> None:
    graph = arm_graph()
    seen = [set(texts(bg.draw(graph, level).svg)) for level in (1, 2, 3, 4)]
    assert {"Controller", "Manipulator", "Base", "End"} <= seen[0]
    assert "inner" in seen[1] - seen[0]
    assert "Super Element 1" in seen[2] - seen[1]
    assert "Beam3D 1" in seen[3] - seen[2]
    inside = texts(bg.draw(graph, at=("Manipulator", "inner", "Super Element 1", "Beam3D 1")).svg)
    fig_2 = ("MTF: J11", "MTF: J12", "MTF: J21", "MTF: J22", "Deformation", "Rigid Body Motion", "Modulating Signals")
    assert set(fig_2) <= set(inside)


def rectangles(svg: str, *kinds: str) -> list[tuple[float, ...]]:
    found = [each for kind in kinds for each in elements(svg, "rect", kind) if each.get("width") != "100%"]
    boxes = [tuple(float(each.get(word, "0")) for word in ("x", "y", "width", "height")) for each in found]
    return [(x, y, x + w, y + h) for x, y, w, h in boxes]


@pytest.mark.parametrize("name", GRAPHS)
def test_boxes_do_not_overlap_and_hold_their_text(name: str) -> None:
    graph = GRAPHS[name]()
    scopes = [(), *(path for path, part in graph.walk() if isinstance(part, bg.Component) and part.parts)]
    for path in scopes:
        svg = bg.draw(graph, at=path).svg
        boxes = rectangles(svg, "box", "signals", "blank")
        for k, (a, b, c, d) in enumerate(boxes):
            for x, y, z, w in boxes[k + 1 :]:
                assert min(c, z) <= max(a, x) + 1e-9 or min(d, w) <= max(b, y) + 1e-9, (path, boxes)
        for group in ElementTree.fromstring(svg).iter(NAMESPACE + "g"):
            words, rows = group.findall(NAMESPACE + "text"), group.findall(NAMESPACE + "rect")
            if len(words) == len(rows) == 1:
                assert 15.0 * LETTER * len(words[0].text or "") <= float(rows[0].get("width", "0"))


@pytest.mark.parametrize("name", ["mixed_element", "arm_beam", "arm_joint"])
def test_arrows_of_signals_are_seen_and_sizes_are_clear_of_bonds(name: str) -> None:
    svg = pictures()[name].svg
    root = ElementTree.fromstring(svg)
    own = next(each for each in root.iter(NAMESPACE + "g") if each.get("transform"))
    tips = [points(each)[0] for each in own.findall(NAMESPACE + "path") if each.get("class") == "tip"]
    boxes = rectangles(svg, "box", "signals", "blank") if name != "arm_joint" else []
    assert tips
    for x, y in tips:
        assert not [box for box in boxes if box[0] < x < box[2] and box[1] < y < box[3]]
    bonds = [points(each) for each in own.findall(NAMESPACE + "path") if "wide" in each.get("class", "")]
    sizes = [each for each in own.findall(NAMESPACE + "text") if each.get("class") == "size"]
    assert len(sizes) == len(bonds)
    for size, mine in zip(sizes, bonds):
        at = complex(float(size.get("x", "0")), float(size.get("y", "0")))
        near = [far(at, *(complex(*end) for end in ends)) for bond in bonds for ends in pairwise(bond)]
        assert min(near) > 5.0, (size.text, mine)


def far(at: complex, a: complex, b: complex) -> float:
    """From a place to a line between two others."""
    return min(abs(at - a - part * (b - a)) for part in (k / 200 for k in range(201)))


def test_chains_lead_from_left_to_right() -> None:
    nodes = {name: Node(40.0, 20.0) for name in "abcd"}
    place(nodes, [Edge("a", "b"), Edge("b", "c"), Edge("c", "d")], {})
    assert [node.x for node in nodes.values()] == sorted(node.x for node in nodes.values())
    assert len({node.y for node in nodes.values()}) == 1


def test_one_file_opens_and_closes_all_components() -> None:
    graph = rig_graph(5)
    svg = bg.browse(graph, level=2).svg
    groups = elements(svg, "g", "component")
    held = [path for path, part in graph.walk() if isinstance(part, bg.Component)]
    assert sorted(each.get("data-path", "") for each in groups) == sorted(" / ".join(path) for path in held)
    opened = [each.get("data-path", "") for each in groups if "open" in each.get("class", "").split()]
    assert sorted(opened) == sorted(path[0] for path in held if len(path) == 1)
    script = next(ElementTree.fromstring(svg).iter(NAMESPACE + "script"))
    assert "classList.toggle('open')" in (script.text or "")
    assert not list(ElementTree.fromstring(bg.draw(graph).svg).iter(NAMESPACE + "script"))


def test_pictures_of_the_page_are_those_of_the_graphs() -> None:
    stale = [
        name for name, drawing in pictures().items() if (IMAGES / f"bond_graph_{name}.svg").read_text() != drawing.svg
    ]
    assert not stale, "run: python -m pliant.experiments.bond_graph_images docs/images"


def test_files_are_written_whole_and_nothing_is_overwritten(tmp_path: Path) -> None:
    drawing, file = bg.draw(oscillator()), tmp_path / "oscillator.svg"
    drawing.save(file)
    assert file.read_text(encoding="utf-8") == drawing.svg
    with pytest.raises(pl.InvalidInput, match="exists already"):
        drawing.save(file)
    drawing.save(file, overwrite=True)
    with pytest.raises(pl.InvalidInput, match="does not exist"):
        drawing.save(tmp_path / "no" / "folder.svg")


def test_names_that_are_marks_in_files_are_drawn_as_they_are() -> None:
    graph = bg.Component({"a < b & c": bg.Se(effort=1.0), "m": bg.I(inertia=1.0)}, [bg.Bond("a < b & c", "m")])
    assert texts(bg.draw(graph).svg)["Se: a < b & c"] == 1


def test_what_cannot_be_drawn_is_refused_in_a_sentence() -> None:
    with pytest.raises(pl.InvalidInput, match="level = 0 must be a whole number"):
        bg.draw(oscillator(), 0)
    with pytest.raises(pl.InvalidInput, match="'mass' is an element and holds nothing"):
        bg.draw(oscillator(), at=("mass",))
    with pytest.raises(pl.InvalidInput, match="there is no part 'nobody'"):
        bg.draw(oscillator(), at=("nobody",))
