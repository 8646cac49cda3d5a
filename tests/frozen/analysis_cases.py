"""Cases without a run: kinematics, dynamics of joints, linear systems, their joining and their reduction."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import pliant as pl
from tests.frozen import adapter, arms
from tests.frozen.case import Array, Case, case, enter, library

Q = [0.3, 0.4, 0.0, 1.2, 0.0, -0.5, 0.0]
BAND = pl.linear.Band(low=0.1, high=20.0, damping=0.01)


def asked(build: Any) -> Any:
    """A case that is nothing but answers."""
    enter(build.__name__, lambda: Case(answers=build))
    return build


def tip(prefix: str, found: Any) -> dict[str, Any]:
    return {f"{prefix}/{part}": getattr(found, part) for part in ("position", "rotation", "jacobian")}


def reach(formulation: Any) -> dict[str, Any]:
    """Where the tip rests, which posture reaches a target, how well it moves and damps from there."""
    arm = formulation.compile(library("seven_joint_two_flexible"))
    resting, stiff = pl.forward_kinematics(arm, Q), pl.kinematics.rigid_kinematics(arm, Q)
    found = pl.inverse_kinematics(arm, resting.position + [0.0, 0.02, 0.03], resting.rotation, start=Q)
    ellipsoid, turns = (pl.kinematics.manipulability(resting), pl.kinematics.manipulability(stiff, rows=(3, 4, 5)))
    answers = tip("resting", resting) | tip("stiff", stiff) | tip("reached", found.tip)
    answers |= {
        "deflection": resting.deflection,
        "positions": found.positions,
        "measure": ellipsoid.measure,
        "half_axes": np.array([ellipsoid.half_axes, turns.half_axes]),
    }
    for drive in pl.kinematics.Drive:
        control = pl.kinematics.vibration_controllability(arm, Q, count=4, drive=drive)
        answers |= {f"{drive.name}/frequency": control.frequency, f"{drive.name}/strength": control.strength}
    return answers


for _name, _room in {
    "exact": lambda: pl.GeometricallyExact(3),
    "pose": lambda: pl.PoseElement(3),
    "lumped": lambda: pl.Lumped(1),
}.items():
    enter(f"kinematics_{_name}", partial(lambda room: Case(answers=lambda: reach(room())), _room))


@asked
def joint_dynamics() -> dict[str, Any]:
    answers: dict[str, Any] = {}
    for robot in (arms.every_hinge(), arms.branched(), arms.flying()):
        arm = pl.PoseElement(2).compile(robot)
        found = pl.kinematics.joint_dynamics(arm)
        places = 0.3 * np.cos(np.arange(len(arm.joint_names)))
        moving = pl.kinematics.joint_dynamics(arm, places, 2.0 * places)
        for name, each in (("start", found), ("moving", moving)):
            for part in ("mass", "coriolis", "gravity"):
                answers[f"{robot.name}/{name}/{part}"] = getattr(each, part)
        answers[f"{robot.name}/forward"] = moving.forward(np.ones(len(moving.names)))
    return answers


@asked
def consistent_states() -> dict[str, Any]:
    answers = {}
    for name, room in (("pose", pl.PoseElement(2)), ("lumped", pl.Lumped(1))):
        arm = room.compile(library("parallelogram"))
        places, rates = {"right_drive": 0.3, "left_drive": -0.2}, {"right_drive": 1.0, "left_drive": 0.5}
        answers[name] = pl.consistent_state(arm, places, rates)
    return answers


@asked
def undeformed_states() -> dict[str, Any]:
    rooms = (pl.GeometricallyExact(3), pl.PoseElement(2), pl.Lumped(1), pl.PseudoSpectral(4))
    answers = {}
    for room in rooms:
        arm = room.compile(library("two_link_planar"))
        states = adapter.undeformed(arm, np.array([[0.1, -0.4], [0.7, 0.2]]))
        answers[f"{type(room).__name__}/states"] = states
        answers[f"{type(room).__name__}/tips"] = arm.tip(states)[0]
    return answers


def responses(system: Any) -> Array:
    return np.asarray(system.transfer(2j * np.pi * np.geomspace(0.1, 50.0, 7) + 0.05))


def port_hamiltonian(formulation: Any, robot: pl.Robot) -> dict[str, Any]:
    """Energy, structure and responses about the equilibrium; smaller systems of the same band."""
    arm = formulation.compile(robot)
    start = arm.layout.part(arm.initial_state(), "joint_position")
    joint = arm.joint_names[0]
    held = pl.connect(
        arm, pl.JointPD([pl.motions.Hold(float(q)) for q in start], 30.0, 1.0, joints=list(arm.joint_names))
    )
    rest = pl.equilibrium(held).state
    system = pl.linear.port_hamiltonian(held, rest)
    kept = system.with_ports(joint)
    small = pl.linear.reduce_port_hamiltonian(kept, 6, BAND)
    balanced = pl.linear.balanced_truncation(kept, 6, BAND)
    return {
        "responses": responses(system),
        "pole sizes": np.sort(np.abs(system.poles)),
        "structure holds": pl.linear.check_structure(system).holds,
        "passive": pl.linear.check_passivity(kept.state_space()).holds,
        "dirac holds": pl.linear.DiracStructure.of_system(kept).check().holds,
        "reduced responses": responses(small.system),
        "reduced worst": small.error.worst,
        "balanced responses": responses(balanced.system),
        "hankel": balanced.hankel[:6],
        "bound": balanced.bound,
        "gain": pl.frequency_response(held, joint, f"{joint}.position", [0.5, 2.0, 9.0], rest).gain,
        "moved": pl.frequency_response(held, f"{joint}.rate", "tip.displacement[1]", [0.5, 2.0], rest).gain,
    }


def floating() -> pl.Robot:
    return arms.two_links(arms.DAMPED, gravity=(0.0, 0.0, 0.0))


for _name, _room, _robot in (
    ("exact", lambda: pl.GeometricallyExact(4), arms.rig),
    ("pose", lambda: pl.PoseElement(4), floating),
    ("lumped", lambda: pl.Lumped(2), floating),
    ("pseudo", lambda: pl.PseudoSpectral(6), arms.rig),
):
    enter(
        f"port_hamiltonian_{_name}",
        partial(lambda room, robot: Case(answers=lambda: port_hamiltonian(room(), robot())), _room, _robot),
    )


@asked
def moved_ports() -> dict[str, Any]:
    """A prescribed joint and the base as inputs of a linear system, by every room."""
    answers = {}
    for room in (pl.GeometricallyExact(4), pl.PoseElement(4), pl.Lumped(3), pl.PseudoSpectral(6)):
        arm = pl.connect(room.compile(library("wang_beam")), pl.PrescribedMotion("hub", pl.motions.Hold(0.0)))
        system = adapter.named(pl, adapter.LINEAR_SYSTEM)(arm, moved=("hub", "base"))
        name = type(room).__name__
        answers[f"{name}/responses"] = responses(system)
        answers[f"{name}/shaken"] = pl.frequency_response(arm, "base.twist[1]", "base.wrench[1]", [1.0, 20.0]).gain
    return answers


@asked
def joined_systems() -> dict[str, Any]:
    """A chain of cells, a hub and a spring, with constraints kept and eliminated."""

    def port(name: str, causality: pl.linear.Causality = pl.linear.Causality.EFFORT_IN) -> pl.linear.LinearPort:
        return pl.linear.LinearPort(name, "torque", "N m", "rate", "rad/s", causality=causality)

    into = pl.linear.Causality.FLOW_IN
    cell = pl.linear.LinearPortHamiltonian(
        J=[[0.0, -1.0], [1.0, 0.0]],
        R=np.diag([0.1, 0.0]),
        Q=np.diag([1.0, 1e4]),
        B=[[1.0, 0.0], [0.0, -1.0]],
        ports=(port("left"), port("right", into)),
    )
    hub = pl.linear.LinearPortHamiltonian(J=[[0.0]], Q=[[20.0]], B=[[1.0, 1.0]], ports=(port("motor"), port("rim")))
    load = pl.linear.LinearPortHamiltonian(J=[[0.0]], Q=[[10.0]], B=[[1.0]], ports=(port("grip"),))
    spring = pl.linear.LinearPortHamiltonian(J=[[0.0]], Q=[[30.0]], B=[[1.0]], D=[[0.02]], ports=(port("root", into),))
    chain = pl.linear.interconnect(
        {f"c{k}": cell for k in range(12)}, *(pl.linear.Series(f"c{k + 1}.left", f"c{k}.right") for k in range(11))
    )
    grip = pl.linear.CommonFlow(("hub.rim", "load.grip"))
    kept = pl.linear.interconnect({"hub": hub, "load": load}, grip, constraints=pl.linear.Constraints.KEPT)
    pair = {"hub": hub, "spring": spring}
    joined = pl.linear.interconnect(pair, pl.linear.CommonFlow(("hub.rim", "spring.root")))
    geared = pl.linear.interconnect(
        pair, pl.linear.CommonFlow(("hub.rim", pl.linear.Scaled("spring.root", 0.2)), external="drive")
    )
    springs = pl.linear.interconnect(
        {"a": spring, "b": spring}, pl.linear.CommonEffort(("a.root", "b.root"), external="pull")
    )
    back = pl.linear.interconnect(pair, pl.linear.Feedback("hub.rim", "spring.root", external="set"))
    return {
        "chain": responses(chain),
        "chain pole sizes": np.sort(np.abs(chain.poles)),
        "kept": responses(kept),
        "eliminated": responses(pl.linear.eliminate_constraints(kept).system),
        "joined": responses(joined),
        "geared": responses(geared),
        "springs": responses(springs),
        "feedback": responses(back),
        "zeros": np.sort(np.abs(joined.state_space().zeros)),
    }


@asked
def written_and_read() -> dict[str, Any]:
    """Robots through text, and a run through a file."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "run.nc"
        arm = pl.GeometricallyExact(3).compile(pl.loads(pl.dump(arms.two_links())))
        pl.simulate(arm, 0.01, pl.Gauss(4, 1e-3)).save(path)
        kept = pl.load_trajectory(path)
        answers = {"ending": adapter.ending(kept), "state/all": kept.states}
        answers |= {"tip_position": kept.tip_position, "link lower/strain": kept.link("lower").strain}
        answers |= {f"effort/{name}": effort for name, effort in kept.efforts.items()}
    return answers | adapter.ledger(kept) | adapter.consistency(kept)


@asked
def fields() -> dict[str, Any]:
    bent = (0.01, 0.02, -0.03, 0.1, -0.2, 0.3)
    return {"exact": pl.lumped.field_transfer(0.5, bent), "small": pl.lumped.small_field_transfer(0.5, bent)}


@case
def modes_played() -> Case:
    """Shapes, directions and states of modes of a sagging arm."""
    arm = pl.GeometricallyExact(4).compile(arms.two_links())
    held = pl.connect(arm, pl.JointPD([pl.motions.Hold(0.3), pl.motions.Hold(-0.8)], 40.0, 0.5))

    def answers() -> dict[str, Any]:
        found = pl.modes(held, pl.equilibrium(held).state, count=4)
        return {
            "directions": [found.direction(mode) for mode in range(4)],
            "damping_ratio": found.damping_ratio,
            "states": found.states(1, amplitude=0.05, frames=5),
            "shape sizes": np.abs(found.shape),
        }

    return Case(held, answers=answers, settled=True)
