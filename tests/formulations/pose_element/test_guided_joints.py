"""Prescribed motions of ball and free joints: three turns in a row, or three translations and three turns."""

from __future__ import annotations

import numpy as np
import pytest

import pliant as pl
from pliant.errors import InvalidInput
from tests.support.trees import Array

SECTION = pl.GeneralSection(
    stiffness=(2e4, 1e4, 1e4, 10.0, 10.0, 10.0), inertia=(0.5, 0.5, 0.5, 4e-4, 2e-4, 2e-4), damping=(0.01,) * 6
)
ROD = pl.FlexibleLink("rod", 0.5, SECTION)
HUB = pl.RigidLink("hub", (0.1, 0.0, 0.0), 1.0, center_of_mass=(0.05, 0.01, 0.0), inertia=(0.01, 0.02, 0.03))
WELD = pl.FixedJoint("weld", "hub", "rod")
PLACE = {"position": (0.1, 0.2, 0.3), "rotation": (0.8, 0.0, 0.6, 0.0)}
GRAVITY = (0.0, 0.0, -9.81)
# the second turn goes through a quarter, where three turns in a row have no inverse
ROTATIONS = (pl.motions.Quintic(0.0, 1.0, 0.3), pl.motions.Quintic(0.2, 1.9, 0.3), pl.motions.Quintic(-0.3, 0.8, 0.3))
TRANSLATIONS = (pl.motions.Quintic(0.0, 0.4, 0.3), pl.motions.Hold(0.1), pl.motions.Quintic(-0.2, 0.1, 0.3))


def swung(robot: pl.Robot, motions: dict[str, object]) -> pl.Trajectory:
    arm = pl.PoseElement(elements=3).compile(robot)
    model = pl.connect(arm, *(pl.PrescribedMotion(joint, motion) for joint, motion in motions.items()))
    run = pl.simulate(model, until=0.4, integrator=pl.Gauss(order=2, step=1e-3), outputs=40)
    assert run.ending.completed
    assert run.ledger.worst_ratio < 1e-10
    return run


def robot(joint: pl.robot.Joint, *others: object) -> pl.Robot:
    links = [part for part in others if isinstance(part, pl.RigidLink)]
    joints = [part for part in others if not isinstance(part, pl.RigidLink)]
    return pl.Robot("swing", (HUB, ROD, *links), (joint, *joints, WELD), gravity=GRAVITY)


def in_a_row(kind: str) -> tuple[pl.Robot, dict[str, object]]:
    """Plain joints in a row with weightless links between, which do what a guided joint does."""
    axes = np.eye(3).tolist()
    steps = [(pl.RevoluteJoint, tuple(axis), motion) for axis, motion in zip(axes, ROTATIONS)]
    if kind == "free":
        steps = [(pl.PrismaticJoint, tuple(axis), motion) for axis, motion in zip(axes, TRANSLATIONS)] + steps
    joints, links, motions = [], [], {}
    for k, (make, axis, motion) in enumerate(steps):
        last = k == len(steps) - 1
        place = PLACE if k == 0 else {}
        joints.append(
            make(f"j{k}", links[-1].name if links else "base", "hub" if last else f"l{k}", axis=axis, **place)
        )
        motions[f"j{k}"] = motion
        if not last:
            links.append(pl.RigidLink(f"l{k}", (0.0, 0.0, 0.0), 0.0))
    return robot(joints[0], *joints[1:], *links), motions


def names(kind: str) -> tuple[str, ...]:
    turns = ("x", "y", "z") if kind == "ball" else ("turn_x", "turn_y", "turn_z")
    return tuple(f"joint.{word}" for word in (*(() if kind == "ball" else ("x", "y", "z")), *turns))


def guided(kind: str, **fields: object) -> tuple[pl.Robot, dict[str, object]]:
    make = pl.joints.SphericalJoint if kind == "ball" else pl.joints.FreeJoint
    motions = ROTATIONS if kind == "ball" else (*TRANSLATIONS, *ROTATIONS)
    return robot(make("joint", "base", "hub", **PLACE, **fields)), dict(zip(names(kind), motions))


