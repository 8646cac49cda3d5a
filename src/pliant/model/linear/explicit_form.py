"""From E x' = A x + B u with a singular E to an explicit equation, by differentiating constraints."""

from __future__ import annotations

import numpy as np

from pliant.errors import InvalidInput
from pliant.model.layout import Array
from pliant.model.linear.matrices import SINGULAR


def without_algebraic_states(
    E: Array, A: Array, B: Array, C: Array, D: Array
) -> tuple[Array, Array, Array, Array]:
    """A, B, C, D of the same input-output behaviour with E = I.

    Each pass either solves the algebraic equations for their unknowns or uses those among them that hold no such
    unknown to remove states; the second happens once for constraints on velocities, twice for constraints on
    positions.
    """
    while True:
        left, masses, right = np.linalg.svd(E)
        rank = int(np.sum(masses > SINGULAR * masses.max(initial=0.0)))
        A, B, C = left.T @ A @ right.T, left.T @ B, C @ right.T
        inner, values, _ = np.linalg.svd(A[rank:, rank:])
        known = int(np.sum(values > SINGULAR * np.linalg.norm(A, 2)))
        if known == len(values):
            break
        A[rank:], B[rank:] = inner.T @ A[rank:], inner.T @ B[rank:]
        constraint, driven = A[rank + known :, :rank], B[rank + known :]
        if np.linalg.norm(driven) > SINGULAR * max(np.linalg.norm(B), np.finfo(float).tiny):
            raise InvalidInput(
                "linear system: a constraint moves with an input, so that its explicit form would need the derivative"
                " of that input; keep the descriptor form, or give the input through a state"
            )
        _, lengths, basis = np.linalg.svd(constraint)
        if np.any(lengths <= SINGULAR * np.linalg.norm(A, 2)) or len(constraint) > rank:
            raise InvalidInput(
                "linear system: its equations do not determine all states (s E - A is singular for every s);"
                " remove constraints that repeat others"
            )
        keep = basis[len(constraint) :].T
        columns = np.zeros((len(A), keep.shape[1] + len(A) - rank))
        columns[:rank, : keep.shape[1]] = keep
        columns[rank:, keep.shape[1] :] = np.eye(len(A) - rank)
        rows = slice(0, rank + known)
        E = np.vstack([np.diag(masses[:rank]) @ columns[:rank], np.zeros((known, columns.shape[1]))])
        A, B, C = (A @ columns)[rows], B[rows], C @ columns
    solved = np.linalg.solve(A[rank:, rank:], np.hstack([A[rank:, :rank], B[rank:]]))
    of_states, of_inputs = solved[:, :rank], solved[:, rank:]
    mass = masses[:rank, None]
    return (
        (A[:rank, :rank] - A[:rank, rank:] @ of_states) / mass,
        (B[:rank] - A[:rank, rank:] @ of_inputs) / mass,
        C[:, :rank] - C[:, rank:] @ of_states,
        D - C[:, rank:] @ of_inputs,
    )
