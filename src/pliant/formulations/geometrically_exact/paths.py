"""Where along the links poses and strains are wanted."""

from __future__ import annotations

import itertools

import numpy as np
from numpy.typing import NDArray

from pliant.formulations.geometrically_exact.chain import Chain, Floats
from pliant.formulations.geometrically_exact.discretise import Points, Stationing
from pliant.formulations.geometrically_exact.poses import Path, rebuild
from pliant.mechanics.shape_functions import lagrange_basis


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
