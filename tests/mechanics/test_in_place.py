"""Gauss-Jordan elimination in place against numpy."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from pliant.mechanics.block_elimination import solve_in_place
from tests.support.over import over

pytestmark = pytest.mark.bounds

RANDOM = np.random.default_rng(8)


def numbers(parts: int, *shape: int) -> np.ndarray:
    x = RANDOM.normal(size=shape)
    return x if parts == 1 else x + 1j * RANDOM.normal(size=shape)


def rows_of(A: np.ndarray, parts: int) -> np.ndarray:
    return np.ascontiguousarray(np.stack([A.real, A.imag][:parts], axis=1))


def read(rows: np.ndarray, parts: int) -> np.ndarray:
    return rows[:, 0] if parts == 1 else rows[:, 0] + 1j * rows[:, 1]


@over(*product([1, 6, 31], [1, 2], [False, True]))
def test_inverse_and_solution_agree_with_numpy(n, parts, apart):
    """Full matrices whose best pivots lie off the diagonal, and such as couple every second row only."""
    A, B = numbers(parts, n, n), numbers(parts, n, 4)
    if apart:
        A[np.add.outer(np.arange(n), np.arange(n)) % 2 == 1] = 0.0
    rows = rows_of(np.concatenate([A, B], axis=1), parts)
    assert solve_in_place(rows, parts, np.zeros(n, np.int64))
    inverse = np.linalg.inv(A)
    scale = np.linalg.cond(A) * np.abs(inverse).max()
    assert read(rows, parts)[:, :n] == pytest.approx(inverse, rel=0, abs=1e-14 * scale)
    assert read(rows, parts)[:, n:] == pytest.approx(inverse @ B, rel=0, abs=1e-14 * n * scale)


@pytest.mark.parametrize("parts", [1, 2])
def test_singular_and_undefined_matrices_are_refused(parts):
    A = numbers(parts, 5, 5)
    A[:, 2] = 0.0
    assert not solve_in_place(rows_of(A, parts), parts, np.zeros(5, np.int64))
    A[:, 2] = np.nan
    assert not solve_in_place(rows_of(A, parts), parts, np.zeros(5, np.int64))
