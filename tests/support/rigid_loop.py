"""A rigid arm of one joint under sampled control, computed twice: by pliant, and as a system in discrete time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from scipy.signal import cont2discrete

import pliant as pl

INERTIA = 0.4  # kg m^2 about the joint: 0.15 of the body and 1 kg at 0.5 m from the axis
SERVO_PERIOD, LOOP_PERIOD = 1e-3, 1e-2


def rigid_arm(rate: float = 0.0) -> pl.Robot:
    """A body on a hinge about z, without gravity."""
    body = pl.RigidLink("body", (1.0, 0.0, 0.0), mass=1.0, center_of_mass=(0.5, 0.0, 0.0), inertia=(0.1, 0.15, 0.15))
    hinge = pl.RevoluteJoint(name="hinge", parent="base", child="body", initial_rate=rate)
    return pl.Robot(name="rigid", links=(body,), joints=(hinge,))


def same(value: float) -> float:
    return value


@dataclass
class DiscreteLoop:
    """The loop of position and servo in discrete time: the joint is a double integrator under held torque.

    ``converter`` is what lies between command and servo, ``encoder`` between position and loop, ``meter`` between
    rate and servo.
    """

    gain: float
    servo_gain: float
    reference: Callable[[float], float]
    delay: float = 0.0
    encoder: Callable[[float], float] = same
    meter: Callable[[float], float] = same
    converter: Callable[[float], float] = same
    torque_limit: float = np.inf
    torques: list[float] = field(default_factory=list)

    def run(self, steps: int, rate: float = 0.0) -> np.ndarray:
        """Position and rate at all samples of the servo."""
        A, B = np.array([[0.0, 1.0], [0.0, 0.0]]), np.array([[0.0], [1.0 / INERTIA]])
        exact, held, *_ = cont2discrete((A, B, np.eye(2), np.zeros((2, 1))), SERVO_PERIOD, method="zoh")
        x = np.array([0.0, rate])
        states, sent, ratio = [x], [(-1.0, 0.0)], round(LOOP_PERIOD / SERVO_PERIOD)
        for k in range(steps):
            now = k * SERVO_PERIOD
            if k % ratio == 0:
                sent.append((now + self.delay, self.gain * (self.reference(now) - self.encoder(x[0]))))
            command = [value for arrival, value in sent if arrival <= now + 1e-9][-1]
            torque = self.servo_gain * (self.converter(command) - self.meter(x[1]))
            self.torques.append(float(np.clip(torque, -self.torque_limit, self.torque_limit)))
            x = exact @ x + held[:, 0] * self.torques[-1]
            states.append(x)
        return np.array(states)
