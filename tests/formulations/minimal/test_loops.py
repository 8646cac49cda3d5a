"""Closed loops by multipliers: a rigid four-bar by its closed form, flexible ones against pose elements."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import pliant as pl
from pliant.structures.tree.loops import constraints
from tests.support import four_bar
from tests.support.four_bar import START, START_RATE

UNTIL = 0.2


def far_corner(arm: object, states: np.ndarray) -> float:
    """Largest violation of all constraints."""
    system = arm.bare
    return max(np.abs(constraints(system, arm.coordinates(system, state)[0])[0]).max() for state in states)


@pytest.mark.parametrize(
    "kind", [pl.joints.LoopKind.REVOLUTE, pl.joints.LoopKind.SPHERICAL, pl.joints.LoopKind.UNIVERSAL]
)
def test_a_rigid_four_bar_moves_by_its_closed_form(kind: pl.joints.LoopKind) -> None:
    """Whatever joint closes it: in the plane all of these leave the same motion."""
    arm = pl.Rigid().compile(four_bar.robot(kind))
    exact = four_bar.crank_motion(np.array([0.0, UNTIL]))[-1]
    errors = []
    for step in (2e-3, 1e-3):
        run = pl.simulate(arm, UNTIL, pl.Gauss(order=2, step=step))
        assert run.ending.completed, run.ending
        assert run.ledger.worst_ratio < 1e-10
        assert far_corner(arm, run.states) < 1e-11
        errors.append(abs(run.joint_position[-1, 0] - exact))
    assert errors[0] / errors[1] == pytest.approx(4.0, abs=0.3)
    explicit = pl.simulate(arm, UNTIL, pl.RungeKuttaGill(step=1e-3))
    assert explicit.joint_position[-1, 0] == pytest.approx(exact, abs=1e-7)
    assert far_corner(arm, explicit.states) < 1e-11


def test_deviations_of_a_moving_four_bar() -> None:
    """One degree of freedom: differences of the acceleration of the closed form, in the coordinate that is kept."""
    arm = pl.Rigid().compile(four_bar.robot())
    small = arm.linearise(arm.initial_state(), arm.inputs, 0.0)
    assert len(small.M) == 1
    moved = [small.state_at(np.array([y]), np.array([0.0])) for y in (1e-5, -1e-5)]
    crank = np.diff([arm.layout.part(state, "joint_position")[0] for state in moved])[0] / -2e-5
    assert small.joint_position[0, 0] == pytest.approx(crank, rel=1e-8)

    def of(y: float, rate: float) -> float:
        """The acceleration of the kept coordinate, by the joint that it is."""
        state = small.state_at(np.array([y]), np.array([rate]))
        joint = arm.joint_names.index(small.names[0])
        q, v = (arm.layout.part(state, block)[0] for block in ("joint_position", "joint_rate"))
        _, first, second = four_bar.ratios(q)
        ahead = np.array([1.0, first[1] - 1.0, first[2]])[joint]
        bend = np.array([0.0, second[1], second[2]])[joint]
        return ahead * four_bar.acceleration(q, v) + bend * v**2

    h = 1e-4
    by_place = (8 * (of(h, 0) - of(-h, 0)) - of(2 * h, 0) + of(-2 * h, 0)) / (12 * h)
    by_rate = (8 * (of(0, h) - of(0, -h)) - of(0, 2 * h) + of(0, -2 * h)) / (12 * h)
    assert -small.K[0, 0] / small.M[0, 0] == pytest.approx(by_place, rel=1e-5)
    assert -small.D[0, 0] / small.M[0, 0] == pytest.approx(by_rate, rel=1e-5)


def test_the_start_closes_the_loop_and_held_joints_stay() -> None:
    arm = pl.Rigid().compile(four_bar.robot())
    near = np.array([START + 0.1, 0.0, 1.5])
    state = arm.initial_state(near, np.array([START_RATE, 0.0, 0.0]), (True, False, False))
    q = arm.layout.part(state, "joint_position")
    coupler, rocker = four_bar.closed_form(START + 0.1)
    np.testing.assert_allclose(q, [START + 0.1, coupler - START - 0.1, rocker], atol=1e-12)
    good = four_bar.robot()
    short = [pl.RigidLink(name, (0.01, 0.0, 0.0), 1.0, inertia=(0.1, 0.1, 0.1)) for name in ("crank", "coupler")]
    apart = pl.Robot("apart", (*short, good.links[2]), good.joints, loops=good.loops)
    with pytest.raises(pl.InvalidInput, match=r"'tip' cannot be closed near"):
        pl.Rigid().compile(apart).initial_state()


def driven(formulation: object, *components: object) -> object:
    """The parallelogram of the library with both drives held by springs."""
    arm = formulation.compile(pl.load(pl.library.path("parallelogram")))
    hold = pl.JointPD(pl.motions.Hold(0.0), stiffness=15.0, damping=0.0, joints=["right_drive", "left_drive"])
    return pl.connect(arm, hold, *components)


def test_a_flexible_parallelogram_is_that_of_pose_elements() -> None:
    """Slow modes and the sag under a corner load; both divisions are of second order, so four times finer is exact."""
    push = pl.TipWrench("right_outer", pl.signals.Constant((3.0, 1.0, 0.0, 0.0, 0.0, 0.0)))
    fine, coarse = driven(pl.PoseElement(16), push), driven(pl.Lumped(4), push)
    expected, found = (pl.equilibrium(model) for model in (fine, coarse))
    assert found.ending.completed
    assert far_corner(coarse.arm, found.state[None]) < 1e-11
    tips = [model.tip(each.state)[0][0] for model, each in ((fine, expected), (coarse, found))]
    np.testing.assert_allclose(tips[1], tips[0], atol=5e-3)
    assert np.linalg.norm(tips[0] - [1.0, 1.0, 0.0]) > 0.1
    slow = [pl.modes(model, each.state, count=4).frequency for model, each in ((fine, expected), (coarse, found))]
    np.testing.assert_allclose(slow[1], slow[0], rtol=0.03)
    run = pl.simulate(coarse, 0.1, pl.Gauss(order=2, step=1e-3))
    assert run.ending.completed
    assert run.ledger.worst_ratio < 1e-10
    assert far_corner(coarse.arm, run.states) < 1e-11


@pytest.mark.parametrize("formulation", [pl.Rigid(), pl.Lumped(2)])
@pytest.mark.parametrize("gravity", [0.0, -9.81])
def test_a_loop_may_stand_still(formulation: object, gravity: float) -> None:
    """At rest all motion is rounding: 1e-16 of the reach in a step of 1e-3 s, and no step is halved for it."""
    robot = replace(pl.load(pl.library.path("parallelogram")), gravity=(0.0, gravity, 0.0))
    hold = pl.JointPD(pl.motions.Hold(0.0), stiffness=40.0, damping=0.0, joints=["right_drive", "left_drive"])
    model = pl.connect(formulation.compile(robot), hold)
    rest = pl.equilibrium(model)
    assert rest.ending.completed
    run = pl.simulate(model, 1.0, pl.Gauss(order=2, step=1e-3), initial=rest.state)
    assert run.ending.completed, run.ending
    assert run.statistics["iterations"] <= 6 * run.statistics["steps"]
    assert run.ledger.worst_ratio < 1e-10
    assert np.abs(run.joint_rate).max() < 1e-10
    assert np.abs(run.joint_position - run.joint_position[0]).max() < 1e-10
    assert far_corner(model.arm, run.states) < 1e-11


@pytest.mark.parametrize("rate", [1e-3, 1e-6, 1e-9, 1e-12])
def test_a_loop_may_hardly_move(rate: float) -> None:
    """A free parallelogram keeps its rate, but for the rounding of positions, which a step sees as 1e-13 rad/s."""
    arm = pl.Rigid().compile(pl.load(pl.library.path("parallelogram")))
    q = arm.layout.part(arm.initial_state(), "joint_position")
    start = arm.initial_state(q, rate * np.ones(4), (True, False, False, False))
    begun = arm.layout.part(start, "joint_rate")
    assert begun[0] == pytest.approx(rate)
    run = pl.simulate(arm, 0.5, pl.Gauss(order=2, step=1e-3), initial=start)
    assert run.ending.completed, run.ending
    assert far_corner(arm, run.states) < 1e-11
    np.testing.assert_allclose(run.ledger.kinetic, run.ledger.kinetic[0], rtol=1e-6, atol=1e-22)
