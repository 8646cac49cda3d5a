"""Stiff dampers, sticking joints and control that is not stable: what runs of some accuracy do with them."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest

import pliant as pl
from benchmarks.accuracy_problems import MOTIONS
from pliant.model.contract import Model
from pliant.model.sampling import Sample
from pliant.model.state import Cause

QUINTIC = pl.motions.Quintic


def loaded(name: str, formulation: pl.GeometricallyExact) -> pl.Arm:
    """An arm of the library whose joints stick, have springs and stops, and motors with elastic gears."""
    robot = pl.load(pl.library.path(name))
    friction = pl.joints.Friction(0.2, static=0.3, smoothing_rate=0.01, stribeck_rate=0.05)
    joints = []
    for joint in robot.joints:
        if joint.moves:
            q = joint.initial_position
            spring, limits = pl.joints.JointSpring(2.0, q), pl.joints.Limits(q - 0.5, q + 0.3, 3000.0, 3.0)
            joint = replace(joint, damping=0.05, friction=friction, spring=spring, limits=limits)
        joints.append(joint)
    robot = replace(robot, joints=tuple(joints))
    arm = formulation.compile(robot)
    motors = [
        pl.GearMotor(each, 1e-5, 60.0, stiffness=400.0, damping=0.2, torque_limit=0.3) for each in arm.joint_names
    ]
    moves = [QUINTIC(q, q + 0.5, 0.4) for q in (robot.freedom(each).law.initial_position for each in arm.joint_names)]
    return pl.connect(arm, *motors, pl.JointPD(moves, 60.0, 3.0))


def test_dampers_that_gauss_collocation_turns_are_left_to_radau_for_every_accuracy() -> None:
    """Three links under stiff PD damping: 12 and 73 times their inertia in a step of the first trial."""
    motion = MOTIONS["anthropomorphic"]
    times = np.linspace(0.0, motion.duration, 26)
    # 1.2e-6 from another mesh by half of the steps
    fine = pl.simulate(motion.build(pl.GeometricallyExact(8)), motion.duration, pl.Gauss(4, 5e-5), outputs=times)
    for accuracy in (1e-3, 1e-6):
        run = pl.simulate(motion.build(pl.GeometricallyExact()), motion.duration, accuracy=accuracy, outputs=times)
        assert run.error is not None
        assert run.provenance.choices["integrator"].startswith("Radau")
        assert run.statistics["steps"] < 1000  # Gauss took 73 536 for 1e-6, and 14 s
        off = np.linalg.norm(run.tip_position - fine.tip_position, axis=1).max() / run.error.scale
        assert off <= accuracy + 1.2e-6


@pytest.mark.parametrize(("name", "accuracy"), [("l_frame", 3e-4), ("anthropomorphic_three_link", 1e-4)])
def test_joints_that_stick_and_stop_keep_the_accuracy(name: str, accuracy: float) -> None:
    """Of few steps, two runs may be alike by chance: they told 9e-5 and 3e-5, and were 3.3e-4 and 2.1e-4 off."""
    times = np.linspace(0.0, 0.6, 41)
    fine, run = (
        pl.simulate(loaded(name, pl.GeometricallyExact()), 0.6, accuracy=each, outputs=times)
        for each in (1e-5, accuracy)
    )
    assert run.error is not None
    off = np.linalg.norm(run.tip_position - fine.tip_position, axis=1).max() / run.error.scale
    assert off <= accuracy + 1e-5


def test_what_friction_damps_faster_than_a_step_is_left_to_radau() -> None:
    """Its slope at rest is 0.3 N m over 0.01 rad/s: rates alternated, and the run advised what it had not done."""
    run = pl.simulate(loaded("wang_beam", pl.GeometricallyExact()), 0.6, accuracy=1e-4)
    assert run.provenance.choices["integrator"].startswith("Radau")
    assert not any("alternates" in each for each in run.warnings())


def test_the_ledger_closes_where_friction_is_followed_by_short_steps() -> None:
    """A first increment of 1e-12 of the reach is not yet rounding: the step at 8.35 ms missed 3.9e-8."""
    strip = pl.load(pl.library.path("steel_strip"))
    rubbing = replace(strip.joints[0], friction=pl.joints.Friction(0.5, smoothing_rate=0.01))
    arm = pl.GeometricallyExact(5).compile(replace(strip, joints=(rubbing,)))
    run = pl.simulate(pl.connect(arm, pl.JointPD(QUINTIC(0.0, 1.0, 0.4), 60.0, 3.0)), 0.01, pl.Gauss(6, 2.5e-5))
    assert run.ledger.worst_ratio < 1e-10


def test_control_that_is_not_stable_ends_the_search_soon() -> None:
    """Samples of 10 ms are too slow for these gains: finer and finer meshes were tried for a minute."""
    material = pl.Material(name="steel", young=210e9, density=7850.0, poisson=0.3, damping=1e-5)
    ruler = pl.FlexibleLink("ruler", 0.5, section=pl.Rectangle(height=0.001, width=0.03), material=material)
    hub = pl.Payload("hub", "ruler", at=pl.End.ROOT, mass=0.1, inertia=(1e-3, 1e-3, 1e-3))
    robot = pl.Robot("ruler", (ruler,), (pl.RevoluteJoint("motor", "base", "ruler"),), payloads=(hub,))

    def law(sample: Sample) -> float:
        reference = 0.8 * min(sample.time / 0.3, 1.0)
        return float(10.0 * (reference - sample.joint_positions[0]) - 0.3 * sample.joint_rates[0])

    arm = pl.GeometricallyExact().compile(robot)
    closed = pl.connect(arm, pl.control.SampledController(law, period=1e-2, joints=["motor"]))
    run = pl.simulate(closed, 1.0, accuracy=1e-3)
    assert not run.ending.completed
    assert "controller 'law' shakes it" in run.ending.remedy
    assert int(run.provenance.choices["trials"]) < 6


def shaken(
    formulation: pl.Rigid | pl.PseudoSpectral | pl.PoseElement, gain: float, outputs: int = 1000
) -> pl.Trajectory:
    """A strip under a law that asks for more at every sample."""
    strip = pl.load(pl.library.path("steel_strip"))
    hub = replace(strip.joints[0], initial_rate=0.1)

    def law(sample: Sample) -> float:
        return float(-gain * (sample.joint_positions[0] + sample.joint_rates[0]))

    closed = pl.connect(
        formulation.compile(replace(strip, joints=(hub,))), pl.control.SampledController(law, 1e-2, joints=["hub"])
    )
    return pl.simulate(closed, 1.0, pl.Gauss(2, 1e-3), outputs=outputs)


@pytest.mark.parametrize("gain", [300.0, -300.0])
@pytest.mark.parametrize("formulation", [pl.Rigid(), pl.PseudoSpectral(degree=6)], ids=lambda each: type(each).__name__)
def test_a_run_without_a_bound_ends_where_joints_move_faster_than_any(
    formulation: pl.Rigid | pl.PseudoSpectral, gain: float
) -> None:
    """They went on to energies of 1e47 and 1e148 J, where NumPy warned of an overflow."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        run = shaken(formulation, gain)
    assert {each.category for each in told} == {pl.PliantWarning}
    assert run.ending.cause is Cause.DIVERGED
    assert "controller 'law'; its last answers on joint 'hub' are " in str(run.ending)
    assert run.time[-1] == run.ending.time
    # so far it may come within the last sample
    assert np.abs(run.joint_rate[run.time <= run.ending.time - 1e-2]).max() < 1e6
    assert run.ledger.worst_ratio < 1e-10
    assert not any("something stiff" in each for each in run.warnings())  # it is control


