"""Mechanisms as 0 = F(t, y, y'): zero at the accelerations of the contract, differentiated exactly, powers in balance."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import pliant as pl
from pliant.structures.nodal.descriptor import NodalDescriptor

TIME, SPAN = 0.2, (0.2, 0.5)
WRENCH = pl.signals.Constant((1.0, 2.0, 3.0, 0.3, 0.2, 0.1))
FRICTION = pl.joints.Friction(0.3, 0.5, smoothing_rate=0.05)
Array = np.ndarray
pytestmark = pytest.mark.bounds


def soft(name: str, length: float) -> pl.FlexibleLink:
    stiffness, inertia = (4e3, 3e3, 3e3, 20.0, 30.0, 40.0), (0.5, 0.5, 0.5, 2e-3, 1e-3, 1e-3)
    return pl.FlexibleLink(name, length, pl.GeneralSection(stiffness=stiffness, inertia=inertia, damping=0.01))


def body(name: str) -> pl.RigidLink:
    return pl.RigidLink(name, (0.3, 0.1, 0.0), 1.0, center_of_mass=(0.1, 0.2, 0.05), inertia=(0.1, 0.2, 0.25))


def tree(formulation: pl.PoseElement | pl.Corotational) -> pl.Model:
    """Soft links and a body behind joints of several types; loads, feedback, a prescribed joint."""
    joints = (
        pl.RevoluteJoint("shoulder", "base", "first", axis=(0.0, 0.6, 0.8), position=(0.1, 0.2, 0.3), initial_rate=1.0),
        pl.PrismaticJoint("slide", "first", "body", axis=(0.0, 1.0, 0.0)),
        pl.RevoluteJoint("elbow", "body", "second", axis=(1.0, 0.0, 0.0), initial_rate=-2.0),
        pl.FixedJoint("weld", "first", "third"),
    )
    links = (soft("first", 0.8), body("body"), soft("second", 0.7), soft("third", 0.5))
    return pl.connect(
        formulation.compile(pl.Robot("tree", links, joints, gravity=(1.0, 2.0, -9.0))),
        pl.PointWrench(pl.At("second"), WRENCH),
        pl.PointWrench(pl.At("third"), WRENCH, frame="body"),
        pl.DistributedWrench("first", WRENCH),
        pl.PrescribedMotion("slide", pl.motions.Quintic(0.0, 0.3, 1.0)),
        pl.JointPD([pl.motions.Hold(0.1)] * 2, joints=("shoulder", "elbow"), stiffness=50.0, damping=1.0),
    )


def laws() -> pl.Model:
    """Spring and friction of joints, an elastic and a rigid gear, a spring and a bushing between parts."""
    spring = pl.joints.JointSpring(3.0, 0.2)
    joints = (
        pl.RevoluteJoint("middle", "base", "first", initial_rate=0.4, spring=spring, friction=FRICTION),
        pl.RevoluteJoint("knee", "first", "body", axis=(0.0, 1.0, 0.0), initial_rate=0.2, damping=0.1),
        pl.RevoluteJoint("ankle", "body", "second", axis=(0.0, 1.0, 0.0), initial_rate=-0.3),
    )
    arm = pl.PoseElement(2).compile(pl.Robot("laws", (soft("first", 0.8), body("body"), soft("second", 0.7)), joints))
    tip, ground = pl.At("second"), pl.At("base", position=(0.1, 0.9, 0.1))
    return pl.connect(
        arm,
        pl.GearMotor("middle", rotor_inertia=1e-4, ratio=50.0, stiffness=80.0, damping=0.2),
        pl.GearMotor("ankle", rotor_inertia=1e-4, ratio=30.0, torque_limit=0.1),
        pl.JointPD([pl.motions.Hold(0.3)] * 2, joints=("middle", "ankle"), stiffness=20.0, damping=0.5),
        pl.SpringDamper("spring", ground, tip, 20.0, 0.5, 0.3),
        pl.Bushing("bushing", ground, tip, (10.0,) * 6, (0.1,) * 6),
    )


def loop() -> pl.Model:
    arm = pl.PoseElement(2).compile(pl.load(pl.library.path("parallelogram")))
    return pl.connect(arm, pl.PointWrench(pl.At("right_outer"), WRENCH))


def flying() -> pl.Model:
    """A free body with drag and dry friction, with a soft link on it."""
    free = pl.joints.FreeJoint(
        "flight", "base", "body", initial_velocity=(0.2, 0.1, -0.3), initial_spin=(0.5, 0.2, 0.4),
        damping=(0.1,) * 6, slide_friction=FRICTION, turn_friction=FRICTION,
    )  # fmt: skip
    joints = (free, pl.RevoluteJoint("hinge", "body", "first", initial_rate=1.0))
    return pl.PoseElement(2).compile(pl.Robot("flying", (body("body"), soft("first", 0.8)), joints))


CASES: dict[str, Callable[[], pl.Model]] = {
    "tree": lambda: tree(pl.PoseElement(2)),
    "tree of co-rotational links, inertia by directors": lambda: tree(pl.Corotational(2)),
    "laws": laws,
    "loop": loop,
    "flying": flying,
}


@pytest.fixture(scope="module", params=CASES)
def point(request: pytest.FixtureRequest) -> tuple[NodalDescriptor, Array, Array]:
    """Equations, y and y' where steps of another kind have led, links bent and moving."""
    model = CASES[request.param]()
    state = pl.simulate(model, TIME, pl.Gauss(order=2, step=1e-3), outputs=1).states[-1]
    descriptor = model.descriptor(model.inputs)
    return descriptor, *descriptor.begin(state, SPAN)


