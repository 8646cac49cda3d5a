"""Rigid bodies that ride on a link."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

from pliant.errors import Problem
from pliant.robot.declared import Choice, Declared, Name
from pliant.robot.quantity import Demand, MatrixLike, Quantity, Vector3


class End(StrEnum):
    """One of the two end sections of a link."""

    ROOT = "root"
    TIP = "tip"


@dataclass(frozen=True)
class Payload(Declared, word="payload"):
    """A rigid body fixed to an end section of a link; the mass may be 0 when an inertia is given."""

    name: Annotated[str, Name("name of the payload")]
    link: Annotated[str, Name("link that carries it")]
    mass: Annotated[float, Quantity("kg", "mass of the body", at_least=0)]
    center_of_mass: Annotated[
        Vector3, Quantity("m", "centre of mass (x, y, z) in the frame of that end section", shape=(3,))
    ] = (0.0, 0.0, 0.0)
    inertia: Annotated[
        MatrixLike,
        Quantity(
            "kg m^2",
            "inertia (3 values or 3x3) about the centre of mass, along the end section's axes,",
            shape=(3, 3),
            demand=Demand.RIGID_BODY_INERTIA,
        ),
    ] = (0.0, 0.0, 0.0)
    at: Annotated[End, Choice("end of the link that carries it", End)] = End.TIP

    def conflicts(self) -> Iterator[Problem]:
        if self.mass == 0 and not any(any(row) for row in self.inertia if isinstance(row, tuple)):
            yield Problem(
                "= 0 kg without inertia has no effect; write a mass in kilograms or an inertia", ("mass",)
            )
