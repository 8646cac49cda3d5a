"""Arrays of the block elimination along a tree of links."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[Any]  # real or complex


class Increments(NamedTuple):
    """Right sides and increments of one solve; nodal arrays have a first index of length one, like a stage."""

    b: Numbers  # (1, nodes, 6)
    b_q: Numbers  # (dofs,)
    d: Numbers  # (1, nodes, 6)
    d_q: Numbers  # (dofs,)
    rho_e: Numbers  # (1, points, 6) strain residuals, then strain increments
    rate: Numbers  # (1, points, 6) B d
    b_parts: NDArray[np.float64]  # the memory of b and d as flat real and imaginary parts
    d_parts: NDArray[np.float64]


def new_increments(nodes: int, points: int, dofs: int, dtype: type) -> Increments:
    """Room for one solve."""

    def zeros(*shape: int) -> Numbers:
        return np.zeros(shape, dtype)

    b, d = zeros(1, nodes, 6), zeros(1, nodes, 6)
    return Increments(
        b=b,
        b_q=zeros(dofs),
        d=d,
        d_q=zeros(dofs),
        rho_e=zeros(1, points, 6),
        rate=zeros(1, points, 6),
        b_parts=b.reshape(-1).view(np.float64),
        d_parts=d.reshape(-1).view(np.float64),
    )


class Factors(NamedTuple):
    """Factorisations, the first index counts them; all arrays of one number type but ``pose`` and ``Ad``."""

    XY: NDArray[
        np.float64
    ]  # (k, elements, 6p, parts, 6p + 6) rows of (X, A_rf X)^T, real and imaginary parts apart
    W: Numbers  # (k, elements, 6p, 6) X A_fr
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
    work: Numbers  # (4, n, n) scratch
    pose: NDArray[np.float64]  # (1, links, 12) child in parent at the factorisation
    Ad: NDArray[np.float64]  # (1, links, 6, 6)


def new_factors(count: int, links: int, elements: int, nodes: int, degree: int, dtype: type) -> Factors:
    """Room for ``count`` factorisations."""
    n = 6 * degree

    def zeros(*shape: int) -> Numbers:
        return np.zeros(shape, dtype)

    return Factors(
        XY=np.zeros((count, elements, n, 2 if np.dtype(dtype).kind == "c" else 1, n + 6)),
        W=zeros(count, elements, n, 6),
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
        work=zeros(4, n + 6, n + 6),
        pose=np.zeros((1, links, 12)),
        Ad=np.zeros((1, links, 6, 6)),
    )
