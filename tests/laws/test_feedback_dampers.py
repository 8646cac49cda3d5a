"""The damper of a feedback stands in the same column of the ledger in all formulations."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import pliant as pl

INERTIA, STIFFNESS, DAMPING, PLACE, UNTIL = 0.1 + 2.0 * 0.5**2, 20.0, 1.5, 0.3, 0.5
GEAR = {"rotor_inertia": 1e-3, "ratio": 10.0}
TREES = [pl.Lumped(), pl.EquivalentRigidLink(), pl.Rigid()]
FORMULATIONS = [pl.GeometricallyExact(degree=2), pl.PoseElement(), pl.PseudoSpectral(4), *TREES]


def expected(inertia: float) -> tuple[float, float]:
    """Kinetic energy at the end, and what the damper took, from the equation of one inertia."""

    def rates(_: float, y: np.ndarray) -> list[float]:
        torque = -STIFFNESS * (y[0] - PLACE) - DAMPING * y[1]
        return [y[1], torque / inertia, DAMPING * y[1] ** 2]

    _, rate, lost = solve_ivp(rates, (0.0, UNTIL), np.zeros(3), rtol=1e-11, atol=1e-13).y[:, -1]
    return 0.5 * inertia * rate**2, lost


@pytest.mark.parametrize("formulation", FORMULATIONS)
@pytest.mark.parametrize("motor", [False, True])
def test_it_is_a_loss_of_the_joint_but_part_of_a_motor(formulation: object, motor: bool) -> None:
    body = pl.RigidLink("body", (0.8, 0.0, 0.0), mass=2.0, center_of_mass=(0.5, 0.0, 0.0), inertia=(0.1,) * 3)
    robot = pl.Robot("pendulum", (body,), (pl.RevoluteJoint("hinge", "base", "body"),))
    feedback = pl.JointPD(pl.motions.Hold(PLACE), stiffness=STIFFNESS, damping=DAMPING)
    motors = [pl.GearMotor("hinge", **GEAR)] if motor else []
    model = pl.connect(formulation.compile(robot), feedback, *motors)
    ledger = pl.simulate(model, UNTIL, pl.Gauss(order=2, step=2e-4)).ledger
    kinetic, lost = expected(INERTIA + (GEAR["rotor_inertia"] * GEAR["ratio"] ** 2 if motor else 0.0))
    # the midpoint rule errs by (h omega)^2 / 12, 1e-6 here
    assert ledger.kinetic[-1] == pytest.approx(kinetic, rel=1e-4)
    assert ledger.joint_loss[-1] == pytest.approx(0.0 if motor else lost, rel=1e-5)
    assert ledger.works["hinge"][-1] == pytest.approx(kinetic if motor else kinetic + lost, rel=1e-5)
    assert ledger.worst_ratio < 1e-10


@pytest.mark.parametrize("formulation", TREES)
def test_runge_kutta_gill_shows_it_as_well(formulation: object) -> None:
    body = pl.RigidLink("body", (0.8, 0.0, 0.0), mass=2.0, center_of_mass=(0.5, 0.0, 0.0), inertia=(0.1,) * 3)
    robot = pl.Robot("pendulum", (body,), (pl.RevoluteJoint("hinge", "base", "body"),))
    feedback = pl.JointPD(pl.motions.Hold(PLACE), stiffness=STIFFNESS, damping=DAMPING)
    ledger = pl.simulate(pl.connect(formulation.compile(robot), feedback), UNTIL, pl.RungeKuttaGill(step=1e-3)).ledger
    kinetic, lost = expected(INERTIA)
    assert ledger.joint_loss[-1] == pytest.approx(lost, rel=1e-8)
    assert ledger.works["hinge"][-1] == pytest.approx(kinetic + lost, rel=1e-8)
