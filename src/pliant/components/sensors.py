"""Sensors: what a controller reads in place of the truth.

Noise of a normal distribution is added, the sum is rounded to the nearest multiple of the resolution and then cut to
the limit. A resolution or noise of 0 and a missing limit leave the truth as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Annotated, Protocol, runtime_checkable

import numpy as np

from pliant.components.fields import nearest
from pliant.components.motions import POSITION_UNIT, RATE_UNIT
from pliant.errors import InvalidInput, Problem
from pliant.model.contract import Arm
from pliant.model.sampling import Sample, rounded
from pliant.model.state import Array, Observation
from pliant.robot import Across, FlexibleLink, RigidLink
from pliant.robot.declared import Choice, Declared, Name, Quantity

__all__ = ["DeflectionSensor", "Encoder", "Sensor", "StrainGauge", "Tachometer"]

FINEST = 64  # most parts of a link at whose ends a gauge may sit
CURVATURE_UNIT = "1/m"

Noise = np.random.Generator
Reader = Callable[[Sample, Noise], float]


@runtime_checkable
class Sensor(Protocol):
    """What reads one number of an arm."""

    def reader(self, arm: Arm) -> Reader:
        """The reading of a sample, with noise from a source; refused where the arm has no such place."""


class Instrument(Declared):
    """A sensor with noise, a resolution and perhaps a limit."""

    noise: float
    resolution: float
    limit: float | None = None

    def read(self, truth: Array, source: Noise) -> Array:
        """The truth as a sensor gives it."""
        seen = truth + self.noise * source.standard_normal(np.shape(truth)) if self.noise > 0.0 else truth
        seen = rounded(seen, self.resolution) if self.resolution > 0.0 else seen
        return seen if self.limit is None else np.clip(seen, -self.limit, self.limit)


@dataclass(frozen=True)
class Encoder(Instrument):
    """Joint positions as a controller reads them, counted at the joint."""

    resolution: Annotated[float, Quantity(POSITION_UNIT, "position between two counts", at_least=0)] = 0.0
    noise: Annotated[float, Quantity(POSITION_UNIT, "standard deviation of the noise", at_least=0)] = 0.0


@dataclass(frozen=True)
class Tachometer(Instrument):
    """Joint rates as a controller or a servo reads them, counted at the joint."""

    resolution: Annotated[float, Quantity(RATE_UNIT, "rate between two readings", at_least=0)] = 0.0
    noise: Annotated[float, Quantity(RATE_UNIT, "standard deviation of the noise", at_least=0)] = 0.0
    limit: Annotated[float | None, Quantity(RATE_UNIT, "largest reading", above=0)] = None


@dataclass(frozen=True)
class StrainGauge(Instrument):
    """The curvature of a flexible link about one of its section axes, measured from its rest shape.

    A gauge on the surface stretches by this curvature times its distance from the axis of the link. ``station`` is a
    share of the length, 0 at the root and 1 at the tip, that is a fraction of two whole numbers up to 64, such as 0.05.
    """

    link: Annotated[str, Name("name of the flexible link")]
    about: Annotated[Across, Choice("section axis about which the curvature is read")] = Across.Z
    station: Annotated[float, Quantity("1", "place of the gauge as a share of the length", at_least=0, at_most=1)] = 0.0
    resolution: Annotated[float, Quantity(CURVATURE_UNIT, "curvature between two readings", at_least=0)] = 0.0
    noise: Annotated[float, Quantity(CURVATURE_UNIT, "standard deviation of the noise", at_least=0)] = 0.0
    limit: Annotated[float | None, Quantity(CURVATURE_UNIT, "largest reading", above=0)] = None

    def conflicts(self) -> Iterator[Problem]:
        if abs(float(self._share) - self.station) > 1e-9:
            yield Problem(
                f"= {self.station:g} is no fraction of whole numbers up to {FINEST};"
                f" write {float(self._share):.12g} ({self._share}) or another share",
                ("station",),
            )

    @property
    def _share(self) -> Fraction:
        return Fraction(self.station).limit_denominator(FINEST)

    def reader(self, arm: Arm) -> Reader:
        refuse_link("StrainGauge", arm, self.link)
        place, parts = self._share.numerator, self._share.denominator
        return partial(self._reading, parts, place, 4 if self.about is Across.Y else 5)

    def _reading(self, parts: int, place: int, component: int, sample: Sample, source: Noise) -> float:
        truth = sample.observation(parts + 1).link(self.link).strain[0, place, component]
        return float(self.read(truth, source))


@dataclass(frozen=True)
class DeflectionSensor(Instrument):
    """How far the tip of a flexible link stands off its place at rest, along an axis of the section at its root."""

    link: Annotated[str, Name("name of the flexible link")]
    along: Annotated[Across, Choice("section axis of the root along which the tip is seen")] = Across.Y
    resolution: Annotated[float, Quantity("m", "deflection between two readings", at_least=0)] = 0.0
    noise: Annotated[float, Quantity("m", "standard deviation of the noise", at_least=0)] = 0.0
    limit: Annotated[float | None, Quantity("m", "largest reading", above=0)] = None

    def reader(self, arm: Arm) -> Reader:
        refuse_link("DeflectionSensor", arm, self.link)
        return partial(self._reading, self._offset(arm.observe(arm.undeformed(np.zeros((1, len(arm.joint_names)))), 2)))

    def _offset(self, observation: Observation) -> float:
        link, axis = observation.link(self.link), 1 if self.along is Across.Y else 2
        return float((link.position[0, -1] - link.position[0, 0]) @ link.rotation[0, 0, :, axis])

    def _reading(self, rest: float, sample: Sample, source: Noise) -> float:
        truth = np.asarray(self._offset(sample.observation(2)) - rest)
        return float(self.read(truth, source))


def refuse_link(label: str, arm: Arm, link: str) -> None:
    """Refuse a sensor on a link that the arm does not have or that cannot bend."""
    flexible = [each.name for each in arm.robot.links if isinstance(each, FlexibleLink)]
    if link in flexible:
        return
    if link in (each.name for each in arm.robot.links):
        rigid = isinstance(arm.robot.link(link), RigidLink)
        why = "is rigid and does not bend" if rigid else "has no sections that bend"
        raise InvalidInput(f"{label}: link '{link}' {why}; {nearest(link, flexible)}")
    raise InvalidInput(f"{label}: the arm has no flexible link '{link}'; {nearest(link, flexible)}")
