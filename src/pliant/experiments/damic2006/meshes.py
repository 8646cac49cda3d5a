"""Formulations and steps with which both cases are computed, and how finely."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

import pliant as pl

Formulation = pl.Corotational | pl.PoseElement | pl.GeometricallyExact | pl.Rigid

PAPER = pl.Corotational(
    elements=10, axes=pl.corotational.Axes.FIRST_END, super_element=5
)  # ten elements a link, in two super elements of five
SHEARING = replace(PAPER, theory=pl.corotational.Beam.TIMOSHENKO)
COUNTS = (5, 10, 20, 40)  # elements of a link
THREE_DIGITS_BY = {"director mass": 20, "lumped mass": 40, "pose elements": 20}  # elements of a link


@dataclass(frozen=True)
class Choice:
    """A formulation with its integrator."""

    formulation: Formulation
    integrator: pl.Gauss


def stepped(formulation: Formulation, step: float) -> Choice:
    """With energy-exact steps of so many seconds."""
    return Choice(formulation, pl.Gauss(order=2, step=step))


def ladder(step: float, shown: tuple[int, ...]) -> dict[str, dict[int, Choice]]:
    """Meshes that are compared, by their kind and by elements of a link: at least those that give three digits."""
    kinds: dict[str, pl.Corotational | pl.PoseElement] = {
        "director mass": PAPER,
        "lumped mass": replace(PAPER, mass=pl.corotational.Mass.LUMPED),
        "pose elements": pl.PoseElement(),
    }
    counts = {kind: sorted({*shown, THREE_DIGITS_BY[kind]}) for kind in kinds}
    return {kind: {n: stepped(replace(each, elements=n), step) for n in counts[kind]} for kind, each in kinds.items()}


class Links(StrEnum):
    """Of what the arm of case 2 is made."""

    RIGID = "rigid links"
    BENDING = "ten elements"  # the paper's
    SHEARING = "ten shearing elements"
    SPECTRAL = "spectral links"  # to check the elements: they share no equation with them


def arms(step: float, spectral: Choice) -> Mapping[Links, Choice]:
    return {
        Links.RIGID: stepped(pl.Rigid(), 1e-4),
        Links.BENDING: stepped(PAPER, step),
        Links.SHEARING: stepped(SHEARING, step),
        Links.SPECTRAL: spectral,
    }


@dataclass(frozen=True)
class Effort:
    """What each run is given.

    Case 1 moves slowly, and the paper's step is 1 ms. In case 2 torques that jump send waves through stiff links.
    """

    two_links: Choice  # case 1, ten elements a link
    ladder_step: float  # s, of case 1 on several meshes
    counts: tuple[int, ...]  # elements of a link on them
    spectral: Choice  # case 1, to check it: links that share no equation with the elements
    closed: Choice  # case 1, for the loop of the absolute reading, which spectral links do not carry
    arms: Mapping[Links, Choice]  # case 2
    heavy: tuple[Links, ...]  # case 2, under gravity too


WHOLE = Effort(
    two_links=stepped(PAPER, 1e-3),
    ladder_step=2e-3,
    counts=COUNTS,
    spectral=Choice(pl.GeometricallyExact(degree=8, elements=2), pl.Gauss(order=6, step=1e-2)),
    closed=stepped(pl.PoseElement(elements=80), 1.25e-3),
    arms=arms(2e-5, Choice(pl.GeometricallyExact(degree=6), pl.Gauss(order=4, step=2e-5))),
    heavy=tuple(Links),
)
QUICK = Effort(
    two_links=stepped(PAPER, 5e-3),
    ladder_step=5e-3,
    counts=(10,),
    spectral=Choice(pl.GeometricallyExact(degree=6), pl.Gauss(order=4, step=2e-2)),
    closed=stepped(pl.PoseElement(elements=40), 2.5e-3),
    arms=arms(1e-4, Choice(pl.GeometricallyExact(degree=5), pl.Gauss(order=4, step=5e-5))),
    heavy=(Links.RIGID, Links.BENDING),
)
