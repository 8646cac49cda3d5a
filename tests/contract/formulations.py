"""The formulations that the contract suite runs over, and the arms it compiles: a new formulation is one more line."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import Protocol

import pytest

import pliant as pl
from pliant.model.contract import Arm, Equilibrium
from tests.support.arms import SLOW, soft_link


class Formulation(Protocol):
    def compile(self, robot: pl.Robot) -> Arm: ...


@dataclass(frozen=True)
class Kind:
    """A formulation, and what it cannot do that others can."""

    formulation: Formulation
    bends: bool = True  # its links bend

    def __str__(self) -> str:
        inertia = getattr(self.formulation, "station_inertia", None)
        points = " of point masses" if inertia is pl.lumped.StationInertia.NEGLECTED else ""
        return type(self.formulation).__name__ + points


KINDS = (
    Kind(pl.GeometricallyExact(degree=3)),
    Kind(pl.MixedElement(elements=3)),
    Kind(pl.PoseElement(elements=3)),
    Kind(pl.Corotational(elements=3)),
    Kind(pl.PseudoSpectral(degree=4)),
    Kind(pl.Lumped(fields=2)),
    Kind(pl.EquivalentRigidLink(elements=2, basis=pl.equivalent_rigid_link.Nodal())),
    Kind(pl.Rigid(), bends=False),
)
# links whose masses turn without inertia: a hinge that carries nothing else needs a rotor
POINT_MASSES = Kind(pl.Lumped(fields=1, station_inertia=pl.lumped.StationInertia.NEGLECTED))
every_formulation = pytest.mark.parametrize("kind", KINDS, ids=str)

LENGTH, START, RATE = 0.8, 0.4, 0.6
# a link that swings about the upright axis of the base and sags out of its plane: every formulation carries it
SWING = pl.Robot(
    "swing",
    (soft_link("link", LENGTH, SLOW),),
    (pl.RevoluteJoint("hinge", "base", "link", initial_position=START, initial_rate=RATE),),
    gravity=(0.0, 0.0, -9.81),
)
HELD = pl.JointPD(pl.motions.Hold(START), stiffness=30.0, damping=0.5)
GAUSS = pl.Gauss(order=2, step=1e-3)


@cache
def swing(kind: Kind) -> Arm:
    return kind.formulation.compile(SWING)


@cache
def held(kind: Kind) -> Arm:
    """Under a spring and damper of feedback, so that it has an equilibrium."""
    return pl.connect(swing(kind), HELD)


@cache
def weightless(kind: Kind) -> Arm:
    """The same without gravity, whose links are straight at rest: no error of the mesh hides others."""
    return pl.connect(kind.formulation.compile(replace(SWING, gravity=(0.0, 0.0, 0.0))), HELD)


@cache
def run_of(kind: Kind) -> pl.Trajectory:
    """A short run of every step, which tests only read."""
    return pl.simulate(held(kind), 0.03, GAUSS)


@cache
def rest_of(kind: Kind) -> Equilibrium:
    return pl.equilibrium(held(kind))
