"""Which formulation the words on the command line mean."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from pliant.errors import InvalidInput

if TYPE_CHECKING:
    from pliant.model.contract import Model
    from pliant.robot import Robot


class Formulation(StrEnum):
    """The rooms, by the names of their doors."""

    GEOMETRICALLY_EXACT = "geometrically-exact"
    POSE_ELEMENT = "pose-element"
    MIXED_ELEMENT = "mixed-element"
    PSEUDO_SPECTRAL = "pseudo-spectral"


WITHOUT_DEGREE = (Formulation.POSE_ELEMENT, Formulation.MIXED_ELEMENT)
WITHOUT_ELEMENTS = (Formulation.PSEUDO_SPECTRAL,)

FormulationOption = Annotated[Formulation, typer.Option(help="How links are modelled.")]
DegreeOption = Annotated[
    int | None, typer.Option(help="Polynomial degree; if not given that of the formulation.")
]
ElementsOption = Annotated[
    int | None, typer.Option(help="Elements per flexible link; if not given those of the formulation.")
]


def compiled(robot: Robot, formulation: Formulation, degree: int | None, elements: int | None) -> Model:
    """The robot by the formulation, whose own choices stand where none is given."""
    from pliant.formulations.geometrically_exact import GeometricallyExact, MixedElement, PoseElement
    from pliant.formulations.pseudo_spectral import PseudoSpectral

    for option, value, without in (
        ("--degree", degree, WITHOUT_DEGREE),
        ("--elements", elements, WITHOUT_ELEMENTS),
    ):
        if value is not None and formulation in without:
            raise InvalidInput(
                f"{option} {value} has no meaning for the formulation {formulation.value}; leave it out"
            )
    given = {name: value for name, value in (("degree", degree), ("elements", elements)) if value is not None}
    doors = {
        Formulation.GEOMETRICALLY_EXACT: GeometricallyExact,
        Formulation.POSE_ELEMENT: PoseElement,
        Formulation.MIXED_ELEMENT: MixedElement,
        Formulation.PSEUDO_SPECTRAL: PseudoSpectral,
    }
    arm: Model = doors[formulation](**given).compile(robot)
    return arm
