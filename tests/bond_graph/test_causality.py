"""Causality is assigned in sequence; what it finds is explained and never refused."""

from __future__ import annotations

import pytest

from pliant.bond_graph import GY, TF, Bond, C, Component, I, OneJunction, R, Se, Sf, ZeroJunction, causality
from tests.bond_graph.systems import (
    LINEAR,
    NONLINEAR,
    algebraic_loop,
    coupled_inertias,
    dc_motor,
    mass_spring_damper,
    pendulum,
    transformer_loop,
)


def test_strokes_of_a_mass_on_a_spring() -> None:
    """The mass is told the effort and decides the flow; everything else tells the junction its effort."""
    found = causality(mass_spring_damper().graph)
    # bonds: force -> v, v -> mass, v -> spring, v -> damper; the stroke is at the end that is told the effort
    assert [found.strokes[(), k] for k in range(4)] == [True, True, False, False]
    assert str(found) == "all stores have integral causality, without algebraic loops"


def test_a_gyrator_crosses_and_a_transformer_passes() -> None:
    motor = causality(dc_motor().graph)
    gyrator = [motor.strokes[(), k] for k in (3, 4)]  # i -> armature, armature -> w
    assert gyrator == [False, True]  # told flows at both ports: strokes away from it
    assert not motor.derivative
    assert not motor.loops
    gear = Component(
        {"F": Se(effort=1.0), "a": OneJunction(), "m": I(inertia=1.0), "t": TF(ratio=2.0), "k": C(stiffness=1.0)},
        [Bond("F", "a"), Bond("a", "m"), Bond("a", "t"), Bond("t", "k")],
    )
    found = causality(gear)
    assert [found.strokes[(), k] for k in (2, 3)] == [False, False]


def test_a_dependent_store_has_derivative_causality() -> None:
    found = causality(coupled_inertias().graph)
    assert found.derivative == ("I 'table'",)
    assert not found.conflicts
    assert "I 'table' has derivative causality" in str(found)


def test_losses_in_a_loop_are_named() -> None:
    assert causality(algebraic_loop().graph).loops == ("R 'r1'", "R 'r2'", "R 'r3'")


def test_conflicts_are_sentences() -> None:
    """Two transformers of different ratio, and a rod that holds a mass: numbers resolve both."""
    assert any("told" in each for each in causality(transformer_loop().graph).conflicts)
    two = Component({"n": ZeroJunction(), "a": Se(effort=1.0), "b": Se(effort=1.0)}, [Bond("a", "n"), Bond("b", "n")])
    assert causality(two).conflicts == ("0 'n' is told its effort by 2 bonds",)
    flows = Component({"v": OneJunction(), "a": Sf(flow=1.0), "b": Sf(flow=1.0)}, [Bond("a", "v"), Bond("b", "v")])
    assert causality(flows).conflicts == ("1 'v' is told its flow by 2 bonds",)


def test_paths_are_named() -> None:
    graph = Component({"arm": Component({"link 1": coupled_inertias().graph})})
    assert causality(graph).derivative == ("I 'arm / link 1 / table'",)
    assert (("arm", "link 1"), 0) in causality(graph).strokes


@pytest.mark.parametrize("name", [*LINEAR, *NONLINEAR])
def test_every_bond_has_a_stroke_and_junctions_are_told_once(name: str) -> None:
    graph = {**LINEAR, **NONLINEAR}[name]().graph
    found = causality(graph)
    from pliant.bond_graph.flat import flatten
    from pliant.bond_graph.graph import shown

    flat = flatten(graph)
    assert len(found.strokes) == len(flat.bonds)
    named = " ".join(found.conflicts)
    for place in flat.places:
        if place.part.symbol in ("0", "1") and f"'{shown(place.path)}'" not in named:
            told = [
                found.strokes[flat.bonds[bond].path, flat.bonds[bond].number] == (sign == 1)
                for bond, _, sign in place.bonds
            ]
            assert told.count(place.part.symbol == "0") == 1, str(place)


def test_a_constraint_asks_a_mass_for_derivative_causality() -> None:
    assert "I 'mass'" in causality(pendulum().graph).derivative


def test_resistances_keep_to_the_causality_of_their_law() -> None:
    """In a loop of two, the first decides as it is written."""
    graph = Component(
        {"u": Se(effort=1.0), "i": OneJunction(), "a": R(conductance=1.0), "b": R(resistance=1.0), "g": GY(ratio=1.0),
         "c": C(stiffness=1.0)},
        [Bond("u", "i"), Bond("i", "a"), Bond("i", "b"), Bond("i", "g"), Bond("g", "c")],
    )  # fmt: skip
    found = causality(graph)
    assert found.loops == ()
    assert found.strokes[(), 3] is True  # the C tells the gyrator its effort, which so decides the flow of i
