"""Formulas: values and derivatives of the compiled tape, text and back, what is refused."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from numpy.typing import NDArray

from pliant.bond_graph import (
    Bond,
    C,
    Component,
    I,
    OneJunction,
    R,
    Se,
    asin,
    atan2,
    cos,
    exp,
    larger,
    log,
    name,
    parse,
    rotation_factor,
    sign,
    sin,
    smooth_sign,
    sqrt,
    tan,
    tanh,
)
from pliant.bond_graph.arrays import instant_system, step_system
from pliant.bond_graph.equations import Equations
from pliant.bond_graph.flat import flatten
from pliant.errors import InvalidInput
from pliant.formulas.expression import Expression, derivative, written
from pliant.formulas.tape import evaluate_once

a, b = name("f"), name("other")
# formulas of two flows, which the tape is to differentiate
FORMULAS = {
    "sum": a + 2.0 * b - 3.0,
    "product": a * b * b,
    "quotient": a / (b + 4.0),
    "power": a**3 + (b + 4.0) ** 1.7 + (b + 4.0) ** a,
    "waves": sin(a) * cos(b) + tan(0.3 * a),
    "roots": sqrt(b + 5.0) + exp(0.3 * a) + log(b + 6.0),
    "angles": atan2(a, b + 3.0) + asin(0.2 * b),
    "corners": larger(a, b) * abs(b) + sign(a) * b,
    "smooth": tanh(a) * smooth_sign(b, 0.4),
    "rotation": rotation_factor(a * a) * b,
    "small rotation": rotation_factor(1e-3 * a * b),
    "imaginary rotation": rotation_factor(-a * a - b * b),
}


def graph_of(formula: Expression) -> Component:
    """A loss with this law of its own flow and of another one."""
    return Component(
        {
            "push": Se(effort=1.0),
            "v": OneJunction(),
            "loss": R(effort=formula),
            "mass": I(inertia=1.0),
            "w": OneJunction(),
            "second": I(inertia=2.0),
        },
        [Bond("push", "v"), Bond("v", "loss"), Bond("v", "mass"), Bond("w", "second")],
        signals={"other": "w.f"},
    )


@pytest.mark.bounds
@pytest.mark.parametrize("kind", FORMULAS)
def test_jacobian_of_the_tape_is_that_of_differences(kind: str) -> None:
    equations = Equations(flatten(graph_of(FORMULAS[kind])))
    system, random = step_system(equations), np.random.default_rng(3)
    x, z = np.zeros(2), random.uniform(-1.5, 1.5, system.size)
    values = system.values()

    def at(z: NDArray[np.float64]) -> NDArray[np.float64]:
        evaluate_once(system.equation, system.tape, system.point(x, z, np.zeros(0), 0.3, 0.1), values)
        return values.F.copy()

    at(z)
    jacobian = np.zeros((len(equations.rows), system.size))
    jacobian[system.rows_of_slots(), system.columns] = values.J
    for k in range(system.size):
        h = np.zeros(system.size)
        h[k] = 1e-3
        # of order six: the error is some 1e-14 of the seventh derivative
        slope = sum(c * (at(z + j * h) - at(z - j * h)) for j, c in ((1, 0.75), (2, -0.15), (3, 1 / 60))) / 1e-3
        np.testing.assert_allclose(jacobian[:, k], slope, atol=1e-10, rtol=0.0)


def test_states_of_a_step_have_exact_derivatives_too() -> None:
    """A store that is not quadratic, whose mean gradient reads its state at many parts of the step."""
    q = name("q")
    graph = Component(
        {"v": OneJunction(), "spring": C(energy=exp(q) + q**4, start=0.2), "mass": I(inertia=2.0)},
        [Bond("v", "spring"), Bond("v", "mass")],
    )
    system = step_system(Equations(flatten(graph)))
    x, z, values = np.array([0.2, 0.1]), np.array([0.3, -1.0, 0.7]), system.values()
    rows = []
    for shift in np.arange(-3, 4) * 1e-3:
        row = []
        for k in range(3):
            moved = z.copy()
            moved[k] += shift
            evaluate_once(system.equation, system.tape, system.point(x, moved, np.zeros(0), 0.0, 0.5), values)
            row.append(values.F.copy())
        rows.append(row)
    weights = np.array([-1 / 60, 0.15, -0.75, 0.0, 0.75, -0.15, 1 / 60]) / 1e-3
    slopes = np.einsum("s,skr->rk", weights, np.array(rows))
    evaluate_once(system.equation, system.tape, system.point(x, z, np.zeros(0), 0.0, 0.5), values)
    jacobian = np.zeros((3, 3))
    jacobian[system.rows_of_slots(), system.columns] = values.J
    np.testing.assert_allclose(jacobian, slopes, atol=1e-10, rtol=0.0)


def test_linear_graphs_need_no_tape() -> None:
    graph = Component(
        {"v": OneJunction(), "mass": I(inertia=1.0), "spring": C(stiffness=2.0), "loss": R(resistance=0.1)},
        [Bond("v", each) for each in ("mass", "spring", "loss")],
    )
    equations = Equations(flatten(graph))
    for system in (step_system(equations), instant_system(equations)):
        assert system.linear
        assert len(system.tape.rows) == 0


@pytest.mark.parametrize("kind", FORMULAS)
def test_formulas_are_written_and_read_back(kind: str) -> None:
    formula = FORMULAS[kind]
    assert parse(written(formula)) is formula
    assert pickle.loads(pickle.dumps(formula)) is formula
    assert copy.deepcopy(formula) is formula


def test_rotation_factor_is_that_of_the_paper() -> None:
    """(10) of [damic2006], and its series where the formula loses digits."""
    graph = Component(
        {"v": OneJunction(), "mass": I(inertia=1.0)},
        [Bond("v", "mass")],
        signals={"s": rotation_factor(name("mass.p"))},
    )
    model = graph.compile()
    y = np.array([0.09, 1.0, 6.25, 1e-4])
    x = np.sqrt(y)
    expected = (1.0 - x / np.tan(x)) / y
    expected[3] = 1 / 3 + 1e-4 / 45 + 2e-8 / 945  # the series, where the formula loses digits
    np.testing.assert_allclose(model.values(y[:, None], "s"), expected, rtol=2e-14)


def test_derivatives_are_simplified() -> None:
    q = name("q")
    assert str(derivative(0.5 * 3.0 * q**2, q)) == "3.0 * q"
    assert derivative(q * 0.0 + 4.0, q).value == 0.0


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("__import__('os')", "is not allowed in the formula"),
        ("q.__class__", "begins with an underscore"),
        ("open('file')", "is not allowed"),
        ("[q, q]", "is not allowed"),
        ("q if q else 1", "is not allowed"),
        ("(lambda: 1)()", "is not allowed"),
        ("q and 1", "is not allowed"),
        ("q @ q", "is not allowed"),
        ("sin(q, q)", "sin takes 1 arguments, not 2"),
        ("sin(x=q)", "is not allowed"),
        ("2 +", "is no formula"),
        ("", "is no formula"),
        ("1/0", "divided by zero"),
        ("log(-1)", "no real number"),
        ("9**9**9**9", "no real number"),
        ("(" * 500 + "q" + ")" * 500, "is no formula"),
        ("q" * 30_000, "write it in at most"),
    ],
)
def test_what_is_no_formula_is_refused(text: str, reason: str) -> None:
    with pytest.raises(InvalidInput, match=reason):
        parse(text)


def test_formulas_are_neither_true_nor_false() -> None:
    with pytest.raises(InvalidInput, match="neither true nor false"):
        bool(name("q") + 1.0)
