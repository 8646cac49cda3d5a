"""Does the structure hold, and if not, by how much and where?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pliant.model.layout import Array
from pliant.model.linear.port_hamiltonian import LinearPortHamiltonian
from pliant.model.linear.relation import symmetric_part

ROUND_OFF = 1e-12


@dataclass(frozen=True)
class Finding:
    """One demand, the amount by which it is missed, as a part of the largest number that enters, and the place."""

    demand: str
    amount: float
    place: str

    def __str__(self) -> str:
        return f"{self.demand}: missed by {self.amount:.1e}" + (
            f" at {self.place}" if self.amount > 0.0 else ""
        )


@dataclass(frozen=True)
class StructureReport:
    """What was found about each demand on a port-Hamiltonian system, and the amount that counts as round-off."""

    findings: tuple[Finding, ...]
    tolerance: float

    @property
    def holds(self) -> bool:
        return not self.missed

    @property
    def missed(self) -> tuple[Finding, ...]:
        return tuple(finding for finding in self.findings if finding.amount > self.tolerance)

    @property
    def worst(self) -> Finding:
        return max(self.findings, key=lambda finding: finding.amount)

    def __str__(self) -> str:
        head = "port-Hamiltonian" if self.holds else "not port-Hamiltonian"
        return "\n".join(
            [f"{head} (tolerance {self.tolerance:.0e})", *(f"  {each}" for each in self.findings)]
        )


def check_structure(system: LinearPortHamiltonian, tolerance: float = ROUND_OFF) -> StructureReport:
    """How far J is from skew, and [[R, P], [P^T, sym D]] and Q^T E from symmetric and semidefinite.

    Amounts do not depend on units: matrices are scaled first so that their diagonals, or the rates that they stand
    for, are comparable.
    """
    energy = system.Q.T @ system.E
    size = _sizes(energy)
    inputs = system.state_space().inputs
    return StructureReport(
        (
            _skewness(system.J * np.outer(size, size), system.states),
            _symmetry("R", system.R * np.outer(size, size), system.states),
            _semidefiniteness("[[R, P], [P^T, sym D]]", system.dissipation, (*system.states, *inputs)),
            _symmetry("Q^T E", energy / np.outer(size, size), system.states),
            _semidefiniteness("Q^T E", energy, system.states),
        ),
        tolerance,
    )


def _sizes(matrix: Array) -> Array:
    """Numbers whose products are as large as the entries: roots of the diagonal, or from the row where it is zero."""
    size = np.sqrt(np.abs(np.diag(matrix)))
    known = size > 0.0
    for row in np.flatnonzero(~known):
        size[row] = np.max(np.abs(matrix[row, known]) / size[known], initial=0.0)
    return np.where(size > 0.0, size, 1.0)


def _skewness(J: Array, names: tuple[str, ...]) -> Finding:
    return _largest("J is skew", J + J.T, np.abs(J).max(initial=0.0), names)


def _symmetry(letter: str, matrix: Array, names: tuple[str, ...]) -> Finding:
    return _largest(f"{letter} is symmetric", matrix - matrix.T, np.abs(matrix).max(initial=0.0), names)


def _largest(demand: str, error: Array, scale: float, names: tuple[str, ...]) -> Finding:
    if not scale or not error.any():
        return Finding(demand, 0.0, "")
    row, column = np.unravel_index(np.argmax(np.abs(error)), error.shape)
    return Finding(demand, float(abs(error[row, column]) / scale), f"({names[row]}, {names[column]})")


def _semidefiniteness(letter: str, matrix: Array, names: tuple[str, ...]) -> Finding:
    demand = f"{letter} is positive semidefinite"
    if not matrix.any():
        return Finding(demand, 0.0, "")
    size = _sizes(matrix)
    values, vectors = np.linalg.eigh(symmetric_part(matrix / np.outer(size, size)))
    if values[0] >= 0.0:
        return Finding(demand, 0.0, "")
    weights = np.abs(vectors[:, 0])
    strong = [names[k] for k in np.argsort(-weights)[:3] if weights[k] > 0.1]
    return Finding(demand, float(-values[0] / np.abs(values).max()), ", ".join(strong))
