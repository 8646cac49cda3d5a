"""Poses of the sections, rebuilt from the strains: H' = H xi-hat along each link, H in SE(3).

The strain of an element is the polynomial through its strain points; one sixth-order Magnus step
([blanes2009]) leads from mark to mark, where marks are nodes and wanted stations.
"""

from __future__ import annotations

from typing import NamedTuple

from pliant.formulations.geometrically_exact.chain import Floats, Ints
from pliant.formulations.geometrically_exact.orientation import load9
from pliant.formulations.geometrically_exact.stages import set_poses
from pliant.jit import inline_kernel, kernel
from pliant.spatial.se3 import ad, exp, mul


class Path(NamedTuple):
    """Marks along all links in order; station rows are numbered over all links. Moments as in `Points.moments`."""

    first: Ints  # (links + 1,) first interval of each link
    element: Ints  # (intervals,)
    weights: Floats  # (intervals, p, 3) moments from the strains at the strain points
    rest: Floats  # (intervals, 3, 6) moments of the strain at rest
    row: Ints  # (intervals,) output row reached at the end of the interval, -1: none
    root_row: Ints  # (links,) output row of the root, -1: none
    rows: int


@inline_kernel
def add_multiple(x, f, e, k):
    """x + f e[k] of 6-tuples."""
    return (
        x[0] + f * e[k, 0],
        x[1] + f * e[k, 1],
        x[2] + f * e[k, 2],
        x[3] + f * e[k, 3],
        x[4] + f * e[k, 4],
        x[5] + f * e[k, 5],
    )


@inline_kernel
def load6(a, k, m):
    return a[k, m, 0], a[k, m, 1], a[k, m, 2], a[k, m, 3], a[k, m, 4], a[k, m, 5]


@inline_kernel
def combine(a, x, b, y, c, z):
    """a x + b y + c z of 6-tuples."""
    return (
        a * x[0] + b * y[0] + c * z[0],
        a * x[1] + b * y[1] + c * z[1],
        a * x[2] + b * y[2] + c * z[2],
        a * x[3] + b * y[3] + c * z[3],
        a * x[4] + b * y[4] + c * z[4],
        a * x[5] + b * y[5] + c * z[5],
    )


@inline_kernel
def magnus_twist(path, e, k):
    """Twist over interval k from the moments of its strain; brackets as in `orientation`."""
    a1, a2, a3 = load6(path.rest, k, 0), load6(path.rest, k, 1), load6(path.rest, k, 2)
    p = path.weights.shape[1]
    for g in range(p):
        point = path.element[k] * p + g
        a1 = add_multiple(a1, path.weights[k, g, 0], e, point)
        a2 = add_multiple(a2, path.weights[k, g, 1], e, point)
        a3 = add_multiple(a3, path.weights[k, g, 2], e, point)
    c1 = ad(a2, a1)
    c2 = ad(a1, combine(2.0, a3, 1.0, c1, 0.0, a1))
    u = combine(-20.0, a1, -1.0, a3, 1.0, c1)
    v = combine(1.0, a2, 1.0 / 60.0, c2, 0.0, a1)
    return combine(1.0, a1, 1.0 / 12.0, a3, 1.0 / 240.0, ad(v, u))


@inline_kernel
def store_pose(g, R, r, n, k):
    for i in range(9):
        R[n, k, i] = g[0][i]
    for i in range(3):
        r[n, k, i] = g[1][i]


@kernel
def rebuild(tree, path, e, q, scratch, out):
    """World poses at the stations for n states e (n, points, 6), q (n, dofs).

    out: rotations (n, rows, 9) and positions (n, rows, 3); scratch: two arrays (1, links, 12).
    """
    relative, tips = scratch
    R, r = out
    for n in range(e.shape[0]):
        set_poses(tree, q[n : n + 1], 0, relative)
        for link in range(tree.parent.shape[0]):
            g = (
                load9(relative, 0, link),
                (relative[0, link, 9], relative[0, link, 10], relative[0, link, 11]),
            )
            parent = tree.parent[link]
            if parent >= 0:
                g = mul(
                    (load9(tips, 0, parent), (tips[0, parent, 9], tips[0, parent, 10], tips[0, parent, 11])),
                    g,
                )
            if path.root_row[link] >= 0:
                store_pose(g, R, r, n, path.root_row[link])
            for k in range(path.first[link], path.first[link + 1]):
                g = mul(g, exp(magnus_twist(path, e[n], k)))
                if path.row[k] >= 0:
                    store_pose(g, R, r, n, path.row[k])
            for i in range(9):
                tips[0, link, i] = g[0][i]
            for i in range(3):
                tips[0, link, 9 + i] = g[1][i]
