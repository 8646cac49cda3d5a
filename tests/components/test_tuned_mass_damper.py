"""Tuned mass dampers: two masses in closed form, Den Hartog's tuning on a beam, states of their own, refusals."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import pliant as pl
from pliant.errors import InvalidInput
from pliant.joints import JointSpring
from pliant.robot import At, End, FixedJoint, FlexibleLink, PrismaticJoint, RigidLink, Robot, loads

CART, RAIL = 2.0, 800.0  # kg, N/m
MASS, STIFFNESS, DAMPING = 0.1, 36.0, 0.4
Y = (0.0, 1.0, 0.0)
Formulation = pl.PoseElement | pl.Rigid | pl.Lumped | pl.EquivalentRigidLink | pl.PseudoSpectral
FORMULATIONS = [pl.PoseElement(), pl.Rigid(), pl.Lumped(), pl.EquivalentRigidLink(), pl.PseudoSpectral()]
STEEL = pl.Material("steel", young=2e11, density=7800.0, shear=8e10)
LENGTH = 1.0


def cart(gravity: float = 0.0) -> Robot:
    body = RigidLink("cart", (0.1, 0.0, 0.0), CART, inertia=(0.01,) * 3)
    rail = PrismaticJoint("rail", "base", "cart", axis=Y, spring=JointSpring(RAIL), initial_rate=0.3)
    return Robot("cart", (body,), (rail,), gravity=(0.0, gravity, 0.0))


def damper(**changed: object) -> pl.TunedMassDamper:
    values = {"damping": DAMPING, "axis": Y, **changed}
    return pl.TunedMassDamper("damper", At("cart"), MASS, STIFFNESS, **values)  # type: ignore[arg-type]


def beam(gravity: float = 0.0) -> Robot:
    rod = FlexibleLink("rod", LENGTH, pl.Rectangle(0.01, 0.02), STEEL)
    return Robot("beam", (rod,), (FixedJoint("clamp", "base", "rod"),), gravity=(0.0, gravity, 0.0))


@pytest.mark.parametrize("formulation", FORMULATIONS, ids=lambda each: type(each).__name__)
def test_two_masses_swing_with_the_closed_form(formulation: Formulation) -> None:
    # M x'' = -K x + k (y - x), m y'' = -k (y - x)
    K = np.array([[RAIL + STIFFNESS, -STIFFNESS], [-STIFFNESS, STIFFNESS]])
    expected = np.sqrt(np.sort(np.linalg.eigvals(K / np.array([[CART], [MASS]])).real)) / (2 * np.pi)
    model = pl.connect(formulation.compile(cart()), damper(damping=0.0))
    assert model.joint_names == ("rail", "damper")
    np.testing.assert_allclose(pl.modes(model, count=2).frequency, expected, rtol=1e-9)


@pytest.mark.parametrize("formulation", FORMULATIONS, ids=lambda each: type(each).__name__)
def test_under_gravity_it_sags_by_its_weight_over_its_stiffness(formulation: Formulation) -> None:
    model = pl.connect(formulation.compile(cart(-9.81)), damper())
    place = model.layout.part(pl.equilibrium(model).state, "joint_position")
    expected = [-(CART + MASS) * 9.81 / RAIL, -MASS * 9.81 / STIFFNESS]
    np.testing.assert_allclose(place, expected, rtol=1e-9)


@pytest.mark.parametrize("formulation", FORMULATIONS, ids=lambda each: type(each).__name__)
def test_its_ledger_closes_and_its_motion_is_that_of_two_masses(formulation: Formulation) -> None:
    model = pl.connect(formulation.compile(cart(-9.81)), damper())
    step, steps = 1e-3, 400
    run = pl.simulate(model, until=step * steps, integrator=pl.Gauss(order=2, step=step))
    assert run.ending.completed
    assert run.ledger.worst_ratio < 1e-10
    assert run.ledger.joint_loss[-1] > 1e-4
    # the midpoint rule for the linear equations in (x, y - x), which every formulation steps
    M = np.array([[CART + MASS, MASS], [MASS, MASS]])
    K, C, weight = np.diag([RAIL, STIFFNESS]), np.diag([0.0, DAMPING]), -9.81 * np.array([CART + MASS, MASS])
    A = np.block([[np.zeros((2, 2)), np.eye(2)], [-np.linalg.solve(M, np.hstack([K, C]))]])
    push = np.concatenate([np.zeros(2), np.linalg.solve(M, weight)])
    z = np.array([0.0, 0.0, 0.3, 0.0])
    for _ in range(steps):
        z = np.linalg.solve(np.eye(4) - 0.5 * step * A, (np.eye(4) + 0.5 * step * A) @ z + step * push)
    np.testing.assert_allclose(run.joint_position[-1], z[:2], atol=1e-11)


def den_hartog(ratio: float, g: np.ndarray, tuning: float, damping: float) -> np.ndarray:
    """|x| K / F of a mass on a spring with an absorber [denhartog1956]; g = omega / Omega, c = 2 m Omega damping."""
    own, other = (2 * damping * g) ** 2, g**2 - tuning**2
    below = own * (g**2 - 1 + ratio * g**2) ** 2 + (ratio * tuning**2 * g**2 - (g**2 - 1) * other) ** 2
    return np.asarray(np.sqrt((own + other**2) / below))


@pytest.mark.parametrize(
    ("formulation", "station"),
    [
        (pl.PoseElement(elements=24), None),
        (pl.PoseElement(elements=24), 0.75),
        (pl.Lumped(fields=16), None),
        (pl.Lumped(fields=16), 0.75),
        (pl.EquivalentRigidLink(), None),
        (pl.EquivalentRigidLink(), 0.75),
        (pl.PseudoSpectral(degree=12), None),
        (pl.PseudoSpectral(degree=12), 0.75),
    ],
    ids=lambda each: str(each).partition("(")[0],
)
def test_a_beam_with_the_best_damper_has_the_two_equal_peaks_of_den_hartog(
    formulation: Formulation, station: float | None
) -> None:
    # The first mode of a clamped beam, seen at one section, is a mass on a spring; its best absorber of the mass
    # ratio mu has the tuning 1 / (1 + mu), c = 2 m Omega sqrt(3 mu / (8 (1 + mu)^3)) and two peaks of sqrt(1 + 2 / mu).
    ratio, port = 0.05, "rod.tip.wrench[1]"
    arm = formulation.compile(beam())
    first = pl.modes(arm, count=1).frequency[0]
    # modal mass at the tip: a resonance of the light model, far from all others, is F / (m (Omega^2 - omega^2)) there
    near = first * (1 + 1e-4)
    gain = pl.frequency_response(arm, port, "tip.displacement[1]", [near]).gain[0].real
    omega = 2 * np.pi * first
    at_tip = 1 / (gain * ((2 * np.pi * first) ** 2 - (2 * np.pi * near) ** 2))
    shape = 1.0
    if station is not None:
        along = LENGTH * np.array([station, 1.0]) * 1.875104068711961 / LENGTH  # first root of cos x cosh x = -1
        sigma = (np.cos(1.8751040687) + np.cosh(1.8751040687)) / (np.sin(1.8751040687) + np.sinh(1.8751040687))
        w = np.cosh(along) - np.cos(along) - sigma * (np.sinh(along) - np.sin(along))
        shape = float(w[0] / w[1])
    mass = ratio * at_tip / shape**2  # a mass there counts by the square of the mode
    tuning = 1 / (1 + ratio)
    damping = np.sqrt(3 * ratio / (8 * (1 + ratio) ** 3))
    at = At("rod", station=station)
    absorber = pl.TunedMassDamper("absorber", at, mass, mass * (tuning * omega) ** 2, 2 * mass * omega * damping, Y)
    model = pl.connect(arm, absorber)
    g = np.linspace(0.8, 1.2, 401)
    seen = pl.frequency_response(model, port, "tip.displacement[1]", g * first).magnitude * at_tip * omega**2
    expected = den_hartog(ratio, g, tuning, damping)
    half = len(g) // 2
    peaks, wanted = (np.array([each[:half].max(), each[half:].max()]) for each in (seen, expected))
    # higher modes move the section by 3 % of what the first does at rest, 1 % of the peaks, which are near 6.4
    np.testing.assert_allclose(peaks, wanted, rtol=0.015)
    np.testing.assert_allclose(wanted, np.sqrt(1 + 2 / ratio), rtol=0.01)  # he takes a mean of two best dampings
    assert pl.frequency_response(arm, port, "tip.displacement[1]", g * first).magnitude.max() > 100 * seen.max()


def test_spectral_links_hand_over_and_say_so() -> None:
    model = pl.connect(
        pl.GeometricallyExact(degree=4).compile(beam()),
        pl.TunedMassDamper("absorber", At("rod", station=0.5), 0.1, 100.0, axis=Y),
    )
    assert model.substitution == "pose elements were chosen because joint 'absorber' sits at a station"
    assert model.substitution in pl.report(model)
    assert "rod.distributed: TunedMassDamper (mass 0.1, stiffness 100, damping 0)" in pl.report(model)


def test_the_arm_keeps_its_tip_and_laws_for_all_joints_leave_the_damper_alone() -> None:
    arm = pl.Rigid().compile(cart())
    model = pl.connect(arm, pl.JointPD(pl.motions.Hold(0.1), 10.0, 1.0), damper())
    np.testing.assert_array_equal(model.tip(model.initial_state())[0], arm.tip(arm.initial_state())[0])
    assert model.inputs.stiffness == (10.0, 0.0)
    driven = pl.connect(model, pl.JointTorque("damper", pl.signals.Constant(3.6)))
    place = driven.layout.part(pl.equilibrium(driven).state, "joint_position")
    assert place[1] == pytest.approx(3.6 / STIFFNESS, rel=1e-9)  # an active damper pushes its spring


def test_in_space_it_moves_in_three_directions() -> None:
    robot = replace(cart(), gravity=(1.0, 2.0, 3.0))
    model = pl.connect(pl.Rigid().compile(robot), damper(axis=None))
    assert model.joint_names == ("rail", "damper_x", "damper_y", "damper")
    place = model.layout.part(pl.equilibrium(model).state, "joint_position")[1:]
    np.testing.assert_allclose(place, MASS / STIFFNESS * np.array([1.0, 2.0, 3.0]), rtol=1e-9)


def test_the_robot_of_a_saved_run_has_the_damper(tmp_path: Path) -> None:
    run = pl.simulate(pl.connect(pl.Rigid().compile(cart()), damper()), until=0.01)
    run.save(tmp_path / "run.nc")
    again = pl.load_trajectory(tmp_path / "run.nc")
    np.testing.assert_array_equal(again.states, run.states)
    robot = loads(again.provenance.robot)
    assert robot == run.source.model.robot
    assert robot.tip_link == "cart"
    assert pl.Rigid().compile(robot).joint_names == ("rail", "damper")


@pytest.mark.parametrize(
    ("build", "sentence"),
    [
        (
            lambda: pl.TunedMassDamper("d", At("base"), 1.0, 1.0),
            "TunedMassDamper 'd': at.link = 'base' does not vibrate; write a link",
        ),
        (
            lambda: pl.TunedMassDamper("d", At("rod", End.ROOT), 1.0, 1.0),
            "TunedMassDamper 'd': at.end = root carries no damper; write a station, or a position from the tip",
        ),
        (
            lambda: pl.TunedMassDamper("d", At("rod"), 0.0, 1.0),
            "TunedMassDamper 'd': mass = 0 kg must be greater than 0; write the mass that moves in kilograms",
        ),
        (
            lambda: pl.connect(pl.Rigid().compile(beam()), pl.TunedMassDamper("d", At("rood"), 1.0, 1.0, axis=Y)),
            "TunedMassDamper: the arm has no link 'rood'; did you mean 'rod'?",
        ),
        (
            lambda: pl.connect(
                pl.Rigid().compile(beam()), pl.TunedMassDamper("d", At("rod", station=2.0), 1.0, 1.0, axis=Y)
            ),
            "TunedMassDamper: station = 2 m lies beyond the tip of link 'rod'; write at most 1 m",
        ),
        (
            lambda: pl.connect(
                pl.PoseElement(elements=4).compile(beam()),
                pl.TunedMassDamper("d", At("rod", station=0.3), 1.0, 1.0, axis=Y),
            ),
            "a frame at station = 0.3 m of link 'rod' lies inside an element; write the border 0.25 m, give the link 10"
            " elements of PoseElement, or cut the link there in two by a fixed joint",
        ),
    ],
)
def test_refusals(build: Callable[[], object], sentence: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        build()
    assert str(refused.value) == sentence
