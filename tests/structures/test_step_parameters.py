"""Derivatives of a step in parameters: against a changed parameter, and against the step of a changed model."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pliant as pl
from pliant.structures.step_matrices import by_parameters

STEP = 1e-3
MASS, YOUNG, SPRING = 0.2, 70e9, 8.0
VALUES = np.array([MASS, YOUNG, SPRING])


def model(formulation: Any, values: np.ndarray) -> pl.Model:
    """A link with a load at its tip, held by a spring; the parameters are the load, the modulus and the spring."""
    mass, young, spring = map(float, values)
    strip = pl.sections.Rectangle(height=0.004, width=0.03)
    metal = pl.Material(name="aluminium", young=young, density=2700.0, poisson=0.33, damping=1e-4)
    robot = pl.Robot(
        name="loaded",
        links=(pl.FlexibleLink(name="link", length=0.5, section=strip, material=metal),),
        joints=(pl.RevoluteJoint(name="hinge", parent="base", child="link", initial_rate=0.3),),
        payloads=(pl.Payload(name="load", link="link", mass=mass, inertia=(1e-4, 1e-4, 1e-4)),),
        gravity=(0.0, 0.0, 0.0),
    )
    push = pl.TipWrench("link", pl.signals.Constant((0.0, 0.4, 0.0, 0.0, 0.0, 0.0)), frame=pl.Frame.BODY)
    law = pl.JointPD(pl.motions.Hold(0.1), stiffness=spring, damping=0.05)
    return pl.connect(formulation.compile(robot), law, push)


FORMULATIONS = {
    "collocation": (pl.GeometricallyExact(degree=3), pl.Gauss(order=4, step=STEP)),
    "nodal": (pl.PoseElement(elements=3), pl.Gauss(order=2, step=STEP)),
    "tree": (pl.Lumped(fields=2), pl.Gauss(order=2, step=STEP)),
    "tree of shapes": (
        pl.EquivalentRigidLink(elements=2, basis=pl.equivalent_rigid_link.Nodal()),
        pl.Gauss(order=2, step=STEP),
    ),
    "linear": (pl.PseudoSpectral(degree=4), pl.Gauss(order=4, step=STEP)),
}


def problem(structure: str) -> Any:
    formulation, integrator = FORMULATIONS[structure]
    method = integrator.method

    def build(values: np.ndarray) -> Any:
        return model(formulation, values)

    start = build(VALUES).initial_state()

    def solved(values: np.ndarray) -> np.ndarray:
        changed = build(values)
        unknowns = changed.step_unknowns(start, changed.inputs, 0.0, STEP, method)[0]
        # the compiled step ends at the accuracy of its Newton method, of which differences keep a few digits only
        here = changed.step_equations(start, unknowns, changed.inputs, 0.0, STEP, method)
        return np.asarray(unknowns - here.solve(here.residual))

    known = solved(VALUES)

    def equations(values: np.ndarray, at: np.ndarray = known) -> Any:
        changed = build(values)
        return changed.step_equations(start, at, changed.inputs, 0.0, STEP, method)

    return equations, solved


@pytest.mark.parametrize("structure", ["collocation", "nodal", "tree"])
def test_parameters_that_enter_linearly_are_differentiated_exactly(structure: str) -> None:
    """Not in linear systems, whose rates are solved for beforehand: mass enters them by its inverse."""
    equations, _ = problem(structure)
    columns = by_parameters(lambda values: equations(values).residual, VALUES)
    for k, name in enumerate(("mass", "modulus", "spring")):
        for factor in (0.5, 3.0):
            other = VALUES.copy()
            other[k] *= factor
            change = equations(other).residual - equations(VALUES).residual
            expected = columns[:, k] * (other[k] - VALUES[k])
            assert np.abs(expected).max() > 0.0, name
            np.testing.assert_allclose(change, expected, rtol=0.0, atol=1e-9 * np.abs(expected).max(), err_msg=name)


@pytest.mark.parametrize("structure", FORMULATIONS)
def test_sensitivity_of_a_step_is_that_of_changed_models(structure: str) -> None:
    """dz1/dp = - r_z1^-1 r_p, and by the adjoint w . dz1/dp = - (r_z1^-T w) . r_p."""
    equations, solved = problem(structure)
    columns = by_parameters(lambda values: equations(values).residual, VALUES)
    here = equations(VALUES)
    weights = np.random.default_rng(1).standard_normal(len(here.residual))
    for k in range(3):
        h = np.zeros(3)
        h[k] = 1e-4 * VALUES[k]
        expected = (solved(VALUES + h) - solved(VALUES - h)) / (2.0 * h[k])
        found = -here.solve(columns[:, k])
        scale = np.abs(expected).max()
        np.testing.assert_allclose(found, expected, rtol=0.0, atol=1e-6 * scale)
        adjoint = -here.solve_transposed(weights) @ columns[:, k]
        assert adjoint == pytest.approx(weights @ found, rel=1e-8, abs=1e-10 * np.abs(weights).max() * scale)
