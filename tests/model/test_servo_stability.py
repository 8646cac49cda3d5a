"""A servo whose gain times its period is too large for the inertia it drives is named when the run ends."""

from __future__ import annotations

import pytest

import pliant as pl
from pliant.model.contract import Model
from pliant.model.sampling import ServoPlace
from pliant.model.state import Cause
from pliant.simulation.sampled_control import growth
from tests.support.rigid_loop import INERTIA, rigid_arm

PERIOD = 1e-3


def served(ratio: float, *components: object) -> Model:
    """A rigid arm on a hinge and a servo whose gain times its period is ``ratio`` times the inertia."""
    arm = pl.Rigid().compile(rigid_arm(rate=0.1))
    return pl.connect(arm, pl.control.VelocityServo(gain=ratio * INERTIA / PERIOD, period=PERIOD), *components)


@pytest.mark.parametrize("ratio", [0.5, 1.5, 3.0])
def test_a_rigid_joint_keeps_one_less_the_ratio_of_its_rate(ratio: float) -> None:
    model = pl.Rigid().compile(rigid_arm())
    small = model.linearise(model.initial_state(), model.inputs, 0.0)
    port = next(each for each in small.ports if each.port.name == "hinge")
    servo = ServoPlace("hinge", gain=ratio * INERTIA / PERIOD, period=PERIOD)
    # eigenvalues of the position and of the rate at the samples: 1 and 1 - ratio
    assert growth(small, servo, port) == pytest.approx(max(1.0, abs(1.0 - ratio)), rel=1e-9)


def test_the_servo_that_shakes_the_arm_is_named() -> None:
    ending = pl.simulate(served(3.0), until=1.5, integrator=pl.Gauss(order=2, step=5e-4)).ending
    assert ending.cause in (Cause.NOT_CONVERGED, Cause.NOT_FINITE)
    assert ending.place == "the servo of joint 'hinge'"
    assert "is 3 times the inertia 0.4 kg m^2" in ending.remedy
    assert "grow 2 times from sample to sample" in ending.remedy


def test_a_servo_that_holds_the_arm_is_not_blamed() -> None:
    shaken = served(0.5, pl.JointPD(pl.motions.Hold(0.0), stiffness=1e9, damping=0.0))
    ending = pl.simulate(shaken, until=1.5, integrator=pl.RungeKuttaGill(step=1e-3)).ending
    assert not ending.completed
    assert "servo" not in str(ending)


def test_a_link_that_the_servo_bends_too_far_ends_the_search_at_once() -> None:
    """No mesh, no step and no other formulation helps: sixteen trials took 58 s, and named the link alone."""
    steel = pl.Material(name="steel", young=2.1e11, density=7850.0, poisson=0.3)
    blade = pl.FlexibleLink("blade", 0.3, pl.Rectangle(0.001, 0.01), steel)
    robot = pl.Robot("blade", (blade,), (pl.RevoluteJoint("motor", "base", "blade"),))
    loop = pl.control.PositionLoop(pl.motions.Hold(0.4), gain=6.0, period=1e-2)
    servo = pl.control.VelocityServo(gain=0.3, period=2e-3)
    model = pl.connect(pl.GeometricallyExact().compile(robot), loop, servo)
    with pytest.warns(pl.PliantWarning, match="the servo of joint 'motor' shakes it: its gain 0.3 N m s/rad"):
        run = pl.simulate(model, 0.3)
    assert run.ending.cause is Cause.TOO_BENT
    assert int(run.provenance.choices["trials"]) <= 3
