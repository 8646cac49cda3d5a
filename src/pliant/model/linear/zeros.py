"""Transmission zeros of x' = A x + B u, y = C x + D u, square or not.

Two passes of the reduction of [emaminaeini1982] strip off what belongs to infinity: outputs that do not see the
input directly are differentiated until they do. What is left has an invertible D, and its zeros are eigenvalues.
"""

from __future__ import annotations

import numpy as np

from pliant.model.layout import Array
from pliant.model.linear.matrices import Complex

NEGLIGIBLE = 1e-11  # singular values below this part of the largest entry of the scaled system count as zero


def transmission_zeros(A: Array, B: Array, C: Array, D: Array) -> Complex:
    """The finite zeros, in the order of rising magnitude."""
    from scipy.linalg import eigvals, matrix_balance

    if not (len(A) and B.shape[1] and len(C)):
        return np.empty(0, complex)
    balanced, (scale, _) = matrix_balance(A, permute=False, separate=True)
    rate = float(np.linalg.norm(balanced, 2)) or 1.0
    B, C = B / scale[:, None] / rate, C * scale
    columns = np.linalg.norm(np.vstack([B, D]), axis=0)
    B, D = B / _divisor(columns), D / _divisor(columns)
    rows = np.linalg.norm(np.hstack([C, D]), axis=1)
    C, D = C / _divisor(rows)[:, None], D / _divisor(rows)[:, None]
    A, B, C, D = _with_full_rows(balanced / rate, B, C, D)
    A, C, B, D = (each.T for each in _with_full_rows(A.T, C.T, B.T, D.T))
    n, outputs = len(A), len(D)
    if not n:
        return np.empty(0, complex)
    if not outputs:
        values = np.linalg.eigvals(A)
    else:
        # rows [C D] compressed to the last columns: the first n carry the pencil of the zeros
        _, _, right = np.linalg.svd(np.hstack([C, D]))
        free = right[outputs:].T
        values = eigvals(np.hstack([A, B]) @ free, free[:n])
    values = rate * values[np.isfinite(values)]
    return np.asarray(values[np.argsort(np.abs(values))])


def _divisor(lengths: Array) -> Array:
    return np.where(lengths > 0.0, lengths, 1.0)


def _with_full_rows(A: Array, B: Array, C: Array, D: Array) -> tuple[Array, Array, Array, Array]:
    """A smaller system with the same zeros whose D has independent rows."""
    while len(C):
        left, values, _ = np.linalg.svd(D)
        rank = int(np.sum(values > NEGLIGIBLE))
        if rank == len(C):
            break
        C, D = left.T @ C, (left.T @ D)[:rank]
        blind, C = C[rank:], C[:rank]
        _, values, right = np.linalg.svd(blind)
        seen = int(np.sum(values > NEGLIGIBLE))
        if not seen:
            break
        V = np.roll(right.T, -seen, axis=1)
        A, B, C = V.T @ A @ V, V.T @ B, C @ V
        n = len(A) - seen
        C, D = np.vstack([C[:, :n], A[n:, :n]]), np.vstack([D, B[n:]])
        A, B = A[:n, :n], B[:n]
    return A, B, C, D
