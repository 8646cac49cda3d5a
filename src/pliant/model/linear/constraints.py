"""Constraints of port-Hamiltonian descriptor systems: found, counted and eliminated.

Where E is singular, some efforts e2 appear without a derivative. Those that their own equations determine are solved
for (index 1). The others are multipliers of constraints g^T e1 = 0 on the efforts of the states (index 2): with
W = null(g^T) and T = null(g^T Q), E becomes W^T E T, Q becomes W^T Q T, and the relation of efforts is seen through W.
Energy and structure are those of the given system on the states that satisfy the constraints.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pliant.errors import InvalidInput
from pliant.model.linear.port import SINGULAR, block_diagonal
from pliant.model.linear.port_hamiltonian import KIND, LinearPortHamiltonian, Relation, relation_of, skew_part
from pliant.model.state import Array

BINDS_NOTHING = (
    f"{KIND}: a constraint binds states that carry no energy, so that it determines nothing; keep the constraints, or"
    " give these states a mass or a stiffness"
)


@dataclass(frozen=True, eq=False)
class Eliminated:
    """A system without constraints, and how its states lie in those of the given one.

    ``basis`` (given states, remaining states): states of the given system that satisfy all constraints; algebraic
    states, which carry no energy, are left at zero there. ``index``: 0 where nothing had to be eliminated, 1 where
    algebraic states were solved for, 2 where constraints removed states.
    """

    system: LinearPortHamiltonian
    basis: Array
    index: int


def eliminate_constraints(system: LinearPortHamiltonian) -> Eliminated:
    """The same behaviour at the ports with E = I and as few states as the constraints leave free.

    Remaining states keep their names where no algebraic state is mixed with others.
    """
    if not system.has_constraints:
        return Eliminated(system.explicit, np.eye(len(system.E)), 0)
    left, right, names = _separated(system)
    r, n = len(names), len(system.E)
    E = (left.T @ system.E @ right)[:r, :r]
    Q = left.T @ system.Q @ right
    _require_energy(Q[:r, r:], Q[r:, r:], Q)
    rotated = block_diagonal(left, np.eye(system.B.shape[1]))
    given = relation_of(system)
    relation = Relation(rotated.T @ given.turning @ rotated, rotated.T @ given.losses @ rotated)
    relation, constraints, driven = _solved(relation, r, n)
    if np.abs(driven).max(initial=0.0) > SINGULAR * np.abs(given.whole).max():
        raise InvalidInput(
            f"{KIND}: a constraint moves with an input, so that its elimination would need the derivative of that"
            " input; keep the constraints, or give the input through a state"
        )
    W, T, keep = _null_spaces(constraints, Q[:r, :r], E)
    remaining = relation.through(block_diagonal(W, np.eye(system.B.shape[1])))
    reduced = remaining.system(W.T @ E @ T, W.T @ Q[:r, :r] @ T, system.ports, tuple(names[k] for k in keep))
    if reduced.has_constraints:
        raise InvalidInput(BINDS_NOTHING)
    return Eliminated(reduced.explicit, right[:, :r] @ T, 2 if constraints.shape[1] else 1)


def _separated(system: LinearPortHamiltonian) -> tuple[Array, Array, tuple[str, ...]]:
    """Orthogonal matrices after which the rows and columns without E come last, and names of the other states."""
    E, n = system.E, len(system.E)
    free_rows, free_columns = ~np.any(E, axis=1), ~np.any(E, axis=0)
    rows, columns = np.argsort(free_rows, kind="stable"), np.argsort(free_columns, kind="stable")
    r = n - int(free_columns.sum())
    left, right = np.eye(n)[:, rows], np.eye(n)[:, columns]
    if free_rows.sum() == free_columns.sum():
        values = np.linalg.svd((left.T @ E @ right)[:r, :r], compute_uv=False)
        if values.min(initial=1.0) > SINGULAR * values.max(initial=0.0):
            return left, right, tuple(system.states[k] for k in columns[:r])
    U, values, V = np.linalg.svd(E)
    r = int(np.sum(values > SINGULAR * values.max(initial=0.0)))
    return U, V.T, tuple(f"z{k + 1}" for k in range(r))


def _require_energy(mixed: Array, algebraic: Array, Q: Array) -> None:
    """Q^T E symmetric, and every algebraic effort free to take its value."""
    largest = np.abs(Q).max(initial=0.0)
    if np.abs(mixed).max(initial=0.0) > 1e-9 * largest:
        raise InvalidInput(
            f"{KIND}: Q^T E is not symmetric, by {np.abs(mixed).max() / largest:.1e} of the largest entry of Q;"
            " give a Q for which x^T Q^T E x / 2 is an energy"
        )
    values = np.linalg.svd(algebraic, compute_uv=False)
    if values.min(initial=1.0) <= SINGULAR * values.max(initial=0.0):
        raise InvalidInput(
            f"{KIND}: an algebraic state enters no equation, since Q is singular there; remove that state"
        )


def _solved(relation: Relation, r: int, n: int) -> tuple[Relation, Array, Array]:
    """Algebraic efforts solved for; constraints (r, k) on the efforts of the states, and what inputs add to them."""
    whole = relation.whole
    algebraic = whole[r:n, r:n]
    left, values, right = np.linalg.svd(algebraic)
    rank = int(np.sum(values > SINGULAR * values.max(initial=0.0)))
    # the symmetric part is semidefinite: what the block does not see, it does not reach either
    open_directions = right[rank:].T
    others = [*range(r), *range(n, len(whole))]
    solution = -(right[:rank].T / values[:rank]) @ left[:, :rank].T @ whole[r:n, others]
    back = np.zeros((len(whole), len(others)))
    back[others, range(len(others))] = 1.0
    back[r:n] = solution
    reduced = whole[np.ix_(others, others)] + whole[np.ix_(others, range(r, n))] @ solution
    kept = Relation(skew_part(reduced), relation.losses_through(back))
    bound = open_directions.T @ relation.turning[r:n]
    return kept, bound[:, :r].T, bound[:, n:].T


def _null_spaces(constraints: Array, Q: Array, E: Array) -> tuple[Array, Array, list[int]]:
    """W with W^T g = 0, T with g^T Q T = 0 that leaves some states as they are, and which states these are."""
    from scipy.linalg import qr

    n = len(Q)
    lengths = np.linalg.norm(constraints, axis=0)
    g = constraints[:, lengths > 0.0] / lengths[lengths > 0.0]
    U, values, _ = np.linalg.svd(g)
    rank = int(np.sum(values > SINGULAR * values.max(initial=0.0)))
    H = U[:, :rank].T @ Q
    energy = np.sqrt(np.abs(np.diag(Q.T @ E)))
    size = 1.0 / np.where(energy > 0.0, energy, energy.max(initial=0.0) or 1.0)
    triangle, order = qr(H * size, mode="r", pivoting=True)
    pivots = np.abs(np.diag(triangle))
    if rank and pivots[-1] <= SINGULAR * pivots[0]:
        raise InvalidInput(BINDS_NOTHING)
    keep, gone = sorted(order[rank:].tolist()), order[:rank]
    T = np.zeros((n, n - rank))
    T[keep, range(n - rank)] = 1.0
    T[gone] = -np.linalg.solve(H[:, gone], H[:, keep])
    return U[:, rank:], T, keep
