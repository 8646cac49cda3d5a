"""Arms of rigid links against the textbook."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import pliant as pl
from pliant.model.contract import Model
from tests.support.arms import on_a_hinge, soft_link

GRAVITY = 9.81
LENGTHS, MASSES, CENTRES, INERTIAS = (0.7, 0.5), (1.3, 0.8), (0.3, 0.2), (0.05, 0.02)
START, RATES = (0.4, 0.9), (1.0, -2.0)


def double_pendulum() -> Model:
    links = tuple(
        pl.RigidLink(
            name=name,
            tip_position=(length, 0.0, 0.0),
            mass=mass,
            center_of_mass=(centre, 0.0, 0.0),
            inertia=(0.01, inertia, inertia),
        )
        for name, length, mass, centre, inertia in zip(
            ("upper", "lower"), LENGTHS, MASSES, CENTRES, INERTIAS, strict=True
        )
    )
    joints = (
        pl.RevoluteJoint("shoulder", "base", "upper", initial_position=START[0], initial_rate=RATES[0]),
        pl.RevoluteJoint("elbow", "upper", "lower", initial_position=START[1], initial_rate=RATES[1]),
    )
    robot = pl.Robot("double_pendulum", links, joints, gravity=(0.0, -GRAVITY, 0.0))
    return pl.GeometricallyExact().compile(robot)


def textbook(time: float, state: np.ndarray) -> np.ndarray:
    """Lagrange's equations of the double pendulum in joint angles q1, q2 (relative) and their rates.

    M(q) qdd + c(q, qd) + g(q) = 0 with the usual planar two-link terms, angles measured from the x axis.
    """
    q1, q2, w1, w2 = state
    (l1, _), (m1, m2), (c1, c2), (i1, i2) = LENGTHS, MASSES, CENTRES, INERTIAS
    cosine, sine = np.cos(q2), np.sin(q2)
    m22 = i2 + m2 * c2**2
    m12 = m22 + m2 * l1 * c2 * cosine
    m11 = i1 + m1 * c1**2 + m2 * l1**2 + 2.0 * m2 * l1 * c2 * cosine + m22
    coriolis = m2 * l1 * c2 * sine
    outer = m2 * c2 * GRAVITY * np.cos(q1 + q2)
    bias = np.array(
        [
            -coriolis * w2 * (2.0 * w1 + w2) + (m1 * c1 + m2 * l1) * GRAVITY * np.cos(q1) + outer,
            coriolis * w1**2 + outer,
        ]
    )
    return np.concatenate([[w1, w2], -np.linalg.solve([[m11, m12], [m12, m22]], bias)])


def test_double_pendulum_follows_lagrange() -> None:
    """Two seconds of large swings to 1e-8 rad."""
    trajectory = pl.simulate(double_pendulum(), 2.0, pl.Gauss(6, 2e-3, tolerance=1e-13), outputs=100)
    assert trajectory.ending.completed, trajectory.ending
    start = np.array([*START, *RATES])
    answer = solve_ivp(textbook, (0.0, 2.0), start, "DOP853", trajectory.time, rtol=1e-13, atol=1e-13).y.T
    np.testing.assert_allclose(trajectory.joint_position, answer[:, :2], atol=1e-8)
    np.testing.assert_allclose(trajectory.joint_rate, answer[:, 2:], atol=1e-7)
    assert np.ptp(answer[:, 1]) > 2.0
    x = LENGTHS[0] * np.cos(answer[:, 0]) + LENGTHS[1] * np.cos(answer[:, :2].sum(axis=1))
    np.testing.assert_allclose(trajectory.tip_position[:, 0], x, atol=1e-8)


def test_torques_hold_a_double_pendulum() -> None:
    """The moments of the weights about the two joints, as torques, keep it at rest."""
    q1, q2 = START
    outer = MASSES[1] * CENTRES[1] * GRAVITY * np.cos(q1 + q2)
    inner = (MASSES[0] * CENTRES[0] + MASSES[1] * LENGTHS[0]) * GRAVITY * np.cos(q1)
    arm = double_pendulum()
    held = pl.connect(
        arm,
        pl.JointTorque("shoulder", pl.signals.Constant(float(inner + outer))),
        pl.JointTorque("elbow", pl.signals.Constant(float(outer))),
    )
    rest = arm.initial_state(np.array(START), np.zeros(2))
    trajectory = pl.simulate(held, 0.2, pl.Gauss(4, 2e-3), initial=rest)
    np.testing.assert_allclose(trajectory.joint_position, np.tile(START, (len(trajectory.time), 1)), atol=1e-12)


def gimbal() -> Model:
    """A body whose three joint axes cross in one point, so that it turns freely about that point."""
    ring = {"tip_position": (0.0, 0.0, 0.0), "mass": 0.0, "inertia": (1e-9, 1e-9, 1e-9)}
    links = (
        pl.RigidLink(name="outer", **ring),
        pl.RigidLink(name="inner", **ring),
        pl.RigidLink(name="top", tip_position=(0.0, 0.0, 0.1), mass=1.0, inertia=(0.02, 0.03, 0.04)),
    )
    joints = (
        pl.RevoluteJoint("yaw", "base", "outer", axis=(0.0, 0.0, 1.0), initial_rate=3.0),
        pl.RevoluteJoint("pitch", "outer", "inner", axis=(0.0, 1.0, 0.0), initial_position=0.4, initial_rate=0.5),
        pl.RevoluteJoint("roll", "inner", "top", axis=(1.0, 0.0, 0.0), initial_rate=4.0),
    )
    return pl.GeometricallyExact().compile(pl.Robot("gimbal", links, joints))


def test_a_free_top_follows_euler() -> None:
    """Body rates of an asymmetric top: I w' = I w x w, the rings almost without inertia."""
    trajectory = pl.simulate(gimbal(), 0.5, pl.Gauss(6, 1e-3, tolerance=1e-13), outputs=50)
    assert trajectory.ending.completed, trajectory.ending
    moments = np.array([0.02, 0.03, 0.04])

    def euler(time: float, rate: np.ndarray) -> np.ndarray:
        return np.asarray(np.cross(moments * rate, rate) / moments)

    rates = trajectory.tip_twist[:, 3:]
    answer = solve_ivp(euler, (0.0, 0.5), rates[0], "DOP853", trajectory.time, rtol=1e-12, atol=1e-12).y.T
    np.testing.assert_allclose(rates, answer, atol=1e-5)  # the rings hold 1e-7 of the inertia
    assert np.ptp(answer, axis=0).min() > 0.4
    momentum = np.einsum("nij,nj->ni", trajectory.tip_rotation, moments * rates)
    np.testing.assert_allclose(momentum, np.tile(momentum[0], (len(momentum), 1)), atol=1e-6)


