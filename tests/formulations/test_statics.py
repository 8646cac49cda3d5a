"""Static equilibrium against closed forms and an independent shooting solution."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import pliant as pl
from pliant.experiments import closed_form
from pliant.model.state import Cause
from tests.support import textbook

SLENDER = 1e9  # axial and shear stiffness against EI = 1, L = 1: the elastica to 1e-9


def cantilever(length, stiffness, degree=6, elements=2, rest_shape=None, gravity=(0.0, 0.0, 0.0), inertia=1.0):
    section = pl.GeneralSection(stiffness=stiffness, inertia=(inertia,) * 3 + (1.0,) * 3)
    link = pl.FlexibleLink("link", length, section, rest_shape=rest_shape or pl.rest_shapes.Straight())
    robot = pl.Robot("cantilever", (link,), (pl.FixedJoint("clamp", "base", "link"),), gravity=gravity)
    return pl.GeometricallyExact(degree=degree, elements=elements).compile(robot)


def balanced_tip(arm, *loads, **choices):
    answer = pl.equilibrium(pl.connect(arm, *loads), **choices)
    assert answer.ending.completed, str(answer.ending)
    position, rotation = arm.tip(answer.state)
    return position[0], rotation[0]


def tip_force(*force, frame=pl.Frame.WORLD):
    return pl.TipWrench("link", pl.signals.Constant((*force, 0.0, 0.0, 0.0)), frame=frame)


# Mattiasson 1981, recomputed to the digits printed here (shared with textbook.elastica_tip)
@pytest.mark.parametrize(
    ("load", "deflection", "shortening", "slope"),
    [
        (1, 0.3017208, 0.0564332, 0.4613519),
        (2, 0.4934575, 0.1606417, 0.7817498),
        (5, 0.7137915, 0.3876284, 1.2153681),
        (10, 0.8106090, 0.5549956, 1.4302855),
    ],
)
def test_elastica_under_a_dead_tip_load(load, deflection, shortening, slope):
    arm = cantilever(1.0, (SLENDER,) * 3 + (1.0,) * 3, degree=8)
    position, rotation = balanced_tip(arm, tip_force(0, load, 0))
    assert position == pytest.approx([1 - shortening, deflection, 0], abs=1e-6)
    assert np.arctan2(rotation[1, 0], rotation[0, 0]) == pytest.approx(slope, abs=1e-6)
    short, deep, turned = textbook.elastica_tip(load)
    assert position == pytest.approx([1 - short, deep, 0], abs=2e-8)
    assert np.arctan2(rotation[1, 0], rotation[0, 0]) == pytest.approx(turned, abs=2e-8)


@pytest.mark.parametrize("turns", [1, 2])
@pytest.mark.parametrize("frame", list(pl.Frame)[:2])
def test_a_tip_moment_rolls_the_link_up_into_closed_circles(turns, frame):
    """M = 2 pi n EI / L closes the circle n times over; the tip comes back to the root exactly."""
    arm = cantilever(1.0, (1e6,) * 3 + (1.0,) * 3, elements=4)
    moment = pl.TipWrench("link", pl.signals.Constant((0, 0, 0, 0, 0, 2 * np.pi * turns)), frame=frame)
    position, rotation = balanced_tip(arm, moment, load_steps=10 * turns)
    assert position == pytest.approx(np.zeros(3), abs=1e-12)
    assert rotation == pytest.approx(np.eye(3), abs=1e-12)


def test_a_part_of_the_circle_is_an_arc():
    arm = cantilever(2.0, (1e6,) * 3 + (3.0,) * 3)
    moment = pl.TipWrench("link", pl.signals.Constant((0, 0, 0, 0, 0, 2.0)))
    position, _ = balanced_tip(arm, moment)
    assert position[:2] == pytest.approx(textbook.roll_up_tip(2.0, 2.0, 3.0), abs=1e-10)


def test_shear_deformable_cantilever():
    """Nachbagauer 2011: ux = 0.15097114, uy = 0.71056860, recomputed by shooting."""
    length, h, b, E, nu = 2.0, 0.5, 0.1, 2.07e11, 0.3
    A, inertia, G = b * h, b * h**3 / 12, E / (2 * (1 + nu))
    shear = 10 * (1 + nu) / (12 + 11 * nu) * G * A
    arm = cantilever(length, (E * A, shear, shear, G * inertia, E * inertia, E * inertia))
    position, _ = balanced_tip(arm, tip_force(0, -5e8 * h**3, 0))
    assert length - position[0] == pytest.approx(0.15097114, rel=1e-6)
    assert -position[1] == pytest.approx(0.71056860, rel=1e-6)


# Bathe & Bolourchi 1979, recomputed by shooting (rtol 1e-11); shear factor 1, torsion constant J stated
@pytest.mark.parametrize(
    ("J", "load", "tip"),
    [
        (1 / 6, 300, (58.77912, 22.24478, 40.19189)),
        (1 / 6, 450, (52.23856, 18.50818, 48.50293)),
        (1 / 6, 600, (47.15044, 15.68480, 53.47486)),
        (0.141, 600, (46.89677, 15.56033, 53.60486)),
    ],
)
def test_45_degree_bend_out_of_its_plane(J, load, tip):
    E, G = 1e7, 5e6
    arc = pl.rest_shapes.Arc(angle=np.pi / 4, normal=pl.rest_shapes.Across.Z)
    arm = cantilever(100 * np.pi / 4, (E, G, G, G * J, E / 12, E / 12), rest_shape=arc)
    position, _ = balanced_tip(arm, tip_force(0, 0, load))
    assert position == pytest.approx(tip, abs=1e-4)


def test_statics_converge_spectrally_in_the_degree():
    """Error of the 45-degree bend (shooting) falls by at least 10 for each degree from 3 to 6."""
    E, G, J = 1e7, 5e6, 1 / 6
    exact = textbook.bend_of_45_degrees(600.0, J)
    errors = []
    for degree in (3, 4, 5, 6):
        arc = pl.rest_shapes.Arc(angle=np.pi / 4, normal=pl.rest_shapes.Across.Z)
        arm = cantilever(100 * np.pi / 4, (E, G, G, G * J, E / 12, E / 12), degree, 1, arc)
        position, _ = balanced_tip(arm, tip_force(0, 0, 600))
        errors.append(np.linalg.norm(position - exact))
    assert all(b < a / 8 for a, b in itertools.pairwise(errors)), errors


def test_follower_load_against_shooting():
    rod = closed_form.Rod(1.0, (1e4, 1e3, 1e3, 2.0, 3.0, 4.0), (0.0, 0.0, 0.0))
    exact = closed_form.static_shape(rod, follower_force=(0.0, 2.0, 1.0)).tip
    arm = cantilever(1.0, (1e4, 1e3, 1e3, 2.0, 3.0, 4.0))
    position, _ = balanced_tip(arm, tip_force(0, 2, 1, frame=pl.Frame.BODY))
    assert position == pytest.approx(exact, abs=1e-7)


def test_gravity_bends_like_a_distributed_dead_load():
    """Weight rho A g per length in the model, the same load per length in the shooting solution."""
    stiffness = (1e5, 1e4, 1e4, 2.0, 3.0, 4.0)
    rod = closed_form.Rod(1.0, stiffness, (0.0, 0.0, 0.0))
    exact = closed_form.static_shape(rod, load_per_length=(0.0, -4.0, -3.0)).tip
    arm = cantilever(1.0, stiffness, gravity=(0.0, -4.0, -3.0))
    position, _ = balanced_tip(arm)
    assert position == pytest.approx(exact, abs=1e-7)


def test_equilibrium_is_at_rest_when_simulated():
    arm = cantilever(1.0, (1e5, 1e4, 1e4, 2.0, 3.0, 4.0), gravity=(0.0, -4.0, -3.0))
    answer = pl.equilibrium(arm)
    run = pl.simulate(arm, until=0.2, integrator=pl.Gauss(step=1e-2), initial=answer.state)
    assert np.max(np.abs(run.state("twist"))) < 1e-8
    assert run.states[-1] == pytest.approx(answer.state, abs=1e-9)


def test_joints_under_feedback_rest_where_torques_balance():
    """Stiff link, so the angle solves stiffness (q - reference) = - m g (L/2) cos q."""
    section = pl.GeneralSection(stiffness=(1e9,) * 3 + (1e8,) * 3, inertia=(2.0,) * 3 + (1e-3,) * 3)
    link = pl.FlexibleLink("link", 1.0, section)
    robot = pl.Robot("arm", (link,), (pl.RevoluteJoint("hinge", "base", "link"),), gravity=(0.0, -9.81, 0.0))
    arm = pl.GeometricallyExact(degree=4).compile(robot)
    closed = pl.connect(arm, pl.JointPD(pl.motions.Hold(0.3), stiffness=20.0, damping=0.0))
    state = pl.equilibrium(closed).state
    q = arm.layout.part(state, "joint_position")[0]
    assert 20.0 * (q - 0.3) == pytest.approx(-2.0 * 9.81 * 0.5 * np.cos(q), rel=1e-6)


def test_a_load_that_the_mesh_cannot_follow_ends_as_a_value():
    """A follower load of P L^2 / EI = 1e8 winds the link up far beyond what one element can follow."""
    arm = cantilever(1.0, (1e12,) * 3 + (1e-3,) * 3, degree=3, elements=1)
    wound_up = pl.connect(arm, tip_force(0, 1e5, 0, frame=pl.Frame.BODY))
    answer = pl.equilibrium(wound_up, at=3.0, load_steps=2)
    assert answer.ending.cause is Cause.NOT_CONVERGED
    assert answer.ending.time == 3.0, "the time of the loads, not their fraction"
    assert answer.load < 1.0
    assert "load" in str(answer.ending)
    assert np.all(np.isfinite(answer.state))
