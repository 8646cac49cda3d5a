"""Where the polynomials of a link are sampled.

The spectrum of a link does not depend on the points; what its states mean does, and how well they are conditioned.
Each set says where the N + 1 values of an effort of degree N lie, and where the N values of a state of degree N - 1.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pliant.errors import InvalidInput
from pliant.mechanics.shape_functions import gauss_rule

Floats = NDArray[np.float64]


class Points(ABC):
    """A choice of collocation points on a link of length 1."""

    @abstractmethod
    def efforts(self, degree: int) -> Floats:
        """Points of the polynomials of degree ``degree``, rising."""

    @abstractmethod
    def states(self, degree: int) -> Floats:
        """Points of the polynomials of degree ``degree - 1``, rising."""


class RegularPoints(Points):
    """Points that follow one rule, however many there are."""

    def efforts(self, degree: int) -> Floats:
        return self.place(degree + 1)

    def states(self, degree: int) -> Floats:
        return self.place(degree)

    @abstractmethod
    def place(self, count: int) -> Floats:
        """``count`` different points of the interval [0, 1], rising."""


@dataclass(frozen=True)
class UniformPoints(RegularPoints):
    """Equally spaced points, both ends among them; badly conditioned beyond about degree 20."""

    def place(self, count: int) -> Floats:
        return np.linspace(0.0, 1.0, count) if count > 1 else np.array([0.5])


@dataclass(frozen=True)
class GaussPoints(RegularPoints):
    """The zeros of a Legendre polynomial and the two ends: the choice of [wang2017]."""

    def place(self, count: int) -> Floats:
        return _with_ends(gauss_rule(count - 2)[0]) if count > 2 else UniformPoints().place(count)


@dataclass(frozen=True)
class ChebyshevPoints(RegularPoints):
    """The zeros of a Chebyshev polynomial and the two ends."""

    def place(self, count: int) -> Floats:
        if count <= 2:
            return UniformPoints().place(count)
        angles = (2 * np.arange(count - 2)[::-1] + 1) * np.pi / (2 * (count - 2))
        return _with_ends(0.5 + 0.5 * np.cos(angles))


@dataclass(frozen=True)
class GivenPoints(Points):
    """Points of your own, as fractions of the length: N + 1 for efforts and N for states."""

    effort: tuple[float, ...]
    state: tuple[float, ...]

    def __post_init__(self) -> None:
        if len(self.effort) != len(self.state) + 1:
            raise InvalidInput(
                f"points: {len(self.effort)} for efforts and {len(self.state)} for states do not fit; give one more"
                " for efforts"
            )
        for word, points in (("effort", self.effort), ("state", self.state)):
            if not all(0.0 <= point <= 1.0 for point in points):
                raise InvalidInput(f"points.{word} must lie between 0 and 1; give fractions of the length")
            if min(np.diff(sorted(points)), default=1.0) < 1e-6:
                raise InvalidInput(
                    f"points.{word} must differ by 1e-6 of the length; move those that coincide"
                )

    def efforts(self, degree: int) -> Floats:
        self._check(degree)
        return np.sort(np.array(self.effort, dtype=float))

    def states(self, degree: int) -> Floats:
        self._check(degree)
        return np.sort(np.array(self.state, dtype=float))

    def _check(self, degree: int) -> None:
        if len(self.state) != degree:
            raise InvalidInput(
                f"points: {len(self.state)} are given for states, but the degree is {degree}; give one for each degree"
            )


def _with_ends(interior: Floats) -> Floats:
    return np.concatenate([[0.0], interior, [1.0]])
