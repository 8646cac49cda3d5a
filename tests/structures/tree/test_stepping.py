"""Steps of arms in minimal coordinates: energy to round-off, orders in time, drives, servos, rest."""

from __future__ import annotations

import numpy as np
import pytest

from pliant.structures.energy_ledger import EXCHANGED, JOINT, KINETIC, MATERIAL, RESIDUAL, STRAIN
from pliant.structures.tree.arrays import Mechanism, Servos, Wrenches, new_drives, new_mechanism, new_springs
from pliant.structures.tree.columns import TURN_Z
from pliant.structures.tree.dynamics import TreeDynamics
from pliant.structures.tree.motion import Floats, new_tree
from tests.support.marching import March, march
from tests.support.random_trees import random_state, random_tree

N = 7
ROUND_OFF = 1e-12  # of the energy exchanged in a step or in the mean step


def springs_between(seed: int) -> tuple[Floats, Floats]:
    """A stiffness of blocks of three coordinates and a damping of some of them."""
    rng = np.random.default_rng(seed)
    root = np.kron(np.eye(3), np.ones((3, 3)))[:N, :N] * rng.normal(size=(N, N))
    return 20.0 * root @ root.T, 0.3 * root @ root.T


def swinging(damped: bool = True, prescribed: tuple[int, ...] = ()) -> Mechanism:
    """A branched tree with springs, dampers, feedback and two wrenches, one of which turns with its body."""
    K, D = springs_between(4)
    given = np.isin(np.arange(N), prescribed)
    wrenches = Wrenches(
        np.array([0, 1]),
        np.array([N - 1, 3]),
        np.array([[0.1, 0.2, 0.3], [0.0, -0.1, 0.0]]),
        np.array([1.0, 0.5]),
        np.array([True, False]),
    )
    springs = new_springs(N, K, 0.1 * np.ones(N), D if damped else None, np.full(N, 0.05 if damped else 0.0))
    return new_mechanism(random_tree(11, N), springs, new_drives(N, given, stiffness=3.0, damping=0.2), wrenches)


def joint_signals(times: Floats) -> Floats:
    """Smooth references and feedforward torques; as prescribed motions they start at rest."""
    t = times[:, None]
    phase = np.arange(N)
    table = np.zeros((len(times), N, 3))
    table[..., 0] = 0.2 * (1.0 - np.cos((2.0 + 0.1 * phase) * t))
    table[..., 1] = 0.2 * (2.0 + 0.1 * phase) * np.sin((2.0 + 0.1 * phase) * t)
    table[..., 2] = 0.2 * (2.0 + 0.1 * phase) ** 2 * np.cos((2.0 + 0.1 * phase) * t)
    return table


def load_signals(times: Floats) -> Floats:
    return np.sin(3.0 * times[:, None, None] + np.arange(12).reshape(1, 2, 6))


def swing(mechanism: Mechanism, step: float, steps: int, explicit: bool = False, start: float = 0.3) -> March:
    q, v, _ = random_state(mechanism.tree, 5)
    q, v = start * q, start * v
    given = mechanism.drives.prescribed
    q[given], v[given] = 0.0, 0.0
    run = march(mechanism, q, v, step, steps, explicit, joint=joint_signals, load=load_signals, loads=2)
    assert (run.done, run.status) == (steps, 0)
    return run


@pytest.mark.bounds
@pytest.mark.parametrize("prescribed", [(), (1, 4)])
@pytest.mark.parametrize("step", [2e-4, 5e-3, 2e-2])
def test_the_energy_of_every_step_is_complete(step: float, prescribed: tuple[int, ...]) -> None:
    run = swing(swinging(prescribed=prescribed), step, 200)
    assert run.worst < ROUND_OFF
    # the ledger from the states themselves, not from the sums of the steps
    own = TreeDynamics(run.mechanism.tree)
    springs = run.mechanism.springs
    start, end = (energy_of(own, springs.K, springs.rest, run.q[k], run.v[k]) for k in (0, -1))
    works = run.output.joints[-2].sum() + run.output.loads[-2].sum()
    lost = run.sums[-1, MATERIAL] + run.sums[-1, JOINT]
    assert abs(end - start - works + lost) < 1e-11 * run.sums[-1, EXCHANGED]
    assert run.sums[-1, MATERIAL] > 0.0
    assert run.sums[-1, JOINT] > 0.0


def energy_of(own: TreeDynamics, K: Floats, rest: Floats, q: Floats, v: Floats) -> float:
    return sum(own.energies(q, v)) + 0.5 * float((q - rest) @ K @ (q - rest))


