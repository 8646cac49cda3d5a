"""Coordinates that move several joints of a tree: how links deform by shapes.

    s = S q ,        T = 1/2 s' . M(s) s' + 1/2 q' . m q' ,        force on q = S^T force on s

The joints s of the tree place mass points and frames of a link, three displacements and three rotations each, and the
coordinates q of its shapes move all of them at once. S is constant, so that rates and accelerations follow alike; m is
what the bodies of the tree lack of the energy of q'. Where every coordinate is a joint of its own there is no S.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.jit import inline_kernel, inner_kernel
from pliant.structures.tree.clouds import Cloud, no_cloud
from pliant.structures.tree.motion import Floats, Ints


class Shapes(NamedTuple):
    """S and m with the parts of their rows that are not zero; `new_shapes` makes them."""

    S: Floats  # (joints, n), (0, 0) where every coordinate is a joint, (0, n) where none moves one
    span: Ints  # (joints, 2) first column and the one after the last
    m: Floats  # (n, n) symmetric
    m_span: Ints  # (n, 2)
    cloud: Cloud  # mass points and rotary inertia that are no bodies of the tree


def new_shapes(S: Floats | None = None, m: Floats | None = None, cloud: Cloud | None = None) -> Shapes:
    """Without arguments: every coordinate is a joint."""
    matrix = np.zeros((0, 0)) if S is None else np.ascontiguousarray(S, float)
    n = matrix.shape[1]
    more = np.zeros((n, n)) if m is None else np.ascontiguousarray(m, float)
    return Shapes(matrix, spans(matrix != 0.0), more, spans(more != 0.0), cloud or no_cloud())


def spans(filled: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]) -> Ints:
    """(rows, 2) first column that is filled and the one after the last; none of empty rows."""
    span = np.zeros((len(filled), 2), np.int64)
    for i in np.flatnonzero(filled.any(axis=1)):
        columns = np.flatnonzero(filled[i])
        span[i] = columns[0], columns[-1] + 1
    return span


@inline_kernel
def is_shaped(shapes: Shapes) -> bool:
    return bool(shapes.S.shape[1] > 0)


@inline_kernel
def row_times(matrix: Floats, i: int, first: int, stop: int, x: Floats) -> float:
    """The part from ``first`` to ``stop`` of row i times x; mostly it is one number or none."""
    if stop - first == 1:
        return float(matrix[i, first] * x[first])
    # slices, so that the compiler knows that no index counts from the end
    row, by, total = matrix[i, first:stop], x[first:stop], 0.0
    for j in range(row.shape[0]):
        total += row[j] * by[j]
    return total


@inner_kernel
def expand(shapes: Shapes, x: Floats, s: Floats) -> None:
    """s = S x, where there is an S: elsewhere both are one array."""
    span = shapes.span
    for i in range(span.shape[0]):
        s[i] = row_times(shapes.S, i, span[i, 0], span[i, 1], x)


@inner_kernel
def gather_forces(shapes: Shapes, s: Floats, x: Floats) -> None:
    """x = S^T s, likewise."""
    S, span = shapes.S, shapes.span
    if S.shape[1] > 0:
        x[:] = 0.0
    for i in range(S.shape[0]):
        row, own, force = S[i, span[i, 0] : span[i, 1]], x[span[i, 0] : span[i, 1]], s[i]
        for j in range(row.shape[0]):
            own[j] += row[j] * force


@inner_kernel
def add_more_mass(shapes: Shapes, v: Floats, p: Floats) -> None:
    """p += m v."""
    span = shapes.m_span
    for i in range(span.shape[0]):
        p[i] += row_times(shapes.m, i, span[i, 0], span[i, 1], v)


@inner_kernel
def more_energy(shapes: Shapes, v: Floats) -> float:
    """v . m v / 2."""
    span, doubled = shapes.m_span, 0.0
    for i in range(span.shape[0]):
        doubled += v[i] * row_times(shapes.m, i, span[i, 0], span[i, 1], v)
    return 0.5 * doubled


@inner_kernel
def gather_matrix(shapes: Shapes, M: Floats, half: Floats, A: Floats) -> None:
    """A = S^T M S + m; ``half`` (joints, n) is scratch. Most of M is zero: joints on other branches."""
    S, span = shapes.S, shapes.span
    rows, n = S.shape
    for i in range(n):
        for j in range(n):
            A[i, j] = shapes.m[i, j]
    for i in range(rows):
        for j in range(n):
            half[i, j] = 0.0
        for k in range(rows):
            value = M[i, k]
            if value != 0.0:
                for j in range(span[k, 0], span[k, 1]):
                    half[i, j] += value * S[k, j]
    for i in range(rows):
        for k in range(span[i, 0], span[i, 1]):
            value = S[i, k]
            for j in range(n):
                A[k, j] += value * half[i, j]
