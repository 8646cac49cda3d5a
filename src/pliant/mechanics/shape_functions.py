"""Polynomials on the unit interval: quadrature rules and Lagrange bases.

Two polynomial spaces that keep the Dirac structure of a beam [wang2017]: see the pseudo-spectral link.

Where in which step of a run each row of its output falls: between its ends the polynomial of a step goes through the
start and the stages, so that a row at the part tau has the weights  prod_k (tau - c_k) / (c_j - c_k)  of the stages j,
k over the start and all other stages.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, lru_cache
from typing import NamedTuple

import numpy as np
from numpy.polynomial import legendre
from numpy.typing import NDArray

from pliant.jit import kernel

Array = NDArray[np.float64]
Ints = NDArray[np.int64]
STEP_ROUNDING = 1e-9  # of a step: what is so near to its end is its end


legendre_rule = cache(legendre.leggauss)


def gauss_rule(count: int) -> tuple[Array, Array]:
    """Gauss-Legendre points and weights on [0, 1]."""
    points, weights = legendre_rule(count)
    return (points + 1) / 2, weights / 2


def lobatto_rule(degree: int) -> tuple[Array, Array]:
    """The degree + 1 Gauss-Lobatto-Legendre points and weights on [0, 1]."""
    if degree == 1:
        return np.array([0.0, 1.0]), np.array([0.5, 0.5])
    polynomial = np.zeros(degree + 1)
    polynomial[degree] = 1
    interior = np.sort(np.real(legendre.legroots(legendre.legder(polynomial))))
    points = np.concatenate([[-1.0], interior, [1.0]])
    weights = 2 / (degree * (degree + 1) * legendre.legval(points, polynomial) ** 2)
    return (points + 1) / 2, weights / 2


def lagrange_basis(nodes: Array, points: Array) -> tuple[Array, Array]:
    """Values and derivatives at ``points`` of the Lagrange polynomials on ``nodes``, each (points, nodes)."""
    values, derivatives = _known_basis(np.asarray(nodes, float).tobytes(), np.asarray(points, float).tobytes())
    return values.copy(), derivatives.copy()


@lru_cache(maxsize=256)
def _known_basis(nodes: bytes, points: bytes) -> tuple[Array, Array]:
    """Links of a robot, and meshes of one degree, ask for the same."""
    to_legendre, x = _to_legendre(np.frombuffer(nodes)), 2 * np.frombuffer(points) - 1
    count = len(to_legendre)
    values = legendre.legvander(x, count - 1) @ to_legendre
    derivatives = np.zeros_like(values)
    for k in range(1, count):
        unit = np.zeros(count)
        unit[k] = 1
        derivatives += np.outer(2 * legendre.legval(x, legendre.legder(unit)), to_legendre[k])
    return values, derivatives


def _to_legendre(nodes: Array) -> Array:
    """From values at the nodes to coefficients of Legendre polynomials."""
    return np.asarray(np.linalg.inv(legendre.legvander(2 * nodes - 1, len(nodes) - 1)))


@cache
def _highest_parts(nodes: bytes) -> Array:
    return _to_legendre(np.frombuffer(nodes))[-2:]


def highest_parts(nodes: Array) -> Array:
    """From values at the nodes to the coefficients (2, nodes) of the two Legendre polynomials of highest degree."""
    return _highest_parts(nodes.tobytes())


def many_values(nodes: Array, points: Array) -> Array:
    """Values alone, at points (..., n): (..., n, nodes)."""
    return np.asarray(legendre.legvander(2 * points - 1, len(nodes) - 1) @ _to_legendre(nodes))


def lagrange_values(nodes: Array, points: Array) -> Array:
    """Values at ``points`` of the Lagrange polynomials on a few ``nodes``, (points, nodes)."""
    gaps, places = points - nodes[:, None], nodes.tolist()
    values = np.ones_like(gaps)
    for j, here in enumerate(places):
        between = 1.0
        for k, other in enumerate(places):
            if k != j:
                values[j] *= gaps[k]
                between *= here - other
        values[j] /= between
    return values.T


@dataclass(frozen=True, eq=False)
class Spaces:
    """The tables of the two spaces on a link of some length; rows of D are states, columns efforts."""

    D: Array
    M: Array
    S: Array
    w_0: Array
    w_L: Array

    @property
    def degree(self) -> int:
        return len(self.S)

    def effort_from(self, end: Array) -> Array:
        """Coefficients of an effort from (its reduced values, its value at the end whose row is given)."""
        return np.asarray(np.linalg.inv(np.vstack([self.M.T, end])))


def orthonormal_spaces(degree: int, length: float) -> Spaces:
    """Legendre polynomials with unit mean square over the length: S = 1, and the best conditioned of all bases."""
    scale = np.sqrt((2 * np.arange(degree + 1) + 1) / length)
    at, weights = gauss_rule(degree + 1)
    slope = np.stack([legendre.legval(2 * at - 1, legendre.legder(unit)) for unit in np.eye(degree + 1)], axis=1)
    D = (orthonormal_values(degree, at, length).T * weights) @ (2.0 * slope * scale)
    D[np.add.outer(np.arange(degree), np.arange(degree + 1)) % 2 == 0] = 0.0  # odd against even
    signs = (-1.0) ** np.arange(degree + 1)
    return Spaces(D, np.eye(degree + 1, degree), np.eye(degree), scale * signs, scale)


def orthonormal_values(count: int, at: Array, length: float) -> Array:
    """Values of the first ``count`` orthonormal polynomials at fractions of the length, (points, count)."""
    scale = np.sqrt((2 * np.arange(count) + 1) / length)
    return np.asarray(legendre.legvander(2 * np.asarray(at) - 1, count - 1) * scale)


class Rows(NamedTuple):
    """Rows of the output in the order of time; row 0 is the start."""

    times: Array
    step: Ints
    tau: Array
    dense: Array  # (rows, stages) weights of the stages inside steps
    ends: Ints  # (steps + 1,) first row behind each step, the first of all that behind the start


@kernel
def place_rows(grid: Array, h: Array, nodes: Array, rows: Rows) -> None:
    """Fill all but the times, for steps of lengths h between the times of a grid; without nodes no weights."""
    shortest, last = h[0], h.shape[0] - 1
    for k in range(h.shape[0]):
        shortest = min(shortest, h[k])
    rows.step[0], rows.tau[0], rows.ends[0] = -1, 1.0, 1
    k = 0
    for r in range(1, rows.times.shape[0]):
        time = rows.times[r]
        while k < last and grid[k + 1] < time - STEP_ROUNDING * shortest:
            rows.ends[k + 1] = r
            k += 1
        part = (time - grid[k]) / h[k]
        inside = not part > 1.0 - STEP_ROUNDING
        rows.step[r], rows.tau[r] = k, part if inside else 1.0
        for j in range(nodes.shape[0]):
            value, between = part, nodes[j]  # those of the start
            for i in range(nodes.shape[0]):
                if i != j:
                    value *= part - nodes[i]
                    between *= nodes[j] - nodes[i]
            rows.dense[r, j] = value / between if inside else 0.0
    for each in range(k, last + 1):
        rows.ends[each + 1] = rows.times.shape[0]
