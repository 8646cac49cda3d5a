"""A steel strip with a body at its tip on a motor with a velocity servo, and linear theory of the sampled loop."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import expm

import pliant as pl
from pliant.analysis.modes import linearised
from pliant.components.kinds import Component
from pliant.components.sensors import Reader, Sensor
from pliant.model.contract import Model
from pliant.model.sampling import Sample, noise_source

LENGTH, TIP_MASS = 0.6, 0.5
STRIP_MASS = 7850.0 * 0.004 * 0.03 * LENGTH
BENDING_STIFFNESS = 210e9 * 0.03 * 0.004**3 / 12
SERVO_PERIOD, LOOP_PERIOD, BEATS = 1e-3, 1e-2, 10
SERVO_GAIN, LOOP_GAIN = 60.0, 4.0
GAUGE = pl.sensors.StrainGauge("strip")


def robot() -> pl.Robot:
    steel = pl.Material(name="steel", young=210e9, density=7850.0, poisson=0.3, damping=2e-5)
    strip = pl.FlexibleLink("strip", LENGTH, section=pl.Rectangle(height=0.004, width=0.03), material=steel)
    motor = pl.RevoluteJoint("motor", "base", "strip")
    # a sampled damper needs inertia to act on: gain times period must stay well below it
    rotor = pl.Payload("rotor", "strip", at=pl.End.ROOT, mass=0.0, inertia=(0.05, 0.05, 0.1))
    body = pl.Payload("body", "strip", at=pl.End.TIP, mass=TIP_MASS, inertia=(1e-4, 1e-4, 1e-4))
    return pl.Robot(name="strip_on_a_servo", links=(strip,), joints=(motor,), payloads=(rotor, body))


def closed(arm: Model, sensor: Sensor | None, gain: float, target: float) -> Model:
    """The arm with servo and position loop, and with suppression where there is a sensor."""
    parts: list[Component] = [
        pl.control.VelocityServo(SERVO_GAIN, SERVO_PERIOD),
        pl.control.PositionLoop(pl.motions.Hold(target), LOOP_GAIN, LOOP_PERIOD),
    ]
    if sensor is not None:
        parts.append(pl.control.VibrationSuppression("motor", sensor, gain, LOOP_PERIOD))
    return pl.connect(arm, *parts)


@dataclass(frozen=True, eq=False)
class SampledLinear:
    """Deviations x = (y, y') of an arm, exact between samples:  x' = A x + B torque ; and the rows that are read."""

    change: np.ndarray
    forced: np.ndarray
    position: np.ndarray
    rate: np.ndarray
    reading: np.ndarray

    @staticmethod
    def of(arm: Model, sensor: Sensor) -> SampledLinear:
        small = linearised(arm, None, 0.0)
        n = len(small.M)
        (port,) = (each for each in small.ports if each.port.name == "motor")
        inverse = np.linalg.inv(small.M)
        A = np.block([[np.zeros((n, n)), np.eye(n)], [-inverse @ small.K, -inverse @ small.D]])
        B = np.concatenate([np.zeros(n), inverse @ port.rate[0]])
        whole = expm(SERVO_PERIOD * np.block([[A, B[:, None]], [np.zeros((1, 2 * n + 1))]]))
        zero, joint = np.zeros(n), small.joint_position[0]
        return SampledLinear(
            whole[:-1, :-1],
            whole[:-1, -1],
            np.concatenate([joint, zero]),
            np.concatenate([zero, joint]),
            np.concatenate([_reading(arm, sensor.reader(arm), small.state_at, n), zero]),
        )

    def command(self, gain: float) -> np.ndarray:
        """The row of the commanded rate."""
        return gain * self.reading - LOOP_GAIN * self.position

    def period_map(self, gain: float) -> np.ndarray:
        """From one sample of the controller to the next: the servo acts ten times under one held command."""
        damped = self.change - SERVO_GAIN * np.outer(self.forced, self.rate)
        pushed = np.zeros_like(self.forced)
        whole = np.eye(len(damped))
        for _ in range(BEATS):
            whole, pushed = damped @ whole, damped @ pushed + SERVO_GAIN * self.forced
        return whole + np.outer(pushed, self.command(gain))

    def pole(self, gain: float, near: complex) -> complex:
        """Of the sampled loop, as that of a continuous one."""
        poles = np.log(np.linalg.eigvals(self.period_map(gain)).astype(complex)) / LOOP_PERIOD
        return complex(poles[np.abs(poles - near).argmin()])

    def march(self, gain: float, target: float, samples: int) -> tuple[np.ndarray, np.ndarray]:
        """Joint position and reading at the samples of the controller, from rest."""
        x, seen = np.zeros(len(self.change)), []
        for _ in range(samples):
            seen.append((self.position @ x, self.reading @ x))
            command = self.command(gain) @ x + LOOP_GAIN * target
            for _ in range(BEATS):
                x = self.change @ x + self.forced * SERVO_GAIN * (command - self.rate @ x)
        return np.array(seen).T[0], np.array(seen).T[1]


def _reading(
    arm: Model, reader: Reader, state_at: Callable[[np.ndarray, np.ndarray], np.ndarray], n: int
) -> np.ndarray:
    """Derivatives of a reading, by central differences; exact for a linear arm."""
    silent, step = noise_source(0, "nobody"), 1e-6

    def read(y: np.ndarray) -> float:
        state = state_at(y, np.zeros(n))
        none = np.zeros(0)
        return reader(
            Sample(0.0, none, none, state, arm, none, none, lambda stations: arm.observe(state[None], stations)), silent
        )

    ahead = np.array([read(step * row) for row in np.eye(n)])
    behind = np.array([read(-step * row) for row in np.eye(n)])
    return (ahead - behind) / (2 * step)


def fitted_pole(values: np.ndarray, order: int, near: complex) -> complex:
    """Of a decaying signal, sampled at the period of the controller, by linear prediction of the given order."""
    rows = np.lib.stride_tricks.sliding_window_view(values, order + 1)
    weights = np.linalg.lstsq(rows[:, :-1], rows[:, -1], rcond=None)[0]
    roots = np.roots(np.append(1.0, -weights[::-1])).astype(complex)
    poles = np.log(roots[np.abs(roots) > 1e-3]) / LOOP_PERIOD
    return complex(poles[np.abs(poles - near).argmin()])


def damping_ratio(pole: complex) -> float:
    return -pole.real / abs(pole)
