"""The equations of one step of a mechanism: zero where the fast step has solved them, and differentiated exactly."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import pliant as pl
from pliant.model.stage_method import gauss_collocation
from pliant.structures.nodal.model import PoseElementArm
from pliant.structures.nodal.step_equations import MechanismStep

TIME, STEP, METHOD = 0.3, 2e-3, gauss_collocation(1)
WRENCH = pl.signals.Constant((1.0, 2.0, 3.0, 0.3, 0.2, 0.1))
TWO_POSE_ELEMENTS = pl.PoseElement(2)
Array = np.ndarray


def soft(name: str, length: float) -> pl.FlexibleLink:
    section = pl.GeneralSection(
        stiffness=(4e3, 3e3, 3e3, 20.0, 30.0, 40.0), inertia=(0.5, 0.5, 0.5, 2e-3, 1e-3, 1e-3), damping=0.01
    )
    return pl.FlexibleLink(name, length, section, rest_shape=pl.rest_shapes.Helix(radius=0.6, pitch=0.3))


def body(name: str) -> pl.RigidLink:
    return pl.RigidLink(name, (0.3, 0.1, 0.0), 1.0, center_of_mass=(0.1, 0.2, 0.05), inertia=(0.1, 0.2, 0.25))


def tree(formulation: pl.PoseElement | pl.Corotational = TWO_POSE_ELEMENTS) -> pl.Model:
    """Bent soft links and a body behind joints of several types; loads, feedback, a prescribed joint, a moved base."""
    joints = (
        pl.RevoluteJoint("shoulder", "base", "first", axis=(0.0, 0.6, 0.8), position=(0.1, 0.2, 0.3), initial_rate=1.0),
        pl.PrismaticJoint("slide", "first", "body", axis=(0.0, 1.0, 0.0)),
        pl.RevoluteJoint("elbow", "body", "second", axis=(1.0, 0.0, 0.0), initial_rate=-2.0),
        pl.FixedJoint("weld", "first", "third"),
    )
    links = (soft("first", 0.8), body("body"), soft("second", 0.7), soft("third", 0.5))
    arm = formulation.compile(pl.Robot("tree", links, joints, gravity=(1.0, 2.0, -9.0)))
    return pl.connect(
        arm,
        pl.PointWrench(pl.At("second"), WRENCH),
        pl.PointWrench(pl.At("third"), WRENCH, frame="body"),
        pl.DistributedWrench("first", WRENCH),
        pl.PrescribedMotion("slide", pl.motions.Quintic(0.0, 0.3, 1.0)),
        pl.JointPD([pl.motions.Hold(0.1)] * 2, joints=("shoulder", "elbow"), stiffness=50.0, damping=1.0),
        pl.BaseMotion(x=pl.motions.Quintic(0.0, 0.2, 1.0), angle=pl.motions.Quintic(0.0, 0.4, 1.0)),
    )


def laws() -> pl.Model:
    """Springs, friction and stops of joints, an elastic and a rigid gear, one at its limit, and a ball joint."""
    friction = pl.joints.Friction(0.3, 0.5, smoothing_rate=0.05)
    joints = (
        pl.RevoluteJoint(
            "middle", "base", "first", initial_rate=0.4, spring=pl.joints.JointSpring(3.0, 0.2), friction=friction
        ),
        pl.RevoluteJoint(
            "knee", "first", "body", axis=(0.0, 1.0, 0.0), initial_rate=0.2, damping=0.1,
            limits=pl.joints.Limits(0.01, 1.0, 400.0, 2.0),
        ),
        pl.RevoluteJoint("ankle", "body", "second", axis=(0.0, 1.0, 0.0), initial_rate=-0.3),
        pl.joints.SphericalJoint(
            "ball", "second", "end", initial_rate=(0.3, -0.2, 0.4), spring=pl.joints.BallSpring(2.0), damping=0.1,
            friction=friction, limits=pl.joints.Cone(0.3, 5.0, 0.1, axis=(0.0, 1.0, 0.0)),
            initial_rotation=(np.cos(0.25), np.sin(0.25), 0.0, 0.0),  # beyond its cone
        ),
    )  # fmt: skip
    links = (soft("first", 0.8), body("body"), soft("second", 0.7), body("end"))
    arm = pl.PoseElement(2).compile(pl.Robot("laws", links, joints))
    return pl.connect(
        arm,
        pl.GearMotor("middle", rotor_inertia=1e-4, ratio=50.0, stiffness=80.0, damping=0.2),
        pl.GearMotor("ankle", rotor_inertia=1e-4, ratio=30.0, torque_limit=0.1),
        pl.JointPD([pl.motions.Hold(0.3)] * 2, joints=("middle", "ankle"), stiffness=20.0, damping=0.5),
    )


def loops(formulation: pl.PoseElement | pl.Corotational = TWO_POSE_ELEMENTS) -> pl.Model:
    """A closed loop with a driven loop joint, a spring, a bushing, a tendon and a wall that is touched."""
    arm = formulation.compile(pl.load(pl.library.path("parallelogram")))
    tip, ground = pl.At("right_outer"), pl.At("base", position=(0.1, 0.9, 0.1))
    return pl.connect(
        arm,
        pl.SpringDamper("spring", ground, tip, 20.0, 0.5, 0.3),
        pl.Bushing("bushing", ground, tip, (10.0,) * 6, (0.1,) * 6),
        pl.Wall("wall", tip, (0.0, 5.0, 0.0), (0.0, -1.0, 0.0), 10.0, 0.1),
        pl.Wall("touched", tip, (0.0, -5.0, 0.0), (0.0, -1.0, 0.0), 10.0, 0.1),
        pl.Tendon("tendon", [ground, pl.At("left_inner"), tip], 30.0, 0.2, pretension=5.0, rest_length=0.5),
        pl.JointTorque("far_corner", pl.signals.Constant(1.0)),
    )


def flying() -> pl.Model:
    """A free body with drag, dry friction, a spring and a box that it touches, with a soft link on it."""
    friction = pl.joints.Friction(0.3, 0.5, smoothing_rate=0.05)
    free = pl.joints.FreeJoint(
        "flight", "base", "body", initial_velocity=(0.2, 0.1, -0.3), initial_spin=(0.5, 0.2, 0.4),
        damping=(0.1,) * 6, slide_friction=friction, turn_friction=friction,
        spring=pl.joints.FreeSpring((10.0,) * 6), limits=pl.joints.Box((0.01, -1.0, -1.0), (1.0, 1.0, 1.0), 1e3, 5.0),
    )  # fmt: skip
    joints = (free, pl.RevoluteJoint("hinge", "body", "first", initial_rate=1.0))
    robot = pl.Robot("flying", (body("body"), soft("first", 0.8)), joints)
    return pl.PoseElement(2).compile(robot)


CASES: dict[str, Callable[[], pl.Model]] = {
    "tree": tree,
    "laws": laws,
    "loops": loops,
    "flying": flying,
    "co-rotational tree": lambda: tree(pl.Corotational(2)),
    "co-rotational tree with mean axes": lambda: tree(pl.Corotational(2, axes=pl.corotational.Axes.MEAN)),
    "co-rotational loops": lambda: loops(pl.Corotational(2)),
}


@pytest.fixture(scope="module", params=CASES)
def solved(request: pytest.FixtureRequest) -> tuple[MechanismStep, Array]:
    """Equations about the step that the fast stepper solves, and its end."""
    model = CASES[request.param]()
    arm = getattr(model, "arm", model)
    assert isinstance(arm, PoseElementArm)
    signals = model.inputs.joint_signals(np.array([TIME]))[0]
    held = np.array(model.inputs.prescribed)
    q, qd = (arm.layout.part(model.initial_state(), name) for name in ("joint_position", "joint_rate"))
    start = arm.initial_state(np.where(held, signals[:, 0], q), np.where(held, signals[:, 1], qd), tuple(held))
    # from rest of the links through some steps, so that they are bent and move
    for k in range(5, 0, -1):
        start = arm.step_unknowns(start, model.inputs, TIME - k * STEP, STEP, METHOD)[1]
    unknowns, end = arm.step_unknowns(start, model.inputs, TIME, STEP, METHOD)
    return arm.step_equations(start, unknowns, model.inputs, TIME, STEP, METHOD), end


def directions(equations: MechanismStep) -> list[Array]:
    random = np.random.default_rng(8)
    return [random.normal(size=len(x)) for x in (equations.start, equations.unknowns, equations.inputs)]


def test_a_solved_step_leaves_nothing(solved: tuple[MechanismStep, Array]) -> None:
    """Newton's method stops at impulses of 1e-12 of the momentum and violations of 1e-12 m, or at round-off."""
    equations, _ = solved
    far = equations.at(equations.start, 1.1 * equations.unknowns, equations.inputs)
    for left, size in zip(equations.split(equations.residual), far.split(far.residual)):
        assert np.abs(left).max(initial=0.0) <= 1e-8 * np.abs(size).max(initial=1e-4)


