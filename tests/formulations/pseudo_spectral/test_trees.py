"""Trees of rigid and flexible links in any position, against geometrically exact links in the same posture."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import pliant as pl
from pliant.mechanics.rigid_body import matrix_of
from tests.support.beam import beam
from tests.support.rigs import clamped_beam


def quaternion(*parts: float) -> tuple[float, ...]:
    return tuple((np.array(parts) / np.linalg.norm(parts)).tolist())


def coupled(name: str) -> pl.FlexibleLink:
    """Twist coupled to bending about z, extension to bending about y."""
    K = np.diag([1e4, 4e3, 4e3, 4.0, 6.0, 5.0])
    K[3, 5] = K[5, 3] = 1.5
    K[0, 4] = K[4, 0] = 30.0
    section = pl.GeneralSection(stiffness=K.tolist(), inertia=(0.3, 0.3, 0.3, 3e-4, 1e-4, 2e-4))
    return pl.FlexibleLink(name=name, length=0.8, section=section)


def tree() -> pl.Robot:
    """No axis along another, no mass in its place, joints turned and shifted at the start."""
    hub = pl.RigidLink(
        name="hub",
        tip_position=(0.1, 0.05, -0.02),
        tip_rotation=quaternion(1.0, 0.1, 0.4, -0.3),
        mass=0.4,
        center_of_mass=(0.03, 0.0, 0.01),
        inertia=(1e-3, 2e-3, 2.5e-3),
    )
    return pl.Robot(
        name="tree",
        base=pl.Base(position=(1.0, 2.0, 3.0), rotation=quaternion(1.0, 0.3, -0.2, 0.5)),
        links=(hub, coupled("a"), coupled("b"), coupled("c")),
        joints=(
            pl.RevoluteJoint(
                name="turn",
                parent="base",
                child="hub",
                axis=(0.2, 1.0, 0.3),
                initial_position=0.4,
                rotation=quaternion(1.0, 0.2, 0.2, 0.2),
            ),
            pl.FixedJoint(name="clamp", parent="hub", child="a", rotation=quaternion(1.0, 0.5, 0.0, 0.0)),
            pl.RevoluteJoint(name="swing", parent="hub", child="b", axis=(1.0, 1.0, 0.0), position=(0.0, 0.1, 0.0)),
            pl.PrismaticJoint(
                name="slide",
                parent="a",
                child="c",
                axis=(0.0, 1.0, 1.0),
                initial_position=0.1,
                rotation=quaternion(1.0, 0.0, 0.4, 0.1),
            ),
        ),
        payloads=(
            pl.Payload(name="mass", link="c", mass=0.2, center_of_mass=(0.02, 0.01, 0.0), inertia=(1e-4, 2e-4, 2e-4)),
        ),
    )


def test_where_the_base_stands_does_not_matter() -> None:
    """The same tree on a base that is turned and shifted: same states, and a tip that moved with the base."""
    runs = []
    for base in (pl.Base(), tree().base):
        arm = pl.connect(
            pl.PseudoSpectral(6).compile(replace(tree(), base=base)),
            pl.JointTorque("swing", pl.signals.Sine(amplitude=0.01, frequency=2.0)),
            pl.TipWrench("c", pl.signals.Constant((1e-3,) * 6), frame=pl.Frame.BODY),
        )
        runs.append(pl.simulate(arm, until=0.1))
    here, there = runs
    # round-off of the turned frames is amplified by the stiffest modes, which carry next to nothing
    for name in ("strain", "joint_position", "joint_rate"):
        size = np.abs(here.state(name)).max()
        assert np.abs(there.state(name) - here.state(name)).max() < 1e-9 * size
    turn = matrix_of(tree().base.rotation)
    assert there.tip_position == pytest.approx(here.tip_position @ turn.T + tree().base.position, abs=1e-10)


REFUSED = {"adam": "section without inertia", "parallelogram": "closes the tree"}


@pytest.mark.parametrize("name", REFUSED)
def test_library_arms_that_are_not_linear_are_refused(name: str) -> None:
    with pytest.raises(pl.InvalidInput, match=f"{REFUSED[name]}.*; .*use "):
        pl.PseudoSpectral().compile(pl.load(pl.library.path(name)))


@pytest.mark.parametrize("name", sorted({*pl.library.names()} - {*REFUSED}))
def test_all_other_library_arms_run(name: str) -> None:
    arm = pl.PseudoSpectral(6).compile(pl.load(pl.library.path(name)))
    push = pl.DistributedWrench(
        arm.flexible[0].name, pl.signals.Constant((0.0, 0.1, 0.1, 0.0, 0.0, 0.0)), pl.Frame.BODY
    )
    run = pl.simulate(pl.connect(arm, push), until=0.01)
    assert run.ending.completed
    assert run.ledger.worst_ratio < 1e-12


def test_modes_of_a_tree() -> None:
    ours = pl.modes(pl.PseudoSpectral(12).compile(tree()), count=9)
    theirs = pl.modes(pl.GeometricallyExact(degree=10).compile(tree()), count=9)
    assert np.sum(ours.eigenvalue == 0.0) == 3
    assert ours.frequency[3:] == pytest.approx(theirs.frequency[3:], rel=1e-8)


def test_linearised_motion_of_a_tree() -> None:
    tips, joints = [], []
    for formulation in (pl.PseudoSpectral(12), pl.GeometricallyExact(degree=8)):
        arm = pl.connect(
            formulation.compile(tree()),
            pl.JointTorque("swing", pl.signals.Sine(amplitude=1e-4, frequency=2.0)),
            pl.JointPD(pl.motions.Hold(0.4), stiffness=2.0, damping=0.1, joints=("turn",)),
            pl.TipWrench("c", pl.signals.Sine(amplitude=(1e-3,) * 6, frequency=1.0), frame=pl.Frame.BODY),
        )
        run = pl.simulate(arm, until=0.2, integrator=pl.Gauss(order=4, step=1e-3))
        assert run.ledger.worst_ratio < 1e-10
        tips.append(run.tip_position - run.tip_position[0])
        joints.append(run.joint_position - run.joint_position[0])
    assert np.abs(tips[0] - tips[1]).max() < 1e-3 * np.abs(tips[1]).max()
    assert np.abs(joints[0] - joints[1]).max() < 1e-3 * np.abs(joints[1]).max()


def test_a_tapered_link_converges_to_the_same_frequencies() -> None:
    taper = pl.sections.Tapered(root=pl.Rectangle(height=0.008, width=0.03), tip=pl.Rectangle(height=0.004, width=0.02))
    robot = clamped_beam(beam(section=taper))
    ours = pl.modes(pl.PseudoSpectral(18).compile(robot), count=6).frequency
    theirs = pl.modes(pl.GeometricallyExact(degree=16).compile(robot), count=6).frequency
    assert ours == pytest.approx(theirs, rel=1e-8)


def test_a_rigid_arm_is_linear_too() -> None:
    """theta = torque t^2 / 2 inertia = 0.35 / (2 x 0.35) after a second."""
    body = pl.RigidLink(
        name="a", tip_position=(1.0, 0.0, 0.0), mass=1.0, center_of_mass=(0.5, 0.0, 0.0), inertia=(0.1, 0.1, 0.1)
    )
    robot = pl.Robot(name="rigid", links=(body,), joints=(pl.RevoluteJoint(name="j", parent="base", child="a"),))
    arm = pl.connect(pl.PseudoSpectral().compile(robot), pl.JointTorque("j", pl.signals.Constant(0.35)))
    assert pl.simulate(arm, until=1.0).joint_position[-1, 0] == pytest.approx(0.5, rel=1e-12)
