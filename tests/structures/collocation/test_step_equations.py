"""The equations of one step: zero where the fast step has solved them, and differentiated exactly."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import pliant as pl
from pliant.model.inputs import BasePath, Inputs, LoadPlace, MotorPlace
from pliant.model.port import Frame
from pliant.model.stage_method import gauss_collocation, generalized_alpha
from pliant.robot.joint_law import Friction, JointSpring, Limits
from pliant.structures.collocation.step_equations import ChainStep

TIME, STEP = 0.3, 2e-2


def matrix(size, seed):
    a = np.random.default_rng(seed).normal(size=(6, 6))
    return tuple(map(tuple, size * (a @ a.T + 6 * np.eye(6))))


def link(name, length, law):
    inertia = np.array(matrix(0.2, 2))
    inertia[:3, :3] = 2.0 * np.eye(3)  # a mass is the same along all axes
    section = pl.GeneralSection(stiffness=matrix(30.0, 1), inertia=inertia, damping=0.01)
    return pl.FlexibleLink(name, length, section, rest_shape=pl.rest_shapes.Helix(radius=0.4, pitch=0.3), law=law)


LINEAR = pl.sections.LinearLaw()


def tree(law=LINEAR):
    """Two branches behind a bent first link: a rigid link that translates, and links fixed to each other."""
    body = pl.RigidLink(
        "body",
        mass=1.0,
        inertia=((0.1, 0, 0), (0, 0.2, 0), (0, 0, 0.3)),
        center_of_mass=(0.1, 0.2, 0.05),
        tip_position=(0.3, 0.1, 0.0),
        tip_rotation=(0.8, 0.6, 0.0, 0.0),
    )
    links = (link("first", 1.3, law), body, link("second", 0.7, law), link("third", 0.5, law))
    joints = (
        pl.RevoluteJoint("shoulder", "base", "first", axis=(0.0, 0.6, 0.8), position=(0.1, 0.2, 0.3)),
        pl.PrismaticJoint("slide", "first", "body", axis=(0.0, 1.0, 0.0)),
        pl.RevoluteJoint("elbow", "body", "second", axis=(1.0, 0.0, 0.0)),
        pl.FixedJoint("weld", "first", "third"),
    )
    return pl.Robot("tree", links, joints, gravity=(1.0, 2.0, -9.0))


def mechanism():
    """Laws of all kinds on coordinates of several joints; one stop is touched, one is left within the step."""
    touched = Limits(lower=-2.0, upper=0.05, stiffness=40.0, damping=0.5)
    dry = Friction(coulomb=0.4, static=0.6, stribeck_rate=0.3, smoothing_rate=0.2)
    body = pl.RigidLink("body", (0.3, 0.1, 0.0), mass=1.0, inertia=(0.1, 0.2, 0.3), center_of_mass=(0.1, 0.2, 0.05))
    first = pl.joints.Coordinate(spring=JointSpring(3.0, 0.2), damping=0.3, friction=dry)
    turn = pl.joints.Coordinate(limits=touched, friction=Friction(0.1, smoothing_rate=0.05))
    joints = (
        pl.RevoluteJoint("shoulder", "base", "first", axis=(0.0, 0.6, 0.8), damping=0.2, limits=touched),
        pl.joints.UniversalJoint("wrist", "first", "body", first_axis=(0.0, 1.0, 0.0), second_axis=(1.0, 0.0, 0.3),
                                 first=first, second=turn),
        pl.joints.CylindricalJoint("rail", "body", "second", slide=turn),
    )  # fmt: skip
    links = (link("first", 1.3, LINEAR), body, link("second", 0.7, LINEAR))
    return pl.Robot("mechanism", links, joints, gravity=(1.0, 2.0, -9.0))


MOTORS = (
    MotorPlace("shoulder", 0.4, 30.0, 0.2, np.inf),
    MotorPlace("rail.turn", 0.2, 0.0, 0.0, np.inf),
    MotorPlace("wrist.first", 0.3, 20.0, 0.1, 0.05),  # at its limit
)


def floating():
    """A free body that carries a link on a ball joint, which has damping and friction."""
    body = pl.RigidLink("body", (0.3, 0.1, 0.0), mass=1.0, inertia=(0.1, 0.2, 0.3), center_of_mass=(0.1, 0.2, 0.05))
    turned = (0.8, 0.0, 0.6, 0.0)
    joints = (
        pl.joints.FreeJoint("flight", "base", "body", rotation=turned, initial_rotation=(0.6, 0.8, 0.0, 0.0),
                            initial_position=(0.2, 0.1, 0.4), initial_spin=(1.0, -2.0, 0.5), damping=6 * (0.1,)),
        pl.joints.SphericalJoint("ball", "body", "link", initial_rotation=turned, damping=0.3,
                                 friction=Friction(0.2, smoothing_rate=0.5)),
    )  # fmt: skip
    return pl.Robot("floating", (body, link("link", 1.0, LINEAR)), joints, gravity=(1.0, 2.0, -9.0))


def shaken(times):
    """A base that moves and turns about its z axis."""
    n, zero = len(times), np.zeros((len(times), 3))
    x, v = 0.3 * np.sin(2 * times), 0.6 * np.cos(2 * times)
    half, rate = 0.25 * np.sin(3 * times), 1.5 * np.cos(3 * times)
    quaternion = np.column_stack([np.cos(half), np.zeros((n, 2)), np.sin(half)])
    return BasePath(np.column_stack([x, zero[:, :2]]), quaternion, np.column_stack([v, zero[:, :2]]),
                    np.column_stack([zero[:, :2], rate]))  # fmt: skip


def on_base(robot):
    arm = pl.GeometricallyExact(2, 2).compile(robot)
    return arm.carrying(replace(inputs(arm, ()), base_motion=shaken))


def geared(degree):
    arm = pl.GeometricallyExact(degree, 2).compile(mechanism())
    return arm.carrying(inputs(arm, (), MOTORS))


def single():
    joints = (pl.RevoluteJoint("hinge", "base", "link", axis=(0.0, 1.0, 0.0)),)
    return pl.Robot("single", (link("link", 1.0, LINEAR),), joints, gravity=(0.0, 1.0, -9.0))


def inputs(arm, prescribed, motors=()):
    """A feedback law on every joint that is not prescribed; loads in the world, in the section and spread."""
    first, last = arm.link_names[0], arm.link_names[-1]
    loads = (
        LoadPlace("dead", first, False, Frame.WORLD),
        LoadPlace("follower", last, False, Frame.BODY),
        LoadPlace("spread", last, True, Frame.WORLD),
    )
    n = len(arm.joint_names)

    def joints(times):
        phase = times[:, None, None] + np.arange(n)[:, None] + np.array([0.0, np.pi / 2, np.pi])
        return 0.2 * np.sin(phase)

    def wrenches(times):
        return np.sin(times[:, None, None] + np.arange(3)[:, None] + np.arange(6))

    # feedback on a ball is a relation between frames, not a gain on its coordinates, which start anew at every step
    gains = tuple(0.0 if name in prescribed or name.startswith("ball") else 2.0 for name in arm.joint_names)
    held = tuple(name in prescribed for name in arm.joint_names)
    return Inputs(held, gains, gains, joints, loads, wrenches, motors=motors)


def start_of(arm, given):
    """A bent moving state whose prescribed joints are where their signals put them."""
    random = np.random.default_rng(4)
    strain = 0.1 * random.normal(size=arm.chain.section.rest.shape)
    signals = given.joint_signals(np.array([TIME]))[0]
    held = np.array(given.prescribed)
    q = np.where(held, signals[:, 0], 0.2 * random.normal(size=len(held)))
    return arm.moving_state(strain, q, np.where(held, signals[:, 1], 0.3 * random.normal(size=len(held))))


HARDENING = pl.sections.HardeningLaw(cubic=(1.0, 2, 3, 4, 5, 6), quintic=(6.0, 5, 4, 3, 2, 1))
CASES = {
    "midpoint": (lambda: pl.GeometricallyExact(3, 2).compile(tree()), ("slide",), gauss_collocation(1)),
    "order 4": (lambda: pl.GeometricallyExact(2, 2).compile(tree()), (), gauss_collocation(2)),
    "order 6": (lambda: pl.GeometricallyExact(2).compile(single()), (), gauss_collocation(3)),
    "hardening": (lambda: pl.GeometricallyExact(2, 2).compile(tree(HARDENING)), ("elbow",), gauss_collocation(2)),
    "alpha": (lambda: pl.GeometricallyExact(2, 2).compile(tree()), ("slide",), generalized_alpha(0.8)),
    "laws": (lambda: pl.GeometricallyExact(2, 2).compile(mechanism()), ("wrist.first",), gauss_collocation(2)),
    "motors": (lambda: geared(2), (), gauss_collocation(2)),
    "motors by alpha": (lambda: geared(1), ("rail.slide",), generalized_alpha(0.8)),
    "ball and flight": (lambda: pl.GeometricallyExact(2).compile(floating()), (), gauss_collocation(2)),
    "ball and flight by alpha": (lambda: pl.GeometricallyExact(1).compile(floating()), (), generalized_alpha(0.8)),
    "moved base": (lambda: on_base(tree()), ("slide",), gauss_collocation(2)),
    "mixed": (lambda: pl.MixedElement(4, 0.6).compile(single()), (), gauss_collocation(2)),
    "mixed prescribed": (lambda: pl.MixedElement(4, 0.6).compile(single()), ("hinge",), generalized_alpha(0.5)),
}


@pytest.fixture(scope="module", params=CASES)
def solved(request) -> tuple[ChainStep, np.ndarray]:
    """Equations about the step that the fast stepper solves, and its end."""
    compiled, prescribed, method = CASES[request.param]
    arm = compiled()
    given = inputs(arm, prescribed, MOTORS if arm.geared else ())
    given = replace(given, base_motion=shaken if arm.moved else None)
    start = start_of(arm, given)
    unknowns, end = arm.step_unknowns(start, given, TIME, STEP, method)
    return arm.step_equations(start, unknowns, given, TIME, STEP, method), end


def directions(equations: ChainStep, seed=8) -> list[np.ndarray]:
    random = np.random.default_rng(seed)
    return [random.normal(size=len(x)) for x in (equations.start, equations.unknowns, equations.inputs)]


def test_a_solved_step_leaves_nothing(solved):
    """Newton stops where increments are below 1e-12 of the state, or round-off; wrenches are of the size of one."""
    equations, _ = solved
    far = equations.at(equations.start, 0.0 * equations.unknowns, equations.inputs)
    assert np.abs(equations.residual).max() < 1e-10 * np.abs(far.residual).max()


def test_the_end_is_where_the_next_step_begins(solved):
    """The end of a step takes the place of a start: as long, and its prescribed joints follow their signals."""
    equations, end = solved
    assert end.shape == equations.start.shape
    assert np.isfinite(end).all()
    assert np.abs(end - equations.start).max() > 1e-4


def test_products_are_differences_of_the_residual(solved):
    """Central differences over 1e-4 to either side, extrapolated to fourth order: 1e-7 of the product."""
    equations, _ = solved
    about = (equations.start, equations.unknowns, equations.inputs)
    for chosen in range(3):
        along = [x if k == chosen else 0.0 * x for k, x in enumerate(directions(equations))]

        def slope(width, along=along):
            ahead, behind = (
                equations.at(*(x + side * width * d for x, d in zip(about, along))).residual for side in (1, -1)
            )
            return (ahead - behind) / (2 * width)

        difference = (4 * slope(1e-4) - slope(2e-4)) / 3
        product = equations.times(*along)
        assert np.abs(product - difference).max() < 1e-7 * np.abs(product).max()


def test_transposed_products_agree_with_direct_ones(solved):
    equations, _ = solved
    along = directions(equations)
    weights = np.random.default_rng(9).normal(size=len(equations.residual))
    product = equations.times(*along)
    back = sum(float(x @ d) for x, d in zip(equations.transposed(weights), along))
    assert weights @ product == pytest.approx(back, abs=1e-12 * np.linalg.norm(weights) * np.linalg.norm(product))


def test_solutions_satisfy_the_matrix_and_its_transpose(solved):
    equations, _ = solved
    start, _, inputs_ = (0.0 * x for x in directions(equations))
    right = np.random.default_rng(10).normal(size=len(equations.residual))
    assert equations.times(start, equations.solve(right), inputs_) == pytest.approx(right, abs=1e-10)
    weights = equations.solve_transposed(right)
    assert equations.transposed(weights)[1] == pytest.approx(right, abs=1e-10)


def test_the_matrix_is_the_one_whose_newton_step_solves_a_disturbed_step(solved):
    """From unknowns off by d a step of Newton leaves d^2 times curvatures, here below a hundred: 1e-8 for d = 1e-5."""
    equations, _ = solved
    _, d, _ = directions(equations)
    off = equations.at(equations.start, equations.unknowns + 1e-5 * d, equations.inputs)
    found = off.unknowns - off.solve(off.residual)
    assert found == pytest.approx(equations.unknowns, abs=1e-8 * max(1.0, float(np.abs(equations.unknowns).max())))
