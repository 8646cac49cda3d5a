"""Deviations from motions of lumped arms against differences of their accelerations, and port flows against tips."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

import pliant as pl
from pliant.structures.tree.linearise import Instant
from tests.support.lumped_arms import WITH_TORSION, condensed, spatial_tree, two_stations

PUSH = (3.0, -2.0, 1.0, 0.4, 0.5, -0.3)


LUMPED = pl.Lumped(fields=2)
SHAPES = pl.EquivalentRigidLink(elements=2, basis=pl.equivalent_rigid_link.Modes(count=2))


def driven_tree(formulation: pl.Lumped | pl.EquivalentRigidLink = LUMPED) -> object:
    """Every kind of joint, loads in both axes, feedback, a prescribed joint, a rigid and an elastic gear."""
    arm = formulation.compile(spatial_tree())
    return pl.connect(
        arm,
        pl.PrescribedMotion("j1", pl.motions.FunctionMotion(lambda t: (0.3 + 0 * t, 0.7 + 0 * t, 2.0 + 0 * t))),
        pl.JointPD(pl.motions.Hold(0.2), stiffness=30.0, damping=2.0, joints=["j4"]),
        pl.GearMotor("j4", rotor_inertia=1e-4, ratio=50.0, stiffness=200.0, damping=0.5),
        pl.GearMotor("j2", rotor_inertia=1e-4, ratio=30.0),
        pl.TipWrench("c", pl.signals.Constant(PUSH), frame=pl.Frame.WORLD, name="dead"),
        pl.PointWrench(pl.At("beam", position=(0.1, 0.2, 0.0)), pl.signals.Constant(PUSH), frame=pl.Frame.BODY),
        pl.DistributedWrench("beam", pl.signals.Constant(PUSH), frame=pl.Frame.BODY, name="wind"),
    )


def bent_elbow() -> object:
    arm = condensed(two_stations(0.7, gravity=(0.0, -9.81, 1.0)), WITH_TORSION)
    motors = [pl.GearMotor(name, rotor_inertia=1e-4, ratio=100.0) for name in arm.joint_names]
    return pl.connect(arm, *motors, pl.JointPD(pl.motions.Hold(0.1), stiffness=200.0, damping=1.0, joints=["shoulder"]))


CASES = [driven_tree, partial(driven_tree, SHAPES), bent_elbow]


@pytest.mark.parametrize("case", CASES)
def test_deviations_are_derivatives_of_the_motion(case: object) -> None:
    model = case()
    arm, rng = model.arm, np.random.default_rng(8)
    system = arm.system(model.inputs)
    q, v = system.at_start + 0.02 * rng.normal(size=system.size), 0.5 * rng.normal(size=system.size)
    v[system.structure.joints[np.array(model.inputs.prescribed)]] = 0.7
    state = arm.state_of(system, q, v)
    small = model.linearise(state, model.inputs, 0.0)
    free = system.free
    h, n = 1e-4, len(free)

    def acceleration(y: np.ndarray) -> np.ndarray:
        moved = small.state_at(y[:n], y[n:])
        instant = Instant(arm, moved, model.inputs, 0.0)
        return instant.acceleration[instant.system.free]

    def slope(direction: np.ndarray) -> np.ndarray:
        at = [acceleration(step * h * direction) for step in (-2, -1, 1, 2)]
        return (at[0] - 8.0 * at[1] + 8.0 * at[2] - at[3]) / (12.0 * h)

    numeric = np.array([slope(d) for d in np.eye(2 * n)]).T
    exact = -np.linalg.solve(small.M, np.hstack([small.K, small.D]))
    assert np.abs(exact - numeric).max() < 1e-6 * np.abs(exact).max()


@pytest.mark.parametrize("case", CASES)
def test_the_flow_at_a_tip_is_the_change_of_its_twist(case: object) -> None:
    model = case()
    arm, rng = model.arm, np.random.default_rng(9)
    system = arm.system(model.inputs)
    still = arm.structure.condensed  # turns that follow statically are taken to first order, about the straight arm
    q = system.at_start + (0.0 if still else 0.02) * rng.normal(size=system.size)
    v = (0.0 if still else 0.5) * rng.normal(size=system.size)
    small = model.linearise(arm.state_of(system, q, v), model.inputs, 0.0)
    name = f"{arm.structure.links[-1].name}.tip"
    port = next(each for each in small.ports if each.port.name == name)
    n, h = len(small.M), 1e-4
    for y, change in rng.normal(size=(3, 2, n)):
        ahead, behind = (arm.observe(small.state_at(step * y, step * change), 2).tip_twist[0] for step in (h, -h))
        np.testing.assert_allclose(port.rate @ change + port.shift @ y, (ahead - behind) / (2 * h), atol=2e-6)
    tips = [arm.tip(small.state_at(step * np.ones(n), np.zeros(n))) for step in (h, -h)]
    _, R = arm.tip(small.state_at(np.zeros(n), np.zeros(n)))
    moved = (tips[0][0] - tips[1][0])[0] / (2 * h)
    np.testing.assert_allclose(R[0] @ (small.tip @ np.ones(n))[:3], moved, atol=1e-6)


def test_a_resting_arm_is_symmetric_and_fundamental() -> None:
    arm = pl.Lumped(fields=2).compile(spatial_tree())
    held = pl.connect(
        arm, *(pl.JointPD(pl.motions.Hold(0.1), stiffness=500.0, damping=1.0, joints=[n]) for n in arm.joint_names)
    )
    rest = pl.equilibrium(held)
    assert rest.ending.completed
    small = held.linearise(rest.state, held.inputs, 0.0)
    assert small.fundamental
    np.testing.assert_array_equal(small.K, small.K.T)
    assert np.linalg.eigvalsh(small.M)[0] > 0.0
    frequency = pl.modes(held, rest.state, count=4).frequency
    assert np.all(np.isfinite(frequency))
    system = pl.linear.port_hamiltonian(held, rest.state)
    assert pl.linear.check_passivity(system.state_space()).holds
    pl.frequency_response(held, "j1", "tip.displacement[1]", [1.0, 2.0], rest.state)
