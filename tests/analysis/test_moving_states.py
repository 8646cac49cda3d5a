"""Deviations from motions that accelerate: exact derivatives, the same in both elements."""

from __future__ import annotations

import numpy as np
import pytest

import pliant as pl
from tests.support.flow_map import rate_of_deviation


def predicted_rate(small, deviation):
    n = len(small.M)
    y, rate = deviation[:n], deviation[n:]
    return np.append(rate, -np.linalg.solve(small.M, small.K @ y + small.D @ rate))


def two_links(formulation, start=0.0):
    """Both links bent and swinging under gravity, the shoulder free and the elbow on a prescribed move."""
    robot = pl.load(pl.library.path("two_link_planar"))
    fall = pl.Robot(robot.name, robot.links, robot.joints, gravity=(0, -9.81, 0))
    arm = formulation.compile(fall)

    def swing(times):
        angle = 5.0 * (times + start)
        return 0.2 + 0.4 * np.sin(angle), 2.0 * np.cos(angle), -10.0 * np.sin(angle)

    elbow = pl.PrescribedMotion(arm.joint_names[1], pl.motions.FunctionMotion(swing))
    push = pl.TipWrench(robot.links[-1].name, pl.signals.Constant((0.5, 0.2, 0.3, 0, 0, 0.1)), frame=pl.Frame.WORLD)
    return pl.connect(arm, elbow, push)


def closed_chain(_, start=0.0):
    arm = pl.PoseElement(1).compile(pl.load(pl.library.path("parallelogram")))
    drives = (
        pl.JointTorque("right_drive", pl.signals.Constant(0.7)),
        pl.JointTorque("left_drive", pl.signals.Constant(-0.3)),
    )
    push = pl.TipWrench("right_inner", pl.signals.Constant((0.3, 0.1, 0.2, 0.05, 0.02, 0.1)))
    return pl.connect(arm, *drives, push)


def zoo(_, start=0.0):
    """A ball joint, a cardan joint, a bendy rod, a bushing, a spring, a motor and loads of both kinds, in space."""
    section = pl.GeneralSection(
        stiffness=(900, 500, 500, 6, 9, 4), inertia=(0.3,) * 3 + (2e-3, 3e-3, 4e-3), damping=1e-3
    )
    upper = pl.RigidLink("upper", (0.3, 0.1, 0), mass=0.8, center_of_mass=(0.1, 0.02, 0.05), inertia=(0.01, 0.02, 0.03))
    lower = pl.FlexibleLink("lower", 0.4, section)
    robot = pl.Robot(
        "zoo",
        (upper, lower),
        (
            pl.joints.SphericalJoint("ball", "base", "upper", damping=0.02),
            pl.joints.UniversalJoint("cardan", "upper", "lower"),
        ),
        gravity=(1.0, -9.0, 2.0),
    )
    arm = pl.PoseElement(1).compile(robot)
    stiffness = tuple(np.diag([30.0, 40.0, 50.0, 2.0, 3.0, 4.0]).tolist())
    return pl.connect(
        arm,
        pl.Bushing("rubber", pl.At("base"), pl.At("upper"), stiffness),
        pl.SpringDamper("spring", pl.At("base", position=(0.2, 0.5, 0.1)), pl.At("lower"), 25.0, 0.3, 0.2),
        pl.GearMotor(arm.joint_names[3], rotor_inertia=1e-4, ratio=10.0, stiffness=8.0, damping=0.05),
        pl.TipWrench("lower", pl.signals.Constant((0.5, 0.2, 0.3, 0.05, 0, 0.1)), frame=pl.Frame.WORLD),
        pl.TipWrench("upper", pl.signals.Constant((-0.4, 0.6, 0.3, 0, 0.02, 0.1)), frame=pl.Frame.BODY),
    )


SOFT = {"stiffness": (900, 500, 500, 6, 9, 4), "inertia": (0.3,) * 3 + (2e-3, 3e-3, 4e-3)}


