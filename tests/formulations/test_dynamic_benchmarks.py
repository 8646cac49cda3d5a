"""Published problems of flexible multibody dynamics."""

from __future__ import annotations

import numpy as np
import pytest

import pliant as pl
from experiments.closed_form import spin_up_angle, spinning_extension
from tests.support.arms import on_a_hinge

HALF = float(np.sqrt(0.5))


def test_spin_up_stretches_the_beam_as_the_steady_rotation_demands() -> None:
    """[simo1986]: L = 10, EA = 2.8e7, rhoA = 1.2, 6 rad/s after 15 s; rhoA w^2 L^3 / 3 EA = 5.142857e-4.

    Material damping of 0.1 s, which the published problem does not have, brings the beam to rest; the steady
    extension does not depend on it. The geometrically exact answer is tan(kL)/k - L, 6e-5 above the linear one.
    """
    section = pl.GeneralSection(
        stiffness=(2.8e7, 1e7, 1e7, 1.4e4, 1.4e4, 1.4e4), inertia=(1.2, 1.2, 1.2, 1.2e-3, 6e-4, 6e-4), damping=0.1
    )
    robot = on_a_hinge(pl.FlexibleLink(name="beam", length=10.0, section=section))
    motion = pl.motions.SmoothStart(rate=6.0, duration=15.0)
    times = np.array([3.0, 9.0, 15.0, 20.0])
    wanted = np.array([spin_up_angle(time)[0] for time in times])
    np.testing.assert_allclose(motion.evaluate(times)[0], wanted, rtol=1e-12)
    closed = pl.connect(pl.GeometricallyExact(degree=5).compile(robot), pl.PrescribedMotion("hinge", motion))
    trajectory = pl.simulate(closed, 30.0, pl.Gauss(order=4, step=1e-2))
    assert trajectory.ending.completed, trajectory.ending
    extension = np.linalg.norm(trajectory.tip_position[-1]) - 10.0
    answer = spinning_extension(10.0, 1.2, 2.8e7, 6.0)
    assert extension == pytest.approx(answer.exact, rel=1e-6)
    assert extension == pytest.approx(5.142857e-4, rel=1e-4)
    # on the way the beam lags by more than half a metre
    angle = trajectory.joint_position[:, 0]
    lag = np.cos(angle) * trajectory.tip_position[:, 1] - np.sin(angle) * trajectory.tip_position[:, 0]
    assert lag.min() < -0.5
    assert abs(lag[-1]) < 1e-6


@pytest.fixture(scope="module")
def elbow() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Times and out-of-plane displacements of tip and elbow of the right-angle cantilever of [simo1988]."""
    section = pl.GeneralSection(stiffness=(1e6, 1e6, 1e6, 1e3, 1e3, 1e3), inertia=(1.0, 1.0, 1.0, 20.0, 10.0, 10.0))
    legs = (
        pl.FlexibleLink(name="inner", length=10.0, section=section),
        pl.FlexibleLink(name="outer", length=10.0, section=section),
    )
    joints = (
        pl.FixedJoint(name="root", parent="base", child="inner"),
        pl.FixedJoint(name="corner", parent="inner", child="outer", rotation=(HALF, 0.0, 0.0, HALF)),
    )
    robot = pl.Robot(name="elbow", links=legs, joints=joints)
    none, full = (0.0,) * 6, (0.0, 0.0, 50.0, 0.0, 0.0, 0.0)
    push = pl.TipWrench("inner", pl.signals.PiecewiseLinear((0.0, 1.0, 2.0), (none, full, none)))
    arm = pl.GeometricallyExact(degree=5, elements=2).compile(robot)
    trajectory = pl.simulate(pl.connect(arm, push), 30.0, pl.Gauss(order=4, step=1e-2), outputs=3000)
    assert trajectory.ending.completed, trajectory.ending
    assert trajectory.ledger.worst_ratio < 1e-10
    corner = arm.observe(trajectory.states, stations=2).link("inner").position[:, -1, 2]
    return trajectory.time, trajectory.tip_position[:, 2], corner


@pytest.mark.parametrize(
    ("which", "value", "time"), [("tip", 8.25, 7.44), ("tip", -9.73, 15.87), ("elbow", -4.06, 10.87)]
)
def test_elbow_cantilever_peaks(
    elbow: tuple[np.ndarray, np.ndarray, np.ndarray], which: str, value: float, time: float
) -> None:
    """Peaks of another code with 40 elements a leg and steps of 5 ms, to one per cent in value."""
    times, tip, corner = elbow
    signal = np.sign(value) * (tip if which == "tip" else corner)
    near = np.abs(times - time) < 3.0
    peak = int(np.argmax(np.where(near, signal, -np.inf)))
    assert signal[peak] == pytest.approx(abs(value), rel=1e-2)
    assert times[peak] == pytest.approx(time, abs=0.05)
