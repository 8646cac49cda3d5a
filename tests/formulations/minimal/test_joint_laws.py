"""Dry friction and stops of lumped and rigid arms: another solver, pose elements, closed forms, the ledger."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import solve_ivp

import pliant as pl
from pliant.model.contract import Model
from tests.support.arms import ASIDE, two_links
from tests.support.lumped_arms import WITH_TORSION, condensed, two_stations

FRICTION = pl.joints.Friction(coulomb=0.5, static=0.75, stribeck_rate=0.1, smoothing_rate=1e-3)
STOPS = pl.joints.Limits(lower=-1.9, upper=-0.9, stiffness=2000.0, damping=8.0)
MASS, ARM, INERTIA = 2.0, 0.5, 0.1 + 2.0 * 0.5**2
START, UNTIL = -1.0, 3.0
LAWS: dict[str, dict[str, object]] = {
    "friction": {"friction": FRICTION},
    "stops": {"limits": STOPS},
    "both": {"friction": FRICTION, "limits": STOPS},
}


def powers(low: float, high: float) -> st.SearchStrategy[float]:
    """Of ten, evenly."""
    return st.floats(low, high).map(lambda exponent: 10.0**exponent)


def pendulum(formulation: object, start: float = START, **law: object) -> Model:
    body = pl.RigidLink("body", (0.8, 0.0, 0.0), mass=MASS, center_of_mass=(ARM, 0.0, 0.0), inertia=(0.1,) * 3)
    hinge = pl.RevoluteJoint("hinge", "base", "body", initial_position=start, **law)
    return formulation.compile(pl.Robot("pendulum", (body,), (hinge,), gravity=(0.0, -9.81, 0.0)))


def end_of_one_equation(law: dict[str, object]) -> float:
    """The angle at the end, from the laws as `pl.joints.Friction` and `pl.joints.Limits` state them."""

    def rates(_: float, y: np.ndarray) -> list[float]:
        q, v = y
        torque = -9.81 * MASS * ARM * np.cos(q)
        if "friction" in law:
            level = 0.5 + 0.25 * np.exp(-((v / 0.1) ** 2))
            torque -= level * np.tanh(v / 1e-3)
        if "limits" in law:
            torque += max(2000.0 * (-1.9 - q) - 8.0 * v, 0.0) if q < -1.9 else 0.0
            torque -= max(2000.0 * (q + 0.9) + 8.0 * v, 0.0) if q > -0.9 else 0.0
        return [v, torque / INERTIA]

    found = solve_ivp(rates, (0.0, UNTIL), [START, 0.0], method="LSODA", rtol=1e-10, atol=1e-12, max_step=1e-3)
    return float(found.y[0, -1])


@pytest.mark.parametrize("name", LAWS)
def test_a_pendulum_moves_as_its_equation_says(name: str) -> None:
    law = LAWS[name]
    exact, errors = end_of_one_equation(law), []
    for step in (4e-3, 5e-4):
        run = pl.simulate(pendulum(pl.Rigid(), **law), UNTIL, pl.Gauss(order=2, step=step))
        assert run.ending.completed, run.ending
        assert run.ledger.worst_ratio < 1e-10
        errors.append(abs(run.joint_position[-1, 0] - exact))
    # eight times smaller steps: forces with kinks leave at least the first order
    assert errors[1] < errors[0] / 8.0
    assert errors[1] < 1e-4
    explicit = pl.simulate(pendulum(pl.Rigid(), **law), UNTIL, pl.RungeKuttaGill(step=2e-4))
    # a blow that begins within a step costs the explicit rule all but the first order
    assert explicit.joint_position[-1, 0] == pytest.approx(exact, abs=1e-6 if name == "friction" else 1e-3)
    assert not explicit.ledger.exact


def test_strong_friction_holds_a_pendulum_but_for_its_creep() -> None:
    """Friction that is smooth through zero lets a weight m g c cos(q) creep at the rate where they balance."""
    grip = pl.joints.Friction(coulomb=20.0, smoothing_rate=1e-3)
    run = pl.simulate(pendulum(pl.Rigid(), friction=grip), 0.5, pl.Gauss(order=2, step=1e-3))
    assert run.ledger.worst_ratio < 1e-10
    creep = -1e-3 * np.arctanh(9.81 * MASS * ARM * np.cos(run.joint_position[-1, 0]) / 20.0)
    assert run.joint_rate[-1, 0] == pytest.approx(creep, rel=1e-6)
    assert run.ledger.joint_loss[-1] == pytest.approx(run.ledger.gravity[-1], rel=1e-3)


RUBBING = pl.joints.Coordinate(
    friction=pl.joints.Friction(coulomb=0.3, static=0.4, stribeck_rate=0.1, smoothing_rate=5e-3),
    limits=pl.joints.Limits(lower=-0.6, upper=0.5, stiffness=500.0, damping=2.0),
)


def spatial(
    formulation: object, law: pl.joints.Coordinate = RUBBING, gravity: tuple[float, ...] = (1.0, -9.81, 2.0)
) -> Model:
    """Two bodies in space with friction and stops on all three coordinates."""
    links = tuple(
        pl.RigidLink(name, (0.6, 0.0, 0.1), 1.0, center_of_mass=(0.3, 0.05, 0.0), inertia=(0.02, 0.05, 0.06))
        for name in ("upper", "lower")
    )
    joints = (
        pl.RevoluteJoint("shoulder", "base", "upper", friction=law.friction, limits=law.limits),
        pl.joints.UniversalJoint("elbow", "upper", "lower", first=law, second=replace(law, damping=0.05)),
    )
    return formulation.compile(pl.Robot("two", links, joints, gravity=gravity))


def test_it_is_the_motion_of_pose_elements() -> None:
    """The two rules differ in the second order of the step, and so their motions come together with it."""
    apart = []
    for step in (2e-3, 5e-4):
        runs = [
            pl.simulate(spatial(formulation), 1.0, pl.Gauss(order=2, step=step))
            for formulation in (pl.Rigid(), pl.PoseElement())
        ]
        apart.append(np.abs(runs[0].joint_position - runs[1].joint_position).max())
        assert runs[0].ledger.worst_ratio < 1e-10
        losses = [run.ledger.joint_loss[-1] for run in runs]
        assert losses[0] == pytest.approx(losses[1], rel=1e-4)
        assert losses[0] > 1.0
    assert apart[1] < apart[0] / 4.0
    assert apart[1] < 1e-4


def test_deviations_are_those_of_pose_elements() -> None:
    """M, D and K about a state that moves, with one joint in its stop and friction on all of them."""
    q, v = np.array([0.2, -0.65, 0.3]), np.array([0.004, 0.2, -0.05])
    both = []
    for formulation in (pl.Rigid(), pl.PoseElement()):
        arm = spatial(formulation)
        small = arm.linearise(arm.initial_state(q, v), arm.inputs, 0.0)
        P = np.linalg.inv(small.joint_position)
        both.append([P.T @ matrix @ P for matrix in (small.M, small.D, small.K)])
    for own, other in zip(*both):
        np.testing.assert_allclose(own, other, rtol=1e-8, atol=1e-7 * np.abs(other).max())
    assert both[0][2][1, 1] > 450.0  # the stop
    assert both[0][1][0, 0] > 0.3 * 0.5 / 5e-3  # friction within its smoothing rate


@given(
    coulomb=powers(-3.0, 1.5),
    peak=st.floats(1.0, 2.0),
    rates=st.tuples(powers(-2.0, 0.0), powers(-4.0, -1.0)),
    stops=st.tuples(st.floats(-1.0, -0.01), st.floats(0.01, 1.0), powers(0.0, 6.0), st.floats(0.0, 100.0)),
    spin=st.tuples(*[st.floats(-10.0, 10.0)] * 3),
    step=powers(-4.0, -1.7),
)
@settings(max_examples=60, deadline=None)
def test_friction_and_stops_never_create_energy(
    coulomb: float,
    peak: float,
    rates: tuple[float, float],
    stops: tuple[float, float, float, float],
    spin: tuple[float, float, float],
    step: float,
) -> None:
    """However hard and however long the steps: a coasting arm only loses, and every step is solved."""
    law = pl.joints.Coordinate(
        friction=pl.joints.Friction(coulomb, peak * coulomb, stribeck_rate=rates[0], smoothing_rate=rates[1]),
        limits=pl.joints.Limits(*stops),
    )
    arm = spatial(pl.Rigid(), law, (0.0, 0.0, 0.0))
    start = arm.initial_state(np.zeros(3), np.array(spin))
    run = pl.simulate(arm, 60 * step, pl.Gauss(order=2, step=step), initial=start)
    assert run.ending.completed, run.ending
    stored, ledger = run.ledger.stored, run.ledger
    assert np.all(np.diff(stored) <= 1e-13 * stored[0])
    # of the energy exchanged, and of the rounding of the kinetic energy, which changes by next to nothing in a step
    assert np.abs(ledger.residual).max() <= 1e-10 * ledger.exchanged[-1] + 60 * 1e-15 * stored[0]


def two(formulation: object, *components: object) -> Model:
    """Soft links whose joints rub and stop."""
    robot = two_links(ASIDE, rates=(2.0, -3.0))
    law = {"friction": pl.joints.Friction(coulomb=0.02), "limits": pl.joints.Limits(-0.1, 0.5, 20.0, 0.01)}
    joints = tuple(replace(joint, **law) for joint in robot.joints)
    return pl.connect(formulation.compile(replace(robot, joints=joints)), *components)


def adam() -> Model:
    robot = two_stations(0.7, gravity=(0.0, -9.81, 1.0))
    law = {"friction": pl.joints.Friction(coulomb=5.0), "limits": pl.joints.Limits(-0.02, 0.72, 2e3, 1.0)}
    arm = condensed(replace(robot, joints=tuple(replace(joint, **law) for joint in robot.joints)), WITH_TORSION)
    return pl.connect(arm, *(pl.GearMotor(name, rotor_inertia=1e-4, ratio=100.0) for name in arm.joint_names))


def loop(formulation: object) -> Model:
    robot = pl.load(pl.library.path("parallelogram"))
    law = {"friction": pl.joints.Friction(coulomb=0.1), "limits": pl.joints.Limits(-3.0, 3.0, 500.0, 2.0)}
    joints = tuple(replace(joint, **law) for joint in robot.joints)
    return formulation.compile(replace(robot, joints=joints, gravity=(0.0, -9.81, 0.0)))


CASES: dict[str, Callable[[], Model]] = {
    "rigid": lambda: two(pl.Rigid()),
    "lumped": lambda: two(pl.Lumped(2)),
    "feedback": lambda: two(pl.Lumped(2), pl.JointPD(pl.motions.Hold(0.6), stiffness=40.0, damping=0.1)),
    "prescribed": lambda: two(pl.Lumped(2), pl.PrescribedMotion("shoulder", pl.motions.Quintic(0.3, 1.0, 0.2))),
    "gears": lambda: two(
        pl.Lumped(2),
        pl.GearMotor("shoulder", rotor_inertia=1e-5, ratio=50.0, stiffness=300.0, damping=0.5),
        pl.GearMotor("elbow", rotor_inertia=1e-5, ratio=50.0, torque_limit=0.01),
        pl.JointPD(pl.motions.Hold(0.6), stiffness=40.0, damping=0.1),
    ),
    "point masses": adam,
    "rigid loop": lambda: loop(pl.Rigid()),
    "lumped loop": lambda: loop(pl.Lumped(1)),
}


@pytest.mark.parametrize("name", CASES)
def test_the_ledger_closes_to_round_off(name: str) -> None:
    """Demanded are 1e-10 of the energy that each step exchanges; what is stored is what the state stores."""
    run = pl.simulate(CASES[name](), until=0.5, integrator=pl.Gauss(order=2, step=1e-3))
    ledger = run.ledger
    assert run.ending.completed, run.ending
    assert ledger.worst_ratio < 1e-10
    assert ledger.joint_loss[-1] > 0.0
    assert np.all(np.diff(ledger.joint_loss) >= -1e-12 * ledger.exchanged[-1])  # friction and stops are passive
    supplied = ledger.gravity + sum(ledger.works.values())
    lost = ledger.material_loss + ledger.joint_loss + ledger.projection_loss
    np.testing.assert_allclose(ledger.stored - ledger.stored[0], supplied - lost, atol=1e-9 * ledger.exchanged[-1])
    if not run.source.model.inputs.motors:
        np.testing.assert_allclose(ledger.strain, run.source.model.energy(run.states)[1], rtol=1e-9, atol=1e-11)


def test_a_drive_pays_for_friction() -> None:
    """Led at a constant rate: friction effort times the way, all of it by the drive."""
    arm = pendulum(pl.Rigid(), friction=FRICTION)
    line = pl.motions.MotionTable([0.0, 1.0], [START, START + 0.4], begin_rate=0.4, end_rate=0.4)
    for method, close in ((pl.Gauss(order=2, step=1e-2), 1e-11), (pl.RungeKuttaGill(step=1e-2), 1e-9)):
        run = pl.simulate(pl.connect(arm, pl.PrescribedMotion("hinge", line)), 0.9, method)
        level = 0.5 + 0.25 * np.exp(-((0.4 / 0.1) ** 2))
        assert run.ledger.joint_loss[-1] - run.ledger.joint_loss[1] == pytest.approx(
            level * 0.4 * (run.time[-1] - run.time[1]), rel=close
        )


def test_a_spring_rests_against_a_stop() -> None:
    """Equilibrium, stored energy and frequency of two springs side by side; friction only damps there."""
    law = {"spring": pl.joints.JointSpring(30.0, rest_position=1.0), "limits": pl.joints.Limits(-1.0, 0.2, 500.0, 3.0)}
    body = pl.RigidLink("body", (0.8, 0.0, 0.0), mass=MASS, center_of_mass=(ARM, 0.0, 0.0), inertia=(0.1,) * 3)
    robot = pl.Robot("door", (body,), (pl.RevoluteJoint("hinge", "base", "body", friction=FRICTION, **law),))
    place = (30.0 * 1.0 + 500.0 * 0.2) / 530.0
    for formulation in (pl.Rigid(), pl.PoseElement()):
        arm = formulation.compile(robot)
        rest = pl.equilibrium(arm)
        assert arm.layout.part(rest.state, "joint_position")[0] == pytest.approx(place, abs=1e-9)
        stored = 0.5 * 30.0 * (place - 1.0) ** 2 + 0.5 * 500.0 * (place - 0.2) ** 2
        assert arm.energy(rest.state)[1][0] == pytest.approx(stored, rel=1e-9)
        small = arm.linearise(rest.state, arm.inputs, 0.0)
        # Friction(0.75 at rest) changes its sign within 1e-3 rad/s
        assert small.K[0, 0] / small.M[0, 0] == pytest.approx(530.0 / INERTIA, rel=1e-8)
        assert small.D[0, 0] / small.M[0, 0] == pytest.approx((3.0 + 0.75 / 1e-3) / INERTIA, rel=1e-8)
        run = pl.simulate(arm, 0.05, pl.Gauss(order=2, step=1e-3), initial=rest.state)
        assert run.ending.completed, run.ending
        assert run.joint_position[-1, 0] == pytest.approx(place, abs=1e-9)
