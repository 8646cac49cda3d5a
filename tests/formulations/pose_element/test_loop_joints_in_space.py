"""Loop joints of every kind against the same joint in the tree: a ring of three bodies, closed at one joint or another.

Base, crank, rod and slider; the ring is closed at its last joint, between base and slider, or at the knee of crank and
rod.
"""

from __future__ import annotations

import numpy as np
import pytest

import pliant as pl
from tests.formulations.pose_element.test_loops import ledger_closes, worst_violation
from tests.support.trees import Array

Vector = tuple[float, float, float]
KNEE, PIN, LAST = (0.2, 0.15, 0.0), (0.9, 0.1, 0.05), (1.1, 0.3, 0.1)
ENDS = {"crank": ((0.0, 0.0, 0.0), KNEE), "rod": (KNEE, PIN), "slider": (PIN, LAST)}
MASS = {"crank": 1.0, "rod": 0.6, "slider": 1.5}
FRICTION = pl.joints.Friction(0.4, 0.6, 0.2, 0.05)
LAWS = {
    "spring": pl.joints.JointSpring(30.0, 0.1),
    "damping": 0.3,
    "friction": FRICTION,
    "limits": pl.joints.Limits(-0.01, 0.02, 2e3, 5.0),
}
OBEYS = pl.joints.Coordinate(**LAWS)
BALL_SPRING, CONE = pl.joints.BallSpring(20.0), pl.joints.Cone(0.02, 300.0, 1.0, axis=(0.0, 1.0, 0.0))
AXIS, ACROSS = (0.6, 0.8, 0.0), (0.8, -0.6, 0.0)


def in_tree(kind: str, sign: float) -> pl.robot.Joint:
    """The last joint from the base to the slider; with the opposite sign it is the one from the slider to the base."""
    place = {"name": "last", "parent": "base", "child": "slider", "position": LAST}
    axis, across = (tuple(sign * entry for entry in direction) for direction in (AXIS, ACROSS))
    match kind:
        case "revolute":
            return pl.RevoluteJoint(**place, axis=axis, **LAWS)
        case "prismatic":
            return pl.PrismaticJoint(**place, axis=axis, **LAWS)
        case "cylindrical":
            return pl.joints.CylindricalJoint(**place, axis=axis, slide=OBEYS, turn=OBEYS)
        case "universal":
            axes = (axis, across) if sign > 0.0 else (across, axis)
            return pl.joints.UniversalJoint(**place, first_axis=axes[0], second_axis=axes[1], first=OBEYS, second=OBEYS)
        case "planar":
            return pl.joints.PlanarJoint(**place, normal=axis, first_slide=OBEYS, second_slide=OBEYS, turn=OBEYS)
    return pl.joints.SphericalJoint(**place, spring=BALL_SPRING, damping=0.2, friction=FRICTION, limits=CONE)


LOOP_LAWS = {
    "revolute": LAWS,
    "prismatic": LAWS,
    "cylindrical": {"slide": OBEYS, "turn": OBEYS},
    "universal": {"second_axis": ACROSS, "first_turn": OBEYS, "second_turn": OBEYS},
    "planar": {"first_slide": OBEYS, "second_slide": OBEYS, "turn": OBEYS},
    "spherical": {"ball_spring": BALL_SPRING, "damping": 0.2, "friction": FRICTION, "cone": CONE},
}


def body(name: str, by_its_end: bool) -> pl.RigidLink:
    """A body that lies along the axes of the world at the start, its root at one of its two points."""
    root, tip = (np.array(point) for point in (ENDS[name][::-1] if by_its_end else ENDS[name]))
    center = 0.5 * (root + tip) + (0.02, -0.03, 0.01) - root
    lever, arm = (tuple(map(float, vector)) for vector in (tip - root, center))
    return pl.RigidLink(name, lever, MASS[name], center_of_mass=arm, inertia=(0.02, 0.03, 0.025))


