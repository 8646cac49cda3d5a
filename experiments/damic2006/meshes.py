"""Formulations and steps with which both cases are computed, and how finely."""

from __future__ import annotations

from dataclasses import dataclass

import pliant as pl

Formulation = pl.PoseElement | pl.GeometricallyExact | pl.Rigid

ELEMENTS = 10  # of a link, in the paper: two super elements of five
COUNTS = (5, 10, 20, 40)  # elements of a link


@dataclass(frozen=True)
class Choice:
    """A formulation with its integrator."""

    formulation: Formulation
    integrator: pl.Gauss


def of_paper(step: float) -> Choice:
    """Ten elements a link."""
    return Choice(pl.PoseElement(elements=ELEMENTS), pl.Gauss(order=2, step=step))


def ladder(step: float) -> dict[str, dict[int, Choice]]:
    """Meshes that are compared, by their kind and by elements of a link."""
    steps = pl.Gauss(order=2, step=step)
    return {"pose elements": {n: Choice(pl.PoseElement(elements=n), steps) for n in COUNTS}}


@dataclass(frozen=True)
class Effort:
    """What each run is given.

    Case 1 moves slowly, and the paper's step is 1 ms. In case 2 torques that jump send waves through stiff links.
    """

    two_links: Choice  # case 1, ten elements a link
    ladder_step: float  # s, of case 1 on several meshes
    spectral: Choice  # case 1, to check it: links that share no equation with the elements
    closed: Choice  # case 1, for the loop of the absolute reading, which spectral links do not carry
    rigid_arm: Choice  # case 2
    flexible_arm: Choice  # case 2, ten elements a link
    spectral_arm: Choice  # case 2, to check it


WHOLE = Effort(
    two_links=of_paper(1e-3),
    ladder_step=2e-3,
    spectral=Choice(pl.GeometricallyExact(degree=8, elements=2), pl.Gauss(order=6, step=1e-2)),
    closed=Choice(pl.PoseElement(elements=80), pl.Gauss(order=2, step=1.25e-3)),
    rigid_arm=Choice(pl.Rigid(), pl.Gauss(order=2, step=1e-4)),
    flexible_arm=of_paper(2e-5),
    spectral_arm=Choice(pl.GeometricallyExact(degree=6), pl.Gauss(order=4, step=2e-5)),
)
QUICK = Effort(
    two_links=of_paper(5e-3),
    ladder_step=5e-3,
    spectral=Choice(pl.GeometricallyExact(degree=6), pl.Gauss(order=4, step=2e-2)),
    closed=Choice(pl.PoseElement(elements=40), pl.Gauss(order=2, step=2.5e-3)),
    rigid_arm=WHOLE.rigid_arm,
    flexible_arm=of_paper(5e-5),
    spectral_arm=Choice(pl.GeometricallyExact(degree=5), pl.Gauss(order=4, step=5e-5)),
)