def residual(descriptor: NodalDescriptor, y: Array, rate: Array) -> Array:
    out = np.zeros_like(y)
    descriptor.residual(TIME, y, rate, out)
    return out


def test_the_accelerations_of_the_contract_leave_nothing(point: tuple[NodalDescriptor, Array, Array]) -> None:
    """They come from a balance in relative displacements, with joints eliminated: 1e-9 of the forces is its rounding."""
    descriptor, y, rate = point
    size = np.abs(residual(descriptor, y, 0.0 * rate)).max()
    assert np.abs(residual(descriptor, y, rate)).max() < 1e-9 * size


def test_the_jacobian_is_that_of_differences(point: tuple[NodalDescriptor, Array, Array]) -> None:
    """Central differences over 1e-6 are off by 1e-12 of third derivatives and by rounding over 1e-6."""
    descriptor, y, rate = point
    n, c, h = len(y), 300.0, 1e-6
    J, differences = np.zeros((2, n, n))
    descriptor.jacobian(TIME, y, rate, c, J)
    for k, column in enumerate(np.eye(n)):
        ahead = residual(descriptor, y + h * column, rate + c * h * column)
        behind = residual(descriptor, y - h * column, rate - c * h * column)
        differences[:, k] = (ahead - behind) / (2 * h)
    assert np.abs(J - differences).max() < 1e-7 * np.abs(J).max()
    below, above = descriptor.band
    row, column = np.nonzero(differences)
    assert (row - column).max() <= below
    assert (column - row).max() <= above


def test_powers_are_the_change_of_energy(point: tuple[NodalDescriptor, Array, Array]) -> None:
    """Along y' energies change by what gravity and ports give less all losses; 1e-6 s resolves them to 1e-8."""
    descriptor, y, rate = point
    powers, h = np.zeros(4 + len(descriptor.works)), 1e-6
    descriptor.powers(TIME, y, rate, powers)
    kinetic, strain = descriptor.stored(np.array([y + h * rate, y - h * rate]))
    gravity, material, drag, joints = powers[:4]
    gained = ((kinetic + strain)[0] - (kinetic + strain)[1]) / (2 * h)
    given = gravity + powers[4:].sum() - material - drag - joints
    assert material >= 0.0
    assert drag >= 0.0
    assert joints >= 0.0
    assert gained == pytest.approx(given, abs=1e-6 * np.abs(powers).sum())


def test_states_go_through_the_unknowns(point: tuple[NodalDescriptor, Array, Array]) -> None:
    """To rounding; velocities are fitted by a solve with inertias from 1e-4 to 1, which loses four digits."""
    descriptor, y, rate = point
    state = descriptor.states(y[None])[0]
    again, rates = descriptor.begin(state, SPAN)
    assert np.abs(again - y).max() < 1e-11 * np.abs(y).max()
    assert np.abs(rates - rate)[descriptor.controlled].max() < 1e-9 * np.abs(rate).max()


def test_joints_and_directors_start_without_gaps(point: tuple[NodalDescriptor, Array, Array]) -> None:
    descriptor, y, _ = point
    assert all(found[0] < 1e-11 for found in descriptor.violations(y[None]).values())


def test_a_jump_of_torque_adds_what_it_accelerates() -> None:
    """From a state that is off by 1e-8 m along stiff links, y' changes by the torque alone and not by the error."""
    arm = pl.PoseElement(4).compile(pl.load(pl.library.path("damic_two_link")))
    model = pl.connect(arm, pl.JointTorque("elbow", pl.signals.SignalSum((pl.signals.Constant(1.0), pl.signals.Step(1.0, 1.0)))))
    descriptor = model.descriptor(model.inputs)
    y, rate = descriptor.begin(model.initial_state(), (0.0, 1.0))
    off = y.copy()
    nodes = descriptor.places.node
    off[nodes[nodes >= 0]] += 1e-8 * np.random.default_rng(3).normal(size=(nodes >= 0).sum())
    _, resumed = descriptor.resume(1.0, off, rate, (1.0, 2.0))
    # twice the torque on an arm at rest: all accelerations and forces twice
    assert np.abs(resumed - 2.0 * rate).max() < 1e-6 * np.abs(rate).max()
