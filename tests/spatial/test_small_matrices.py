"""6x6 products and inverses against NumPy, real and complex."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from pliant.spatial import small_matrices
from tests.support.over import over

pytestmark = pytest.mark.bounds


def random(shape: tuple[int, ...], kind: type, seed: int) -> np.ndarray:
    source = np.random.default_rng(seed)
    values = source.normal(size=shape)
    return values + 1j * source.normal(size=shape) if kind is complex else values


@pytest.mark.parametrize("kind", [float, complex])
def test_products(kind: type) -> None:
    A, B, C = random((6, 6), kind, 1), random((6, 6), kind, 2), np.empty((6, 6), kind)
    small_matrices.multiply(A, B, C)
    np.testing.assert_allclose(C, A @ B, atol=1e-14)
    small_matrices.add_product(-2.0, A.T, B, C)
    np.testing.assert_allclose(C, A @ B - 2.0 * A.T @ B, atol=1e-13)


@over(*product([float, complex], [1, 2, 6, 24]))
def test_inverse(kind: type, size: int) -> None:
    A = random((size, size), kind, size)
    A[0, 0] = 0.0 if size > 1 else A[0, 0]  # the first pivot must be searched for
    space = np.full((size + 1, size + 1), np.nan, kind)  # only the leading block may be touched
    space[:size, :size] = A
    out = np.zeros_like(space)
    assert small_matrices.invert(space, size, out)
    np.testing.assert_allclose(out[:size, :size] @ A, np.eye(size), atol=1e-12)
    assert not out[size].any()
    assert np.isnan(space[size]).all()


@pytest.mark.parametrize("spoil", [0.0, np.nan])
def test_a_singular_matrix_is_refused(spoil: float) -> None:
    A = np.eye(6)
    A[3] = spoil
    assert not small_matrices.invert(A, 6, np.empty((6, 6)))


@pytest.mark.parametrize("rank", [6, 5, 3])
def test_solution_of_a_symmetric_matrix(rank: int) -> None:
    """Definite, and without mass along some directions: there any solution of the rest will do."""
    B = random((6, rank), float, rank)
    A = B @ B.T
    right = A @ random((6,), float, 7)
    x, space = right.copy(), A.copy()
    small_matrices.solve_symmetric(space, x)
    np.testing.assert_allclose(A @ x, right, atol=1e-11)
    if rank == 6:
        np.testing.assert_allclose(x, np.linalg.solve(A, right), rtol=1e-9)
