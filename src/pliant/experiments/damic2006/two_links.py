"""Case 1: two links of 8 m whose angles are prescribed, (21) and (22), for 20 s.

(19) and (20) make the angle of the outer link one against the tip section of the inner link: the relative reading.
Read as absolute, a drive between the base and the outer link holds the first section of that link at the angle (22).
The elbow is then a hinge that passes no moment: the outer link translates and rotates in the plane of the base, its
rotation is prescribed, and a loop joint pins it to the inner link.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from math import pi

import numpy as np

import pliant as pl
from pliant.experiments.damic2006.deflection import Shadow, from_root_section, largest
from pliant.experiments.damic2006.meshes import Choice, Formulation
from pliant.model.state import Array, LinkObservation

DURATION, RAMP, RATE = 20.0, 10.0, 1.0  # s, s, rad/s
LENGTH = 8.0  # m, of each link
INNER = pl.motions.Cycloid(start=pi / 2, end=0.0, duration=RAMP)  # (21)
OUTER = pl.motions.SmoothStart(rate=RATE, duration=RAMP)  # (22)
OUTPUTS = np.linspace(0.0, DURATION, 4001)


class Reading(StrEnum):
    """What the angle of the outer link is counted from."""

    RELATIVE = "relative"  # the tip section of the inner link
    ABSOLUTE = "absolute"  # the base


@dataclass(frozen=True, eq=False)
class Seen:
    """A run with its deflections across the links, m: inner link from its root section, outer link by shadow."""

    model: pl.Arm
    run: pl.Trajectory
    links: tuple[LinkObservation, LinkObservation]
    inner: Array
    outer: dict[Shadow, Array]

    @property
    def time(self) -> Array:
        return self.run.time

    @property
    def tip(self) -> Array:
        return self.run.tip_position

    @property
    def largest(self) -> tuple[float, ...]:
        """Of the inner link, then of the outer one by shadow."""
        return largest(self.inner), *map(largest, self.outer.values())


def robot(reading: Reading) -> pl.Robot:
    given = pl.load(pl.library.path("damic_two_link"))
    if reading is Reading.RELATIVE:
        return given
    shoulder, elbow = given.joints
    height = pl.joints.Coordinate(initial_position=LENGTH)  # the inner link stands upright, (21) at t = 0
    guide = pl.joints.PlanarJoint(name=elbow.name, parent="base", child=elbow.child, second_slide=height)
    hinge = pl.joints.LoopJoint(
        name="hinge",
        kind=pl.joints.LoopKind.REVOLUTE,
        first=pl.At(elbow.parent),
        second=pl.At(elbow.child, end=pl.End.ROOT),
    )
    return replace(given, joints=(shoulder, guide), loops=(hinge,))


def driven(formulation: Formulation, reading: Reading) -> pl.Arm:
    """The arm on its two prescribed motions."""
    arm = formulation.compile(robot(reading))
    turned = "elbow" if reading is Reading.RELATIVE else "elbow.turn"
    drives = pl.PrescribedMotion("shoulder", INNER), pl.PrescribedMotion(turned, OUTER)
    return pl.connect(arm, *drives)


def simulated(choice: Choice, reading: Reading) -> Seen:
    model = driven(choice.formulation, reading)
    run = pl.simulate(model, DURATION, choice.integrator, outputs=OUTPUTS)
    inner, outer = model.observe(run.states, stations=2).links
    first, second = INNER.evaluate(run.time)[0], OUTER.evaluate(run.time)[0]
    axis = _along(first + second if reading is Reading.RELATIVE else second)
    elbow = LENGTH * _along(first)
    tip = outer.position[:, -1]
    seen = {
        Shadow.ROOT_SECTION: from_root_section(outer)[:, 1],
        Shadow.MOVED_ELBOW: _across(axis, tip - inner.position[:, -1]),
        Shadow.RIGID_ARM: _across(axis, tip - elbow - LENGTH * axis),
    }
    return Seen(model, run, (inner, outer), from_root_section(inner)[:, 1], seen)


def _along(angle: Array) -> Array:
    return np.stack([np.cos(angle), np.sin(angle), np.zeros(len(angle))], axis=1)


def _across(axis: Array, displacement: Array) -> Array:
    """The part of a displacement in the plane that is normal to an axis, positive to its left."""
    return np.asarray(axis[:, 0] * displacement[:, 1] - axis[:, 1] * displacement[:, 0])
