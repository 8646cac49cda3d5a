"""The energy ledger closes in every step, whatever acts on the arm and however it is built.

The demand is the tolerance of the program itself: what a step leaves unexplained is at most 1e-10 of the
energy it exchanges, over 100 000 steps in all.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest

import pliant as pl
from tests.support.arms import ASIDE, INERTIA, STIFFNESS, bent_state, clamped, on_a_hinge, soft_link, tumbler, two_links

DEMAND = 1e-10
SPECTRAL = pl.GeometricallyExact(degree=4)
PUSH = (0.4, -0.3, 0.5, 0.02, 0.05, -0.04)
STIFFER = pl.GeneralSection(stiffness=tuple(10.0 * c for c in STIFFNESS), inertia=INERTIA)
DAMPED = pl.GeneralSection(stiffness=STIFFNESS, inertia=INERTIA, damping=2e-3)


@dataclass(frozen=True)
class Case:
    """An arm with what acts on it, and how long it is watched."""

    name: str
    robot: Callable[[], pl.Robot]
    components: tuple[object, ...] = ()
    formulation: object = SPECTRAL
    bend: tuple[float, float, float] = (0.0, 0.0, 0.0)
    order: int = 4
    step: float = 1e-3
    steps: int = 6000


def coupled_section() -> pl.GeneralSection:
    """Stiffness and inertia that couple translation and rotation: an axis off the centres of both."""
    offset = np.eye(6)
    offset[:3, 3:] = [[0.0, 0.02, -0.01], [-0.02, 0.0, 0.0], [0.01, 0.0, 0.0]]
    stiffness, inertia = (offset.T @ np.diag(each) @ offset for each in (STIFFNESS, INERTIA))
    return pl.GeneralSection(stiffness=stiffness.tolist(), inertia=inertia.tolist())


def hardening() -> pl.sections.HardeningLaw:
    return pl.sections.HardeningLaw(cubic=(0.0, 0.0, 0.0, 2.0, 4.0, 5.0), quintic=(0.0, 0.0, 0.0, 0.5, 0.5, 1.0))


def tapered() -> pl.FlexibleLink:
    rubber = pl.Material(name="rubber", young=1e7, density=1100.0, poisson=0.48)
    section = pl.sections.Tapered(root=pl.Circle(radius=0.012), tip=pl.Circle(radius=0.006))
    return pl.FlexibleLink(name="link", length=1.0, section=section, material=rubber)


def with_payload() -> pl.Robot:
    payload = pl.Payload(
        name="tool", link="link", mass=0.2, center_of_mass=(0.05, 0.03, -0.04), inertia=(1e-3, 2e-3, 2.5e-3)
    )
    plain = on_a_hinge(soft_link(), ASIDE, rate=3.0)
    return pl.Robot(plain.name, plain.links, plain.joints, (payload,), plain.gravity)


def mixture(slide: bool) -> pl.Robot:
    """Flexible, rigid, flexible; the last joint rotates or translates."""
    middle = pl.RigidLink(
        name="elbow", tip_position=(0.1, 0.05, 0.0), mass=0.3, center_of_mass=(0.05, 0.0, 0.01), inertia=(1e-3,) * 3
    )
    last: pl.PrismaticJoint | pl.RevoluteJoint
    if slide:
        last = pl.PrismaticJoint(name="last", parent="elbow", child="outer", axis=(1.0, 0.3, 0.0), initial_rate=0.2)
    else:
        last = pl.RevoluteJoint(name="last", parent="elbow", child="outer", axis=(0.0, 1.0, 0.2), initial_rate=2.0)
    return pl.Robot(
        name="mixture",
        links=(soft_link("inner", 0.6), middle, soft_link("outer", 0.4)),
        joints=(
            pl.RevoluteJoint(name="shoulder", parent="base", child="inner", initial_rate=1.5),
            pl.RevoluteJoint(name="wrist", parent="inner", child="elbow", axis=(0.0, 1.0, 0.0)),
            last,
        ),
        gravity=ASIDE,
    )


def frame() -> pl.Robot:
    """Two flexible links welded at a right angle, swinging out of their plane."""
    corner = (float(np.sqrt(0.5)), 0.0, 0.0, float(np.sqrt(0.5)))
    return pl.Robot(
        name="frame",
        links=(soft_link("leg", 0.5), soft_link("arm", 0.5)),
        joints=(
            pl.RevoluteJoint(name="hinge", parent="base", child="leg", axis=(1.0, 0.0, 0.0), initial_rate=2.0),
            pl.FixedJoint(name="corner", parent="leg", child="arm", rotation=corner),
        ),
        gravity=ASIDE,
    )


def push(link: str, frame: pl.Frame, along: bool) -> object:
    kind = pl.DistributedWrench if along else pl.TipWrench
    return kind(link, pl.signals.Sine(PUSH, frequency=0.9), frame=frame)


CASES = (
    Case("ringing", lambda: clamped(soft_link()), bend=(0.3, 0.4, -0.6)),
    Case("ringing, midpoint rule", lambda: clamped(soft_link()), bend=(0.3, 0.4, -0.6), order=2),
    Case("ringing, sixth order", lambda: clamped(soft_link()), bend=(0.3, 0.4, -0.6), order=6, steps=4000),
    Case("Kelvin-Voigt damping", lambda: clamped(soft_link(section=DAMPED), ASIDE), bend=(0.3, 0.4, -0.6)),
    Case(
        "external damping",
        lambda: on_a_hinge(soft_link(viscous_damping=(0.1, 0.2, 0.3, 1e-3, 2e-3, 2e-3)), ASIDE, rate=4.0),
    ),
    Case(
        "joint PD",
        lambda: two_links(ASIDE),
        (
            pl.JointPD(
                (pl.motions.Quintic(0.3, 1.5, 0.8), pl.motions.Hold(0.5)), stiffness=(20.0, 8.0), damping=(1.0, 0.3)
            ),
        ),
    ),
    Case(
        "torques",
        lambda: two_links(ASIDE),
        (
            pl.JointTorque("shoulder", pl.signals.Sine(1.5, 0.7)),
            pl.JointTorque("elbow", pl.signals.PiecewiseLinear((0.0, 1.0, 2.0), (0.0, 0.4, -0.2))),
        ),
    ),
    Case("pendulum", lambda: on_a_hinge(soft_link(), ASIDE)),
    Case(
        "prescribed motion",
        lambda: two_links(ASIDE),
        (
            pl.PrescribedMotion("shoulder", pl.motions.Quintic(0.3, 2.0, 1.0)),
            pl.PrescribedMotion("elbow", pl.motions.BangBang(-0.8, 1.0, 0.7)),
        ),
    ),
    Case(
        "one prescribed, one free",
        lambda: two_links(ASIDE),
        (pl.PrescribedMotion("shoulder", pl.motions.SmoothStart(2.0, 0.5, 0.3)),),
    ),
    Case("two links", lambda: two_links(ASIDE, rates=(2.0, -3.0))),
    Case("two links, midpoint rule", lambda: two_links(ASIDE, rates=(2.0, -3.0)), order=2),
    Case("tip wrench in world axes", lambda: on_a_hinge(soft_link()), (push("link", pl.Frame.WORLD, along=False),)),
    Case("tip wrench in body axes", lambda: on_a_hinge(soft_link()), (push("link", pl.Frame.BODY, along=False),)),
    Case("line load in world axes", lambda: two_links(), (push("upper", pl.Frame.WORLD, along=True),)),
    Case("line load in body axes", lambda: two_links(), (push("lower", pl.Frame.BODY, along=True),)),
    Case("tumbling", tumbler, formulation=pl.GeometricallyExact(degree=6)),
    Case("tumbling with vibrations faster than the step", lambda: tumbler(section=STIFFER), step=2e-3),
    Case("hardening law", lambda: on_a_hinge(soft_link(law=hardening()), ASIDE, rate=6.0), bend=(0.3, 0.4, -0.6)),
    Case("hardening law, midpoint rule", lambda: clamped(soft_link(law=hardening())), bend=(0.3, 0.4, -0.6), order=2),
    Case("rigid and flexible links", lambda: mixture(slide=False), steps=4000),
    Case("sliding joint", lambda: mixture(slide=True), steps=1500),
    Case("mixed element", lambda: on_a_hinge(soft_link(), ASIDE, rate=3.0), formulation=pl.MixedElement(elements=8)),
    Case(
        "mixed element, upwind",
        lambda: on_a_hinge(soft_link(), ASIDE, rate=3.0),
        formulation=pl.MixedElement(elements=8, alpha=0.7),
        steps=3000,
    ),
    Case(
        "two-node elements",
        lambda: two_links(ASIDE, rates=(1.0, -2.0)),
        formulation=pl.GeometricallyExact(1, elements=6),
    ),
    Case(
        "curved rest shape", lambda: on_a_hinge(soft_link(rest_shape=pl.rest_shapes.Helix(0.2, 0.3)), ASIDE, rate=3.0)
    ),
    Case("tapered section", lambda: on_a_hinge(tapered(), ASIDE, rate=2.0)),
    Case("coupled section", lambda: on_a_hinge(soft_link(section=coupled_section()), ASIDE, rate=2.0)),
    Case("payload with offset", with_payload),
    Case("welded corner", frame),
)


def run(case: Case, outputs: int = 200) -> pl.Trajectory:
    arm = case.formulation.compile(case.robot())
    closed = pl.connect(arm, *case.components)
    start = bent_state(arm, case.bend) if any(case.bend) else None
    if start is not None and arm.joint_names:
        rate = arm.layout.part(arm.initial_state(), "joint_rate")
        strain = arm.layout.part(start, "strain").copy()
        start = arm.moving_state(strain, arm.layout.part(start, "joint_position").copy(), rate.copy())
    integrator = pl.Gauss(order=case.order, step=case.step)
    return pl.simulate(closed, case.steps * case.step, integrator, initial=start, outputs=outputs)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_closes_in_every_step(case: Case) -> None:
    trajectory = run(case)
    ledger = trajectory.ledger
    assert trajectory.ending.completed, trajectory.ending
    assert trajectory.statistics["steps"] >= case.steps
    assert ledger.exact
    assert ledger.worst_ratio <= DEMAND
    losses = ledger.material_loss + ledger.viscous_loss + ledger.joint_loss + ledger.projection_loss
    supplied = ledger.gravity + sum(ledger.works.values()) - losses
    unexplained = ledger.stored - ledger.stored[0] - supplied - ledger.residual
    assert np.abs(unexplained).max() <= 1e-13 * ledger.exchanged[-1]
    assert np.abs(ledger.residual).max() <= DEMAND * ledger.exchanged[-1]
    assert ledger.exchanged[-1] > 0.1  # joule: the arm did move
    kinetic, strain, _ = trajectory.source.model.energy(trajectory.states)
    np.testing.assert_allclose(ledger.kinetic, kinetic, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(ledger.strain, strain, rtol=1e-12, atol=1e-14)


def test_a_method_with_numerical_damping_is_not_exact_but_its_ledger_shows_what_it_loses() -> None:
    arm = SPECTRAL.compile(clamped(soft_link()))
    trajectory = pl.simulate(
        arm, 0.5, pl.GeneralizedAlpha(step=2e-3, spectral_radius=0.5), initial=bent_state(arm, (0.3, 0.4, -0.6))
    )
    ledger = trajectory.ledger
    assert not ledger.exact
    assert ledger.stored[-1] < 0.999 * ledger.stored[0]
    np.testing.assert_allclose(ledger.stored - ledger.stored[0], ledger.residual, atol=1e-12)


@pytest.mark.bounds
@pytest.mark.parametrize("name", ["sliding joint", "mixed element", "line load in body axes", "hardening law"])
def test_closes_with_bounds_checked(name: str) -> None:
    case = next(case for case in CASES if case.name == name)
    arm = case.formulation.compile(case.robot())
    trajectory = pl.simulate(pl.connect(arm, *case.components), 0.02, pl.Gauss(order=4, step=1e-3))
    assert trajectory.ending.completed, trajectory.ending
    assert trajectory.ledger.worst_ratio <= DEMAND
