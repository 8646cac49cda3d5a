"""Bond graphs as files: written and read back, refused with file, line and field, never run as code."""

from __future__ import annotations

from pathlib import Path

import pytest

import pliant as pl
from pliant.bond_graph import Beams, Bond, Component, I, OneJunction, R, Se, dump, load, loads, name, of, save
from pliant.errors import InvalidFile, InvalidInput
from tests.bond_graph.systems import LINEAR, NONLINEAR

CAR = """
pliant: 1
parameters: {k: 15e3, stiff: 12 * k}
components:
  axle:
    about: a wheel on its tyre
    parts:
      below: {type: 0}
      tyre: {type: C, stiffness: stiff, domain: translation}
      wheel: {type: 1}
      mass: {type: I, inertia: 40, start: 0.5}
      loss: {type: R, effort: gain * f + 3 * f**3}
    bonds: [below -> tyre, below -> wheel, wheel -> mass, wheel -> loss]
    ports: {road: below, hub: wheel}
    inputs: {gain: 1}
    signals:
      height: {integral: wheel.f, start: 0.1}
      both: [height, 2 * height]
graph:
  parts:
    road: {type: Sf}
    axle: {component: axle}
    spring: {type: C, stiffness: k}
  bonds: [road -> axle.road, axle.hub -> spring]
  signals: {gain: '2 + cos(axle.both[1])'}
  wires: [gain -> axle.gain]
"""


@pytest.mark.parametrize("name", [*LINEAR, *NONLINEAR])
def test_graphs_are_written_and_read_back(name: str) -> None:
    graph = {**LINEAR, **NONLINEAR}[name]().graph
    assert loads(dump(graph)) == graph


@pytest.mark.parametrize("name", ["two_link_planar", "seven_joint_two_flexible"])
def test_arms_down_to_elements_are_written_and_read_back(name: str) -> None:
    """Names of their parts have spaces, and their matrices many entries."""
    graph = of(pl.load(pl.library.path(name)), Beams(1))
    assert loads(dump(graph)) == graph


def test_words_of_python_may_be_names() -> None:
    parts = {"in": Se(effort=1.0), "is it": OneJunction(), "m": I(inertia=1.0), "loss": R(effort="f * 'is it'.f")}
    bonds = [Bond("in", "is it"), Bond("is it", "m"), Bond("is it", "loss")]
    graph = Component(parts, bonds, signals={"power": name("in.e") * name("is it.f"), "alone": name("is it.f")})
    assert loads(dump(graph)) == graph
    assert graph.compile().values([[2.0]], "'is it.f' + 'in'.e")[0] == 3.0


def test_a_file_is_read_as_it_says(tmp_path: Path) -> None:
    graph = loads(CAR)
    axle = graph.parts["axle"]
    assert isinstance(axle, Component)
    assert axle.about == "a wheel on its tyre"
    assert axle.parts["tyre"].stiffness == ((180e3,),)  # type: ignore[union-attr]
    assert graph.compile().layout.size == 4
    save(graph, tmp_path / "car.yaml")
    assert load(tmp_path / "car.yaml") == graph
    with pytest.raises(InvalidInput, match="exists already"):
        save(graph, tmp_path / "car.yaml")


def test_the_library_has_a_graph() -> None:
    graph = load(pl.library.bond_graph("dc_motor"))
    assert [port.name for port in graph.compile().ports] == ["supply", "load"]
    with pytest.raises(InvalidInput, match="is not a bond graph of the library; did you mean 'dc_motor'"):
        pl.library.bond_graph("dc_moto")


@pytest.mark.parametrize(
    ("old", "new", "place", "reason"),
    [
        ("pliant: 1", "pliant: 2", "", "pliant must be 1"),
        ("type: 0", "type: Q", ":8:", r"components.axle.parts.below : type = 'Q' is no element"),
        ("type: 0", "tipe: 0", ":8:", "components.axle.parts.below : lacks 'type'"),
        ("stiffness: stiff,", "stiffness: __import__('os').system('ls'),", ":9:", "is not allowed in the formula"),
        ("stiffness: stiff,", "stiffness: (lambda x. x)(1),", ":9:", "is no formula|is not allowed"),
        ("stiffness: stiff,", "stiffness: soft,", ":9:", "must be numbers, because energy"),
        ("domain: translation", "domain: transport", ":9:", "is no domain; did you mean 'translation'"),
        ("inertia: 40", "inertia: -0", ":11:", "cannot be inverted"),
        ("start: 0.5", "start: v", ":11:", "is no number"),
        ("gain * f", "gain * * f", ":12:", "is no formula"),
        ("below -> tyre", "below tyre", ":13:", "is no arrow; write a -> b"),
        ("{gain: 1}", "{gain: 1.5}", ":15:", "must be a whole number"),
        ("integral: wheel.f", "integer: wheel.f", ":17:", "'integer' is no field of a signal"),
        ("component: axle", "component: axel", ":22:", "is no component; did you mean 'axle'"),
        (
            "road: {type: Sf}",
            "road: {component: axle, type: Sf}",
            ":21:",
            "'type' is no field of a part beside component",
        ),
        ("graph:", "grid:", "", "'grid' is no field of a bond graph file"),
        ("k: 15e3", "k: x", ":3:", "is no number"),
        ("type: Sf", "type: &a Sf", ":21:", "defines the anchor"),
        ("type: Sf", "type: !!python/name:os.system Sf", ":21:", "carries the tag"),
        ("parts:\n    road", "parts:\n    v.w: {type: 1}\n    road", "", "needs a name without"),
        ("about:", "parts: {}\n    about:", "", "is written twice"),
    ],
)
def test_what_is_wrong_is_refused_with_its_line(old: str, new: str, place: str, reason: str) -> None:
    text = CAR.replace(old, new, 1)
    assert text != CAR
    with pytest.raises(InvalidFile, match=reason) as refused:
        loads(text, "car.yaml")
    assert f"car.yaml{place}" in str(refused.value)


def test_components_that_hold_themselves_are_refused_with_their_path() -> None:
    text = """
pliant: 1
components:
  arm: {parts: {link: {component: link}}}
  link: {parts: {beam: {component: beam}}}
  beam: {parts: {again: {component: arm}}}
graph: {parts: {arm: {component: arm}}}
"""
    with pytest.raises(InvalidFile, match=r"f.yaml:6:.* makes component 'arm' hold itself: arm / link / beam / arm"):
        loads(text, "f.yaml")


def test_a_file_that_cannot_be_read_says_so(tmp_path: Path) -> None:
    with pytest.raises(InvalidFile, match=r"cannot be read .*write the path of a bond graph file"):
        load(tmp_path / "none.yaml")
    with pytest.raises(InvalidFile, match="is empty; write a bond graph"):
        loads("")