def test_a_step_that_makes_energy_of_nothing_is_not_kept() -> None:
    """Of 0.5 ms; it led to 2.8e19 rad/s and 4e39 J and was kept, though the ledger missed all of it."""
    strip = pl.load(pl.library.path("steel_strip"))
    hub = replace(strip.joints[0], initial_rate=0.1)

    def law(sample: Sample) -> float:
        return float(-100.0 * sample.joint_positions[0] - sample.joint_rates[0])

    def closed(formulation: pl.PoseElement | pl.GeometricallyExact) -> Model:
        arm = formulation.compile(replace(strip, joints=(hub,)))
        return pl.connect(arm, pl.control.SampledController(law, 1e-2, joints=["hub"]))

    with pytest.warns(pl.PliantWarning, match="grows without bound at controller 'law'") as told:
        run = pl.simulate(closed(pl.PoseElement(25)), 1.0, pl.Gauss(2, 1e-3))
    assert not any("energy ledger" in str(each.message) for each in told)
    assert run.time[-1] == run.ending.time == pytest.approx(0.063)
    assert run.ledger.stored.max() < 1e5
    assert abs(run.ledger.residual).max() < 1e-6
    # no other formulation is asked to carry on with what the law has bent
    with pytest.warns(
        pl.PliantWarning, match="controller 'law' shakes it: its last .*: they grow from sample to sample"
    ):
        bent = pl.simulate(closed(pl.GeometricallyExact(5)), 1.0, pl.Gauss(2, 1e-3))
    assert bent.ending.cause is Cause.TOO_BENT


def test_a_run_that_ends_without_a_bound_goes_on_only_there() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        run = shaken(pl.Rigid(), 300.0)
        assert run.resume(1.0).ending.cause is Cause.DIVERGED


def test_a_run_that_chooses_its_steps_advises_what_can_be_chosen() -> None:
    """A stop on a hub without inertia: order 4 leaves 1.5 rad/s in its rate, though the positions are right."""
    motion = MOTIONS["strip, stop"]
    run = pl.simulate(motion.build(pl.GeometricallyExact()), motion.duration)
    assert any("rate of joint" in each and "ask for more accuracy" in each for each in run.warnings())
    assert run.error is not None
    assert run.error.reached
