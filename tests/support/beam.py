"""The steel beam of [wang2017] and the numbers that are known of it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

import pliant as pl
from pliant.formulations.pseudo_spectral import ChebyshevPoints, GaussPoints, GivenPoints, UniformPoints

# Table 2 of [wang2017]: the first five frequencies in hertz, exact and discrete, the same for both sets of points.
EXACT = (9.8873, 61.9447, 173.3663, 339.4978, 560.7196)
DISCRETE = {6: (9.8873, 61.9463, 174.2940, 371.4142, 964.2529), 12: (9.8873, 61.9447, 173.3663, 339.4978, 560.7327)}
HALF_A_PRINTED_DIGIT = 5e-5  # Hz
# two irregular sets of fractions of the length, none of them symmetric
IRREGULAR = {
    6: GivenPoints((0.02, 0.11, 0.35, 0.48, 0.71, 0.9, 0.97), (0.05, 0.2, 0.42, 0.6, 0.81, 0.95)),
    7: GivenPoints((0.0, 0.07, 0.25, 0.4, 0.63, 0.75, 0.9, 1.0), (0.03, 0.15, 0.33, 0.5, 0.7, 0.88, 0.98)),
}
SETS = (UniformPoints(), GaussPoints(), ChebyshevPoints())


def beam(**changes: Any) -> pl.FlexibleLink:
    """The beam of Table 1: 5 mm thick where it bends."""
    steel = pl.Material(name="steel", young=210e9, density=7850.0, poisson=0.34)
    fields: dict[str, Any] = {
        "name": "beam",
        "length": 0.65,
        "section": pl.Rectangle(height=0.005, width=0.03, shear_factor=5 / 6),
        "material": steel,
    }
    return pl.FlexibleLink(**{**fields, **changes})


def frequencies(A: NDArray[np.float64]) -> NDArray[np.float64]:
    """Of the pairs of poles, hertz, rising."""
    values = np.linalg.eigvals(A)
    return np.sort(values.imag[values.imag > 0.0]) / (2 * np.pi)