@pytest.mark.parametrize("prescribed", [(), (1, 4)])
def test_orders_in_time(prescribed: tuple[int, ...]) -> None:
    """The two rules against one fine run of the explicit one, whose own error is 4^-4 of the finest seen here."""
    mechanism, until = swinging(prescribed=prescribed), 0.64
    exact = swing(mechanism, until / 2048, 2048, explicit=True).output.x[-2]
    for explicit, order in ((False, 2.0), (True, 4.0)):
        errors = [
            np.abs(swing(mechanism, until / steps, steps, explicit).output.x[-2] - exact).max()
            for steps in (128, 256, 512)
        ]
        seen = np.log2(errors[0] / errors[1]), np.log2(errors[1] / errors[2])
        assert abs(seen[-1] - order) < 0.15, (explicit, errors, seen)


@pytest.mark.bounds
def test_the_drift_of_the_explicit_rule_is_reported_and_falls_with_its_order() -> None:
    """The residual of the ledger is the true error of the energy; half the step leaves 2^-4 of it or less."""
    mechanism = swinging(damped=False)
    drifts = []
    for steps in (128, 256):
        run = swing(mechanism, 0.64 / steps, steps, explicit=True)
        own, springs = TreeDynamics(mechanism.tree), mechanism.springs
        start, end = (energy_of(own, springs.K, springs.rest, run.q[k], run.v[k]) for k in (0, -1))
        works = run.output.joints[-2].sum() + run.output.loads[-2].sum() - run.sums[-1, JOINT]
        drifts.append(abs(run.sums[-1, RESIDUAL]))
        assert run.sums[-1, RESIDUAL] == pytest.approx(end - start - works, abs=1e-10)
        assert run.worst > ROUND_OFF
    assert drifts[0] / drifts[1] > 2**3.5


@pytest.mark.bounds
def test_torques_of_prescribed_coordinates_are_those_of_inverse_dynamics() -> None:
    """Everything prescribed: what the drives do in the middle of a step is inverse dynamics there, to second order."""
    tree = random_tree(11, N)
    mechanism = new_mechanism(tree, drives=new_drives(N, np.ones(N, bool)))
    own = TreeDynamics(tree)
    errors = []
    for steps in (50, 100):
        h = 0.5 / steps
        run = march(mechanism, np.zeros(N), np.zeros(N), h, steps, joint=joint_signals)
        middle = joint_signals(np.array([0.5 - 0.5 * h]))[0]
        wanted = own.inverse_dynamics(middle[:, 0], middle[:, 1], middle[:, 2])
        errors.append(np.abs(run.output.effort[-2] - wanted).max())
        assert run.worst < ROUND_OFF
        assert np.allclose(run.q[-1], joint_signals(np.array([0.5]))[0, :, 0], rtol=0, atol=1e-14)
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.2)


@pytest.mark.bounds
@pytest.mark.parametrize("step", [1e-4, 1e-2])
@pytest.mark.parametrize("power", [2, 4])
def test_a_prescribed_motion_from_rest_begins_with_a_balanced_ledger(step: float, power: int) -> None:
    """First steps exchange 1e-12 J beside potentials of 50 J, and means of given rates are far from mean velocities."""
    K, D = springs_between(4)
    mechanism = new_mechanism(random_tree(11, N), new_springs(N, K, None, D), new_drives(N, np.arange(N) == 1))

    def signals(times: Floats) -> Floats:
        table = np.zeros((len(times), N, 3))
        table[:, 1, 0], table[:, 1, 1] = 0.5 * times**power, 0.5 * power * times ** (power - 1)
        return table

    run = march(mechanism, np.zeros(N), np.zeros(N), step, 100, joint=signals)
    assert run.status == 0
    assert run.worst < ROUND_OFF


@pytest.mark.bounds
def test_an_arm_at_rest_stays_at_rest() -> None:
    """Hanging down: no kinetic energy comes out of round-off, however small the steps."""
    tree = new_tree(
        [-1, 0], [TURN_Z, TURN_Z], position=[[2.0, 1.0, 0.0], [0.0, -1.0, 0.0]], mass=[1.0, 2.0],
        center=[[0.0, -0.5, 0.0]] * 2, gravity=(0.0, -9.81, 0.0),
    )  # fmt: skip
    for step in (1e-5, 1e-3, 0.1):
        run = march(new_mechanism(tree), np.zeros(2), np.zeros(2), step, 100)
        assert np.abs(run.v).max() < 1e-14


