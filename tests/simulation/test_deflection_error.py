"""Errors that are a part of the deflection which matters are told, with what is to blame; others are not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import pliant as pl
from benchmarks.scenarios import BOUND, SCENARIOS, answer, drawn
from pliant.simulation.deflection_error import MATTERS, resolution

ROBOT = pl.load(pl.library.path("steel_strip"))
HELD = pl.PrescribedMotion("hub", pl.motions.Hold(0.0))
SLEW = pl.PrescribedMotion("hub", pl.motions.Quintic(0.0, 1.5, 0.5))
PUSH = (0.0, 1.0, 0.0, 0.0, 0.0, 0.0)
COARSE, LONG = "the mesh is too coarse", "the steps are too long"
# of a clamped beam: (1.8751 / L)^2 sqrt(EI / rho A) / 2 pi, of a strip 5 mm thick; shear takes less than 1e-4 of it
FIRST = 1.8751041**2 * np.sqrt(210e9 * 0.005**2 / 12.0 / 7850.0) / (2.0 * np.pi)


def slewed(formulation: object, step: float = 5e-4, until: float = 1.0, order: int = 2) -> pl.Trajectory:
    arm = formulation.compile(ROBOT)  # type: ignore[attr-defined]
    return pl.simulate(pl.connect(arm, SLEW), until, pl.Gauss(order=order, step=step), outputs=200)


def percent(sentence: str) -> float:
    return float(sentence.split("deflections may be ")[1].split(" %")[0])


@pytest.mark.parametrize("elements", [4, 8])
def test_the_modes_of_a_finer_mesh_tell_the_error_of_this_one(elements: int) -> None:
    """Pose elements are of second order: half as long ones are off by a quarter, so that three quarters are seen."""
    arm = pl.PoseElement(elements).compile(ROBOT)
    known = resolution(arm)
    assert known is not None
    off = abs(pl.modes(pl.connect(arm, HELD), count=1).frequency[0] / FIRST - 1.0)
    assert known.off[0] == pytest.approx(0.75 * off, rel=0.15)


def test_a_coarse_mesh_says_by_how_much() -> None:
    """In metres where the tip is off by what a reader of figures would see, else by its part of the deflection."""
    truth, coarse = slewed(pl.PoseElement(48)), slewed(pl.PoseElement(4))
    (sentence,) = coarse.warnings()
    assert sentence.startswith("the tips may be 0.0")
    assert COARSE in sentence
    apart = np.linalg.norm(coarse.tip_position - truth.tip_position, axis=1).max()
    assert 0.5 < float(sentence.split("the tips may be ")[1].split(" ")[0]) / apart < 2.0
    assert truth.warnings() == []
    gentle = pl.PrescribedMotion("hub", pl.motions.Quintic(0.0, 0.3, 0.5))
    truth, coarse = (
        pl.simulate(pl.connect(pl.PoseElement(n).compile(ROBOT), gentle), 1.0, pl.Gauss(2, 5e-4), outputs=200)
        for n in (48, 4)
    )
    (sentence,) = coarse.warnings()
    assert sentence.startswith(COARSE)
    apart = np.linalg.norm(coarse.tip_deflection - truth.tip_deflection, axis=1).max()
    error = 100.0 * apart / np.linalg.norm(truth.tip_deflection, axis=1).max()
    assert 0.5 < percent(sentence) / error < 2.0


@pytest.mark.parametrize(
    "formulation",
    [pl.MixedElement(4), pl.Lumped(2), pl.Corotational(2), pl.GeometricallyExact(2), pl.PoseElement(2)],
    ids=lambda each: type(each).__name__,
)
def test_every_coarse_mesh_says_so(formulation: object) -> None:
    assert any(COARSE in each for each in slewed(formulation).warnings())


def test_long_steps_say_by_how_much() -> None:
    """A vibration by steps of order 2 is too slow by (w h)^2 / 12: after t seconds its phase is off by w t as much."""
    step, w, until = 4e-3, 2.0 * np.pi * FIRST, 4.0
    arm = pl.GeometricallyExact(degree=5).compile(ROBOT)
    bent = pl.modes(pl.connect(arm, HELD), count=1).states(0, 0.01)[0]
    run = pl.simulate(pl.connect(arm, HELD), until, pl.Gauss(order=2, step=step), bent, outputs=200)
    (sentence,) = run.warnings()
    told = percent(sentence) if sentence.startswith(LONG) else float(sentence.split("steps, ")[1].split(" %")[0])
    assert 0.4 < told / (100.0 * until * w * (w * step) ** 2 / 12.0) < 2.5
    assert pl.simulate(pl.connect(arm, HELD), until, pl.Gauss(order=4, step=step), bent, outputs=200).warnings() == []


def test_few_saved_states_hide_nothing() -> None:
    arm = pl.PoseElement(3).compile(ROBOT)
    run = pl.simulate(pl.connect(arm, SLEW), 1.0, pl.Gauss(order=2, step=1e-3), outputs=3)
    assert len(run.time) == 4
    assert any(COARSE in each for each in run.warnings())


def test_a_load_beyond_the_mesh_is_named() -> None:
    """The fifth mode of the clamped strip lies at 143.56 Hz; polynomials of degree 5 have it at 207 Hz."""
    fast = pl.TipWrench("strip", pl.signals.Sine(PUSH, 143.6), name="shaker")
    steps = pl.Gauss(order=4, step=2.5e-4)
    coarse, fine = (pl.GeometricallyExact(degree).compile(ROBOT) for degree in (5, 12))
    (first, *_) = pl.simulate(pl.connect(coarse, HELD, fast), 0.2, steps).warnings()
    assert first.startswith("load 'shaker' acts at 14")
    assert "but the mesh resolves motions up to 73.1 Hz only" in first
    assert pl.simulate(pl.connect(fine, HELD, fast), 0.2, steps).warnings() == []


@pytest.mark.parametrize("signal", [pl.signals.Step(PUSH, 0.05), pl.signals.Sine(PUSH, 3.0)], ids=["step", "sine"])
def test_loads_that_a_mesh_follows_are_not_doubted(signal: pl.signals.Signal) -> None:
    arm = pl.GeometricallyExact(degree=5).compile(ROBOT)
    model = pl.connect(arm, HELD, pl.TipWrench("strip", signal))
    assert pl.simulate(model, 0.5, pl.Gauss(order=4, step=1e-3)).warnings() == []


def test_runs_of_stiff_arms_take_more_accuracy_by_themselves() -> None:
    """The deflection of this arm is 1e-4 of its reach: the usual accuracy would leave nothing of it."""
    arm = pl.GeometricallyExact().compile(pl.load(pl.library.path("seven_joint_two_flexible")))
    run = pl.simulate(arm, 0.2, outputs=100)
    bend = float(np.linalg.norm(run.tip_deflection, axis=1).max())
    assert run.error is not None
    assert bend < run.error.scale * 1e-3
    assert run.error.total < MATTERS * bend
    assert run.warnings() == []


def test_an_accuracy_that_hides_the_deflection_is_told_with_one_that_does_not() -> None:
    light = pl.TipWrench("strip", pl.signals.Sine(tuple(0.1 * x for x in PUSH), 143.6))
    arm = pl.GeometricallyExact().compile(ROBOT)
    (sentence,) = pl.simulate(pl.connect(arm, HELD, light), 0.2, accuracy=1e-3, outputs=100).warnings()
    assert sentence.startswith("the tips may be ")
    assert "of the largest deflection of" in sentence
    assert "ask for accuracy=" in sentence


def test_clamped_arms_are_looked_at_too() -> None:
    """They have no joint that moves."""
    clamped = replace(ROBOT, joints=(pl.FixedJoint("clamp", "base", "strip"),))
    arm = pl.GeometricallyExact(degree=5).compile(clamped)
    fast = pl.TipWrench("strip", pl.signals.Sine(PUSH, 1002.0), name="shaker")
    said = pl.simulate(pl.connect(arm, fast), 0.05, pl.Gauss(order=2, step=1e-3)).warnings()
    assert any(each.startswith("load 'shaker' changes faster") for each in said)


def soft(joint: object, stiffness: float) -> pl.Robot:
    """A link of 1 m and 0.3 kg under gravity, which bends by radians where it is held and EI = 0.05 N m^2."""
    section = pl.GeneralSection((300.0, 150.0, 150.0, *(stiffness,) * 3), (0.3, 0.3, 0.3, 2e-3, 2e-3, 2e-3))
    return pl.Robot("soft", (pl.FlexibleLink("link", 1.0, section=section),), (joint,), gravity=(0.0, 0.0, -9.81))  # type: ignore[arg-type]


BALL = pl.joints.SphericalJoint("j", "base", "link", initial_rate=(1.0, 1.0, 0.0))
HINGE = pl.RevoluteJoint("j", "base", "link", axis=(0.0, 1.0, 0.0), damping=0.01)


@pytest.mark.parametrize(
    ("joint", "stiffness", "coarse"),
    [(BALL, 1.0, pl.PoseElement(2)), (BALL, 0.05, pl.PoseElement(4)), (HINGE, 0.05, pl.GeometricallyExact(2))],
    ids=["ball, 2 elements", "ball, large bends", "hinge, large bends"],
)
def test_coarse_meshes_behind_ball_joints_and_in_large_bends_say_so(
    joint: object, stiffness: float, coarse: object
) -> None:
    """Gravity bends links that are straight at the start: their modes there, with it, may have no frequency at all."""
    times = np.linspace(0.0, 1.0, 41)
    robot = soft(joint, stiffness)
    fine = pl.simulate(pl.GeometricallyExact(6, 8).compile(robot), 1.0, pl.Gauss(4, 2e-3), outputs=times)
    run = pl.simulate(coarse.compile(robot), 1.0, pl.Gauss(2, 1e-3), outputs=times)  # type: ignore[attr-defined]
    assert np.linalg.norm(run.tip_position - fine.tip_position, axis=1).max() > 0.05
    assert any(COARSE in each for each in run.warnings())
    assert not any(COARSE in each for each in fine.warnings())


def test_ball_joints_are_held_as_they_are_turned_at_the_start() -> None:
    """The modes of a link on a ball joint are those of the clamped link, however it hangs and whatever it weighs."""
    turned = replace(BALL, rotation=(0.6, 0.0, 0.8, 0.0), initial_rotation=(0.8, 0.0, 0.0, 0.6))
    ball, clamp = (
        resolution(pl.GeometricallyExact(3).compile(soft(each, 1.0)))
        for each in (turned, pl.FixedJoint("j", "base", "link"))
    )
    assert ball is not None
    assert clamp is not None
    np.testing.assert_allclose(ball.frequency, clamp.frequency, rtol=1e-6)


def test_an_arm_at_rest_has_no_deflection_to_be_wrong_about() -> None:
    assert pl.simulate(pl.PoseElement(1).compile(ROBOT), 0.2, pl.Gauss(order=2, step=1e-3)).warnings() == []


@pytest.mark.parametrize("name", [each for each in pl.library.names() if each != "adam"])
def test_library_arms_run_without_a_word(name: str) -> None:
    """`adam` is an arm of point masses, which needs motors."""
    arm = pl.GeometricallyExact().compile(pl.load(pl.library.path(name)))
    assert pl.simulate(arm, 0.2, outputs=50).warnings() == []


@pytest.mark.parametrize(
    "name", ["slew, 2 fields", "seven joints, order 2", "base shaken at 74 Hz", "held, 143.6 Hz, fixed steps"]
)
def test_scenarios_that_are_far_off_say_so(name: str) -> None:
    """Some of those of `python -m benchmarks scenarios`."""
    found = answer(SCENARIOS[name])
    assert found.error > BOUND
    assert not found.silent


@pytest.mark.parametrize("seed", [2, 9, 10, 46, 49])
def test_scenarios_that_nobody_chose_are_not_wrong_in_silence(seed: int) -> None:
    found = answer(drawn(seed))
    assert not found.silent
    assert found.error > 0.01 or not found.warnings


def test_mechanisms_without_gravity_have_no_static_deflection_to_be_off() -> None:
    """A parallelogram of fine enough links was told to be 100 % off: nothing holds it where its joints are free."""
    robot = replace(pl.load(pl.library.path("parallelogram")), gravity=(0.0, 0.0, 0.0))
    law = pl.JointPD(pl.motions.Quintic(0.0, 0.6, 0.4), stiffness=100.0, damping=6.0, joints=["right_drive"])
    run = pl.simulate(pl.connect(pl.GeometricallyExact(5).compile(robot), law), 0.3, pl.Gauss(4, 2e-3))
    assert not run.warnings()
