"""Poses of the sections, rebuilt from the strains: H' = H xi-hat along each link, H in SE(3).

The strain of an element is the polynomial through its strain points; one sixth-order Magnus step
([blanes2009]) leads from mark to mark, where marks are nodes and wanted stations.

Where along the links poses and strains are wanted.
"""

from __future__ import annotations

import itertools
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pliant.jit import inline_kernel, kernel
from pliant.mechanics.shape_functions import lagrange_basis
from pliant.spatial.se3 import ad, exp, mul
from pliant.structures.collocation.chain import Chain, Floats, Ints, Points, Stationing
from pliant.structures.collocation.orientation import load9
from pliant.structures.collocation.stages import set_poses


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


def make_path(chain: Chain, points: Points, placed: Stationing, wanted: list[Floats]) -> Path:
    """March over all nodes and over ``wanted`` stations of each link; output rows in the order wanted.

    Stations must be sorted; a rigid link can only be asked for station 0, its root.
    """
    p = points.degree
    first, element, weights, row = [0], [], [], []
    root_row = np.full(len(wanted), -1, np.int64)
    rows = 0
    for link, stations in enumerate(wanted):
        numbers = dict(zip(np.round(stations, 12), range(rows, rows + len(stations))))
        rows += len(stations)
        root_row[link] = numbers.get(0.0, -1)
        ends = placed.ends[link]
        for i in range(int(chain.tree.n_elements[link])):
            a, b = ends[i], ends[i + 1]
            inside = placed.nodes[link][i * (len(points.nodes) - 1) :][: len(points.nodes)]
            marks = np.unique(np.round(np.concatenate([inside, [s for s in stations if a < s < b]]), 12))
            # a sixth-order step is exact for small strains of degree 4: higher polynomials take two steps
            if p > 5:
                marks = np.sort(np.concatenate([marks, 0.5 * (marks[:-1] + marks[1:])]))
            for x, y in itertools.pairwise(marks):
                weights.append((b - a) * points.moments((x - a) / (b - a), (y - x) / (b - a)))
                element.append(int(chain.tree.first_element[link]) + i)
                row.append(numbers.get(y, -1))
        first.append(len(element))
    moments = np.array(weights, dtype=float).reshape(len(element), p, 3)
    strain_points = np.array(element, dtype=np.int64)[:, None] * p + np.arange(p)
    return Path(
        np.array(first, dtype=np.int64),
        np.array(element, dtype=np.int64),
        moments,
        moments.transpose(0, 2, 1) @ chain.section.rest[strain_points],
        np.array(row, dtype=np.int64),
        root_row,
        rows,
    )


def rebuild_poses(chain: Chain, path: Path, e: Floats, q: Floats) -> tuple[Floats, Floats]:
    """Positions (n, rows, 3) and rotations (n, rows, 3, 3) at the stations of a path."""
    count, links = len(e), len(chain.tree.parent)
    R, r = np.empty((count, path.rows, 9)), np.empty((count, path.rows, 3))
    scratch = (np.zeros((1, links, 12)), np.zeros((1, links, 12)))
    rebuild(chain.tree, path, e, q, scratch, (R, r))
    return r, R.reshape(count, path.rows, 3, 3)


def strain_values(
    chain: Chain, points: Points, placed: Stationing, link: int, stations: Floats
) -> tuple[NDArray[np.int64], Floats]:
    """For each station of a link: its strain points (m, p) and their polynomial weights (m, p)."""
    ends = placed.ends[link]
    element = np.clip(np.searchsorted(ends, stations, side="left") - 1, 0, len(ends) - 2)
    unit = (stations - ends[element]) / np.diff(ends)[element]
    weights = lagrange_basis(points.strain_points, unit)[0]
    p = points.degree
    rows = (int(chain.tree.first_element[link]) + element)[:, None] * p + np.arange(p)
    return rows, weights