@pytest.mark.parametrize("kind", ["ball", "free"])
def test_a_guided_joint_moves_as_plain_joints_in_a_row(kind: str) -> None:
    found, expected = swung(*guided(kind)), swung(*in_a_row(kind))
    assert np.abs(found.tip_position - expected.tip_position).max() < 1e-12
    works = [found.ledger.works[name] for name in names(kind)]
    others = [expected.ledger.works[f"j{k}"] for k in range(len(works))]
    assert np.abs(np.array(works)).max() > 1.0, "the motion hardly works"
    assert np.abs(np.array(works) - others).max() < 1e-9
    assert found.joint_names == names(kind)
    angles: Array = found.state("joint_position")[:, -3:]
    wanted = np.column_stack([motion.evaluate(found.time)[0] for motion in ROTATIONS])
    assert np.abs(angles - wanted).max() < 1e-12


def test_a_free_link_that_is_guided_equals_a_moved_base() -> None:
    slide, turn = pl.motions.Quintic(0.0, 0.5, 0.3), pl.motions.Quintic(0.0, 1.2, 0.3)
    plain = pl.Robot("swing", (HUB, ROD), (pl.FixedJoint("root", "base", "hub"), WELD), gravity=GRAVITY)
    arm = pl.PoseElement(elements=3).compile(plain)
    moved = pl.connect(arm, pl.BaseMotion(x=slide, angle=turn, axis=(0.0, 1.0, 0.0)))
    base = pl.simulate(moved, until=0.4, integrator=pl.Gauss(order=2, step=1e-3), outputs=40)
    free = pl.Robot("swing", (HUB, ROD), (pl.joints.FreeJoint("joint", "base", "hub"), WELD), gravity=GRAVITY)
    motions = dict.fromkeys(names("free"), pl.motions.Hold(0.0)) | {"joint.x": slide, "joint.turn_y": turn}
    run = swung(free, motions)
    assert np.abs(run.tip_position - base.tip_position).max() < 1e-12


def test_springs_and_cones_of_a_guided_ball_act() -> None:
    plain = swung(*guided("ball"))
    held = swung(*guided("ball", spring=pl.joints.BallSpring(5.0), limits=pl.joints.Cone(0.5, 50.0)))
    assert np.abs(plain.tip_position - held.tip_position).max() < 1e-12
    without, with_them = (sum(run.ledger.works[name][-1] for name in names("ball")) for run in (plain, held))
    assert with_them > without + 1.0


@pytest.mark.parametrize(
    ("components", "sentence"),
    [
        (
            (pl.PrescribedMotion("joint.x", pl.motions.Hold(0.0)),),
            "joint 'joint' is prescribed in part only; name joint.y, joint.z too, for example with Hold(0)",
        ),
        (
            (
                *(pl.PrescribedMotion(f"joint.{axis}", pl.motions.Hold(0.0)) for axis in "xyz"),
                pl.JointTorque("joint", pl.signals.Constant((1.0, 0.0, 0.0))),
            ),
            "JointTorque: joint 'joint' is prescribed too; remove one of the two",
        ),
        (
            (pl.GearMotor("joint.x", 1e-4, 10.0),),
            "GearMotor: joint 'joint' is spherical, and its coordinates start anew at every step; drive it by a"
            " JointTorque 'joint' of 3 components, prescribe joint.x, joint.y and joint.z or put a JointPD on them, all"
            " together, give it a spring, or take a universal joint",
        ),
    ],
    ids=["one turn", "torque too", "motor"],
)
def test_what_a_ball_refuses(components: tuple[object, ...], sentence: str) -> None:
    arm = pl.PoseElement().compile(guided("ball")[0])
    with pytest.raises(InvalidInput) as refused:
        pl.connect(arm, *components)
    assert str(refused.value) == sentence


def test_a_ball_with_friction_is_not_guided() -> None:
    arm = pl.PoseElement().compile(guided("ball", damping=1.0)[0])
    with pytest.raises(InvalidInput, match="joint 'joint' has damping or friction, which a ball does not carry while"):
        pl.connect(arm, *(pl.PrescribedMotion(name, pl.motions.Hold(0.0)) for name in names("ball")))


def test_a_guided_joint_has_linearised_motions() -> None:
    run_robot, motions = guided("free")
    model = pl.connect(
        pl.PoseElement(elements=3).compile(run_robot),
        *(pl.PrescribedMotion(name, pl.motions.Hold(0.0)) for name in motions),
    )
    fixed = pl.Robot("swing", (HUB, ROD), (pl.FixedJoint("root", "base", "hub", **PLACE), WELD), gravity=GRAVITY)
    clamped = pl.PoseElement(elements=3).compile(fixed)
    found, expected = (pl.modes(each, pl.equilibrium(each).state, count=4) for each in (model, clamped))
    assert found.eigenvalue == pytest.approx(expected.eigenvalue, rel=1e-8)