@pytest.mark.parametrize("factor", [1e3, 1e5])
def test_a_stiff_link_moves_like_a_rigid_one(factor: float) -> None:
    """The difference falls with the compliance: a quasi-static deflection under the weight."""
    soft = soft_link()
    section = pl.GeneralSection(
        stiffness=tuple(factor * c for c in (1e4, 4e3, 4e3, 4.0, 6.0, 5.0)), inertia=(0.3, 0.3, 0.3, 3e-4, 1e-4, 2e-4)
    )
    flexible = on_a_hinge(soft_link(section=section), (0.0, -GRAVITY, 0.0))
    body = pl.RigidLink(
        name="link",
        tip_position=(soft.length, 0.0, 0.0),
        mass=0.3,
        center_of_mass=(0.5, 0.0, 0.0),
        inertia=(3e-4, 0.3 / 12 + 1e-4, 0.3 / 12 + 2e-4),
    )
    rigid = on_a_hinge(body, (0.0, -GRAVITY, 0.0))
    paths = [
        pl.simulate(pl.GeometricallyExact(degree=5).compile(robot), 1.0, pl.Gauss(4, 1e-3), outputs=50).joint_position
        for robot in (flexible, rigid)
    ]
    assert np.ptp(paths[1]) > 2.0
    # weight times length cubed over the bending stiffness, with formulation for the motion
    np.testing.assert_allclose(paths[0], paths[1], atol=0.3 * GRAVITY / (5.0 * factor))


@pytest.mark.bounds
def test_rigid_links_with_bounds_checked() -> None:
    trajectory = pl.simulate(double_pendulum(), 0.02, pl.Gauss(order=4, step=1e-3))
    assert trajectory.ending.completed, trajectory.ending
