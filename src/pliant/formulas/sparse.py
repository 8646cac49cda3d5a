"""Sparse linear systems with pivots that are chosen once.

`scipy` orders rows and columns and finds pivots; the fill follows from them. The compiled loop then only computes
numbers, row by row, and asks for a new plan where a pivot has become much smaller than it was.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from pliant.formulas.tape import Floats, Ints
from pliant.jit import inner_kernel, kernel

LOST = 1e-4  # part of its first value below which a pivot asks for a new plan
ROUNDS = 8  # of scaling rows and columns
RANK = 1e-11  # part of the largest singular value below which one is zero
NEGLIGIBLE = 1e-15  # scaled pivot below which a matrix is singular


class Plan(NamedTuple):
    """Rows and columns in the order of elimination, and where their entries lie.

    Row i of the factors has the columns ``column[begin[i] : begin[i + 1]]``, its pivot at ``diagonal[i]``.
    """

    row: Ints  # (n,) row of the system that is eliminated as the i-th
    slot_begin: Ints  # (n + 1,) slots of each row of the system
    place: Ints  # (slots,) column in the order of elimination
    unknown: Ints  # (n,) which unknown is found as the i-th
    begin: Ints
    column: Ints
    diagonal: Ints
    smallest: Floats  # (n,) below which a pivot is lost
    size: Floats  # (unknowns,) typical sizes, with which the columns are alike


class Factors(NamedTuple):
    """The factors, and scratch."""

    entry: Floats
    row: Floats  # (n,)


@inner_kernel
def factorise(plan: Plan, J: Floats, factors: Factors) -> bool:
    """L U of the system; False where a pivot is lost."""
    w, entry = factors.row, factors.entry
    for i in range(plan.row.shape[0]):
        first, diagonal, last = plan.begin[i], plan.diagonal[i], plan.begin[i + 1]
        for k in range(first, last):
            w[plan.column[k]] = 0.0
        r = plan.row[i]
        for s in range(plan.slot_begin[r], plan.slot_begin[r + 1]):
            w[plan.place[s]] += J[s]
        for k in range(first, diagonal):
            j = plan.column[k]
            pivot = plan.diagonal[j]
            factor = w[j] / entry[pivot]
            entry[k] = factor
            if factor != 0.0:
                for m in range(pivot + 1, plan.begin[j + 1]):
                    w[plan.column[m]] -= factor * entry[m]
        for k in range(diagonal, last):
            entry[k] = w[plan.column[k]]
        if not abs(entry[diagonal]) >= plan.smallest[i]:  # also true for NaN
            return False
    return True


@inner_kernel
def solve(plan: Plan, factors: Factors, right: Floats, answer: Floats) -> None:
    """answer = J^-1 right"""
    w, entry, n = factors.row, factors.entry, plan.row.shape[0]
    for i in range(n):
        total = right[plan.row[i]]
        for k in range(plan.begin[i], plan.diagonal[i]):
            total -= entry[k] * w[plan.column[k]]
        w[i] = total
    for i in range(n - 1, -1, -1):
        total = w[i]
        for k in range(plan.diagonal[i] + 1, plan.begin[i + 1]):
            total -= entry[k] * w[plan.column[k]]
        w[i] = total / entry[plan.diagonal[i]]
        answer[plan.unknown[i]] = w[i]


@kernel
def solve_once(plan: Plan, factors: Factors, J: Floats, right: Floats, answer: Floats) -> bool:
    """answer = J^-1 right; False where a pivot is lost."""
    if not factorise(plan, J, factors):
        return False
    solve(plan, factors, right, answer)
    return True


def new_factors(plan: Plan) -> Factors:
    return Factors(np.zeros(len(plan.column)), np.zeros(len(plan.row)))


def make_plan(begin: Ints, columns: Ints, J: Floats) -> Plan | None:
    """Pivots for a matrix with these entries; None where it is singular."""
    from scipy.sparse import csr_array
    from scipy.sparse.linalg import splu

    n = len(begin) - 1
    if not np.isfinite(J).all():
        return None
    rows = np.repeat(np.arange(n), np.diff(begin))
    row_size, size = equilibrated(rows, columns, J, n)
    scaled = J * row_size[rows] * size[columns]
    matrix = csr_array((scaled, columns, begin), shape=(n, n)).tocsc()
    try:
        found = splu(matrix, permc_spec="COLAMD", diag_pivot_thresh=0.1, options={"Equil": False})
    except RuntimeError:
        return None
    pivots = np.abs(found.U.diagonal())
    if not pivots.min(initial=1.0) > NEGLIGIBLE:
        return None
    to_row, to_column = found.perm_r, found.perm_c
    place = to_column[columns].astype(np.int64)
    row, unknown = np.argsort(to_row).astype(np.int64), np.argsort(to_column).astype(np.int64)
    fill = _fill([place[begin[r] : begin[r + 1]].tolist() for r in row.tolist()])
    fill_begin = np.append(0, np.cumsum([len(each) for each in fill])).astype(np.int64)
    column = np.concatenate(fill).astype(np.int64)
    diagonal = np.array(
        [start + int(np.searchsorted(each, i)) for i, (start, each) in enumerate(zip(fill_begin, fill))]
    )
    smallest = LOST * pivots / (row_size[row] * size[unknown])
    return Plan(row, begin, place, unknown, fill_begin, column, diagonal.astype(np.int64), smallest, size)


def equilibrated(rows: Ints, columns: Ints, J: Floats, n: int) -> tuple[Floats, Floats]:
    """Factors of rows and columns after which the largest entry of each is about one."""
    row_size, size = np.ones(n), np.ones(n)
    for _ in range(ROUNDS):
        for own, index in ((row_size, rows), (size, columns)):
            largest = np.zeros(n)
            np.maximum.at(largest, index, np.abs(J * row_size[rows] * size[columns]))
            own /= np.sqrt(np.where(largest > 0.0, largest, 1.0))
    return row_size, size


def _fill(rows: list[list[int]]) -> list[Ints]:
    """Columns of each row of L + U: those of the matrix, and what elimination adds; sets of columns are bits."""
    upper: list[int] = []
    found = []
    for i, own in enumerate(rows):
        bits = 1 << i
        for j in own:
            bits |= 1 << j
        below = bits & ((1 << i) - 1)
        done = 0
        while below:
            k = (below & -below).bit_length() - 1
            bits |= upper[k]
            done = (1 << (k + 1)) - 1
            below = bits & ((1 << i) - 1) & ~done
        upper.append(bits & ~((1 << (i + 1)) - 1))
        raw = np.frombuffer(bits.to_bytes((bits.bit_length() + 7) // 8, "little"), np.uint8)
        found.append(np.flatnonzero(np.unpackbits(raw, bitorder="little")).astype(np.int64))
    return found


def sized(matrix: Any) -> tuple[Any, Floats, Floats]:
    """A matrix with rows and columns of about size one, and their factors."""
    from scipy.sparse import coo_array, diags_array

    entries = coo_array(matrix)
    rows, size = equilibrated(entries.row, entries.col, entries.data, matrix.shape[0])
    return diags_array(rows) @ matrix @ diags_array(size), rows, size


def null_spaces(F_z: Any, least: int = 0) -> tuple[Floats, Floats]:
    """N and V with orthonormal columns, N^T F_z = 0 and F_z V = 0, of a matrix that is dense or sparse.

    They have at least as many columns as asked for, which then fit as nearly as can be.
    """
    n = F_z.shape[0]
    if isinstance(F_z, np.ndarray):
        left, values, right = np.linalg.svd(F_z)
        rank = min(int(np.sum(values > RANK * values.max(initial=0.0))), n - least)
        return left[:, rank:], right[rank:].T
    from scipy.sparse.csgraph import structural_rank

    # rows and columns at random make a regular matrix of one that lacks as many
    random = np.random.default_rng(1)
    for lack in range(max(n - structural_rank(F_z), least), n):
        borders = random.standard_normal((n, lack)), random.standard_normal((lack, n))
        unit = np.vstack([np.zeros((n, lack)), np.eye(lack)])
        solve = solution(bordered(F_z, *borders))
        if solve is not None:
            return np.linalg.qr(solve(unit, "T")[:n])[0], np.linalg.qr(solve(unit, "N")[:n])[0]
    raise AssertionError("rows and columns at random make any matrix regular")


def bordered(F_z: Any, columns: Floats, rows: Floats) -> Any:
    from scipy.sparse import block_array

    if isinstance(F_z, np.ndarray):
        return np.block([[F_z, columns], [rows, np.zeros((len(rows), columns.shape[1]))]])
    return block_array([[F_z, columns], [rows, None]], format="csc") if len(rows) else F_z


def solution(matrix: Any) -> Callable[..., Floats] | None:
    """What solves with a matrix, with a sparse one also by "T" with its transpose; None where it is singular."""
    from scipy.linalg.lapack import dgetrf, dgetrs
    from scipy.sparse.linalg import splu

    if not matrix.shape[0]:
        return np.asarray
    if isinstance(matrix, np.ndarray):
        lu, order, _ = dgetrf(matrix)
        pivots, solve = np.abs(np.diag(lu)), lambda right: dgetrs(lu, order, right)[0]
    else:
        try:
            factors = splu(matrix.tocsc())
        except RuntimeError:
            return None
        pivots, solve = np.abs(factors.U.diagonal()), factors.solve
    return solve if pivots.min() > 1e-14 * pivots.max() else None
