"""Spectral links that bend too far for their polynomials: pose elements do the run anew, as its substitution says."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import pliant as pl
from pliant.components.connect import Connected
from pliant.model.state import Cause
from pliant.structures.collocation.bending import pose_state
from pliant.structures.collocation.model import GeometricallyExactArm

SOFT = pl.GeneralSection(
    stiffness=(1e4, 5e3, 5e3, 0.5, 0.5, 0.5),
    inertia=(0.2, 0.2, 0.2, 1e-4, 1e-4, 1e-4),
    damping=(0.5, 0.5, 0.5, 1e-3, 1e-3, 1e-3),
)
HAND = pl.RigidLink("hand", (0.05, 0.0, 0.0), 0.02, center_of_mass=(0.02, 0.0, 0.0), inertia=(1e-4,) * 3)
ROBOT = pl.Robot(
    "whip",
    (pl.FlexibleLink("rod", 1.0, SOFT), HAND),
    (pl.RevoluteJoint("hinge", "base", "rod", initial_rate=0.5), pl.FixedJoint("grip", "rod", "hand")),
)
GAUSS = pl.Gauss(order=4, step=2e-3)
UNTIL = 0.06


def rolled(formulation: pl.GeometricallyExact | pl.PoseElement | pl.MixedElement, robot: pl.Robot = ROBOT) -> Connected:
    """The end of the rod is rolled up by a moment of many times its bending stiffness."""
    moment = pl.TipWrench("hand", pl.signals.Constant((0.0, 0.0, 0.0, 0.0, 0.0, 12.0)), frame=pl.Frame.BODY)
    return pl.connect(formulation.compile(robot), pl.PrescribedMotion("hinge", pl.motions.Hold(0.0)), moment)


def test_a_run_that_bends_too_far_goes_on_by_pose_elements() -> None:
    spectral = rolled(pl.GeometricallyExact(degree=5))
    run = pl.simulate(spectral, UNTIL, GAUSS, outputs=20)
    assert run.ending.completed
    assert run.ledger.worst_ratio < 1e-10
    substitution = run.provenance.choices["substitution"]
    assert substitution.startswith("PoseElement(elements={'rod': ")
    assert "computes in place of GeometricallyExact(degree=5, elements=1), from the start" in substitution
    assert "because link 'rod' is bent too far for it at t = 0.0" in substitution
    assert "Gauss(order=2, step=0.002" in run.provenance.choices["integrator"]
    assert substitution in [line.value for line in run.summary()]
    elements = run.state("position").shape[1] - 3  # base, root of the rod and hand are the other nodes
    same = pl.simulate(rolled(pl.PoseElement(elements)), UNTIL, replace(GAUSS, order=2), outputs=20)
    assert run.tip_position == pytest.approx(same.tip_position, abs=1e-9)


@pytest.mark.parametrize(
    ("formulation", "robot"),
    [
        (pl.GeometricallyExact(degree=5, when_bent=pl.geometrically_exact.WhenBent.STOP), ROBOT),
        # pose elements carry no hardening law: nobody takes over
        (
            pl.GeometricallyExact(degree=5),
            replace(ROBOT, links=(replace(ROBOT.links[0], law=pl.sections.HardeningLaw((0.0,) * 6)), HAND)),
        ),
    ],
    ids=["told to stop", "nobody takes over"],
)
def test_a_run_that_nobody_takes_over_stops_with_its_cause(formulation: pl.GeometricallyExact, robot: pl.Robot) -> None:
    run = pl.simulate(rolled(formulation, robot), UNTIL, GAUSS, outputs=20)
    assert run.ending.cause is Cause.TOO_BENT
    assert run.ending.place == "link 'rod'"
    assert "PoseElement" in run.ending.remedy
    assert "substitution" not in run.provenance.choices
    assert 0.0 < run.time[-1] < UNTIL


def test_steps_that_are_far_too_large_are_halved_until_it_is_known_how_far_the_link_bends() -> None:
    run = pl.simulate(rolled(pl.GeometricallyExact(degree=5)), 0.2, pl.Gauss(order=4, step=0.1))
    assert run.ending.completed, run.ending
    # within the first step, and so with as many elements as that bend asks for
    assert "is bent too far for it at t = 0.03" in run.provenance.choices["substitution"]
    assert run.state("position").shape[1] - 3 > 20


def test_pose_elements_start_in_the_shape_and_motion_of_the_spectral_links() -> None:
    arm = pl.GeometricallyExact(degree=6, elements=2).compile(ROBOT)
    assert isinstance(arm, GeometricallyExactArm)
    push = pl.TipWrench("rod", pl.signals.Constant((0.0, 3.0, 2.0, 0.0, 0.0, 0.0)))
    state = pl.simulate(pl.connect(arm, push), 0.1, pl.Gauss(order=4, step=1e-3), outputs=1).states[-1]
    turn = np.linalg.norm(arm.observe(state[None]).links[0].strain[0, :, 3:], axis=1).mean()
    assert turn > 0.3, "it is hardly bent"
    expected, errors = np.array(arm.energy(state[None]))[:2, 0], []
    for elements in (16, 32):
        poses = pl.PoseElement(elements).compile(ROBOT)
        start = pose_state(arm, poses, state)
        assert poses.tip(start[None])[0] == pytest.approx(arm.tip(state[None])[0], abs=1e-9)
        assert poses.layout.part(start, "joint_rate") == pytest.approx(arm.layout.part(state, "joint_rate"))
        errors.append(np.abs(np.array(poses.energy(start[None]))[:2, 0] - expected) / expected)
    # masses on nodes and strains as helices, against polynomials: kinetic and strain energy to the length squared
    assert np.all(errors[1] < 0.01)
    assert np.all(np.log2(errors[0] / errors[1]) > 1.9)


def test_a_blow_that_no_link_outlives_stops_the_run_at_once() -> None:
    """25 kN m on a steel strip of 1 mm bend it by many turns: pose elements would follow them for minutes."""
    arm = pl.GeometricallyExact(degree=4, elements=1).compile(pl.load(pl.library.path("steel_strip")))
    blow = pl.JointTorque("hub", pl.signals.SignalTable((0.0, 0.001, 0.002), (-25571.0, 0.0, -603.0)))
    run = pl.simulate(pl.connect(arm, blow), 4e-3, pl.Gauss(2, 1e-3), outputs=4)
    assert run.ending.cause is Cause.TOO_BENT
    assert "check what loads it" in str(run.ending)
