"""Loops that can move more ways in one posture than in those around it, axes without inertia, starts that fit loops."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

import pliant as pl
from pliant.model.state import Cause
from pliant.spatial.arrays import rotation_from_quaternion
from pliant.structures.nodal.posture import violations
from tests.support import four_bar

METHOD = pl.Gauss(order=2, step=1e-3)


def bar(name: str) -> pl.RigidLink:
    return pl.RigidLink(name, (1.0, 0.0, 0.0), 1.0, center_of_mass=(0.5, 0.0, 0.0), inertia=(0.01, 0.1, 0.1))


def rhombus(angle: float) -> pl.PoseElement:
    """Three unit bars on the base, closed to it a metre from the first: flat at angle 0, where it may fold or open."""
    robot = pl.Robot(
        name="rhombus",
        links=(bar("first"), bar("second"), bar("third")),
        joints=(
            pl.RevoluteJoint("a", "base", "first", initial_position=angle),
            pl.RevoluteJoint("b", "first", "second", initial_position=-angle),
            pl.RevoluteJoint("c", "second", "third", initial_position=angle + math.pi),
        ),
        loops=(
            pl.joints.LoopJoint(
                "close", pl.joints.LoopKind.REVOLUTE, pl.At("base", position=(1.0, 0.0, 0.0)), pl.At("third")
            ),
        ),
        gravity=(0.0, -9.81, 0.0),
    )
    return pl.PoseElement().compile(robot)


@pytest.mark.parametrize(
    "ask", [lambda arm: pl.simulate(arm, 0.01, METHOD), pl.modes, pl.equilibrium], ids=["run", "modes", "rest"]
)
def test_a_flat_rhombus_is_refused_with_its_joints_named(ask: object) -> None:
    with pytest.raises(pl.InvalidInput, match=r"loop 'close' is singular .* joints 'a', 'b', 'c' .*; start from"):
        ask(rhombus(0.0))


def test_a_rhombus_that_is_nearly_flat_moves_and_has_one_freedom() -> None:
    arm = rhombus(1e-3)
    assert pl.simulate(arm, 0.05, METHOD).ending.completed
    assert len(pl.modes(arm).frequency) == 1


@pytest.mark.parametrize("step", [5e-3, 2e-3, 1e-3, 5e-4])
def test_a_rhombus_driven_flat_goes_on_by_its_momentum_or_stops_and_names_its_joints(step: float) -> None:
    """Its angles stay those of a parallelogram, b = -a and c = a + pi, whatever the step; it never folds."""
    turning = pl.PrescribedMotion("a", pl.motions.SmoothStart(-2.0, 0.05, position=0.5))
    run = pl.simulate(pl.connect(rhombus(0.5), turning), 0.6, replace(METHOD, step=step))
    if run.ending.completed:
        a, b, c = run.joint_position.T
        # the constraint that loses its rank is loose for a few steps, by less than half of what the drive turns in one
        allowed = np.where(np.abs(run.time - 0.275) < 5.5 * step, 0.5 * 2.0 * step, 1e-6)
        assert np.all(np.abs(b + a) <= allowed)
        assert np.all(np.abs(c - a - math.pi) <= allowed)
    else:
        assert run.ending.cause in (Cause.NOT_CONVERGED, Cause.LOOP_OPENED, Cause.SINGULAR)
        assert run.ending.time == pytest.approx(0.275, abs=0.01), (
            "half a radian at two a second, after a start of 0.05 s"
        )
        assert "loop 'close' is nearly singular there: joints 'a', 'b', 'c'" in str(run.ending)


def test_a_flat_rhombus_of_links_that_bend_is_not_singular() -> None:
    """They stretch: a constraint of a flexible loop binds strains, which are independent everywhere."""
    strip = pl.Rectangle(height=0.01, width=0.01)
    steel = pl.Material("steel", young=210e9, density=7850.0, poisson=0.3)
    rigid = rhombus(0.0).robot
    links = tuple(pl.FlexibleLink(link.name, 1.0, strip, steel) for link in rigid.links)
    arm = pl.PoseElement(1).compile(pl.Robot(name="strips", links=links, joints=rigid.joints, loops=rigid.loops))
    assert pl.simulate(arm, 0.005, METHOD).ending.completed


POINT = pl.RigidLink("point", (0.5, 0.0, 0.0), 1.0, center_of_mass=(0.5, 0.0, 0.0))


@pytest.mark.parametrize(
    ("joint", "named"),
    [
        (pl.RevoluteJoint("s", "base", "point", axis=(1.0, 0.0, 0.0)), "joint 's' moves nothing"),
        (pl.joints.SphericalJoint("s", "base", "point"), "joint 's.x' moves nothing"),
        (
            pl.joints.UniversalJoint("s", "base", "point", first_axis=(0.0, 1.0, 0.0), second_axis=(1.0, 0.0, 0.0)),
            "joint 's.second' moves nothing",
        ),
        (pl.joints.CylindricalJoint("s", "base", "point", axis=(1.0, 0.0, 0.0)), "joint 's.turn' moves nothing"),
        (pl.joints.FreeJoint("s", "base", "point"), "joint 's' moves nothing"),
    ],
    ids=lambda each: type(each).__name__,
)
def test_a_point_mass_does_not_turn_about_a_line_through_it(joint: pl.RevoluteJoint, named: str) -> None:
    arm = pl.PoseElement().compile(pl.Robot(name="point", links=(POINT,), joints=(joint,)))
    with pytest.raises(pl.InvalidInput, match=f"{named} that has inertia .*; give what it carries"):
        pl.simulate(arm, 0.01, METHOD)


def test_a_rotor_or_a_prescribed_motion_serves_an_axis_without_inertia() -> None:
    joint = pl.RevoluteJoint("s", "base", "point", axis=(1.0, 0.0, 0.0))
    arm = pl.PoseElement().compile(pl.Robot(name="point", links=(POINT,), joints=(joint,)))
    for part in (
        pl.PrescribedMotion("s", pl.motions.Quintic(0.0, 1.0, 1.0)),
        pl.GearMotor("s", rotor_inertia=1e-4, ratio=50.0),
    ):
        assert pl.simulate(pl.connect(arm, part), 0.01, METHOD).ending.completed


def test_two_axes_through_a_point_mass_move_together_without_inertia() -> None:
    """A point mass at the end of two massless bars in line: one elbow motion leaves it in place."""
    light = pl.RigidLink("light", (0.5, 0.0, 0.0), 0.0)
    joints = (pl.RevoluteJoint("a", "base", "light"), pl.RevoluteJoint("b", "light", "point"))
    arm = pl.PoseElement().compile(pl.Robot(name="two", links=(light, POINT), joints=joints))
    with pytest.raises(pl.InvalidInput, match="joints 'a', 'b' can move together without moving anything"):
        pl.simulate(arm, 0.01, METHOD)


def test_two_motions_that_a_loop_cannot_follow_are_both_named() -> None:
    _, rocker = four_bar.closed_form(four_bar.START)
    model = pl.connect(
        pl.PoseElement().compile(four_bar.robot()),
        pl.PrescribedMotion("drive", pl.motions.Hold(four_bar.START)),
        pl.PrescribedMotion("pivot", pl.motions.SmoothStart(0.5, 0.01, position=rocker)),
    )
    ending = str(pl.simulate(model, until=0.05, integrator=METHOD).ending)
    assert "the prescribed motions of joints 'drive', 'pivot' cannot be followed" in ending


def test_a_start_at_the_largest_violation_is_closed_from_beside_it() -> None:
    """Both inner links on one line, both outer ones apart: by symmetry no first step is better than its opposite."""
    arm = pl.PoseElement(2).compile(pl.load(pl.library.path("parallelogram")))
    held = tuple(name.endswith("drive") for name in arm.joint_names)
    given = np.where(np.array(arm.joint_names) == "right_drive", np.pi / 2, 0.0)
    state = arm.initial_state(given, None, held)
    found = arm.layout.part(state, "joint_position")
    assert np.array_equal(found[list(held)], given[list(held)])
    R = rotation_from_quaternion(arm.layout.part(state, "rotation"))
    assert np.abs(violations(arm.structure, arm.layout.part(state, "position"), R)).max() < 1e-12


def test_consistent_state_has_positions_and_rates_of_the_closed_form() -> None:
    """From the crank alone: the angles and rates of coupler and rocker follow."""
    crank = 0.8
    coupler, rocker = four_bar.closed_form(crank)
    _, ratio, _ = four_bar.ratios(crank)
    arm = pl.PoseElement().compile(four_bar.robot())
    state = pl.consistent_state(arm, {"drive": crank}, {"drive": 3.0})
    assert arm.layout.part(state, "joint_position") == pytest.approx([crank, coupler - crank, rocker], abs=1e-12)
    expected = 3.0 * np.array([1.0, ratio[1] - 1.0, ratio[2]])
    assert arm.layout.part(state, "joint_rate") == pytest.approx(expected, abs=1e-11)
    run = pl.simulate(arm, 1e-3, METHOD, initial=state)
    assert arm.layout.part(run.states, "joint_rate")[0] == pytest.approx(expected, abs=1e-10)


def test_a_run_tells_that_a_joint_starts_elsewhere_than_given() -> None:
    robot = four_bar.robot()
    joints = (robot.joints[0], robot.joints[1], pl.RevoluteJoint("pivot", "base", "rocker", position=(0.7, 0.0, 0.0)))
    moved = pl.Robot(name="moved", links=robot.links, joints=joints, loops=robot.loops)
    run = pl.simulate(pl.PoseElement().compile(moved), 2e-3, METHOD)
    assert "joint 'pivot' starts at" in run.provenance.choices["substitution"]
    given = pl.simulate(pl.PoseElement().compile(robot), 2e-3, METHOD)
    assert "substitution" not in given.provenance.choices


def test_a_loop_at_rest_raises_no_energy_alarm() -> None:
    run = pl.simulate(pl.PoseElement(4).compile(pl.load(pl.library.path("parallelogram"))), 0.05)
    assert run.ledger.exchanged[-1] < 1e-18, "it rests"
    assert run.ledger.worst_ratio < 1e-10
    assert run.warnings() == []


def test_a_loop_at_rest_under_its_weight_raises_no_energy_alarm() -> None:
    robot = replace(pl.load(pl.library.path("parallelogram")), gravity=(0.0, -9.81, 0.0))
    arm = pl.PoseElement(4).compile(robot)
    start = dict(zip(arm.joint_names, arm.layout.part(arm.initial_state(), "joint_position")))
    drives = [
        pl.JointPD(pl.motions.Hold(float(start[name])), 200.0, 1.0, joints=name)
        for name in ("right_drive", "left_drive")
    ]
    held = pl.connect(arm, *drives)
    run = pl.simulate(held, 0.05, METHOD, initial=pl.equilibrium(held).state)
    assert run.ledger.strain[-1] > 1e-3, "it carries its weight"
    assert run.ledger.exchanged[-1] < 1e-12, "it rests"
    # the forces in the loop work on violations of rounding, which are all that is exchanged
    assert run.ledger.worst_ratio < 1e-10
    assert run.warnings() == []


def test_a_loop_that_moves_after_a_rest_is_judged_by_its_motion() -> None:
    arm = pl.PoseElement(4).compile(pl.load(pl.library.path("parallelogram")))
    push = pl.connect(arm, pl.JointTorque(arm.joint_names[0], pl.signals.Step(0.5, at=0.02)))
    ledger = pl.simulate(push, 0.05, METHOD).ledger
    assert ledger.exchanged[-1] > 1e-4, "it moves"
    assert 0.0 < ledger.worst_ratio < 1e-10
    assert ledger.worst_time > 0.02, "not while it rests"
    loose = pl.simulate(push, 0.05, replace(METHOD, tolerance=1e-3, energy_tolerance=1e-3)).ledger
    assert loose.worst_ratio > 1e-10, "what Newton's method leaves is seen"
