"""Joints that close a loop obey laws, are driven and seen like joints of the tree: the same mechanism, cut anywhere."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

import pliant as pl
from tests.formulations.pose_element.test_loops import worst_violation
from tests.support import cut_four_bar as cut
from tests.support.trees import Array


class Steady(NamedTuple):
    """A motion at a constant rate."""

    start: float
    rate: float
    breaks: tuple[float, ...] = ()

    def evaluate(self, times: Array) -> tuple[Array, Array, Array]:
        return self.start + self.rate * times, np.full_like(times, self.rate), np.zeros_like(times)


FRICTION = pl.joints.Friction(0.2, 0.3, 0.5, 0.2)
SMOOTH: cut.Laws = {
    "drive": {"damping": 0.1, "friction": FRICTION},
    "elbow": {"spring": pl.joints.JointSpring(5.0, 0.3), "friction": FRICTION},
    "tip": {"spring": pl.joints.JointSpring(8.0, 1.2), "damping": 0.2, "friction": FRICTION},
    "pivot": {"friction": FRICTION, "damping": 0.05},
}
position, rate = cut.angles()
STOPS: cut.Laws = {
    name: {"limits": pl.joints.Limits(angle - 0.25, angle + 0.25, 300.0, 1.0), "friction": FRICTION}
    for name, angle in position.items()
}
DRIVES = {
    "torque": lambda joint: (pl.JointTorque(joint, pl.signals.Sine(3.0, 2.0)),),
    "feedback": lambda joint: (pl.JointPD(pl.motions.Hold(position[joint] + 0.3), 20.0, 1.0, joints=[joint]),),
    "motor": lambda joint: (
        pl.GearMotor(joint, 1e-4, 30.0, stiffness=400.0, damping=0.5),
        pl.JointTorque(joint, pl.signals.Sine(4.0, 1.5)),
    ),
    "motion": lambda joint: (pl.PrescribedMotion(joint, Steady(position[joint], rate[joint])),),
}


def run(cut_at: str, laws: cut.Laws, drives: tuple[object, ...] = ()) -> pl.Trajectory:
    model = pl.connect(pl.PoseElement().compile(cut.robot(cut_at, laws)), *drives)
    found = pl.simulate(model, until=0.3, integrator=pl.Gauss(order=2, step=1e-3), outputs=30)
    assert found.ending.completed
    assert found.ledger.worst_ratio < 1e-10
    assert worst_violation(model.arm, found.states) < 1e-11
    return found


def differs(found: pl.Trajectory, other: pl.Trajectory) -> float:
    """Largest difference of joint positions and rates, where both runs show them, and of losses and works."""
    mine, yours = cut.positions(found), cut.positions(other)
    shared = sorted(set(mine) & set(yours))
    assert len(shared) >= 2
    turns = [np.abs(np.angle(np.exp(1j * (mine[name] - yours[name])))).max() for name in shared]
    rates = []
    for name in shared:
        one, two = (each.state("joint_rate")[:, each.joint_names.index(name)] for each in (found, other))
        rates.append(np.abs(one - two).max() / max(1.0, np.abs(one).max()))
    works = [np.abs(found.ledger.works[name] - other.ledger.works[name]).max() for name in shared]
    losses = np.abs(found.ledger.joint_loss - other.ledger.joint_loss).max()
    return float(max(*turns, *rates, *works, losses))


@pytest.mark.parametrize("laws", [SMOOTH, STOPS], ids=["springs and friction", "stops"])
def test_every_law_acts_the_same_wherever_the_loop_is_cut(laws: cut.Laws) -> None:
    runs = {name: run(name, laws) for name in cut.JOINTS}
    one = runs["drive"]
    assert one.ledger.joint_loss[-1] > 0.5, "the laws hardly act"
    for name, other in runs.items():
        assert set(other.joint_names) == set(cut.JOINTS)
        # what Newton's method leaves in 300 steps; the steps themselves are the same
        assert differs(one, other) < 1e-9, name


def test_the_stops_of_the_last_test_are_reached() -> None:
    beyond = {name: np.abs(turn - position[name]).max() for name, turn in cut.positions(run("tip", STOPS)).items()}
    assert max(beyond.values()) > 0.25


@pytest.mark.parametrize("kind", DRIVES)
@pytest.mark.parametrize("joint", cut.JOINTS)
def test_a_drive_acts_the_same_wherever_the_loop_is_cut(kind: str, joint: str) -> None:
    drives = DRIVES[kind](joint)
    closing, in_tree = run(joint, {}, drives), run("elbow" if joint != "elbow" else "tip", {}, drives)
    assert joint in closing.joint_names
    assert np.abs(closing.ledger.works[joint]).max() > 0.05, "the drive hardly acts"
    assert differs(closing, in_tree) < 1e-9


def test_a_loop_joint_is_seen_like_any_joint(tmp_path: Path) -> None:
    closing = run("tip", {}, DRIVES["torque"]("tip"))
    _, spins = cut.angles()
    assert closing.state("joint_rate")[0, -1] == pytest.approx(spins["tip"], abs=1e-9)
    assert closing.state("joint_position")[0, -1] == pytest.approx(position["tip"], abs=1e-12)
    assert np.abs(closing.efforts["tip"]).max() > 1.0
    closing.save(tmp_path / "run.nc")
    kept = pl.load_trajectory(tmp_path / "run.nc")
    assert kept.joint_names == closing.joint_names == ("drive", "elbow", "pivot", "tip")
    assert kept.joint_units[-1].position == "rad"


def test_a_law_for_all_joints_leaves_loop_joints_alone() -> None:
    arm = pl.PoseElement().compile(cut.robot("tip", SMOOTH))
    assert arm.joint_names[-1] == "tip"
    assert pl.connect(arm, pl.JointPD(pl.motions.Hold(0.0), 2.0, 1.0)).inputs.stiffness == (2.0, 2.0, 2.0, 0.0)
    _, _, unused = pl.report(pl.connect(arm)).partition("left unused: ")
    assert "tip" in unused.split(", ")


def test_a_motion_of_a_loop_joint_decides_where_the_mechanism_starts() -> None:
    arm = pl.PoseElement().compile(cut.robot("tip", {}))
    moved = pl.connect(arm, pl.PrescribedMotion("tip", pl.motions.Quintic(position["tip"] + 0.1, position["tip"], 0.5)))
    found = pl.simulate(moved, until=0.01, integrator=pl.Gauss(order=2, step=1e-3))
    assert found.ending.completed
    assert found.state("joint_position")[0, -1] == pytest.approx(position["tip"] + 0.1, abs=1e-12)
    assert worst_violation(moved.arm, found.states) < 1e-11


@pytest.mark.parametrize("cut_at", ["tip", "pivot"])
def test_equilibrium_and_modes_are_the_same_wherever_the_loop_is_cut(cut_at: str) -> None:
    laws: cut.Laws = {name: {"spring": pl.joints.JointSpring(20.0, 0.2), "damping": 0.1} for name in cut.JOINTS}
    found = []
    for name in (cut_at, "elbow"):
        model = pl.connect(pl.PoseElement().compile(cut.robot(name, laws)))
        rest = pl.equilibrium(model)
        assert rest.ending.completed
        found.append((rest.state, model, pl.modes(model, rest.state)))
    turns = [
        {name: model.layout.part(state, "joint_position")[k] for k, name in enumerate(model.joint_names)}
        for state, model, _ in found
    ]
    for name in cut.JOINTS:
        assert np.angle(np.exp(1j * (turns[0][name] - turns[1][name]))) == pytest.approx(0.0, abs=1e-9)
    assert found[0][2].eigenvalue == pytest.approx(found[1][2].eigenvalue, rel=1e-8)


def test_a_flexible_loop_with_friction_stops_and_a_motor_on_its_loop_joint_stays_closed() -> None:
    robot = pl.load(pl.library.path("parallelogram"))
    corner = replace(robot.loop("far_corner"), friction=FRICTION, limits=pl.joints.Limits(-1.5, 1.5, 50.0, 0.1))
    arm = pl.PoseElement(elements=4).compile(replace(robot, loops=(corner,)))
    driven = pl.connect(
        arm,
        pl.GearMotor("far_corner", 1e-5, 20.0, stiffness=300.0, damping=0.05),
        pl.JointTorque("far_corner", pl.signals.Sine(1.5, 0.7)),
        pl.JointTorque("left_drive", pl.signals.Sine(-1.0, 1.1)),
    )
    found = pl.simulate(driven, until=2.0, integrator=pl.Gauss(order=2, step=2e-3), outputs=500)
    assert found.ending.completed
    assert found.ledger.worst_ratio < 1e-10
    assert worst_violation(arm, found.states) < 1e-11
    assert np.ptp(found.state("joint_position")[:, -1]) > 0.5, "it hardly moves"
    assert found.ledger.joint_loss[-1] > 0.1


def test_a_loop_joint_with_a_law_between_parts_without_inertia_is_refused() -> None:
    rods = [pl.RigidLink(name, (0.5, 0.0, 0.0), 0.0) for name in ("left", "right")]
    hub = pl.RigidLink("hub", (0.0, 0.0, 0.0), 1.0, inertia=(1.0, 1.0, 1.0))
    joints = (
        pl.RevoluteJoint("turn", "base", "hub"),
        pl.RevoluteJoint("one", "hub", "left"),
        pl.RevoluteJoint("two", "hub", "right"),
    )
    loop = pl.joints.LoopJoint("pin", pl.joints.LoopKind.REVOLUTE, pl.At("left"), pl.At("right"), damping=1.0)
    with pytest.raises(pl.InvalidInput) as refused:
        pl.PoseElement().compile(pl.Robot("scissors", (hub, *rods), joints, loops=(loop,)))
    assert str(refused.value) == (
        "loop joint 'pin' has coordinates, but links 'left' and 'right' have no inertia along them;"
        " give one of the links a mass and inertia, or close the loop at another joint"
    )
