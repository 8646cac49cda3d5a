"""What the frame does under gravity and under a pulse of torque: acceleration of its tip in time and its spectrum."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property

import numpy as np

import pliant as pl
from pliant.experiments.vidoni2018.frame import HINGE, START, Case, Models
from pliant.formulations.equivalent_rigid_link.elastic_body import Floats

RECORD = 2.0  # s, so that a spectrum has a line every 0.5 Hz
# not printed: a quarter of a newton metre to and fro, 40 ms each
TORQUE, HALF_PULSE = 0.25, 0.04
VISIBLE = 1e-3  # part of the largest that counts as a peak below 300 Hz
LOW = 300.0  # Hz
# above it, times the median of the lines around
ABOVE_MEDIAN, AROUND = 30.0, 1000


class Input(Enum):
    """What moves the frame, and how it starts."""

    UNDEFORMED = "gravity, undeformed start"
    BALANCED = "gravity, from static balance"
    TORQUE = "torque pulse, no gravity"

    @property
    def heavy(self) -> bool:
        return self is not Input.TORQUE


def pulse() -> pl.signals.SignalSum:
    """Torque on the hinge: forwards, backwards, none."""
    steps = ((TORQUE, 0.0), (-2.0 * TORQUE, HALF_PULSE), (TORQUE, 2.0 * HALF_PULSE))
    return pl.signals.SignalSum([pl.signals.Step(value, at) for value, at in steps])


@dataclass(frozen=True)
class Pace:
    """Steps of a simulation and of its record."""

    step: float
    every: int  # steps between two samples

    @property
    def sample(self) -> float:
        return self.step * self.every


QUICK, WHOLE = Pace(1e-4, 5), Pace(1e-5, 4)


@dataclass(frozen=True, eq=False)
class Response:
    """Samples of one run; the last of ``tip`` is one sample after the record."""

    run: pl.Trajectory
    pace: Pace
    warped: bool = True  # by the midpoint rule, which makes vibrations slower
    tip: Floats = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "tip", self.run.tip_position)

    @property
    def time(self) -> Floats:
        return np.asarray(self.run.time[1:-1])

    @cached_property
    def acceleration(self) -> Floats:
        """Of the tip along world z, by second differences."""
        z = self.tip[:, 2]
        return np.asarray((z[2:] - 2.0 * z[1:-1] + z[:-2]) / self.pace.sample**2)

    @cached_property
    def frequency(self) -> Floats:
        """Of the spectrum, in hertz: the midpoint rule turns w into 2 atan(w h / 2) / h, which is taken back."""
        seen = np.fft.rfftfreq(len(self.acceleration), self.pace.sample)
        h = self.pace.step
        return np.asarray(np.tan(np.pi * seen * h) / (np.pi * h) if self.warped else seen)

    @cached_property
    def amplitude(self) -> Floats:
        """Of the acceleration, with the window of Hann."""
        signal = self.acceleration - self.acceleration.mean()
        window = np.hanning(len(signal))
        return np.asarray(np.abs(np.fft.rfft(signal * window)) * 2.0 / window.sum())

    @cached_property
    def peaks(self) -> Floats:
        """Frequencies of all visible peaks."""
        a = self.amplitude
        top = np.flatnonzero((a[1:-1] > a[:-2]) & (a[1:-1] >= a[2:])) + 1
        low = top[self.frequency[top] < LOW]
        low = low[a[low] > VISIBLE * a[low].max()]
        high = top[self.frequency[top] >= LOW]
        median = np.array([np.median(block) for block in np.array_split(a, max(1, len(a) // AROUND))])
        block = np.minimum(high * len(median) // len(a), len(median) - 1)
        return np.asarray(self.frequency[np.r_[low, high[a[high] > ABOVE_MEDIAN * median[block]]]])

    def nearest_peak(self, frequency: float) -> float:
        return float(self.peaks[np.abs(self.peaks - frequency).argmin()])

    def largest(self, low: float, high: float) -> float:
        """Amplitude in a band."""
        return float(self.amplitude[(self.frequency >= low) & (self.frequency <= high)].max())

    def split(self, low: float, high: float) -> tuple[float, float]:
        """Lowest and highest visible peak of at least a tenth of the largest in a band."""
        least = 0.1 * self.largest(low, high)
        inside = [f for f in self.peaks if low <= f <= high and self.largest(f - 0.1, f + 0.1) > least]
        return (min(inside), max(inside)) if inside else (float("nan"), float("nan"))


def respond(arm: pl.Arm, given: Input, pace: Pace) -> Response:
    """Two seconds of a model."""
    start = balanced(arm) if given is Input.BALANCED else None
    model = pl.connect(arm, pl.JointTorque(HINGE, pulse())) if given is Input.TORQUE else arm
    return Response(_simulated(model, pl.Gauss(order=2, step=pace.step), pace, start), pace)


def exact_response(arm: pl.Arm, pace: Pace) -> Response:
    """The same of any model from its undeformed start, by steps of order four."""
    wide = Pace(1e-3 / round(1e-3 / pace.sample), 1)
    return Response(_simulated(arm, pl.Gauss(order=4, step=5e-4), wide, None), wide, warped=False)


def _simulated(model: pl.Model, integrator: pl.Gauss, pace: Pace, start: Floats | None) -> pl.Trajectory:
    count = round(RECORD / pace.sample)
    times = np.arange(count + 2) * pace.sample
    run = pl.simulate(model, until=float(times[-1]), integrator=integrator, initial=start, outputs=times)
    assert run.ending.completed, run.ending
    return run


def balanced(arm: pl.Arm) -> Floats:
    """At rest with the hinge held at 135 degrees."""
    held = pl.connect(arm, pl.PrescribedMotion(HINGE, pl.motions.Hold(float(START))))
    return np.asarray(pl.equilibrium(held).state)


def responses(models: Models, cases: Iterable[Case], given: Input, pace: Pace) -> dict[Case, Response]:
    """Of several models to one input."""
    return {case: respond(models.arm(case, given.heavy), given, pace) for case in cases}


def swing(models: Models) -> float:
    """Frequency (Hz) of the rigid frame swinging through 135 degrees to each side, by the closed form of a pendulum."""
    from scipy.special import ellipk

    link = models.arm(Case(4, 30, 6)).robot.links[0]
    assert isinstance(link, pl.ReducedLink)
    rigid = link.undeformed
    x, _, z = rigid.center_of_mass
    about_hinge = np.asarray(rigid.inertia)[1, 1] + rigid.mass * (x**2 + z**2)
    slow = np.sqrt(rigid.mass * 9.81 * np.hypot(x, z) / about_hinge)
    return float(slow / (4.0 * ellipk(np.sin(START / 2.0) ** 2)))