def one_rod(law=None, gravity=(1.0, -9.0, 2.0), rate=0.0):
    rod = pl.FlexibleLink("rod", 0.5, pl.GeneralSection(**SOFT), **({"law": law} if law else {}))
    hinge = pl.RevoluteJoint("hinge", "base", "rod", initial_rate=rate)
    return pl.Robot("rod", (rod,), (hinge,), gravity=gravity)


def hardening(formulation, start=0.0):
    law = pl.sections.HardeningLaw(cubic=(1e3, 1e3, 1e3, 2.0, 3.0, 4.0), quintic=(0, 0, 0, 1.0, 1.0, 1.0))
    arm = formulation.compile(one_rod(law, rate=3.0))
    push = pl.TipWrench("rod", pl.signals.Constant((0.3, 0.2, 0.5, 0.02, 0.01, 0.03)), frame=pl.Frame.BODY)
    return pl.connect(arm, push, pl.JointPD(pl.motions.Hold(0.2), stiffness=3.0, damping=0.2))


def on_a_moved_base(formulation, start=0.0):
    def swing(size, speed, phase):
        def motion(times):
            angle = speed * (times + start) + phase
            return size * np.sin(angle), size * speed * np.cos(angle), -size * speed**2 * np.sin(angle)

        return pl.motions.FunctionMotion(motion)

    base = pl.BaseMotion(x=swing(0.1, 4.0, 0.0), angle=swing(0.3, 5.0, 2.0), axis=(0.0, 0.6, 0.8))
    return pl.connect(formulation.compile(one_rod()), base)


def on_a_wall(formulation, start=0.0):
    wall = pl.Wall("floor", pl.At("rod"), (0, -0.02, 0), (0, 1, 0), stiffness=300.0, damping=1.0)
    return pl.connect(formulation.compile(one_rod(gravity=(0, -9.0, 0))), wall)


@pytest.mark.parametrize(
    ("build", "formulation", "longest", "size"),
    [
        (two_links, pl.GeometricallyExact(degree=2), 1e-4, 1e-3),
        (two_links, pl.PoseElement(2), 1e-4, 1e-3),
        (closed_chain, None, 1e-4, 1e-3),
        (zoo, None, 3e-4, 1e-3),
        (hardening, pl.GeometricallyExact(degree=2), 1e-4, 1e-3),
        (on_a_moved_base, pl.PoseElement(2), 1e-4, 1e-3),
        (on_a_wall, pl.PoseElement(2), 1e-4, 1e-4),  # the rod must not leave the wall
    ],
)
def test_deviations_from_a_motion_change_as_linearised(build, formulation, longest, size):
    model = build(formulation, -0.2)
    run = pl.simulate(model, until=0.2, integrator=pl.Gauss(order=2, step=1e-3))
    assert run.ending.completed
    state = run.states[-1]
    model = build(formulation)
    modes = pl.modes(model, state, count=6)
    assert not modes.small.fundamental
    rng = np.random.default_rng(3)
    y = modes.vectors @ rng.normal(size=6)
    rate = (modes.vectors * modes.eigenvalue) @ rng.normal(size=6)
    deviation = np.append(y.real, rate.real)
    expected = predicted_rate(modes.small, deviation)
    found = rate_of_deviation(model, state, deviation, longest, size)
    assert found == pytest.approx(expected, abs=1e-6 * np.abs(expected).max())


def test_both_elements_have_the_same_modes_about_an_arm_that_begins_to_fall():
    """No equilibrium: undeformed under gravity. Pose elements come nearer with the square of their length."""
    robot = pl.load(pl.library.path("two_link_planar"))
    fall = pl.Robot(robot.name, robot.links, robot.joints, gravity=(0, -9.81, 0))
    spectral = pl.modes(pl.GeometricallyExact(degree=8).compile(fall), count=6)
    assert not spectral.small.fundamental
    far, near = (
        np.abs(pl.modes(pl.PoseElement(n).compile(fall), count=6).eigenvalue - spectral.eigenvalue) for n in (8, 16)
    )
    moving = np.abs(spectral.eigenvalue) > 0.0
    assert np.sum(moving) >= 2
    assert near[~moving] == pytest.approx(0.0, abs=1e-6)
    assert np.log2(far[moving] / near[moving]) == pytest.approx(2.0, abs=0.2)
