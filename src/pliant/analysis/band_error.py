"""How far a reduced model is from the full one over a band of frequencies."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pliant.errors import InvalidInput
from pliant.model.layout import Array
from pliant.model.linear.matrices import Complex

BALANCING_PASSES = 20


@dataclass(frozen=True)
class Band:
    """Frequencies from ``low`` to ``high`` in hertz at which models are compared.

    ``points`` are spread evenly on a logarithmic scale; the resonances of the full model are added. ``damping`` moves
    the comparison off the imaginary axis to s = (damping + j) 2 pi f, for models whose poles lie on the axis.
    """

    low: float
    high: float
    points: int = 300
    damping: float = 0.0

    def __post_init__(self) -> None:
        if not 0.0 < self.low < self.high < float("inf"):
            raise InvalidInput(
                f"band: low = {self.low} Hz and high = {self.high} Hz must satisfy 0 < low < high; correct them"
            )
        if self.points < 2 or not 0.0 <= self.damping < 1.0:
            raise InvalidInput(
                f"band: points = {self.points} must be at least 2 and damping = {self.damping} in [0, 1); correct them"
            )

    def places(self, poles: Complex) -> Complex:
        """Complex frequencies of the comparison in 1/s; refused where one of them is a pole."""
        speeds = np.abs(poles.imag)
        inside = (speeds >= 2 * np.pi * self.low) & (speeds <= 2 * np.pi * self.high)
        if not self.damping:
            on_axis = inside & (np.abs(poles.real) <= 1e-9 * speeds)
            if np.any(on_axis):
                raise InvalidInput(
                    f"band: the model has an undamped resonance at {speeds[on_axis][0] / (2 * np.pi):.6g} Hz, where its"
                    " response is infinite; give Band a damping such as 0.01"
                )
        grid = 2 * np.pi * np.geomspace(self.low, self.high, self.points)
        return (self.damping + 1j) * np.unique(np.concatenate([grid, speeds[inside]]))


@dataclass(frozen=True, eq=False)
class BandError:
    """The error of a reduced model at every frequency of a band.

    ``frequency`` (n,) in hertz. ``error`` and ``response`` (n,): spectral norms of G - G_reduced and of G, after inputs
    and outputs were scaled so that no channel of the full model exceeds 1 in the band.
    """

    frequency: Array
    error: Array
    response: Array

    @property
    def relative(self) -> Array:
        """The error at every frequency as a part of the response there."""
        return self.error / self.response

    @property
    def typical(self) -> float:
        """The mean of the relative error over the band, on a logarithmic scale of frequencies."""
        return float(
            np.trapezoid(self.relative, np.log(self.frequency))
            / np.log(self.frequency[-1] / self.frequency[0])
        )

    @property
    def worst(self) -> float:
        """The largest relative error."""
        return float(self.relative.max())

    @property
    def at(self) -> float:
        """The frequency of the largest relative error, in hertz."""
        return float(self.frequency[np.argmax(self.relative)])

    @property
    def of_peak(self) -> float:
        """The largest error as a part of the largest response in the band."""
        return float(self.error.max() / self.response.max())


@dataclass(frozen=True, eq=False)
class Comparison:
    """The full model at the places of a band, with the scales that make its channels comparable."""

    places: Complex
    gains: Complex
    rows: Array
    columns: Array

    def difference(self, reduced: Complex) -> Complex:
        """Scaled G - G_reduced (n, outputs, inputs)."""
        return (self.gains - reduced) / self.rows[:, None] / self.columns

    @property
    def response(self) -> Array:
        """The size of the scaled G at every place."""
        return _or_one(_norms(self.difference(np.zeros_like(self.gains))))

    def error(self, reduced: Complex) -> BandError:
        return BandError(self.places.imag / (2 * np.pi), _norms(self.difference(reduced)), self.response)


def comparison(places: Complex, gains: Complex) -> Comparison:
    """Scales of outputs and inputs, found in turns, so that the largest entry of every row and column is one."""
    peak = np.abs(gains).max(axis=0)
    rows, columns = np.ones(peak.shape[0]), np.ones(peak.shape[1])
    for _ in range(BALANCING_PASSES):
        rows = _or_one((peak / columns).max(axis=1, initial=0.0))
        columns = _or_one((peak / rows[:, None]).max(axis=0, initial=0.0))
    return Comparison(places, gains, rows, columns)


def _norms(gains: Complex) -> Array:
    if not gains.size:
        return np.zeros(len(gains))
    return np.asarray(np.linalg.norm(gains, 2, axis=(1, 2)))


def _or_one(values: Array) -> Array:
    return np.where(values > 0.0, values, 1.0)