def ring(kind: str, closes: str, sign: float = 1.0) -> pl.Robot:
    """With the sign -1 the last joint goes from the slider to the base."""
    motor = pl.joints.UniversalJoint("motor", "base", "crank")
    if closes == "last":
        joints = (
            motor,
            pl.joints.SphericalJoint("knee", "crank", "rod"),
            pl.joints.SphericalJoint("pin", "rod", "slider"),
        )
        ends = (pl.At("base", position=LAST), pl.At("slider"))
        plain = {} if kind == "spherical" else {"axis": AXIS}
        loop = pl.joints.LoopJoint("last", pl.joints.LoopKind(kind), *ends[:: int(sign)], **plain, **LOOP_LAWS[kind])
    else:
        joints = (motor, in_tree(kind, sign), pl.joints.SphericalJoint("pin", "slider", "rod"))
        loop = pl.joints.LoopJoint("knee", pl.joints.LoopKind.SPHERICAL, pl.At("crank"), pl.At("rod"))
    links = tuple(body(name, name != "crank" and closes != "last") for name in ENDS)
    return pl.Robot("ring", links, joints, gravity=(2.0, -9.0, 3.0), loops=(loop,))


def fall(robot: pl.Robot, *components: object) -> pl.Trajectory:
    model = pl.connect(pl.PoseElement().compile(robot), *components)
    run = pl.simulate(model, until=0.1, integrator=pl.Gauss(order=2, step=5e-4), outputs=200)
    assert run.ending.completed, run.ending
    assert ledger_closes(run, model.robot.loops[0].name)
    assert worst_violation(model.arm, run.states) < 1e-11
    return run


def middles(run: pl.Trajectory) -> Array:
    """Middle points of all bodies, metre; the same whichever end is the root."""
    return np.stack([run.link(name).position[:, [0, -1]].mean(axis=1) for name in ENDS])


def coordinates(run: pl.Trajectory, block: str) -> Array:
    """Of the last joint; in the order of their names, or the other way round."""
    return run.state(block)[:, [k for k, name in enumerate(run.joint_names) if name.startswith("last")]]


@pytest.mark.parametrize(
    ("kind", "sign"),
    # the opposite of a planar joint is none: its translations would turn with the other part
    [*((kind, 1.0) for kind in LOOP_LAWS), *((kind, -1.0) for kind in LOOP_LAWS if kind != "planar")],
)
def test_a_loop_joint_of_any_kind_moves_as_in_the_tree(kind: str, sign: float) -> None:
    closing, opened = fall(ring(kind, "last", sign)), fall(ring(kind, "knee", sign))
    assert closing.ledger.joint_loss[-1] > 1e-3, "the laws hardly act"
    found, expected = middles(closing), middles(opened)
    assert np.ptp(expected, axis=1).max() > 3e-3, "it hardly moves"
    # what Newton's method leaves in 200 steps; the steps themselves are the same
    assert np.abs(found - expected).max() < 1e-11
    if kind != "spherical":
        flip = slice(None, None, -1 if kind == "universal" and sign < 0.0 else 1)
        for block in ("joint_position", "joint_rate"):
            one, two = coordinates(closing, block), coordinates(opened, block)[:, flip]
            assert np.abs(one - two).max() < 1e-9 * np.abs(two).max()


def test_a_torque_drives_a_ball_that_closes_a_loop_as_one_in_the_tree() -> None:
    torque = pl.JointTorque("last", pl.signals.Sine((6.0, -4.0, 3.0), 4.0))
    closing, opened = fall(ring("spherical", "last"), torque), fall(ring("spherical", "knee"), torque)
    assert np.abs(closing.ledger.works["last"]).max() > 1e-2, "the torque hardly acts"
    assert np.abs(closing.ledger.works["last"] - opened.ledger.works["last"]).max() < 1e-11
    assert np.abs(middles(closing) - middles(opened)).max() < 1e-11


def test_a_universal_loop_joint_counts_from_where_its_axes_are_perpendicular() -> None:
    """Its second axis is given along the first: the second frame is then a quarter turn away from alignment."""
    loop = pl.joints.LoopJoint(
        "last",
        pl.joints.LoopKind.UNIVERSAL,
        pl.At("base", position=LAST),
        pl.At("slider", rotation=(np.cos(np.pi / 4), 0.0, np.sin(np.pi / 4), 0.0)),
        second_axis=(0.0, 0.0, 1.0),
        first_turn=OBEYS,
    )
    plain = ring("universal", "last")
    robot = pl.Robot("ring", plain.links, plain.joints, gravity=plain.gravity, loops=(loop,))
    run = fall(robot)
    assert np.abs(coordinates(run, "joint_position")[0]).max() < 1e-12
    assert np.ptp(coordinates(run, "joint_position"), axis=0).min() > 1e-3
