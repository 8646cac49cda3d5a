"""What a joint coordinate obeys by itself: springs, viscous damping, dry friction, stops."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

from pliant.errors import Problem
from pliant.robot.axes import ALONG_X, IDENTITY, ORIGIN
from pliant.robot.declared import Declared, MatrixLike, Part, Quantity, Quaternion, Vector3

STIFFNESS = "N m/rad or N/m"
DAMPING = "N m s/rad or N s/m"


@dataclass(frozen=True)
class JointSpring(Declared, word="spring"):
    """effort = -stiffness (position - rest_position)."""

    stiffness: Annotated[float, Quantity(STIFFNESS, "stiffness of the spring", above=0)]
    rest_position: Annotated[float, Quantity("rad or m", "position without spring effort")] = 0.0


@dataclass(frozen=True)
class Friction(Declared, word="friction"):
    """Dry friction against the rate v, smooth through zero and with a static peak.

    effort = -(coulomb + (static - coulomb) exp(-(v / stribeck_rate)^2)) tanh(v / smoothing_rate)
    """

    coulomb: Annotated[float, Quantity("N m or N", "friction effort while moving", at_least=0)]
    static: Annotated[
        float | None, Quantity("N m or N", "friction effort at the onset of motion (without it: coulomb)", at_least=0)
    ] = None
    stribeck_rate: Annotated[float, Quantity("rad/s or m/s", "rate over which the static peak decays", above=0)] = 0.1
    smoothing_rate: Annotated[
        float, Quantity("rad/s or m/s", "rate within which the effort changes its sign", above=0)
    ] = 1e-3

    def conflicts(self) -> Iterator[Problem]:
        if self.static is not None and self.static < self.coulomb:
            yield Problem(
                f"= {self.static:g} N m or N must be at least coulomb = {self.coulomb:g};"
                " write the friction effort at the onset of motion, or remove it",
                ("static",),
            )

    @property
    def breakaway(self) -> float:
        """The friction effort at the onset of motion."""
        return self.coulomb if self.static is None else self.static

    @property
    def row(self) -> tuple[float, float, float, float]:
        """Coulomb and static effort, Stribeck rate and smoothing rate."""
        return self.coulomb, self.breakaway, self.stribeck_rate, self.smoothing_rate


@dataclass(frozen=True)
class Limits(Declared, word="limits"):
    """Stops: one-sided springs with damping beyond ``lower`` and ``upper``, that push and never pull."""

    lower: Annotated[float, Quantity("rad or m", "position of the lower stop")]
    upper: Annotated[float, Quantity("rad or m", "position of the upper stop")]
    stiffness: Annotated[float, Quantity(STIFFNESS, "stiffness of the stops", above=0)]
    damping: Annotated[float, Quantity(DAMPING, "damping of the stops", at_least=0)] = 0.0

    def conflicts(self) -> Iterator[Problem]:
        if self.lower >= self.upper:
            yield Problem(
                f"= {self.lower:g} rad or m must be less than upper = {self.upper:g}; exchange or correct them",
                ("lower",),
            )

    @property
    def row(self) -> tuple[float, float, float, float]:
        """Lower and upper position, stiffness and damping."""
        return self.lower, self.upper, self.stiffness, self.damping


@dataclass(frozen=True)
class Coordinate(Declared, word="coordinate"):
    """One scalar coordinate of a joint: where it starts and what it obeys."""

    initial_position: Annotated[float, Quantity("rad or m", "position at the start")] = 0.0
    initial_rate: Annotated[float, Quantity("rad/s or m/s", "rate at the start")] = 0.0
    spring: Annotated[JointSpring | None, Part("spring of the coordinate")] = None
    damping: Annotated[float, Quantity(DAMPING, "viscous damping of the coordinate", at_least=0)] = 0.0
    friction: Annotated[Friction | None, Part("dry friction of the coordinate")] = None
    limits: Annotated[Limits | None, Part("stops of the coordinate")] = None

    @property
    def obeys_nothing(self) -> bool:
        """Whether the coordinate moves freely: no spring, damping, friction or stop."""
        return not (self.spring or self.damping or self.friction or self.limits)


FREELY = Coordinate()
RestRotation = Annotated[Quaternion, Quantity.quaternion("from the child's root frame to the joint frame at rest")]


@dataclass(frozen=True)
class BallSpring(Declared, word="ball_spring"):
    """torque = -stiffness times the rotation vector of the child against its rest rotation."""

    stiffness: Annotated[float, Quantity("N m/rad", "stiffness of the spring", above=0)]
    rest_rotation: RestRotation = IDENTITY


WrenchStiffness = Annotated[
    MatrixLike, Quantity.matrix("N/m, N/rad, N m/rad", "wrench (6 values or 6x6) per displacement")
]


@dataclass(frozen=True)
class FreeSpring(Declared, word="free_spring"):
    """wrench = -stiffness e  with the displacement e = log(rest pose^-1 child), three lengths and then three angles."""

    stiffness: WrenchStiffness
    rest_position: Annotated[
        Vector3, Quantity.vector("m", "origin of the child's root frame in the joint frame at rest")
    ] = ORIGIN
    rest_rotation: RestRotation = IDENTITY

    def conflicts(self) -> Iterator[Problem]:
        if not any(entry for row in self.stiffness if isinstance(row, tuple) for entry in row):
            yield Problem("= 0 has no effect; write a stiffness in N/m and N m/rad", ("stiffness",))


@dataclass(frozen=True)
class Box(Declared, word="box"):
    """Stops for a free joint: the child's root stays within a box along the axes of the joint frame."""

    lower: Annotated[Vector3, Quantity.vector("m", "lower corner (x, y, z) of the box in the joint frame")]
    upper: Annotated[Vector3, Quantity.vector("m", "upper corner (x, y, z) of the box in the joint frame")]
    stiffness: Annotated[float, Quantity("N/m", "stiffness of the walls", above=0)]
    damping: Annotated[float, Quantity("N s/m", "damping of the walls", at_least=0)] = 0.0

    def conflicts(self) -> Iterator[Problem]:
        for k, (lower, upper) in enumerate(zip(self.lower, self.upper)):
            if lower >= upper:
                yield Problem(
                    f"= {lower:g} m must be less than upper = {upper:g}; exchange or correct them", ("lower", k)
                )


@dataclass(frozen=True)
class Cone(Declared, word="cone"):
    """A stop for a ball or free joint: an axis of the child stays within a cone about the same axis of the parent."""

    half_angle: Annotated[
        float, Quantity("rad", "angle between the axes at which the stop begins", above=0, below=math.pi)
    ]
    stiffness: Annotated[float, Quantity("N m/rad", "stiffness of the stop", above=0)]
    damping: Annotated[float, Quantity("N m s/rad", "damping of the stop", at_least=0)] = 0.0
    axis: Annotated[Vector3, Quantity.direction("axis of the cone in the joint frame")] = ALONG_X
