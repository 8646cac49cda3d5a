"""Graphs that cannot be computed are refused in a sentence with the path of names and a remedy."""

from __future__ import annotations

import pytest

from pliant.bond_graph import GY, TF, Bond, C, Component, I, Integral, OneJunction, R, Se, Sf, Signal, ZeroJunction
from pliant.errors import InvalidInput


def inside(part: Component) -> Component:
    """A graph that holds a component two levels down."""
    return Component({"arm": Component({"link 1": part})})


def mass(**more: object) -> Component:
    """A mass on a junction, and something else."""
    parts = {"v": OneJunction(), "mass": I(inertia=1.0), **more}
    return Component(parts, [Bond("v", "mass")])  # type: ignore[arg-type]


CASES = {
    "no bond at an element": (mass(spring=C(stiffness=1.0)), "C 'arm / link 1 / spring' is not connected; give it"),
    "no bond at a port": (
        Component({"v": OneJunction(), "m": I(inertia=1.0), "gear": TF(ratio=2.0)},
                  [Bond("v", "m"), Bond("v", "gear")]),
        "TF 'arm / link 1 / gear' is not connected at its port 'b'",
    ),
    "a junction alone": (mass(node=ZeroJunction()), "0 'arm / link 1 / node' has no bond"),
    "two bonds at a port": (
        Component({"a": OneJunction(), "b": OneJunction(), "m": I(inertia=1.0)}, [Bond("a", "m"), Bond("b", "m")]),
        "I 'arm / link 1 / m' has 2 bonds; put a junction",
    ),
    "a bond to nobody": (Component({"v": OneJunction()}, [Bond("v", "ghost")]), "link 1': there is no part 'ghost'"),
    "a bond to a component without port": (
        Component({"v": OneJunction(), "in": mass()}, [Bond("v", "in")]),
        "'arm / link 1 / in' is a component, whose port must be named",
    ),
    "a wrong arrow": (
        Component({"v": OneJunction(), "m": I(inertia=1.0)}, [Bond("m", "v")]),
        "the bond from 'm' to 'v' of 'arm / link 1' must point to I 'arm / link 1 / m'; turn it round",
    ),
    "sizes": (
        Component({"v": OneJunction(), "a": I(inertia=[1, 1]), "b": I(inertia=[1, 1, 1])},
                  [Bond("v", "a"), Bond("v", "b")]),
        "joins a port of size 2 and a port of size 3; make them equal",
    ),
    "two efforts": (
        Component({"n": ZeroJunction(), "a": Se(effort=1.0), "b": Se(effort=2.0)}, [Bond("a", "n"), Bond("b", "n")]),
        "over-determined: Se 'arm / link 1 / a' and Se 'arm / link 1 / b' decide the same thing; remove",
    ),
    "two flows": (
        Component({"v": OneJunction(), "a": Sf(flow=1.0), "b": Sf(flow=2.0)}, [Bond("a", "v"), Bond("v", "b")]),
        "over-determined: Sf 'arm / link 1 / a' and Sf 'arm / link 1 / b' decide the same thing",
    ),
    "a loop of junctions": (
        Component(
            {"F": Se(effort=1.0), "a": OneJunction(), "b": OneJunction(), "m": I(inertia=1.0)},
            [Bond("F", "a"), Bond("a", "b"), Bond("a", "b"), Bond("b", "m")],
        ),
        "under-determined: nothing decides the effort of 1 'arm / link 1 / b'; remove a bond",
    ),
    "equal transformers in a loop": (
        Component(
            {
                "F": Se(effort=1.0),
                "a": OneJunction(),
                "b": OneJunction(),
                "m": I(inertia=1.0),
                "t": TF(ratio=2.0),
                "s": TF(ratio=2.0),
            },
            [Bond("F", "a"), Bond("a", "t"), Bond("a", "s"), Bond("t", "b"), Bond("s", "b"), Bond("b", "m")],
        ),
        "over-determined: TF 'arm / link 1 / t' and TF 'arm / link 1 / s' depend on each other",
    ),
    "an unknown name": (mass(F=Se(effort="2 * speed")), "Se 'arm / link 1 / F'.*'speed' in 'arm / link 1' is not"),
    "an unknown variable": (
        mass(F=Se(effort="mass.q")),
        "Se 'arm / link 1 / F': the name 'mass.q' in 'arm / link 1' is not known; there are t, mass.p, mass.e, mass.f",
    ),
    "an index": (mass(F=Se(effort="mass.p[3]")), "'mass.p' has 1 components, not 4"),
    "energy of another state": (
        Component(
            {"v": OneJunction(), "m": I(inertia=1.0), "c": C(energy="q**2 * m.p")}, [Bond("v", "m"), Bond("v", "c")]
        ),
        "energy of C 'arm / link 1 / c' depends on 'm.p', but may depend on its own 1 states 'q' alone",
    ),
    "an input nobody gives": (
        Component({"in": Component({"s": Se(effort="ratio")}, ports={"out": "s"}, inputs=("ratio",)),
                   "m": I(inertia=1.0)}, [Bond("in.out", "m")]),
        "nobody gives the signal 'ratio' to 'arm / link 1 / in'; add a wire",
    ),
    "a wire to nobody": (
        Component({"v": OneJunction(), "m": I(inertia=1.0)}, [Bond("v", "m")], wires=[Signal("v.f", "m.speed")]),
        "the wire from 'v.f' to 'm.speed' of 'arm / link 1' leads to no input",
    ),
    "a wire of another size": (
        Component({"v": OneJunction(size=2), "m": I(inertia=[1.0, 1.0]),
                   "in": Component({"s": Se(effort="u"), "n": OneJunction(), "r": R(resistance=1.0)},
                                   [Bond("s", "n"), Bond("n", "r")], inputs=("u",))},
                  [Bond("v", "m")], wires=[Signal("v.f", "in.u")]),
        "leads to no input of a component with 2 components",
    ),
    "signals of each other": (
        Component({"v": OneJunction(), "m": I(inertia=1.0)}, [Bond("v", "m")], signals={"s": "u", "u": "s"}),
        "defined by each other: signal 'arm / link 1 / s', signal 'arm / link 1 / u'; give one of them a formula",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_a_graph_is_refused_with_its_path(case: str) -> None:
    part, reason = CASES[case]
    if case in ("an unknown name", "an unknown variable", "an index"):
        part = Component(part.parts, [*part.bonds, Bond("F", "v")])
    with pytest.raises(InvalidInput, match=reason) as refused:
        inside(part).compile()
    assert "\n" not in str(refused.value)


def test_a_singular_start_is_explained() -> None:
    """Nothing but a law whose slope is zero at the start, and no number wherever it is tried."""
    graph = Component(
        {"n": ZeroJunction(), "c": C(stiffness=1.0, start=-1.0), "r": R(flow="sqrt(e - 10000)")},
        [Bond("n", "c"), Bond("n", "r")],
    )
    with pytest.raises(InvalidInput, match="a formula or its derivative is no number in R 'r'"):
        graph.compile()


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda: C(), "C takes one of stiffness, compliance, energy, but has none of them"),
        (lambda: C(stiffness=1.0, compliance=2.0), "has stiffness and compliance; give exactly one"),
        (lambda: C(stiffness=[[1.0, 2.0], [0.0, 1.0]]), "not symmetric"),
        (lambda: C(stiffness="q"), "must be numbers, because energy is a function of the states alone"),
        (lambda: I(inertia=0.0), "cannot be inverted"),
        (lambda: I(inertia=float("nan")), "no finite number"),
        (lambda: C(energy="q", sizes=0), "size = 0 must be a whole number"),
        (lambda: C(stiffness=[1, 1], sizes={"a": 1, "b": 2}), "its ports have 3 components, but its matrix 2"),
        (lambda: C(stiffness=1.0, start=[1.0, 2.0]), "start .* must be 1 finite numbers"),
        (lambda: R(resistance=[[1.0, 2.0]]), "has 1 rows of 2 entries; make it square"),
        (lambda: TF(ratio=[[1.0], [1.0, 2.0]]), "is no finite number and no formula"),
        (lambda: GY(ratio=None), "None is no finite number and no formula"),
        (lambda: Component({"a.b": OneJunction()}), "needs a name without"),
        (lambda: Component({"a": 3.0}), "give an element or a component"),  # type: ignore[dict-item]
        (lambda: Component({"a": OneJunction()}, signals={"q": "1"}), "has the name of a part, of another signal"),
        (lambda: Component({"a": OneJunction()}, [("a", "b")]), "is no Bond; write"),  # type: ignore[list-item]
        (lambda: Component({}).compile(), "the bond graph has no element"),
        (lambda: Integral(("1", "2"), (0.0, 1.0, 2.0)), "must be 2 finite numbers"),
    ],
)
def test_elements_are_refused_when_they_are_made(make: object, reason: str) -> None:
    with pytest.raises(InvalidInput, match=reason):
        make()  # type: ignore[operator]


def test_constraints_on_what_has_no_inertia_are_refused() -> None:
    """A flow that a source holds and a spring that must follow is fine; a force on nothing is not."""
    graph = Component(
        {"v": OneJunction(), "F": Se(effort=1.0), "hold": Sf(flow=0.0), "r": OneJunction(), "t": TF(ratio="x"),
         "m": I(inertia=1.0)},
        [Bond("F", "v"), Bond("v", "t"), Bond("t", "r"), Bond("hold", "r"), Bond("r", "m")],
        signals={"x": Integral("v.f", 0.0)},
    )  # fmt: skip
    with pytest.raises(InvalidInput, match=r"depend on each other|index above two|over-determined"):
        graph.compile().initial_state()
