"""Tendons: closed forms between two bodies, cables led over links, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import pliant as pl
from pliant.errors import InvalidInput
from pliant.model.contract import Model
from pliant.robot import At, End, FixedJoint, FlexibleLink, FreeJoint, RigidLink, Robot
from pliant.spatial.arrays import rotation_from_vector
from tests.support.flow_map import poles_of_steps

MASSES, STIFFNESS = (2.0, 3.0), 500.0
REDUCED = MASSES[0] * MASSES[1] / sum(MASSES)
MIDPOINT = pl.Gauss(order=2, step=1e-3)


def two_bodies(apart: float = 1.0, gravity: float = 0.0) -> Model:
    bodies = tuple(RigidLink(name, (0, 0, 0), mass, inertia=(0.01,) * 3) for name, mass in zip("ab", MASSES))
    joints = tuple(
        FreeJoint(f"to_{name}", "base", name, initial_position=(x, 0.0, 0.0)) for name, x in zip("ab", (0.0, apart))
    )
    return pl.PoseElement().compile(Robot("two_bodies", bodies, joints, gravity=(0.0, 0.0, gravity)))


def beam(gravity: float = 0.0) -> Robot:
    """A clamped rod of 1 m with a rigid hand of 0.1 m."""
    steel = pl.Material("steel", young=2e11, density=7800.0, shear=8e10)
    rod = FlexibleLink("rod", length=1.0, section=pl.Rectangle(0.02, 0.01), material=steel)
    hand = RigidLink("hand", (0.1, 0.0, 0.0), mass=0.5, center_of_mass=(0.05, 0.0, 0.0), inertia=(1e-3,) * 3)
    joints = (FixedJoint("clamp", "base", "rod"), pl.RevoluteJoint("wrist", "rod", "hand", axis=(0, 1, 0)))
    return Robot("beam", (rod, hand), joints, gravity=(0.0, 0.0, gravity))


def routed(side: float = 1.0, **changed: float) -> pl.Tendon:
    """From the base beside the rod over its middle to the hand."""
    beside = (0.0, 0.0, 0.05 * side)
    frames = [At("base", position=beside), At("rod", station=0.5, position=beside), At("hand", End.TIP, beside)]
    return pl.Tendon("cable" if side > 0 else "other", frames, **{"stiffness": 2e4, "pretension": 50.0, **changed})


def test_two_bodies_swing_with_the_closed_form() -> None:
    # reduced mass m = m1 m2 / (m1 + m2) on a spring k: k / m = (2 pi f)^2
    model = pl.connect(two_bodies(), pl.Tendon("cable", [At("a"), At("b")], STIFFNESS, rest_length=1.0))
    stretched = model.initial_state()
    model.layout.part(stretched, "position")[2, 0] = 1.001
    frequency = pl.modes(model, stretched, count=13).frequency
    assert np.min(np.abs(frequency - np.sqrt(STIFFNESS / REDUCED) / (2 * np.pi))) < 1e-6 * frequency.max()


def test_a_taut_cable_catches_two_bodies_with_the_closed_form() -> None:
    # from its rest length with the relative speed u: the peak force is u sqrt(k m), the energy m u^2 / 2
    model = pl.connect(two_bodies(), pl.Tendon("cable", [At("a"), At("b")], STIFFNESS))
    start = model.initial_state()
    model.layout.part(start, "velocity")[1:, 0] = -0.1, 0.1
    run = pl.simulate(model, until=0.2, integrator=pl.Gauss(order=2, step=2e-4), initial=start)
    assert run.efforts["cable.force"].max() == pytest.approx(0.2 * np.sqrt(STIFFNESS * REDUCED), rel=1e-4)
    assert run.ledger.taken["cable"].max() == pytest.approx(0.5 * REDUCED * 0.2**2, rel=1e-4)
    # after half a period it is slack again, and the bodies fly together with the speed they had
    slack = run.time > 1.001 * np.pi * np.sqrt(REDUCED / STIFFNESS)
    np.testing.assert_array_equal(run.efforts["cable.force"][slack], 0.0)
    x = model.layout.part(run.states, "velocity")[-1, :, 0]
    assert x[1] - x[2] == pytest.approx(0.2, rel=1e-9)
    assert run.ledger.worst_ratio < 1e-10
    np.testing.assert_allclose(run.ledger.residual, 0.0, atol=1e-14)


def test_a_slack_cable_lets_bodies_fall_freely() -> None:
    model = pl.connect(
        two_bodies(gravity=-9.81), pl.Tendon("cable", [At("a"), At("b")], STIFFNESS, damping=10.0, rest_length=1.5)
    )
    run = pl.simulate(model, until=0.5, integrator=replace(MIDPOINT, tolerance=1e-13))  # else Newton leaves 1e-11
    fall = model.layout.part(run.states, "position")[-1, 1:, 2]
    np.testing.assert_allclose(fall, -0.5 * 9.81 * 0.5**2, rtol=1e-12)
    assert not run.efforts["cable.force"].any()


def test_a_hanging_body_stretches_its_cable_by_its_weight() -> None:
    # T = m g = pretension + stiffness (length - rest)
    body = RigidLink("bob", (0.0, 0.0, 0.0), mass=2.0, inertia=(0.01,) * 3)
    rail = pl.PrismaticJoint("rail", "base", "bob", axis=(0, 0, 1), initial_position=-1.0, damping=1.0)
    arm = pl.PoseElement().compile(Robot("hanging", (body,), (rail,), gravity=(0.0, 0.0, -9.81)))
    model = pl.connect(arm, pl.Tendon("cable", [At("base"), At("bob")], STIFFNESS, pretension=5.0))
    found = pl.equilibrium(model)
    place = model.layout.part(found.state, "joint_position")[0]
    assert -place - 1.0 == pytest.approx((2.0 * 9.81 - 5.0) / STIFFNESS, rel=1e-9)


@pytest.mark.parametrize("damping", [0.0, 30.0])
def test_the_ledger_of_a_cable_over_a_bending_link_closes(damping: float) -> None:
    arm = pl.PoseElement(elements=4).compile(beam(gravity=-9.81))
    model = pl.connect(arm, routed(damping=damping))
    start = model.initial_state()
    model.layout.part(start, "spin")[-1] = 0.0, 3.0, 0.0
    model.layout.part(start, "joint_rate")[:] = 3.0
    run = pl.simulate(model, until=0.3, integrator=MIDPOINT, initial=start)
    assert run.ending.completed
    force = run.efforts["cable.force"]
    assert force.shape[1] == 2
    np.testing.assert_array_equal(force[:, 0], force[:, 1])  # one tension along the whole cable
    assert force.min() == 0.0 < force.max()  # it was slack and taut
    assert run.ledger.worst_ratio < 1e-10
    assert np.abs(run.ledger.residual).max() < 1e-10 * run.ledger.exchanged[-1]


def test_saved_runs_keep_what_the_cable_took(tmp_path: Path) -> None:
    run = pl.simulate(pl.connect(pl.PoseElement(elements=2).compile(beam(gravity=-9.81)), routed()), 0.01, MIDPOINT)
    run.save(tmp_path / "run.nc")
    again = pl.load_trajectory(tmp_path / "run.nc")
    np.testing.assert_array_equal(again.ledger.taken["cable"], run.ledger.taken["cable"])
    np.testing.assert_array_equal(again.efforts["cable.force"], run.efforts["cable.force"])


def test_linearised_motion_agrees_with_differences_of_steps() -> None:
    model = pl.connect(pl.PoseElement(elements=2).compile(beam(gravity=-9.81)), routed(damping=5.0))
    state = pl.equilibrium(model).state
    small = model.linearise(state, model.inputs, 0.0)
    n = len(small.M)
    A = np.block([[np.zeros((n, n)), np.eye(n)], [-np.linalg.solve(small.M, np.hstack([small.K, small.D]))]])
    linear = np.linalg.eigvals(A)
    linear = linear[np.argsort(np.abs(linear))]
    stepped, _ = poles_of_steps(model, small, (1e-3, 3e-3))
    slow = stepped[np.argsort(np.abs(stepped))][:6]
    errors = np.abs(slow[:, None] - linear[None]).min(axis=1) / np.abs(slow)
    assert errors.max() < 1e-5


def test_a_rigid_motion_of_everything_changes_no_tension() -> None:
    frames = [At("a", position=(0, 0.1, 0)), At("b", position=(0, 0, 0.2)), At("a", position=(0, -0.3, 0.1))]
    model = pl.connect(two_bodies(), pl.Tendon("cable", frames, STIFFNESS, pretension=10.0))
    start = model.initial_state()
    model.layout.part(start, "spin")[1:] = (0.3, 0.2, 0.1), (-0.2, 0.4, 0.0)
    plain = pl.simulate(model, until=0.1, integrator=MIDPOINT, initial=start)
    turn, shift = rotation_from_vector(np.array([0.4, -1.0, 2.0])), np.array([3.0, -2.0, 1.0])
    w, v = (np.cos(0.5 * np.sqrt(5.16)), np.sin(0.5 * np.sqrt(5.16)) * np.array([0.4, -1.0, 2.0]) / np.sqrt(5.16))
    moved = start.copy()
    model.layout.part(moved, "position")[1:] = model.layout.part(start, "position")[1:] @ turn.T + shift
    model.layout.part(moved, "rotation")[1:] = np.append(w, v)
    run = pl.simulate(model, until=0.1, integrator=MIDPOINT, initial=moved)
    np.testing.assert_allclose(run.efforts["cable.force"], plain.efforts["cable.force"], rtol=1e-9)


def test_equal_cables_on_both_sides_bend_nothing() -> None:
    # mirrored at the plane of the rod: whatever they do across it cancels
    arm = pl.PoseElement(elements=4).compile(beam())
    found = pl.equilibrium(pl.connect(arm, routed(), routed(-1.0)))
    tip = arm.tip(found.state[None])[0][0]
    np.testing.assert_allclose(tip[1:], 0.0, atol=1e-12)
    assert tip[0] < 1.1
    alone = pl.equilibrium(pl.connect(arm, routed(pretension=1.0)))
    assert arm.tip(alone.state[None])[0][0, 2] > 1e-6


def test_spectral_links_come_to_rest_where_pose_elements_do() -> None:
    spectral = pl.connect(pl.GeometricallyExact(degree=4).compile(beam()), routed(pretension=1.0))
    assert not spectral.substitution
    fine = pl.connect(pl.PoseElement(elements=16).compile(beam()), routed(pretension=1.0))
    tips = [model.tip(pl.equilibrium(model).state[None])[0][0] for model in (spectral, fine)]
    assert tips[0][2] > 1e-6
    np.testing.assert_allclose(tips[0], tips[1], rtol=0.0, atol=0.01 * tips[0][2])


@pytest.mark.parametrize("formulation", [pl.Rigid(), pl.Lumped(), pl.EquivalentRigidLink(), pl.PseudoSpectral()])
def test_other_formulations_refuse_it_with_the_remedy(
    formulation: pl.Rigid | pl.Lumped | pl.EquivalentRigidLink | pl.PseudoSpectral,
) -> None:
    model = pl.connect(formulation.compile(beam()), routed())
    with pytest.raises(InvalidInput) as refused:
        pl.simulate(model, until=0.01)
    assert str(refused.value) == (
        "the tendon 'cable' is not carried by this formulation; compile the robot with PoseElement()"
    )


@pytest.mark.parametrize(
    ("build", "sentence"),
    [
        (
            lambda: pl.Tendon("cable", [At("a")], 1.0),
            "Tendon 'cable': frames has 1 entry and must have at least 2; write the frames of both ends",
        ),
        (
            lambda: pl.Tendon("cable", [At("a"), At("a", position=(0, 0, 1))], 1.0),
            "Tendon 'cable': frames are all fixed to one part; put one on another part",
        ),
        (
            lambda: pl.Tendon("cable", [At("a"), At("b")], 0.0),
            "Tendon 'cable': stiffness = 0 N/m must be greater than 0; write the tension per elongation in N/m",
        ),
        (
            lambda: pl.connect(two_bodies(), pl.Tendon("cable", [At("a"), At("bb")], 1.0)),
            "Tendon 'cable': the arm has no link 'bb'; did you mean 'b'?",
        ),
        (
            lambda: pl.connect(two_bodies(), pl.Tendon("cable", [At("a"), At("a", End.ROOT)], 1.0)),
            "Tendon 'cable': first and second are both fixed to the rigid link 'a'; put one on another part",
        ),
        (
            lambda: pl.simulate(pl.connect(two_bodies(0.0), pl.Tendon("cable", [At("a"), At("b")], 1.0)), 0.1),
            "two frames of 'cable' coincide at the start, which leaves no direction between them; move one of them,"
            " or leave it out",
        ),
    ],
)
def test_refusals(build: Callable[[], object], sentence: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        build()
    assert str(refused.value) == sentence
