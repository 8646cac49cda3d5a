"""Products and solutions with the derivatives of one step, the same for every structure."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

SPAN = 0.01  # of a parameter, over which differences are taken


class StepMatrices(ABC):
    """The part of `StepEquations` that follows from three matrices, dense or sparse."""

    @property
    @abstractmethod
    def matrices(self) -> tuple[Any, Any, Any]:
        """(r_z0, r_z1, r_u)"""

    def times(self, start: Floats, unknowns: Floats, inputs: Floats) -> Floats:
        """r_z0 start + r_z1 unknowns + r_u inputs"""
        by_start, by_unknowns, by_inputs = self.matrices
        return np.asarray(by_start @ start + by_unknowns @ unknowns + by_inputs @ inputs)

    def transposed(self, weights: Floats) -> tuple[Floats, Floats, Floats]:
        """(r_z0^T w, r_z1^T w, r_u^T w)"""
        start, unknowns, inputs = (np.asarray(each.T @ weights) for each in self.matrices)
        return start, unknowns, inputs

    @cached_property
    def _solved(self) -> Callable[[Floats, bool], Floats]:
        """Solutions with r_z1, or with its transpose, by one factorisation."""
        from scipy.linalg import lu_factor, lu_solve
        from scipy.sparse import issparse
        from scipy.sparse.linalg import splu

        matrix = self.matrices[1]
        if issparse(matrix):
            sparse = splu(matrix.tocsc())
            return lambda right, across: np.asarray(sparse.solve(right, trans="T" if across else "N"))
        dense = lu_factor(matrix)
        return lambda right, across: np.asarray(lu_solve(dense, right, trans=int(across)))

    def solve(self, right: Floats) -> Floats:
        """d with r_z1 d = right"""
        return self._solved(right, False)

    def solve_transposed(self, right: Floats) -> Floats:
        """d with r_z1^T d = right"""
        return self._solved(right, True)


@dataclass(frozen=True, eq=False)
class StepOfOneMatrix(StepMatrices):
    """A step about given values (flat vectors) whose derivatives come as one sparse matrix."""

    start: Floats
    unknowns: Floats
    inputs: Floats

    def at(self, start: Floats, unknowns: Floats, inputs: Floats) -> Self:
        """The same step about other values."""
        return replace(self, start=start, unknowns=unknowns, inputs=inputs)

    @property
    @abstractmethod
    def matrix(self) -> Any:
        """(r_z0, r_z1, r_u) side by side"""

    @property
    def borders(self) -> tuple[int, int]:
        """Where unknowns and inputs begin among the columns."""
        return len(self.start), len(self.start) + len(self.unknowns)

    @cached_property
    def matrices(self) -> tuple[Any, Any, Any]:
        first, last = self.borders
        return self.matrix[:, :first], self.matrix[:, first:last], self.matrix[:, last:]


def by_parameters(residual: Callable[[Floats], Floats], values: Floats) -> Floats:
    """r_p, a column for each parameter, of r(z0, z1, u, p) at fixed z0, z1 and u.

    ``residual`` builds the model with the parameters it is given and evaluates the equations of its step. Masses,
    inertias, moduli, damping, gravity and gains enter them as polynomials of low degree, for which these differences
    of fourth order are exact but for rounding. In lengths and angles, and in linear systems, which are solved for
    their rates beforehand, their relative error is about 1e-8.
    """
    columns = []
    for k, value in enumerate(values):
        h = SPAN * (abs(value) or 1.0)
        near, far = (
            (residual(_changed(values, k, factor * h)) - residual(_changed(values, k, -factor * h)))
            / (2.0 * factor * h)
            for factor in (1.0, 2.0)
        )
        columns.append((4.0 * near - far) / 3.0)
    return np.column_stack(columns)


def _changed(values: Floats, k: int, change: float) -> Floats:
    changed = np.array(values, dtype=np.float64)
    changed[k] += change
    return changed
