"""A rigid motion of arm, gravity and loads together changes nothing that the arm itself can feel."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import pliant as pl
from tests.support.arms import ASIDE, on_a_hinge, soft_link, tumbler

FORCE = np.array([0.6, -0.3, 0.4])
MOMENT = np.array([0.02, 0.05, -0.04])
WIND = np.array([0.2, 0.1, -0.3])
# Newton stops at 1e-12 of the reach in every step, and 600 steps of a soft arm let such errors grow a hundredfold.
ROUND_OFF = 1e-10


def run(turn: Rotation, shift: np.ndarray, formulation: object) -> pl.Trajectory:
    """The tumbler under gravity, a tip wrench and a line load, all moved by (turn, shift)."""
    quaternion = tuple(float(x) for x in turn.as_quat(scalar_first=True))
    base = pl.Base(position=tuple(float(x) for x in shift), rotation=quaternion)
    gravity = tuple(float(x) for x in turn.apply(ASIDE))
    arm = formulation.compile(tumbler(gravity, base=base))
    wrench = np.concatenate([turn.apply(FORCE), turn.apply(MOMENT)])
    line = np.concatenate([turn.apply(WIND), np.zeros(3)])
    closed = pl.connect(
        arm,
        pl.JointPD(pl.motions.Quintic(0.0, 1.5, 0.4), stiffness=2.0, damping=0.1, joints=["swing"]),
        pl.TipWrench("link", pl.signals.Sine(wrench, 1.7)),
        pl.DistributedWrench("link", pl.signals.Sine(line, 0.9)),
        pl.TipWrench("cross", pl.signals.Constant((0.0, 0.1, 0.2, 0.0, 0.0, 0.01)), frame=pl.Frame.BODY),
    )
    integrator = pl.Gauss(order=4, step=1e-3, tolerance=1e-12, energy_tolerance=1e-12)
    trajectory = pl.simulate(closed, 0.6, integrator, outputs=60)
    assert trajectory.ending.completed, trajectory.ending
    return trajectory


@pytest.fixture(scope="module")
def unmoved() -> pl.Trajectory:
    return run(Rotation.identity(), np.zeros(3), pl.GeometricallyExact(degree=5))


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_strains_twists_and_joints_do_not_change(unmoved: pl.Trajectory, seed: int) -> None:
    random = np.random.default_rng(seed)
    turn, shift = Rotation.random(rng=random), 10.0 * random.normal(size=3)
    moved = run(turn, shift, pl.GeometricallyExact(degree=5))
    for name in ("strain", "twist", "joint_position", "joint_rate"):
        here, there = unmoved.state(name), moved.state(name)
        assert np.abs(here).max() > 0.01
        assert np.abs(there - here).max() <= ROUND_OFF * np.abs(here).max(), name
    np.testing.assert_allclose(moved.tip_position, turn.apply(unmoved.tip_position) + shift, atol=ROUND_OFF)
    np.testing.assert_allclose(moved.tip_rotation, turn.as_matrix() @ unmoved.tip_rotation, atol=ROUND_OFF)
    for mine, other in ((unmoved.ledger.gravity, moved.ledger.gravity), *works(unmoved, moved)):
        np.testing.assert_allclose(other, mine, atol=ROUND_OFF * np.ptp(mine))


@pytest.mark.parametrize(
    ("formulation", "order"),
    [(pl.MixedElement(elements=6), 4), (pl.PoseElement(elements=6), 2), (pl.EquivalentRigidLink(elements=6), 2)],
    ids=["mixed", "pose", "equivalent rigid link"],
)
def test_the_other_elements_do_not_feel_it_either(formulation: object, order: int) -> None:
    """One link on a hinge, which all elements carry, under gravity and a dead load."""
    random = np.random.default_rng(4)
    turn, shift = Rotation.random(rng=random), random.normal(size=3)
    seen = []
    for rotation, position in ((Rotation.identity(), np.zeros(3)), (turn, shift)):
        quaternion = tuple(float(x) for x in rotation.as_quat(scalar_first=True))
        base = pl.Base(position=tuple(float(x) for x in position), rotation=quaternion)
        robot = on_a_hinge(soft_link(), tuple(float(x) for x in rotation.apply(ASIDE)), rate=2.0)
        wrench = np.concatenate([rotation.apply(FORCE), rotation.apply(MOMENT)])
        closed = pl.connect(
            formulation.compile(replace(robot, base=base)), pl.TipWrench("link", pl.signals.Sine(wrench, 1.7))
        )
        integrator = pl.Gauss(order=order, step=1e-3, tolerance=1e-12, energy_tolerance=1e-12)
        seen.append(pl.simulate(closed, 0.2, integrator, outputs=20))
        assert seen[-1].ending.completed, seen[-1].ending
    here, there = seen
    strain = here.link("link").strain
    assert np.abs(strain).max() > 0.01
    np.testing.assert_allclose(there.link("link").strain, strain, atol=ROUND_OFF * np.abs(strain).max())
    np.testing.assert_allclose(there.joint_position, here.joint_position, atol=ROUND_OFF)
    np.testing.assert_allclose(there.tip_position, turn.apply(here.tip_position) + shift, atol=ROUND_OFF)


def works(first: pl.Trajectory, second: pl.Trajectory) -> list[tuple[np.ndarray, np.ndarray]]:
    return [(first.ledger.works[name], second.ledger.works[name]) for name in first.ledger.works]


def test_turning_the_arm_without_the_loads_does_change_it(unmoved: pl.Trajectory) -> None:
    """The control experiment: the comparison can tell a difference."""
    turn = Rotation.from_rotvec([0.0, 0.0, 0.01])
    base = pl.Base(rotation=tuple(float(x) for x in turn.as_quat(scalar_first=True)))
    moved = pl.simulate(
        pl.GeometricallyExact(degree=5).compile(tumbler(ASIDE, base=base)), 0.6, pl.Gauss(4, 1e-3), outputs=60
    )
    assert np.abs(moved.state("strain") - unmoved.state("strain")).max() > 1e-3


def test_the_potential_energy_moves_with_the_origin_only() -> None:
    """Shifting the base lifts the whole weight: every state gains the same energy."""
    shift = np.array([0.3, -0.7, 2.0])
    low = pl.GeometricallyExact(degree=5).compile(tumbler(ASIDE))
    high = pl.GeometricallyExact(degree=5).compile(tumbler(ASIDE, base=pl.Base(position=tuple(shift))))
    states = pl.simulate(low, 0.3, pl.Gauss(4, 1e-3), outputs=5).states
    mass = 0.1 + 0.3 * 0.8  # the rigid cross and the link
    gain = high.energy(states)[2] - low.energy(states)[2]
    np.testing.assert_allclose(gain, -mass * np.dot(ASIDE, shift), rtol=1e-12)
