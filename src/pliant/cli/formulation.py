"""Which formulation the words on the command line mean."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

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
    LUMPED = "lumped"
    RIGID = "rigid"


WITH_DEGREE = (Formulation.GEOMETRICALLY_EXACT, Formulation.PSEUDO_SPECTRAL)
WITHOUT_ELEMENTS = (Formulation.PSEUDO_SPECTRAL, Formulation.RIGID)

FormulationOption = Annotated[Formulation, typer.Option(help="How links are modelled.")]
DegreeOption = Annotated[
    int | None, typer.Option(help="Polynomial degree; if not given that of the formulation.")
]
ElementsOption = Annotated[
    int | None,
    typer.Option(help="Elements or fields per flexible link; if not given those of the formulation."),
]
PointMassesOption = Annotated[
    bool, typer.Option("--point-masses", help="Neglect the inertia of the stations of lumped links.")
]


def compiled(
    robot: Robot,
    formulation: Formulation,
    degree: int | None,
    elements: int | None,
    point_masses: bool = False,
) -> Model:
    """The robot by the formulation, whose own choices stand where none is given."""
    from pliant.formulations.geometrically_exact import GeometricallyExact, MixedElement, PoseElement
    from pliant.formulations.lumped import Lumped, Rigid, StationInertia
    from pliant.formulations.pseudo_spectral import PseudoSpectral

    for option, value, known in (
        ("--degree", degree, formulation in WITH_DEGREE),
        ("--elements", elements, formulation not in WITHOUT_ELEMENTS),
    ):
        if value is not None and not known:
            raise InvalidInput(
                f"{option} {value} has no meaning for the formulation {formulation.value}; leave it out"
            )
    if point_masses and formulation is not Formulation.LUMPED:
        raise InvalidInput(
            f"--point-masses has no meaning for the formulation {formulation.value}; leave it out, or write"
            f" --formulation {Formulation.LUMPED.value}"
        )
    count = "fields" if formulation is Formulation.LUMPED else "elements"
    inertia = StationInertia.NEGLECTED if point_masses else None
    chosen = (("degree", degree), (count, elements), ("station_inertia", inertia))
    given = {name: value for name, value in chosen if value is not None}
    doors: dict[Formulation, Callable[..., Any]] = {
        Formulation.GEOMETRICALLY_EXACT: GeometricallyExact,
        Formulation.POSE_ELEMENT: PoseElement,
        Formulation.MIXED_ELEMENT: MixedElement,
        Formulation.PSEUDO_SPECTRAL: PseudoSpectral,
        Formulation.LUMPED: Lumped,
        Formulation.RIGID: Rigid,
    }
    arm: Model = doors[formulation](**given).compile(robot)
    return arm
