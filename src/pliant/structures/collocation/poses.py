"""Poses of the sections, rebuilt from the strains: H' = H xi-hat along each link, H in SE(3).

The strain of an element is the polynomial through its strain points; one sixth-order Magnus step ([blanes2009]) leads
from mark to mark, where marks are nodes and wanted stations. Body-fixed frames multiply from the right, which turns the
sign of every bracket. The time loop wants rotations alone: there the same step is taken in SO(3), R' = R kappa-hat,
from node to node, at less than half the cost; a test compares the two.
"""

from __future__ import annotations

import itertools
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pliant.jit import inline_kernel, kernel
from pliant.mechanics.joint_kinematics import place_child
from pliant.mechanics.shape_functions import lagrange_basis
from pliant.spatial import se3, so3
from pliant.spatial.rows import load3, load6, load9, plus6, stage_row, store
from pliant.spatial.vectors import apply_transpose, cross, product
from pliant.structures.collocation.chain import Chain, Floats, Ints, Points, Stationing


@inline_kernel
def set_poses(tree, q, i, pose):
    """Poses of all child roots in their parents for row i of q."""
    for link in range(tree.parent.shape[0]):
        dof = tree.dof[link]
        place_child(tree.rotation, tree.position, tree.S, link, q[i, dof] if dof >= 0 else 0.0, pose, i)


@kernel
def place_joints_at(tree, q, pose):
    """`set_poses` of one state, for Python."""
    set_poses(tree, q, 0, pose)


@inline_kernel
def magnus_rotation(mesh, xi, i, element, interval):
    """Rotation vector over one interval of an element from the moments of its curvature."""
    p = mesh.N.shape[0]
    x1 = x2 = x3 = y1 = y2 = y3 = z1 = z2 = z3 = 0.0
    for g in range(p):
        k = element * p + g
        a, b, c = xi[i, k, 3], xi[i, k, 4], xi[i, k, 5]
        f, d, q = load3(mesh.moments[interval], g)
        x1, x2, x3 = x1 + f * a, x2 + f * b, x3 + f * c
        y1, y2, y3 = y1 + d * a, y2 + d * b, y3 + d * c
        z1, z2, z3 = z1 + q * a, z2 + q * b, z3 + q * c
    l = mesh.length[element]
    a1, a2, a3 = (l * x1, l * x2, l * x3), (l * y1, l * y2, l * y3), (l * z1, l * z2, l * z3)
    c1 = cross(a2, a1)
    c2 = cross(a1, (2 * a3[0] + c1[0], 2 * a3[1] + c1[1], 2 * a3[2] + c1[2]))
    u = (-20 * a1[0] - a3[0] + c1[0], -20 * a1[1] - a3[1] + c1[1], -20 * a1[2] - a3[2] + c1[2])
    v = (a2[0] + c2[0] / 60, a2[1] + c2[1] / 60, a2[2] + c2[2] / 60)
    w = cross(v, u)
    return (a1[0] + a3[0] / 12 + w[0] / 240, a1[1] + a3[1] / 12 + w[1] / 240, a1[2] + a3[2] / 12 + w[2] / 240)


@kernel
def rebuild_orientations(tree, mesh, xi, pose, i, R_node, R_point):
    """World rotations of all nodes for stage i; of the strain points too where R_point has rows (mixed element)."""
    p = mesh.N.shape[0]
    for link in range(tree.parent.shape[0]):
        R = load9(pose[i], link)
        if tree.parent[link] >= 0:
            R = product(load9(R_node[i], tree.parent_node[link]), R)
        store(R, R_node[i], tree.first_node[link])
        first = tree.first_element[link]
        for element in range(first, first + tree.n_elements[link]):
            for interval in range(p):
                w = magnus_rotation(mesh, xi, i, element, interval)
                if R_point.shape[1] > 0:
                    f = mesh.N[0, 1]
                    store(product(R, so3.exp((f * w[0], f * w[1], f * w[2]))), R_point[i], element)
                R = product(R, so3.exp(w))
                store(R, R_node[i], mesh.start[element] + interval + 1)


@kernel
def rotation_vectors(mesh, xi, i, out):
    """Rotation vectors (elements, p, 3) of stage i over the intervals between nodes; xi may be complex."""
    for element in range(out.shape[0]):
        for interval in range(out.shape[1]):
            store(magnus_rotation(mesh, xi, i, element, interval), out[element], interval)


@inline_kernel
def carry_gravity(tree, mesh, xi, pose, gravity, i, g_node):
    """Gravity in the axes of all nodes for stage i, handed on from node to node: cheaper than their rotations."""
    p = mesh.N.shape[0]
    for link in range(tree.parent.shape[0]):
        g = (gravity[0], gravity[1], gravity[2])
        if tree.parent[link] >= 0:
            g = load3(g_node[i], tree.parent_node[link])
        g = apply_transpose(load9(pose[i], link), g)
        store(g, g_node[i], tree.first_node[link])
        first = tree.first_element[link]
        for element in range(first, first + tree.n_elements[link]):
            for interval in range(p):
                g = so3.turn_back(magnus_rotation(mesh, xi, i, element, interval), g)
                store(g, g_node[i], mesh.start[element] + interval + 1)


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
def magnus_twist(path, e, k):
    """Twist over interval k from the moments of its strain, as `magnus_rotation` is from those of its curvature."""
    a1, a2, a3 = stage_row(path.rest, k, 0), stage_row(path.rest, k, 1), stage_row(path.rest, k, 2)
    p = path.weights.shape[1]
    for g in range(p):
        x = load6(e, path.element[k] * p + g)
        a1 = plus6(a1, path.weights[k, g, 0], x)
        a2 = plus6(a2, path.weights[k, g, 1], x)
        a3 = plus6(a3, path.weights[k, g, 2], x)
    c1 = se3.ad(a2, a1)
    c2 = se3.ad(a1, plus6(c1, 2.0, a3))
    u = plus6(plus6(c1, -1.0, a3), -20.0, a1)
    w = se3.ad(plus6(a2, 1.0 / 60.0, c2), u)
    return plus6(plus6(a1, 1.0 / 12.0, a3), 1.0 / 240.0, w)


@kernel
def interval_twists(path, e, out):
    """Twists (intervals, 6) over all intervals of a path; strains e (points, 6) may be complex."""
    for k in range(out.shape[0]):
        store(magnus_twist(path, e, k), out, k)


@inline_kernel
def load_pose(a, link):
    return load9(a[0], link), (a[0, link, 9], a[0, link, 10], a[0, link, 11])


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
            g = load_pose(relative, link)
            if tree.parent[link] >= 0:
                g = se3.mul(load_pose(tips, tree.parent[link]), g)
            if path.root_row[link] >= 0:
                store(g[0], R[n], path.root_row[link])
                store(g[1], r[n], path.root_row[link])
            for k in range(path.first[link], path.first[link + 1]):
                g = se3.mul(g, se3.exp(magnus_twist(path, e[n], k)))
                if path.row[k] >= 0:
                    store(g[0], R[n], path.row[k])
                    store(g[1], r[n], path.row[k])
            store(g[0], tips[0], link)
            for c in range(3):
                tips[0, link, 9 + c] = g[1][c]


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
    rest = moments.transpose(0, 2, 1) @ chain.section.rest[strain_points]
    marks_of_links, elements, reached = (np.array(each, np.int64) for each in (first, element, row))
    return Path(marks_of_links, elements, moments, rest, reached, root_row, rows)


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
