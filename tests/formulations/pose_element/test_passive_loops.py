"""Closed loops without drives only lose energy, in the plane and in space, whatever force elements act on them."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import pliant as pl
from pliant.model.state import Cause
from pliant.spatial.arrays import quaternion_from_rotation, rotation_from_quaternion
from pliant.structures.nodal.model import PoseElementArm
from pliant.structures.places import Place
from tests.formulations.pose_element.test_loops import ledger_closes, worst_violation
from tests.formulations.pose_element.test_passivity import (
    SECTION,
    components,
    maybe,
    passive_joint,
    passive_laws,
    total_energy,
)
from tests.support.trees import Array, direction, inertia

FREEDOMS = {"revolute": 1, "prismatic": 1, "cylindrical": 2, "universal": 2, "planar": 3, "spherical": 3}
CONSTRAINTS = {"revolute": 5, "prismatic": 5, "cylindrical": 4, "universal": 4, "spherical": 3, "planar": 3, "fixed": 6}
IN_THE_PLANE = ("revolute", "prismatic", "cylindrical", "spherical")

spatial_chains = st.lists(st.sampled_from(tuple(FREEDOMS)), min_size=2, max_size=4)


def body(rng: np.random.Generator, name: str, flat: bool) -> pl.robot.Link:
    if rng.uniform() < 0.3:
        return pl.FlexibleLink(name, 0.4, SECTION)
    tip, center = 0.3 * rng.normal(size=(2, 3)) + np.array([0.3, 0.0, 0.0])
    if flat:
        tip[2] = center[2] = 0.0
    return pl.RigidLink(
        name,
        tuple(map(float, tip)),
        float(rng.uniform(0.5, 2.0)),
        center_of_mass=tuple(map(float, center)),
        inertia=(0.02, 0.03, 0.04) if flat else inertia(rng),
    )


def flat_joint(rng: np.random.Generator, kind: str, number: int, parent: str) -> pl.robot.Joint:
    x, y = 0.1 * rng.normal(size=2)
    common = {
        "name": f"joint_{number}",
        "parent": parent,
        "child": f"link_{number}",
        "position": (float(x), float(y), 0.0),
    }
    if kind == "prismatic":
        x, y = rng.normal(size=2)
        return pl.PrismaticJoint(**common, axis=(float(x), float(y), 0.0), **passive_laws(rng))
    return pl.RevoluteJoint(**common, **passive_laws(rng))


COORDINATES = {
    "cylindrical": ("slide", "turn"),
    "universal": ("first_turn", "second_turn"),
    "planar": ("first_slide", "second_slide", "turn"),
}


def loop_laws(rng: np.random.Generator, kind: str) -> dict[str, object]:
    """Springs, damping, friction and stops of a loop joint."""

    def laws() -> dict[str, object]:
        return {name: law for name, law in passive_laws(rng).items() if "initial" not in name}

    if kind in ("revolute", "prismatic"):
        return laws()
    if kind == "spherical":
        return {
            "ball_spring": maybe(rng, pl.joints.BallSpring(float(rng.uniform(0.1, 20.0)))),
            "damping": float(rng.uniform(0.0, 0.2)),
            "friction": maybe(rng, pl.joints.Friction(0.3, 0.5, 0.2, 0.05)),
            "cone": maybe(rng, pl.joints.Cone(half_angle=0.1, stiffness=50.0, damping=0.5)),
        }
    return {name: pl.joints.Coordinate(**laws()) for name in COORDINATES.get(kind, ())}


def pose_of(arm: PoseElementArm, at: Place, state: Array) -> tuple[Array, Array]:
    R = rotation_from_quaternion(arm.layout.part(state, "rotation"))[at.body]
    return arm.layout.part(state, "position")[at.body] + R @ at.position, R @ at.rotation


def closed(rng: np.random.Generator, robot: pl.Robot, kind: str, axis: tuple[float, float, float]) -> pl.Robot:
    """The robot with its last link tied to the base, or to the end of its other branch, where both are at the start."""
    arm = pl.PoseElement(elements=2).compile(robot)
    state = arm.initial_state()
    parents = {joint.parent for joint in robot.joints}
    last = robot.links[-1].name
    others = [link.name for link in robot.links if link.name not in parents and link.name != last]
    first, second = pl.At(last), pl.At(others[0] if others else "base")
    x, R = pose_of(arm, arm.structure.place(first), state)
    x0, R0 = pose_of(arm, arm.structure.place(second), state)
    turn = quaternion_from_rotation((R0.T @ R)[None])[0]
    second = pl.At(second.link, position=tuple(R0.T @ (x - x0)), rotation=tuple(turn))
    helper = np.cross(axis, direction(rng))
    plain = kind in ("spherical", "fixed")
    loop = pl.joints.LoopJoint(
        "loop",
        pl.joints.LoopKind(kind),
        first,
        second,
        axis=(0.0, 0.0, 1.0) if plain else axis,
        second_axis=tuple(map(float, helper)) if kind == "universal" else None,
        **(loop_laws(rng, kind) if rng.uniform() < 0.8 else {}),
    )
    return pl.Robot(name="loop", links=robot.links, joints=robot.joints, loops=(loop,), gravity=robot.gravity)


def tree(rng: np.random.Generator, kinds: list[str], flat: bool) -> pl.Robot:
    """One branch from the base, or two."""
    make = flat_joint if flat else passive_joint
    links, joints = [], []
    split = int(rng.integers(1, len(kinds) + 1))
    for number, kind in enumerate(kinds):
        parent = "base" if number in (0, split) else links[-1].name
        joints.append(make(rng, kind, number, parent))
        links.append(body(rng, f"link_{number}", flat))
    pull = direction(rng)
    gravity = (pull[0], pull[1], 0.0) if flat else pull
    return pl.Robot(name="tree", links=tuple(links), joints=tuple(joints), gravity=gravity)


def check(rng: np.random.Generator, robot: pl.Robot) -> None:
    arm = pl.PoseElement(elements=2).compile(robot)
    model = pl.connect(arm, *components(rng, robot, arm))
    run = pl.simulate(model, until=0.1, integrator=pl.Gauss(order=2, step=1e-3))
    # a bushing turned over or an element bent double ends the run; until then nothing may be gained either
    assert run.ending.cause in (Cause.COMPLETED, Cause.TURNED_OVER, Cause.TOO_BENT), run.ending
    ledger = run.ledger
    assert worst_violation(arm, run.states) < 1e-11
    assert ledger_closes(run, "loop")
    for loss in (ledger.material_loss, ledger.viscous_loss, ledger.joint_loss, ledger.projection_loss):
        assert np.all(np.diff(loss) >= -1e-15 * (1.0 + loss[-1]))
    energy = total_energy(arm, model.inputs, run.states)
    # what a state tells of the energy is its own round-off; the positions of a state have lost their low parts
    size = np.abs(ledger.kinetic) + np.abs(ledger.strain) + np.abs(energy)
    allowed = np.abs(np.diff(ledger.residual)) + 1e-12 * size[1:]
    assert np.all(np.diff(energy) <= allowed), float((np.diff(energy) - allowed).max())
    losses = ledger.material_loss + ledger.viscous_loss + ledger.joint_loss + ledger.projection_loss
    assert np.abs(energy - energy[0] + losses - losses[0]).max() < 1e-11 * (1.0 + size.max())


@settings(max_examples=20)
@given(seed=st.integers(0, 2**32 - 1), kinds=spatial_chains, data=st.data())
def test_nothing_is_gained_in_a_loop_in_space(seed: int, kinds: list[str], data: st.DataObject) -> None:
    rng = np.random.default_rng(seed)
    freedoms = sum(FREEDOMS[kind] for kind in kinds)
    # a loop that leaves no freedom exchanges nothing that could be accounted for
    possible = [kind for kind, constraints in CONSTRAINTS.items() if constraints < freedoms]
    kinds = kinds if possible else [*kinds, "spherical"]
    kind = data.draw(st.sampled_from(possible or ["spherical"]))
    check(rng, closed(rng, tree(rng, kinds, flat=False), kind, direction(rng)))


@settings(max_examples=20)
@given(
    seed=st.integers(0, 2**32 - 1),
    kinds=st.lists(st.sampled_from(("revolute", "revolute", "prismatic")), min_size=3, max_size=4),
    kind=st.sampled_from(IN_THE_PLANE),
)
def test_nothing_is_gained_in_a_planar_loop_of_joints_in_space(seed: int, kinds: list[str], kind: str) -> None:
    rng = np.random.default_rng(seed)
    x, y, _ = direction(rng)
    axis = (x, y, 0.0) if kind == "prismatic" else (0.0, 0.0, 1.0)
    check(rng, closed(rng, tree(rng, kinds, flat=True), kind, axis))
