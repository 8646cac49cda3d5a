"""Polynomials on the unit interval: quadrature rules and Lagrange bases."""

from __future__ import annotations

import numpy as np
from numpy.polynomial import legendre
from numpy.typing import NDArray

Array = NDArray[np.float64]


def gauss_rule(count: int) -> tuple[Array, Array]:
    """Gauss-Legendre points and weights on [0, 1]."""
    points, weights = legendre.leggauss(count)
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
    count = len(nodes)
    to_legendre = np.linalg.inv(legendre.legvander(2 * nodes - 1, count - 1))
    x = 2 * np.asarray(points) - 1
    values = legendre.legvander(x, count - 1) @ to_legendre
    derivatives = np.zeros_like(values)
    for k in range(1, count):
        unit = np.zeros(count)
        unit[k] = 1
        derivatives += np.outer(2 * legendre.legval(x, legendre.legder(unit)), to_legendre[k])
    return values, derivatives


def lagrange_values(nodes: Array, points: Array) -> Array:
    """Values at ``points`` of the Lagrange polynomials on a few ``nodes``, (points, nodes)."""
    gaps = points - nodes[:, None]
    values = np.empty_like(gaps)
    for j in range(len(nodes)):
        others = np.arange(len(nodes)) != j
        values[j] = gaps[others].prod(axis=0) / (nodes[j] - nodes[others]).prod()
    return values.T
