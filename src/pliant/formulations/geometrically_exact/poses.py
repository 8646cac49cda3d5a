"""Poses of the sections, rebuilt from the strains: H' = H xi-hat along each link, H in SE(3).

The strain of an element is the polynomial through its strain points; one sixth-order Magnus step
([blanes2009]) leads from mark to mark, where marks are nodes and wanted stations.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pliant.formulations.geometrically_exact.chain import Chain, Floats, Ints
from pliant.formulations.geometrically_exact.discretise import Points, Stationing
from pliant.formulations.geometrically_exact.orientation import load9
from pliant.formulations.geometrically_exact.stages import set_poses
from pliant.jit import kernel
from pliant.mechanics.shape_functions import gauss_rule, lagrange_basis
from pliant.spatial.se3 import ad, exp, mul


class Path(NamedTuple):
    """Marks along all links in order; station rows are numbered over all links."""

    first: Ints  # (links + 1,) first interval of each link
    element: Ints  # (intervals,)
    width: Floats  # (intervals,) metre
    values: Floats  # (intervals, 3, p) strains at three points from the strain points
    row: Ints  # (intervals,) output row reached at the end of the interval, -1: none
    root_row: Ints  # (links,) output row of the root, -1: none
    rows: int


def make_path(chain: Chain, points: Points, placed: Stationing, wanted: list[Floats]) -> Path:
    """March over all nodes and over ``wanted`` stations of each link; output rows in the order wanted.

    Stations must be sorted; a rigid link can only be asked for station 0, its root.
    """
    p = points.degree
    three = gauss_rule(3)[0]
    first, element, width, values, row = [0], [], [], [], []
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
            for x, y in zip(marks[:-1], marks[1:]):
                unit = (x + (y - x) * three - a) / (b - a)
                values.append(lagrange_basis(points.strain_points, unit)[0])
                element.append(int(chain.tree.first_element[link]) + i)
                width.append(float(y - x))
                row.append(numbers.get(y, -1))
        first.append(len(element))
    return Path(
        np.array(first, dtype=np.int64),
        np.array(element, dtype=np.int64),
        np.array(width, dtype=float),
        np.array(values, dtype=float).reshape(len(element), 3, p),
        np.array(row, dtype=np.int64),
        root_row,
        rows,
    )


@kernel
def total_strain(path, rest, e, interval, point):
    p = path.values.shape[2]
    x = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    for g in range(p):
        k = path.element[interval] * p + g
        f = path.values[interval, point, g]
        x = (
            x[0] + f * (rest[k, 0] + e[k, 0]),
            x[1] + f * (rest[k, 1] + e[k, 1]),
            x[2] + f * (rest[k, 2] + e[k, 2]),
            x[3] + f * (rest[k, 3] + e[k, 3]),
            x[4] + f * (rest[k, 4] + e[k, 4]),
            x[5] + f * (rest[k, 5] + e[k, 5]),
        )
    return x


@kernel
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


@kernel
def magnus_twist(x, y, z, h):
    """Twist over a length h from the strains at its three Gauss points; brackets as in `orientation`."""
    r = math.sqrt(15.0) / 3.0 * h
    t = 10.0 / 3.0 * h
    a1 = combine(0.0, x, h, y, 0.0, z)
    a2 = combine(-r, x, 0.0, y, r, z)
    a3 = combine(t, x, -2 * t, y, t, z)
    c1 = ad(a2, a1)
    c2 = ad(a1, combine(2.0, a3, 1.0, c1, 0.0, a1))
    u = combine(-20.0, a1, -1.0, a3, 1.0, c1)
    v = combine(1.0, a2, 1.0 / 60.0, c2, 0.0, a1)
    return combine(1.0, a1, 1.0 / 12.0, a3, 1.0 / 240.0, ad(v, u))


@kernel
def store_pose(g, R, r, n, k):
    for i in range(9):
        R[n, k, i] = g[0][i]
    for i in range(3):
        r[n, k, i] = g[1][i]


@kernel
def rebuild(tree, rest, path, e, q, relative, tips, R, r):
    """World poses at the stations for n states e (n, points, 6), q (n, dofs); R (n, rows, 9), r (n, rows, 3).

    relative (links, 12) and tips (links, 12) are scratch.
    """
    for n in range(e.shape[0]):
        set_poses(tree, q[n], relative)
        for link in range(tree.parent.shape[0]):
            g = (load9(relative, link), (relative[link, 9], relative[link, 10], relative[link, 11]))
            parent = tree.parent[link]
            if parent >= 0:
                g = mul((load9(tips, parent), (tips[parent, 9], tips[parent, 10], tips[parent, 11])), g)
            if path.root_row[link] >= 0:
                store_pose(g, R, r, n, path.root_row[link])
            for k in range(path.first[link], path.first[link + 1]):
                x = total_strain(path, rest, e[n], k, 0)
                y = total_strain(path, rest, e[n], k, 1)
                z = total_strain(path, rest, e[n], k, 2)
                g = mul(g, exp(magnus_twist(x, y, z, path.width[k])))
                if path.row[k] >= 0:
                    store_pose(g, R, r, n, path.row[k])
            for i in range(9):
                tips[link, i] = g[0][i]
            for i in range(3):
                tips[link, 9 + i] = g[1][i]


def rebuild_poses(chain: Chain, path: Path, e: Floats, q: Floats) -> tuple[Floats, Floats]:
    """Positions (n, rows, 3) and rotations (n, rows, 3, 3) at the stations of a path."""
    count, links = len(e), len(chain.tree.parent)
    R, r = np.empty((count, path.rows, 9)), np.empty((count, path.rows, 3))
    rebuild(chain.tree, chain.section.rest, path, e, q, np.zeros((links, 12)), np.zeros((links, 12)), R, r)
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