@pytest.mark.bounds
def test_a_pendulum_through_its_turning_points_keeps_its_energy() -> None:
    """One coordinate: at turning points the kinetic energy of a step passes through zero. Many phases of the step."""
    tree = new_tree([-1], [TURN_Z], mass=[1.0], center=[[0.0, -1.0, 0.0]], gravity=(0.0, -9.81, 0.0))
    for start in np.linspace(1.0, 1.1, 23):
        run = march(new_mechanism(tree), np.array([start]), np.zeros(1), 7e-3, 1000)
        assert run.status == 0
        assert run.worst < ROUND_OFF
        assert abs(np.abs(run.q).max() - start) < 1e-4  # it returns to where it began


@pytest.mark.bounds
def test_a_torque_limit_holds_and_its_work_is_entered() -> None:
    tree = new_tree([-1], [TURN_Z], mass=[2.0], center=[[0.5, 0.0, 0.0]])
    inertia = 0.5
    mechanism = new_mechanism(tree, drives=new_drives(1, stiffness=100.0, damping=1.0, limit=0.25, motor=True))

    def far(times: Floats) -> Floats:
        return np.tile([[[5.0, 0.0, 0.0]]], (len(times), 1, 1))

    for explicit in (False, True):
        run = march(mechanism, np.zeros(1), np.zeros(1), 1e-3, 500, explicit, joint=far)
        # constant torque: q = a t^2 / 2 exactly in both rules
        assert run.q[-1, 0] == pytest.approx(0.5 * 0.25 / inertia * 0.5**2, rel=1e-12)
        assert run.output.effort[-2, 0] == pytest.approx(0.25, rel=1e-15)
        assert run.output.joints[-2, 0] == pytest.approx(0.25 * run.q[-1, 0], rel=1e-12)


@pytest.mark.bounds
@pytest.mark.parametrize("explicit", [False, True])
def test_a_sampled_velocity_servo_is_the_exact_recursion(explicit: bool) -> None:
    """One inertia J, servo period T, gain k: v_{m+1} = v_m + (T k / J) (c - v_m), with its limits and resolutions."""
    J, gain, period, h = 0.5, 40.0, 1e-2, 1e-3
    tree = new_tree([-1], [TURN_Z], rotor=[J])
    law = np.array([[gain, 0.9, 0.05, 0.7, 0.01, 8.0]])
    mechanism = new_mechanism(tree, servos=Servos(np.array([0]), law))
    sampled = (np.arange(200) % 10 == 0)[:, None]
    run = march(mechanism, np.zeros(1), np.zeros(1), h, 200, explicit, sampled=sampled, command=np.array([0.63]))
    v, c = 0.0, 0.65  # 0.63 in steps of 0.05
    for k in range(20):
        seen = np.clip(0.01 * np.rint(v / 0.01), -0.7, 0.7)
        torque = np.clip(gain * (c - seen), -8.0, 8.0)
        v += period / J * torque
        assert run.v[10 * (k + 1), 0] == pytest.approx(v, rel=1e-11)
        assert run.output.effort[10 * (k + 1), 0] == pytest.approx(torque, rel=1e-12)
    assert run.sums[-1, KINETIC] == pytest.approx(run.output.joints[-2, 0], rel=1e-11)


@pytest.mark.bounds
def test_outputs_inside_steps_lie_on_the_cubic_of_the_step() -> None:
    mechanism = swinging()
    q, v, _ = random_state(mechanism.tree, 5)
    parts = np.array([0.25, 0.5, 1.0])
    signals = {"joint": joint_signals, "load": load_signals, "loads": 2}
    dense = march(mechanism, 0.3 * q, 0.3 * v, 4e-3, 20, rows_at=parts, **signals)
    ends = march(mechanism, 0.3 * q, 0.3 * v, 4e-3, 20, **signals)
    assert (dense.q[3::3] == ends.q[1:]).all()
    fine = march(mechanism, 0.3 * q, 0.3 * v, 1e-3, 80, **signals)
    # the steps differ by the error of the coarse rule; between them nothing is added
    error = np.abs(dense.q[3::3] - fine.q[4::4]).max()
    assert np.abs(dense.q[2::3] - fine.q[2::4]).max() < 1.5 * error
    assert np.abs(dense.q[1::3] - fine.q[1::4]).max() < 1.5 * error
    assert (dense.sums[2::3, STRAIN] > 0.0).all()
