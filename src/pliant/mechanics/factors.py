"""Arrays of the block elimination along a tree of links."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[Any]  # real or complex


class Increments(NamedTuple):
    """Right sides and increments of one solve.

    The first index of nodal arrays counts the parts of a number: real, and imaginary where there is one. What is
    linear with real coefficients treats them like stages.
    """

    b: NDArray[np.float64]  # (parts, nodes, 6)
    b_q: Numbers  # (dofs,)
    d: NDArray[np.float64]  # (parts, nodes, 6)
    d_q: Numbers  # (dofs,)
    rho_e: NDArray[np.float64]  # (parts, points, 6) strain residuals, then strain increments
    rate: NDArray[np.float64]  # (parts, points, 6) B d


def new_increments(nodes: int, points: int, dofs: int, dtype: type) -> Increments:
    """Room for one solve."""
    parts = parts_of(dtype)
    return Increments(
        b=np.zeros((parts, nodes, 6)),
        b_q=np.zeros(dofs, dtype),
        d=np.zeros((parts, nodes, 6)),
        d_q=np.zeros(dofs, dtype),
        rho_e=np.zeros((parts, points, 6)),
        rate=np.zeros((parts, points, 6)),
    )


def parts_of(dtype: type) -> int:
    """Real numbers that make one number of a type."""
    return 2 if np.dtype(dtype).kind == "c" else 1


class Factors(NamedTuple):
    """Factorisations, the first index counts them; all arrays of one number type but ``pose`` and ``Ad``."""

    parts: NDArray[np.int64]  # (k,) 1 where a factorisation is real even if the numbers are complex
    unit: Numbers  # (1,) the imaginary unit, zero for real numbers
    XY: NDArray[np.float64]  # (k, elements, 6p, parts, 6p + 6) rows of (X^T, (A_rf X)^T), parts apart
    W: Numbers  # (k, elements, 6p, 6) X A_fr
    W_rows: NDArray[np.float64]  # (k, elements, 6, parts, 6p) the rows of its transpose, parts apart like XY
    X_tip: Numbers  # (k, elements, 6p, 6) columns of X that belong to the element's last node
    Y_tip: Numbers  # (k, elements, 6, 6) the same of A_rf X
    to_tip_load: Numbers  # (k, nodes, 6, 6) answer of the nodes to a load at the link's tip, root held
    to_root: Numbers  # (k, nodes, 6, 6) minus the answer of the nodes to a motion of the link's root
    C0: Numbers  # (k, links, 6, 6)
    C: Numbers  # (k, links, 6, 6)
    Y_T: Numbers  # (k, links, 6, 6)
    K: Numbers  # (k, links, 6, 6)
    D: Numbers  # (k, links, 6, 6)
    CS: Numbers  # (k, links, 6) C S
    SC: Numbers  # (k, links, 6) S^T C
    kappa: Numbers  # (k, links)
    beta: Numbers  # (k, links) right side of the joint row, kept between the two sweeps of a solve
    tip: Numbers  # (k, links, 6) tip increments with the root held, kept likewise
    sums: NDArray[np.float64]  # (2, 6p + 6) scratch
    swaps: NDArray[np.int64]  # (6p,) scratch
    work: Numbers  # (4, 6, 6) scratch
    pose: NDArray[np.float64]  # (1, links, 12) child in parent at the factorisation
    Ad: NDArray[np.float64]  # (1, links, 6, 6)


def new_factors(count: int, links: int, elements: int, nodes: int, degree: int, dtype: type) -> Factors:
    """Room for ``count`` factorisations."""
    n = 6 * degree

    def zeros(*shape: int) -> Numbers:
        return np.zeros(shape, dtype)

    parts = parts_of(dtype)
    return Factors(
        parts=np.full(count, parts),
        unit=np.full(1, 1j if parts == 2 else 0.0, dtype),
        XY=np.zeros((count, elements, n, parts, n + 6)),
        W=zeros(count, elements, n, 6),
        W_rows=np.zeros((count, elements, 6, parts, n)),
        X_tip=zeros(count, elements, n, 6),
        Y_tip=zeros(count, elements, 6, 6),
        to_tip_load=zeros(count, nodes, 6, 6),
        to_root=zeros(count, nodes, 6, 6),
        C0=zeros(count, links, 6, 6),
        C=zeros(count, links, 6, 6),
        Y_T=zeros(count, links, 6, 6),
        K=zeros(count, links, 6, 6),
        D=zeros(count, links, 6, 6),
        CS=zeros(count, links, 6),
        SC=zeros(count, links, 6),
        kappa=zeros(count, links),
        beta=zeros(count, links),
        tip=zeros(count, links, 6),
        sums=np.zeros((2, n + 6)),
        swaps=np.zeros(n, np.int64),
        work=zeros(4, 6, 6),
        pose=np.zeros((1, links, 12)),
        Ad=np.zeros((1, links, 6, 6)),
    )
