"""Radau IIA collocation: stiff dampers and unresolved waves calm down, and the ledger shows what that took.

Its loss is computed from the stages alone, by the identity of [hairer1996] for quadratic energies, and with it the
ledger closes as that of Gauss collocation does.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import pliant as pl
from pliant.model.stage_method import StageMethod, gauss_collocation, radau_collocation
from tests.laws.test_energy_ledger import CASES, DEMAND, hardening
from tests.support.arms import bent_state, clamped, soft_link

SPECTRAL = pl.GeometricallyExact(degree=4)


def test_coefficients() -> None:
    """The tables of [hairer1996], IV.5, Tables 5.5 and 5.6."""
    second, third = radau_collocation(2), radau_collocation(3)
    np.testing.assert_allclose(second.A, [[5 / 12, -1 / 12], [3 / 4, 1 / 4]], atol=1e-15)
    root = np.sqrt(6.0)
    np.testing.assert_allclose(third.nodes, [(4 - root) / 10, (4 + root) / 10, 1.0], atol=1e-15)
    np.testing.assert_allclose(third.weights, [(16 - root) / 36, (16 + root) / 36, 1 / 9], atol=1e-15)
    np.testing.assert_allclose(third.A[0, 2], (-2 + 3 * root) / 225, atol=1e-15)
    for method in (second, third):
        np.testing.assert_allclose(method.A[-1], method.weights, atol=1e-15)  # the last stage is the end of the step


@pytest.mark.parametrize("method", [radau_collocation(2), radau_collocation(3), gauss_collocation(3)])
def test_what_a_step_takes_from_a_quadratic_energy(method: StageMethod) -> None:
    """For any stage rates, not only those of an equation: the whole matrix m_ij is in the weights."""
    rates, h = np.random.default_rng(1).normal(size=(method.stages, 5)), 0.3
    start, Q = np.arange(5.0), np.diag([1.0, 2.0, 0.5, 3.0, 1.0])
    increments = h * method.A @ rates
    end = start + method.update @ increments
    work = h * sum(b * (start + E) @ Q @ k for b, E, k in zip(method.weights, increments, rates))
    y = method.dissipation @ increments
    assert 0.5 * end @ Q @ end - 0.5 * start @ Q @ start == pytest.approx(work - 0.5 * y @ Q @ y, rel=1e-13)
    assert method.damped == (y @ Q @ y > 1e-3)


@pytest.mark.parametrize("order", [3, 5])
@pytest.mark.parametrize("name", ["sliding joint", "mixed element", "hardening law"])
def test_the_ledger_closes_with_the_loss_of_the_method(name: str, order: int) -> None:
    case = next(case for case in CASES if case.name == name)
    arm = case.formulation.compile(case.robot())
    start = bent_state(arm, case.bend) if any(case.bend) else None
    run = pl.simulate(pl.connect(arm, *case.components), 0.2, pl.Radau(order=order, step=1e-3), initial=start)
    ledger = run.ledger
    assert run.ending.completed, run.ending
    assert ledger.exact
    assert ledger.worst_ratio <= DEMAND
    losses = ledger.material_loss + ledger.viscous_loss + ledger.joint_loss + ledger.projection_loss
    supplied = ledger.gravity + sum(ledger.works.values()) - losses - ledger.numerical_loss
    unexplained = ledger.stored - ledger.stored[0] - supplied - ledger.residual
    assert np.abs(unexplained).max() <= 1e-13 * ledger.exchanged[-1]
    assert ledger.numerical_loss[-1] > 0.0
    if name != "hardening law":  # whose part may have either sign
        assert np.all(np.diff(ledger.numerical_loss) >= 0.0)


LAWS: dict[str, dict[str, object]] = {
    "spring": {"spring": pl.joints.JointSpring(stiffness=20.0)},
    "friction": {"friction": pl.joints.Friction(0.5)},
    "stops": {"limits": pl.joints.Limits(lower=-0.02, upper=0.02, stiffness=5e3, damping=1.0)},
}


@pytest.mark.parametrize("law", [*LAWS, "elastic gear"])
def test_springs_stops_and_gears_of_joints_are_damped_too(law: str) -> None:
    robot = pl.load(pl.library.path("macchelli_link"))
    joint = replace(robot.joints[0], initial_rate=3.0, **LAWS.get(law, {}))
    arm = SPECTRAL.compile(replace(robot, joints=(joint,)))
    motion = pl.motions.Quintic(0.0, 0.5, 0.03)
    drive = pl.JointPD(motion, stiffness=15.0, damping=3.0)
    gear = pl.GearMotor("shoulder", rotor_inertia=1e-4, ratio=20.0, stiffness=300.0, damping=0.1)
    run = pl.simulate(pl.connect(arm, drive, *([] if law in LAWS else [gear])), 0.03, pl.Radau(order=3, step=1e-3))
    assert run.ending.completed, run.ending
    assert run.ledger.worst_ratio <= DEMAND
    # the part of stops may have either sign, as that of hardening
    assert run.ledger.numerical_loss[-1] != 0.0 if law == "stops" else run.ledger.numerical_loss[-1] > 0.0


def test_linear_arms_enter_the_same_loss() -> None:
    """A driven joint and a prescribed one, whose inertia is damped too."""
    arm = pl.PseudoSpectral(degree=6).compile(pl.load(pl.library.path("macchelli_link")))
    motion = pl.motions.Quintic(0.0, 1.0, 0.05)
    for drive in (pl.JointPD(motion, stiffness=15.0, damping=3.0), pl.PrescribedMotion("shoulder", motion)):
        run = pl.simulate(pl.connect(arm, drive), 0.1, pl.Radau(order=3, step=1e-3))
        assert run.ledger.worst_ratio <= DEMAND
        assert np.all(np.diff(run.ledger.numerical_loss) >= 0.0)
        assert run.ledger.numerical_loss[-1] > 0.0


def test_the_loss_falls_with_the_order_of_the_method() -> None:
    """A vibration that the steps resolve loses in a fixed time a part of its energy that falls as h^3 and h^5: at a
    step y of the phase the stability functions have the moduli 1 - y^4/72 and 1 - y^6/7200."""
    for order, part in ((3, 1 / 72), (5, 1 / 7200)):
        method, y = radau_collocation((order + 1) // 2), 0.05
        one = np.ones(method.stages)
        end = 1.0 + 1j * y * method.weights @ np.linalg.solve(np.eye(method.stages) - 1j * y * method.A, one)
        assert 1.0 - abs(end) == pytest.approx(part * y ** (order + 1), rel=0.01)
    arm = SPECTRAL.compile(clamped(soft_link()))
    start = bent_state(arm, (0.0, 0.0, 1e-3))
    for order, steps in ((3, (1e-4, 5e-5)), (5, (2e-4, 1e-4))):
        runs = [pl.simulate(arm, 0.02, pl.Radau(order, step), initial=start) for step in steps]
        lost = [float(run.ledger.numerical_loss[-1]) for run in runs]
        assert np.log2(lost[0] / lost[1]) == pytest.approx(order, abs=0.3), (order, lost)


@pytest.mark.parametrize("formulation", [pl.GeometricallyExact(degree=3), pl.PseudoSpectral(degree=5)])
def test_a_stiff_damper_does_not_ring(formulation: object) -> None:
    """A damper that stops the hub in 0.1 ms, seen in steps of 2 ms. The midpoint rule turns its rate from 8 rad/s to
    nearly -8 rad/s and back, for its amplification tends to -1; that of Radau IIA to 0."""
    arm = formulation.compile(pl.load(pl.library.path("macchelli_link")))
    held = pl.connect(arm, pl.JointPD(pl.motions.Hold(0.0), stiffness=15.0, damping=100.0))
    start = arm.initial_state(np.zeros(1), np.array([8.0]))
    ringing = pl.simulate(held, 0.02, pl.Gauss(order=2, step=2e-3), initial=start).joint_rate[:, 0]
    assert np.all(ringing[1:6:2] < -4.0)
    assert np.all(ringing[2:6:2] > 4.0)
    for order in (3, 5):
        run = pl.simulate(held, 0.02, pl.Radau(order=order, step=2e-3), initial=start)
        assert np.abs(run.joint_rate[1:, 0]).max() < 0.1 * 8.0
        assert run.ledger.worst_ratio <= DEMAND


def test_a_torque_that_jumps_at_the_end_of_a_step_belongs_to_the_next_one() -> None:
    """The last stage lies there, and signals have their new value at a jump: no work before it."""
    arm = SPECTRAL.compile(pl.load(pl.library.path("macchelli_link")))
    torque = pl.JointTorque("shoulder", pl.signals.Step(2.0, at=0.01))
    runs = [pl.simulate(pl.connect(arm, torque), 0.02, each(step=1e-3)) for each in (pl.Gauss, pl.Radau)]
    exact, damped = (run.ledger.works["shoulder"] for run in runs)
    np.testing.assert_array_equal(damped[:11], 0.0)
    assert damped[-1] == pytest.approx(exact[-1], rel=1e-3)


def test_the_loss_is_kept_shown_and_read_again(tmp_path: Path) -> None:
    arm = SPECTRAL.compile(clamped(soft_link(law=hardening())))
    start = bent_state(arm, (0.0, 0.0, 0.3))
    run = pl.simulate(arm, 0.05, pl.Radau(order=3, step=1e-3), initial=start, outputs=10)
    run.save(tmp_path / "run.nc")
    again = pl.load_trajectory(tmp_path / "run.nc")
    np.testing.assert_array_equal(again.ledger.numerical_loss, run.ledger.numerical_loss)
    assert "numerical loss" in {line.name for line in run.summary()}
    assert "numerical_loss" in run.ledger_table()
    exact = pl.simulate(arm, 0.05, pl.Gauss(order=4, step=1e-3), initial=start, outputs=10)
    assert not exact.ledger.numerical_loss.any()
    assert "numerical loss" not in {line.name for line in exact.summary()}


@pytest.mark.parametrize("formulation", [pl.PoseElement(), pl.Lumped()])
def test_models_with_a_midpoint_rule_of_their_own_refuse_it(formulation: object) -> None:
    arm = formulation.compile(pl.load(pl.library.path("macchelli_link")))
    with pytest.raises(pl.InvalidInput, match=r"use Gauss\(order=2\)|by Gauss\(order=2\)"):
        pl.simulate(arm, 0.01, pl.Radau())
