"""Velocity servos as plain data, and their law.

A servo turns the commanded rate of one joint into torque every ``period`` and holds it [konno1996] (47),

    torque = gain (command - rate) ,

with the command after its converter and the rate as the sensor gives it: rounded to multiples of its resolution, then
cut to its limit. Every number is counted at the joint: gain = ratio^2 K_sp K_sv in the letters of the paper.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

import numpy as np

from pliant.model.layout import Array


@dataclass(frozen=True)
class ServoPlace:
    """A velocity servo on a joint coordinate; limits of inf and resolutions and noise of 0 stand for none.

    It reads the rate of the rotor, counted at the joint, where an elastic gear lies between, else that of the joint.
    """

    joint: str
    gain: float
    period: float
    command_limit: float = inf
    command_resolution: float = 0.0
    rate_limit: float = inf
    rate_resolution: float = 0.0
    rate_noise: float = 0.0
    torque_limit: float = inf
    seed: int = 0


def noise_source(seed: int, name: str) -> np.random.Generator:
    """Random numbers that depend on the seed and on who draws them, so that no two readers share their noise."""
    return np.random.default_rng([seed, *name.encode()])


def rounded(values: Array, resolution: Array | float) -> Array:
    """The nearest multiples of the resolution, even ones at ties; the values themselves where it is 0."""
    step = np.asarray(resolution, dtype=np.float64)
    if not step.any():
        return values
    safe = np.where(step > 0.0, step, 1.0)
    nearest: Array = np.where(step > 0.0, step * np.rint(values / safe), values)
    return nearest


class ServoGroup:
    """Servos of one period during a run, and the torques they hold."""

    def __init__(self, servos: Sequence[ServoPlace], joints: tuple[str, ...]) -> None:
        def column(field: str) -> Array:
            return np.array([getattr(servo, field) for servo in servos], dtype=np.float64)

        self.places = [joints.index(servo.joint) for servo in servos]
        self.gain, self.torque_limit = column("gain"), column("torque_limit")
        self.command_limit, self.command_resolution = column("command_limit"), column("command_resolution")
        self.rate_limit, self.rate_resolution = column("rate_limit"), column("rate_resolution")
        self.noise = column("rate_noise")
        self.sources = [noise_source(servo.seed, f"servo of {servo.joint}") for servo in servos]
        self.torque = np.zeros(len(servos))

    def act(self, commands: Array, rates: Array) -> None:
        """Hold new torques, from the commands and rates of all joints."""
        command, rate = commands[self.places], rates[self.places]
        if self.noise.any():
            rate = rate + self.noise * [source.standard_normal() for source in self.sources]
        command = np.clip(rounded(command, self.command_resolution), -self.command_limit, self.command_limit)
        rate = np.clip(rounded(rate, self.rate_resolution), -self.rate_limit, self.rate_limit)
        self.torque = np.clip(self.gain * (command - rate), -self.torque_limit, self.torque_limit)
