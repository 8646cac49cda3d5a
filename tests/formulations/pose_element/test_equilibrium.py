"""Equilibria of pose elements against the spectral link, closed forms and symmetry."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import pliant as pl
from pliant.model.contract import Equilibrium, Model
from pliant.structures.nodal.model import PoseElementArm
from tests.support import four_bar

LENGTH, EI, GA, EA = 1.0, 20.0, 2e4, 2e5
SECTION = pl.GeneralSection(stiffness=(EA, GA, GA, 15.0, EI, EI), inertia=(0.5, 0.5, 0.5, 1e-3, 1e-3, 1e-3))


def cantilever(gravity: tuple[float, float, float] = (0.0, 0.0, 0.0)) -> pl.Robot:
    return pl.Robot(
        name="cantilever",
        links=(pl.FlexibleLink("beam", LENGTH, SECTION),),
        joints=(pl.FixedJoint("clamp", "base", "beam"),),
        gravity=gravity,
    )


def balanced(model: Model, **choices: float) -> Equilibrium:
    answer = pl.equilibrium(model, **choices)
    assert answer.ending.completed, answer.ending
    return answer


def test_roll_up_by_a_tip_moment_is_exact() -> None:
    """A constant moment bends every element into the same arc, which the element carries without error."""
    moment = 2.0 * np.pi * EI / LENGTH
    arm = pl.PoseElement(elements=6).compile(cantilever())
    model = pl.connect(arm, pl.TipWrench("beam", pl.signals.Constant((0.0, 0.0, 0.0, 0.0, 0.0, moment))))
    answer = balanced(model)
    position, _ = arm.tip(answer.state)
    assert np.abs(position[0]).max() < 1e-9


def test_elastica_agrees_with_the_spectral_link_at_order_two() -> None:
    force = 3.0 * EI / LENGTH**2
    load = pl.TipWrench("beam", pl.signals.Constant((0.0, force, 0.5 * force, 0.0, 0.0, 0.0)))
    robot = cantilever(gravity=(0.0, 0.0, -9.81))
    spectral = pl.GeometricallyExact(degree=8, elements=2).compile(robot)
    expected = spectral.tip(balanced(pl.connect(spectral, load)).state)[0][0]
    errors = []
    for elements in (8, 16, 32):
        arm = pl.PoseElement(elements=elements).compile(robot)
        found = arm.tip(balanced(pl.connect(arm, load)).state)[0][0]
        errors.append(np.linalg.norm(found - expected))
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert np.all(np.abs(orders - 2.0) < 0.05), (errors, orders)
    assert errors[-1] < 1e-3 * LENGTH


def test_an_equilibrium_stays_at_rest() -> None:
    arm = pl.PoseElement(elements=8).compile(cantilever(gravity=(0.0, 0.0, -9.81)))
    answer = balanced(arm)
    run = pl.simulate(arm, until=0.2, integrator=pl.Gauss(order=2, step=1e-3), initial=answer.state)
    moved = np.abs(arm.tip(run.states)[0] - arm.tip(answer.state)[0]).max()
    assert moved < 1e-9


def test_feedback_comes_to_rest_and_other_joints_keep_their_place() -> None:
    """A rigid pendulum of weight w at the distance r on a spring k:  k q = w r cos q."""
    weight, reach, gain = 20.0, 0.5, 8.0
    rod = pl.RigidLink("rod", (reach, 0.0, 0.0), weight / 9.81, center_of_mass=(reach, 0.0, 0.0))
    joint = pl.RevoluteJoint("pivot", "base", "rod", axis=(0.0, -1.0, 0.0))
    robot = pl.Robot(name="pendulum", links=(rod,), joints=(joint,), gravity=(0.0, 0.0, -9.81))
    arm = pl.PoseElement().compile(robot)
    kept = pl.equilibrium(arm)
    assert arm.layout.part(kept.state, "joint_position")[0] == 0.0
    assert kept.held == ("pivot",)
    assert kept.unbalanced["pivot"] == pytest.approx(-weight * reach)
    held = pl.connect(arm, pl.JointPD(pl.motions.Hold(0.3), stiffness=gain, damping=0.0))
    q = arm.layout.part(balanced(held).state, "joint_position")[0]
    assert gain * (0.3 - q) == pytest.approx(weight * reach * np.cos(q), rel=1e-10)
    # an elastic gear in series with the feedback, and the rotor ahead of the joint by its twist
    gear = 12.0
    geared = pl.connect(
        arm,
        pl.JointPD(pl.motions.Hold(0.3), stiffness=gain, damping=0.0),
        pl.GearMotor("pivot", rotor_inertia=1e-4, ratio=10.0, stiffness=gear),
    )
    state = balanced(geared).state
    q, rotor = arm.layout.part(state, "joint_position")[0], arm.layout.part(state, "rotor")[0, 0]
    assert gear * (rotor - q) == pytest.approx(weight * reach * np.cos(q), rel=1e-10)
    assert gain * (0.3 - rotor) == pytest.approx(weight * reach * np.cos(q), rel=1e-10)


def test_hanging_link_keeps_its_place_and_stretches_under_its_weight() -> None:
    """Its end goes down by w L^2 / (2 EA), w the weight per length; lumping the weight at nodes keeps the sum exact."""
    joint = pl.RevoluteJoint("pivot", "base", "beam", axis=(0.0, 1.0, 0.0), initial_position=0.5 * np.pi)
    robot = pl.Robot(
        name="hanging", links=(pl.FlexibleLink("beam", LENGTH, SECTION),), joints=(joint,), gravity=(0.0, 0.0, -9.81)
    )
    arm = pl.PoseElement(elements=4).compile(robot)
    tip = arm.tip(balanced(arm).state)[0][0]
    stretch = 0.5 * 9.81 * LENGTH**2 / (2.0 * EA)
    assert -tip[2] - LENGTH == pytest.approx(stretch, rel=1e-9)
    assert abs(tip[0]) < 1e-12


def test_undriven_four_bar_rests_where_its_weight_is_lowest() -> None:
    """The closed form has its least potential energy where the weight has no lever about the crank angle."""
    arm = pl.PoseElement().compile(four_bar.robot())
    state = balanced(arm).state
    crank = arm.layout.part(state, "joint_position")[0]
    assert abs(four_bar.acceleration(crank, 0.0)) < 1e-9
    ahead, behind = four_bar.acceleration(crank + 1e-3, 0.0), four_bar.acceleration(crank - 1e-3, 0.0)
    assert ahead < 0.0 < behind, "the posture is not stable"


def test_parallelogram_under_gravity_with_one_prescribed_joint() -> None:
    from tests.formulations.pose_element.test_loops import worst_violation

    library = pl.load(pl.library.path("parallelogram"))
    robot = pl.Robot(
        name="parallelogram", links=library.links, joints=library.joints, loops=library.loops, gravity=(0.0, -9.81, 0.0)
    )
    arm = pl.PoseElement(elements=4).compile(robot)
    model = pl.connect(arm, pl.PrescribedMotion("right_drive", pl.motions.Hold(0.2)))
    answer = balanced(model)
    assert worst_violation(arm, answer.state[None]) < 1e-12
    assert arm.layout.part(answer.state, "joint_position")[0] == pytest.approx(0.2, abs=1e-12)
    run = pl.simulate(model, until=0.1, integrator=pl.Gauss(order=2, step=1e-3), initial=answer.state)
    assert np.abs(arm.tip(run.states)[0] - arm.tip(answer.state)[0]).max() < 1e-8


WEIGHT, ARM = 9.81, 0.5
ROD = pl.RigidLink("rod", (ARM, 0.0, 0.0), 1.0, center_of_mass=(ARM, 0.0, 0.0), inertia=(1e-3, 1e-3, 1e-3))


def rod_on(joint: pl.robot.Joint) -> PoseElementArm:
    robot = pl.Robot(name="rod", links=(ROD,), joints=(joint,), gravity=(0.0, 0.0, -WEIGHT))
    return pl.PoseElement().compile(robot)


def test_weight_across_the_plane_finds_the_place_that_hardly_anything_decides() -> None:
    """Only the sag of its links tells one angle from another; added stiffness must not hold the search back."""
    arm = pl.PoseElement(2).compile(replace(pl.load(pl.library.path("parallelogram")), gravity=(0.0, 0.0, -9.81)))
    start = balanced(arm).state
    run = pl.simulate(arm, 0.1, pl.Gauss(2, 1e-3), initial=start, outputs=10)
    assert run.ending.completed, run.ending
    assert np.abs(run.joint_position - run.joint_position[0]).max() < 1e-9


def test_ball_spring_carries_the_weight() -> None:
    """k q = w r cos q, with the tip down by q."""
    arm = rod_on(pl.joints.SphericalJoint("ball", "base", "rod", spring=pl.joints.BallSpring(20.0)))
    x, _, z = arm.tip(balanced(arm).state)[0][0]
    angle = np.arctan2(-z, x)
    assert 20.0 * angle == pytest.approx(WEIGHT * ARM * np.cos(angle), rel=1e-9)


def test_spring_to_the_base_gives_a_free_hinge_an_equilibrium() -> None:
    """Spring and weight on the tip have no moment about the hinge."""
    arm = rod_on(pl.RevoluteJoint("hinge", "base", "rod", axis=(0.0, 1.0, 0.0)))
    hook = np.array([0.5, 0.0, 1.0])
    spring = pl.SpringDamper("spring", pl.At("base", position=tuple(hook)), pl.At("rod"), 100.0, 0.0, 0.9)
    tip = arm.tip(balanced(pl.connect(arm, spring)).state)[0][0]
    length = np.linalg.norm(hook - tip)
    force = 100.0 * (length - 0.9) * (hook - tip) / length - np.array([0.0, 0.0, WEIGHT])
    assert abs(np.cross(tip, force)[1]) < 1e-9 * WEIGHT


def test_wall_carries_a_beam_that_rests_on_it() -> None:
    """The prop of a cantilever, sunk by d, bears 3 w L / 8 - 3 EI d / L^3, but for shear and curvature."""
    arm = pl.PoseElement(elements=8).compile(cantilever(gravity=(0.0, 0.0, -9.81)))
    wall = pl.Wall("floor", pl.At("beam"), (0.0, 0.0, -0.01), (0.0, 0.0, 1.0), 1e5)
    depth = -0.01 - arm.tip(balanced(pl.connect(arm, wall)).state)[0][0][2]
    assert 1e5 * depth == pytest.approx(0.375 * 0.5 * 9.81 * LENGTH - 3.0 * EI * 0.01 / LENGTH**3, rel=0.03)


def test_free_link_rests_on_a_bushing() -> None:
    """Where it rests it stays."""
    arm = rod_on(pl.joints.FreeJoint("free", "base", "rod"))
    bushing = pl.Bushing("mount", pl.At("base"), pl.At("rod", pl.End.ROOT), (1e3, 1e3, 1e3, 50.0, 50.0, 50.0))
    model = pl.connect(arm, bushing)
    answer = balanced(model)
    run = pl.simulate(model, until=0.1, integrator=pl.Gauss(order=2, step=1e-3), initial=answer.state)
    assert np.abs(arm.tip(run.states)[0] - arm.tip(answer.state)[0]).max() < 1e-10


def test_moved_base_carries_the_mechanism_with_it() -> None:
    arm = pl.PoseElement(elements=4).compile(cantilever(gravity=(0.0, 0.0, -9.81)))
    at_home = arm.tip(balanced(arm).state)[0][0]
    moved = pl.connect(arm, pl.BaseMotion(x=pl.motions.Hold(1.0), angle=pl.motions.Hold(0.5)))
    c, s = np.cos(0.5), np.sin(0.5)
    expected = np.array([1.0, 0.0, 0.0]) + np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]]) @ at_home
    assert np.abs(arm.tip(balanced(moved).state)[0][0] - expected).max() < 1e-11
