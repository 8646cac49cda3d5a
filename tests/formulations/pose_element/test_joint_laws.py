"""Motors, gears, friction and stops of joints against the same two equations by another integrator.

I q'' = gear - spring (q - rest) - viscous q' - dry(q') + stops(q, q') - m g c sin q
J r'' = clip(feedforward - P (r - reference) - D (r' - reference rate)) - gear ,   gear = k (r - q) + d (r' - q')
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import pliant as pl
from pliant.components.connect import Connected
from pliant.structures.nodal.model import PoseElementArm
from tests.support.trees import Array

MASS, CENTER, SPIN, GRAVITY = 2.0, 0.3, 0.05, 9.81
INERTIA = SPIN + MASS * CENTER**2
ROTOR, RATIO = 1e-4, 50.0
START, START_RATE = 0.3, 2.0
UNTIL = 1.0
FREQUENCY, AMPLITUDE = 1.5, 8.0


@dataclass(frozen=True)
class Laws:
    """What the joint and its motor obey."""

    gear: float = 0.0  # N m/rad; 0: rigid
    gear_damping: float = 0.0
    limit: float = np.inf  # N m at the joint
    stiffness: float = 0.0  # feedback
    damping: float = 0.0
    joint: dict[str, object] = field(default_factory=dict)

    def model(self) -> tuple[PoseElementArm, Connected]:
        link = pl.RigidLink("pendulum", (0.6, 0.0, 0.0), MASS, center_of_mass=(CENTER, 0.0, 0.0), inertia=(SPIN,) * 3)
        joint = pl.RevoluteJoint(
            "joint", "base", "pendulum", initial_position=START, initial_rate=START_RATE, **self.joint
        )
        # gravity along x: the pendulum hangs at q = 0
        robot = pl.Robot(name="pendulum", links=(link,), joints=(joint,), gravity=(GRAVITY, 0.0, 0.0))
        arm = pl.PoseElement().compile(robot)
        motor = pl.GearMotor(
            "joint",
            ROTOR,
            RATIO,
            stiffness=self.gear or None,
            damping=self.gear_damping,
            torque_limit=self.limit / RATIO if np.isfinite(self.limit) else None,
        )
        torque = pl.JointTorque("joint", pl.signals.Sine(AMPLITUDE, FREQUENCY))
        law = pl.JointPD(pl.motions.Hold(0.8), self.stiffness, self.damping)
        return arm, pl.connect(arm, motor, torque, law)

    def on_joint(self, q: float, rate: float) -> float:
        """Effort of the passive laws and of the weight."""
        effort = -MASS * GRAVITY * CENTER * np.sin(q)
        spring, friction, stops = (self.joint.get(name) for name in ("spring", "friction", "limits"))
        if isinstance(spring, pl.joints.JointSpring):
            effort -= spring.stiffness * (q - spring.rest_position)
        effort -= float(self.joint.get("damping", 0.0)) * rate  # type: ignore[arg-type]
        if isinstance(friction, pl.joints.Friction):
            peak = (friction.breakaway - friction.coulomb) * np.exp(-((rate / friction.stribeck_rate) ** 2))
            effort -= (friction.coulomb + peak) * np.tanh(rate / friction.smoothing_rate)
        if isinstance(stops, pl.joints.Limits):
            if q < stops.lower:
                effort += max(stops.stiffness * (stops.lower - q) - stops.damping * rate, 0.0)
            if q > stops.upper:
                effort -= max(stops.stiffness * (q - stops.upper) + stops.damping * rate, 0.0)
        return float(effort)

    def drive(self, t: float, angle: float, rate: float) -> float:
        wanted = AMPLITUDE * np.sin(2 * np.pi * FREQUENCY * t)
        wanted -= self.stiffness * (angle - 0.8) + self.damping * rate
        return float(np.clip(wanted, -self.limit, self.limit))

    def rates(self, t: float, y: Array) -> list[float]:
        """Of joint and rotor, and the work of the motor."""
        q, qd, r, rd, _ = y
        J = ROTOR * RATIO**2
        if self.gear == 0.0:
            torque = self.drive(t, q, qd)
            turning = (torque + self.on_joint(q, qd)) / (INERTIA + J)
            return [qd, turning, qd, turning, torque * qd]
        torque = self.drive(t, r, rd)
        gear = self.gear * (r - q) + self.gear_damping * (rd - qd)
        return [qd, (gear + self.on_joint(q, qd)) / INERTIA, rd, (torque - gear) / J, torque * rd]

    @property
    def switches(self) -> bool:
        """Whether an effort has a kink: at the torque limit or at a stop."""
        return bool(np.isfinite(self.limit)) or "limits" in self.joint

    def saturates(self, exact: Array, times: Array) -> bool:
        """Whether the torque limit acts at some times and not at others."""
        torques = np.array([abs(self.drive(t, y[2], y[3])) for t, y in zip(times, exact)])
        return bool(np.any(torques == self.limit) and np.any(torques < self.limit))

    def exact(self, times: Array) -> Array:
        start = [START, START_RATE, START, START_RATE, 0.0]
        # short steps, so that no switch of a limit or a stop is passed over
        answer = solve_ivp(self.rates, (0.0, UNTIL), start, "DOP853", times, rtol=1e-11, atol=1e-12, max_step=1e-3)
        return answer.y.T


FRICTION = pl.joints.Friction(1.0, 1.6, 0.4, 0.05)
STOPS = pl.joints.Limits(0.29, 0.5, 2e3, 5.0)
SPRING = pl.joints.JointSpring(4.0, 0.2)
PD = {"stiffness": 20.0, "damping": 1.0}
GEAR = {"gear": 600.0, "gear_damping": 0.5}

CASES = {
    "rigid gear": Laws(**PD),
    "rigid gear, torque limit": Laws(limit=5.0, **PD),
    "elastic gear": Laws(**GEAR, **PD),
    "elastic gear, torque limit": Laws(limit=5.0, **GEAR, **PD),
    "elastic gear, spring and damping": Laws(**GEAR, **PD, joint={"spring": SPRING, "damping": 0.3}),
    "elastic gear, friction": Laws(**GEAR, **PD, joint={"friction": FRICTION}),
    "elastic gear, stops": Laws(**GEAR, **PD, joint={"limits": STOPS}),
    "everything": Laws(
        limit=5.0, **GEAR, **PD,
        joint={"spring": SPRING, "damping": 0.3, "friction": FRICTION, "limits": STOPS},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_joint_and_motor_move_as_their_two_equations_say(name: str) -> None:
    laws = CASES[name]
    arm, model = laws.model()
    errors, answers = [], []
    for step in (5e-4, 2.5e-4):
        run = pl.simulate(model, until=UNTIL, integrator=pl.Gauss(order=2, step=step), outputs=20)
        assert run.ending.completed
        assert run.ledger.worst_ratio < 1e-10
        exact = laws.exact(run.time)
        q = arm.layout.part(run.states, "joint_position")[:, 0]
        rotor = arm.layout.part(run.states, "rotor")[:, 0, 0]
        work = run.ledger.works["joint"]
        found = np.column_stack([q, rotor, work])
        answers.append(found)
        errors.append(np.abs(found - exact[:, [0, 2, 4]]).max(axis=0))
    assert np.ptp(exact[:, 0]) > 0.2, "the joint hardly moves"
    if not laws.switches:
        assert np.log2(errors[0] / errors[1]) == pytest.approx([2.0] * 3, abs=0.01)
        # what extrapolation leaves of errors of h^2: radians at joint and rotor, and joules
        limit = (4.0 * answers[1] - answers[0]) / 3.0
        assert np.all(np.abs(limit - exact[:, [0, 2, 4]]).max(axis=0) < [1e-8, 1e-8, 1e-7])
    else:
        # a switch inside a step costs an error of h^2 whose size depends on where in the step it falls
        assert np.all(errors[0] < [6e-5, 6e-5, 6e-4])
        assert np.all(errors[1] < [1.5e-5, 1.5e-5, 1.5e-4])
    if np.isfinite(laws.limit):
        assert laws.saturates(exact, run.time)
