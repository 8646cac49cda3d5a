"""A uniform Timoshenko beam, and what holds or loads its two ends.

Every end is described at one *point*, which an offset may place beyond the beam: on the axis of a hub, or in the
centre of mass of a body. With its deflection y and the rotation psi that it shares with the beam, the end of
the beam deflects by w = y + offset psi at the root and w = y - offset psi at the tip.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from math import inf, isfinite, pi, sqrt


@dataclass(frozen=True)
class TimoshenkoBeam:
    """A uniform beam bending in one plane: metre, kg/m, kg m, N m^2, N.

    Without rotary inertia and with an infinite shear stiffness it is the beam of Euler and Bernoulli.
    """

    length: float
    mass_per_length: float
    rotary_inertia_per_length: float
    bending_stiffness: float
    shear_stiffness: float

    def __post_init__(self) -> None:
        for name in ("length", "mass_per_length", "bending_stiffness"):
            value = getattr(self, name)
            if not (isfinite(value) and value > 0.0):
                raise ValueError(f"{name} of a beam is {value}, must be finite and positive")
        if not (isfinite(self.rotary_inertia_per_length) and self.rotary_inertia_per_length >= 0.0):
            value = self.rotary_inertia_per_length
            raise ValueError(
                f"rotary_inertia_per_length of a beam is {value} kg m, must be finite and not negative"
            )
        if not self.shear_stiffness > 0.0:
            raise ValueError(
                f"shear_stiffness of a beam is {self.shear_stiffness} N, must be positive or infinite"
            )

    @property
    def cut_off(self) -> float:
        """The frequency in hertz above which both kinds of waves travel; infinite without shear or rotary inertia."""
        if self.rotary_inertia_per_length == 0.0 or self.shear_stiffness == inf:
            return inf
        return sqrt(self.shear_stiffness / self.rotary_inertia_per_length) / (2.0 * pi)

    @property
    def mass(self) -> float:
        return self.mass_per_length * self.length


class Motion(Enum):
    """Whether the surroundings decide where a point goes, or which effort acts on it."""

    HELD = "held"
    FREE = "free"


@dataclass(frozen=True)
class BeamEnd:
    """What an end meets: each of deflection and rotation held or free, and bodies, springs and dampers to ground.

    Units: metre, kg, kg m^2, N/m, N m/rad, N s/m, N m s/rad. What sits on a held coordinate only adds to its reaction.
    """

    deflection: Motion
    rotation: Motion
    offset: float = 0.0
    mass: float = 0.0
    inertia: float = 0.0
    spring: float = 0.0
    torsion_spring: float = 0.0
    damper: float = 0.0
    torsion_damper: float = 0.0

    def __post_init__(self) -> None:
        if not isfinite(self.offset):
            raise ValueError(f"offset of a beam end is {self.offset} m, must be finite")
        for name in ("mass", "inertia", "spring", "torsion_spring", "damper", "torsion_damper"):
            value = getattr(self, name)
            if not (isfinite(value) and value >= 0.0):
                raise ValueError(f"{name} of a beam end is {value}, must be finite and not negative")

    @property
    def is_damped(self) -> bool:
        loose = (self.damper, self.deflection), (self.torsion_damper, self.rotation)
        return any(damper > 0.0 and motion is Motion.FREE for damper, motion in loose)


CLAMPED = BeamEnd(Motion.HELD, Motion.HELD)
PINNED = BeamEnd(Motion.HELD, Motion.FREE)
GUIDED = BeamEnd(Motion.FREE, Motion.HELD)
FREE = BeamEnd(Motion.FREE, Motion.FREE)


def hub(
    inertia: float, radius: float = 0.0, torsion_spring: float = 0.0, torsion_damper: float = 0.0
) -> BeamEnd:
    """A rigid hub that turns about a fixed axis, the beam clamped to its rim: inertia about the axis."""
    return BeamEnd(
        Motion.HELD,
        Motion.FREE,
        radius,
        inertia=inertia,
        torsion_spring=torsion_spring,
        torsion_damper=torsion_damper,
    )


def body(mass: float, inertia: float = 0.0, offset: float = 0.0) -> BeamEnd:
    """A rigid body at an otherwise free end: inertia about its centre of mass, which lies offset beyond the end."""
    return BeamEnd(Motion.FREE, Motion.FREE, offset, mass, inertia)