def test_the_end_is_where_the_unknowns_lead(solved: tuple[MechanismStep, Array]) -> None:
    """x1 = x0 + h y of the nodes whose velocities are unknowns; 1e-15 m is the rounding of positions of metres."""
    equations, end = solved
    nodes = len(equations.mechanism.tree.parent)
    moved = (end - equations.start)[: 3 * nodes].reshape(-1, 3)[equations.spots.node]
    velocity = equations.split(equations.unknowns)[0].reshape(-1, 6)[:, :3]
    assert np.abs(moved - STEP * velocity).max() < 1e-15


def test_products_are_differences_of_the_residual(solved: tuple[MechanismStep, Array]) -> None:
    """Central differences over 1e-5 to either side, extrapolated to fourth order: 1e-7 of the product."""
    equations, _ = solved
    about = (equations.start, equations.unknowns, equations.inputs)
    for chosen in range(3):
        along = [x if k == chosen else 0.0 * x for k, x in enumerate(directions(equations))]

        def slope(width: float, along: list[Array] = along) -> Array:
            ahead, behind = (
                equations.at(*(x + side * width * d for x, d in zip(about, along))).residual for side in (1, -1)
            )
            return np.asarray((ahead - behind) / (2 * width))

        difference = (4 * slope(1e-5) - slope(2e-5)) / 3
        for found, wanted in zip(equations.split(difference), equations.split(equations.times(*along))):
            assert np.abs(found - wanted).max(initial=0.0) <= 1e-7 * np.abs(wanted).max(initial=1e-6)


def test_transposed_products_agree_with_direct_ones(solved: tuple[MechanismStep, Array]) -> None:
    """w . (r' v) = (r'^T w) . v, to round-off of the sums."""
    equations, _ = solved
    v, w = directions(equations), np.random.default_rng(9).normal(size=len(equations.residual))
    direct = w @ equations.times(*v)
    turned = sum(a @ b for a, b in zip(equations.transposed(w), v))
    size = np.abs(w) @ (abs(equations.matrix) @ np.abs(np.concatenate(v)))
    assert abs(direct - turned) <= 1e-12 * size


def test_solves_undo_products(solved: tuple[MechanismStep, Array]) -> None:
    """1e-10 of the right-hand side: the matrix has a condition below 1e6 of its scaled rows."""
    equations, _ = solved
    nothing = [np.zeros_like(equations.start), np.zeros_like(equations.inputs)]
    right = equations.times(nothing[0], directions(equations)[1], nothing[1])
    d = equations.solve(right)
    assert np.abs(equations.times(nothing[0], d, nothing[1]) - right).max() <= 1e-10 * np.abs(right).max()
    back = equations.solve_transposed(right)
    assert np.abs(equations.transposed(back)[1] - right).max() <= 1e-10 * np.abs(right).max()
