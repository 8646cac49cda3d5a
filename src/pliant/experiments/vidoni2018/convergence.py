"""How resonance frequencies of the hinged frame depend on the number of modes and of elements."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import pliant as pl
from pliant.experiments.vidoni2018.frame import (
    SQUARE_TORSION,
    TORSION,
    WEIGHTLESS,
    Case,
    Models,
    elastic_frame,
    hinged_frequencies,
    two_links,
)
from pliant.formulations.equivalent_rigid_link.component_modes import Nodal
from pliant.formulations.equivalent_rigid_link.elastic_body import ElasticBody, Floats
from pliant.formulations.equivalent_rigid_link.elements import BeamElement, MassMatrix

MODES = tuple(range(7, 31))
PER_ROD = (1, 2, 4, 8, 16)
SHOWN = 8  # vibrations
FINE = 24  # elements of a rod where the beam has converged
TRUE_BEAM = "Euler-Bernoulli, consistent mass"
KINDS = {
    "element of Table II": (BeamElement.LINEAR, MassMatrix.LUMPED, TORSION),
    TRUE_BEAM: (BeamElement.EULER_BERNOULLI, MassMatrix.CONSISTENT, SQUARE_TORSION),
}


@dataclass(frozen=True, eq=False)
class Convergence:
    """Frequencies in hertz; those that a model does not have are not a number."""

    modes: Floats  # (modes, SHOWN) of four elements with 7 to 30 free modes
    elements: dict[str, Floats]  # (PER_ROD, SHOWN) by the kind of element
    beam: Floats  # (SHOWN,) converged
    free_beam: Floats  # (6,) converged, free in space: modes 7 to 12 of Table II
    two_links: float  # largest relative difference of the frame as two links with a fixed joint between them

    @property
    def largest_rise(self) -> float:
        """Of any frequency when a mode is added, relative: nested spaces of shapes let none rise."""
        return float(np.nanmax(self.modes[1:] / self.modes[:-1] - 1.0))


def converge(models: Models) -> Convergence:
    """All of it by small eigenvalue problems."""
    truncated = np.full((len(MODES), SHOWN), np.nan)
    for i, count in enumerate(MODES):
        found = hinged_frequencies(models.arm(Case(4, 30, count), heavy=False))[1 : SHOWN + 1]
        truncated[i, : len(found)] = found
    by_element = {}
    for name, kind in KINDS.items():
        by_element[name] = np.array([hinged(elastic_frame(count, *kind))[1 : SHOWN + 1] for count in PER_ROD])
    fine = elastic_frame(FINE, *KINDS[TRUE_BEAM])
    arm = pl.EquivalentRigidLink(elements=2, basis=Nodal(), element=BeamElement.LINEAR, mass=MassMatrix.LUMPED).compile(
        two_links(WEIGHTLESS)
    )
    one = hinged_frequencies(models.arm(Case(4, 30, 30), heavy=False))[1:]
    apart = np.abs(hinged_frequencies(arm)[1:] / one - 1.0).max()
    return Convergence(
        truncated, by_element, hinged(fine)[1 : SHOWN + 1], _frequencies(fine, range(0))[6:12], float(apart)
    )


def hinged(body: ElasticBody) -> Floats:
    """Frequencies in hertz with five degrees of freedom of the base held."""
    return _frequencies(body, [0, 1, 2, 3, 5])


def _frequencies(body: ElasticBody, held: range | list[int]) -> Floats:
    from scipy.linalg import eigh

    kept = np.setdiff1d(np.arange(body.size), body.frames[0].dofs[list(held)])
    K, M = np.asarray(body.stiffness), body.mass.toarray()
    squares = eigh(K[np.ix_(kept, kept)], M[np.ix_(kept, kept)], eigvals_only=True)
    return np.asarray(np.sqrt(np.maximum(squares, 0.0)) / (2.0 * np.pi))
