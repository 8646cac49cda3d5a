"""Mechanisms without drives only lose energy, whatever springs, friction, stops, walls and gears they have."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import pliant as pl
from pliant.model.inputs import Inputs
from pliant.model.state import Cause
from pliant.spatial.arrays import quaternion_from_rotation, rotation_from_quaternion, rotation_from_vector
from pliant.structures.nodal.balance import elastic_energy, kinetic_energy
from pliant.structures.nodal.model import PoseElementArm
from tests.support.trees import Array, direction, inertia, quaternion

KINDS = ("revolute", "prismatic", "cylindrical", "universal", "planar", "spherical", "fixed")
SECTION = pl.GeneralSection(
    stiffness=(1e4, 5e3, 5e3, 10.0, 10.0, 10.0),
    inertia=(0.5, 0.5, 0.5, 5e-3, 5e-3, 5e-3),
    damping=(1.0, 1.0, 1.0, 1e-3, 1e-3, 1e-3),
)

# where nothing moves, nothing is exchanged, and no part of it can be accounted for
moving_kinds = st.lists(st.sampled_from(KINDS), min_size=1, max_size=4).filter(lambda kinds: {*kinds} != {"fixed"})


def maybe(rng: np.random.Generator, part: object) -> object | None:
    return part if rng.uniform() < 0.5 else None


def passive_laws(rng: np.random.Generator) -> dict[str, object]:
    coulomb = float(rng.uniform(0.0, 1.0))
    friction = pl.joints.Friction(coulomb, coulomb + float(rng.uniform(0.0, 1.0)), 0.2, 0.05)
    lower = float(rng.uniform(-0.2, 0.0))
    limits = pl.joints.Limits(lower, lower + 0.3, float(rng.uniform(10.0, 1e3)), float(rng.uniform(0.0, 5.0)))
    return {
        "initial_position": float(0.2 * rng.normal()),
        "initial_rate": float(rng.normal()),
        "spring": maybe(rng, pl.joints.JointSpring(float(rng.uniform(0.1, 50.0)), float(rng.normal()))),
        "damping": float(rng.uniform(0.0, 0.5)),
        "friction": maybe(rng, friction),
        "limits": maybe(rng, limits),
    }


def passive_joint(rng: np.random.Generator, kind: str, number: int, parent: str) -> pl.robot.Joint:
    place = tuple(0.1 * np.array(direction(rng)))
    common = {
        "name": f"joint_{number}",
        "parent": parent,
        "child": f"link_{number}",
        "position": tuple(float(x) for x in place),
        "rotation": quaternion(rng),
    }

    def coordinate() -> pl.joints.Coordinate:
        return pl.joints.Coordinate(**passive_laws(rng))

    if kind in ("revolute", "prismatic"):
        make = pl.RevoluteJoint if kind == "revolute" else pl.PrismaticJoint
        return make(**common, axis=direction(rng), **passive_laws(rng))
    if kind == "cylindrical":
        return pl.joints.CylindricalJoint(**common, axis=direction(rng), slide=coordinate(), turn=coordinate())
    if kind == "universal":
        return pl.joints.UniversalJoint(**common, first=coordinate(), second=coordinate())
    if kind == "planar":
        translates = {"first_slide": coordinate(), "second_slide": coordinate()}
        return pl.joints.PlanarJoint(**common, **translates, turn=coordinate())
    if kind == "spherical":
        return pl.joints.SphericalJoint(
            **common,
            initial_rotation=(float(np.cos(0.3)), 0.0, float(np.sin(0.3)), 0.0),
            initial_rate=direction(rng),
            spring=maybe(rng, pl.joints.BallSpring(float(rng.uniform(0.1, 20.0)))),
            damping=float(rng.uniform(0.0, 0.2)),
            friction=maybe(rng, pl.joints.Friction(0.3, 0.5, 0.2, 0.05)),
            limits=maybe(rng, pl.joints.Cone(half_angle=0.6, stiffness=50.0, damping=0.5)),
        )
    return pl.FixedJoint(**common)


def passive_robot(rng: np.random.Generator, kinds: list[str]) -> pl.Robot:
    links, joints = [], []
    for number, kind in enumerate(kinds):
        name = f"link_{number}"
        parent = "base" if not links or rng.uniform() < 0.2 else links[-1].name
        joints.append(passive_joint(rng, kind, number, parent))
        if rng.uniform() < 0.3:
            links.append(pl.FlexibleLink(name, 0.4, SECTION))
        else:
            tip, center = 0.3 * rng.normal(size=(2, 3))
            links.append(
                pl.RigidLink(
                    name,
                    tuple(float(x) for x in tip),
                    float(rng.uniform(0.5, 2.0)),
                    center_of_mass=tuple(float(x) for x in center),
                    inertia=inertia(rng),
                )
            )
    return pl.Robot(name="passive", links=tuple(links), joints=tuple(joints), gravity=direction(rng))


def near(rng: np.random.Generator, arm: PoseElementArm, name: str) -> pl.At:
    """A frame on the base near the root of a link at the start: a bushing ends where it is turned by pi."""
    node, state = int(arm.structure.link(name).nodes[0]), arm.initial_state()
    R = rotation_from_quaternion(arm.layout.part(state, "rotation")[node][None])[0]
    off = R @ rotation_from_vector(0.3 * rng.normal(size=3))
    place = arm.layout.part(state, "position")[node] + 0.1 * rng.normal(size=3)
    turn = quaternion_from_rotation(off[None])[0]
    return pl.At("base", position=tuple(map(float, place)), rotation=tuple(map(float, turn)))


def components(rng: np.random.Generator, robot: pl.Robot, arm: PoseElementArm) -> list[object]:
    """Force elements between random parts, and motors without a drive."""
    last, first = pl.At(robot.links[-1].name), pl.At("base", position=direction(rng))
    root = robot.links[0].name
    on_root = pl.At(root, pl.End.ROOT)
    parts: list[object] = [
        pl.SpringDamper("pull", first, last, float(rng.uniform(1.0, 100.0)), 0.5, 0.4),
        pl.Bushing("mount", near(rng, arm, root), on_root, (40.0,) * 3 + (2.0,) * 3, (0.5,) * 3 + (0.1,) * 3),
        pl.Wall("floor", last, direction(rng), direction(rng), 300.0, 3.0),
    ]
    joints = (*robot.joints, *(loop.joint for loop in robot.loops))
    balls = {name for joint in joints for name in joint.coordinate_names
             if isinstance(joint, pl.joints.SphericalJoint)}  # fmt: skip
    for name in arm.joint_names:
        if name not in balls and rng.uniform() < 0.5:
            stiffness = maybe(rng, float(rng.uniform(5.0, 500.0)))
            damping = 0.1 if stiffness else 0.0
            parts.append(pl.GearMotor(name, 1e-4, 10.0, stiffness=stiffness, damping=damping))
    return [part for part in parts if rng.uniform() < 0.7]


def total_energy(arm: PoseElementArm, inputs: Inputs, states: Array) -> Array:
    """Of bodies, rotors, elements, joints, lines and weight, from the states alone."""
    mechanism = arm.mechanism(inputs)
    bodies = mechanism.bodies
    totals = []
    for state in states:
        pose = arm.pose_of(state)
        at = arm.moment_of(mechanism, pose)
        center = pose.x + np.einsum("nij,nj->ni", at.R.reshape(-1, 3, 3), bodies.center)
        weight = -float(bodies.mass @ (center @ bodies.gravity))
        totals.append(kinetic_energy(mechanism, pose, at) + elastic_energy(mechanism, pose, at) + weight)
    return np.array(totals)


@settings(max_examples=25)
@given(seed=st.integers(0, 2**32 - 1), kinds=moving_kinds)
def test_nothing_is_gained_without_a_drive(seed: int, kinds: list[str]) -> None:
    rng = np.random.default_rng(seed)
    robot = passive_robot(rng, kinds)
    arm = pl.PoseElement(elements=2).compile(robot)
    model = pl.connect(arm, *components(rng, robot, arm))
    run = pl.simulate(model, until=0.2, integrator=pl.Gauss(order=2, step=1e-3))
    # a bushing that is turned over ends the run; until then nothing may be gained either
    assert run.ending.completed or run.ending.cause is Cause.TURNED_OVER, run.ending
    ledger = run.ledger
    assert ledger.worst_ratio < 1e-10
    for loss in (ledger.material_loss, ledger.viscous_loss, ledger.joint_loss, ledger.projection_loss):
        assert np.all(np.diff(loss) >= -1e-15 * (1.0 + loss[-1]))
    energy = total_energy(arm, model.inputs, run.states)
    # what a state tells of the energy is its own round-off; the positions of a state have lost their low parts
    size = np.abs(ledger.kinetic) + np.abs(ledger.strain) + np.abs(energy)
    allowed = np.abs(np.diff(ledger.residual)) + 1e-12 * size[1:]
    assert np.all(np.diff(energy) <= allowed), float((np.diff(energy) - allowed).max())
    losses = ledger.material_loss + ledger.viscous_loss + ledger.joint_loss + ledger.projection_loss
    assert np.abs(energy - energy[0] + losses - losses[0]).max() < 1e-11 * (1.0 + size.max())
