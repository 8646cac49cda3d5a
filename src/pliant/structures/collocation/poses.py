"""Poses of the sections, rebuilt from the strains: H' = H xi-hat along each link, H in SE(3).

The strain of an element is the polynomial through its strain points; one sixth-order Magnus step ([blanes2009]) leads
from mark to mark, where marks are nodes and wanted stations. Body-fixed frames multiply from the right, which turns the
sign of every bracket. The time loop wants rotations alone: there the same step is taken in SO(3), R' = R kappa-hat,
from node to node, at less than half the cost; a test compares the two.
"""

from __future__ import annotations

import itertools
import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pliant.jit import inline_kernel, inner_kernel, kernel
from pliant.mechanics.joint_kinematics import place_child
from pliant.mechanics.shape_functions import lagrange_basis
from pliant.spatial import se3, so3
from pliant.spatial.rows import copy_to, load3, load6, load9, plus3, plus6, stage_row, store
from pliant.spatial.vectors import add, apply, apply_transpose, cross, product
from pliant.structures.collocation.chain import (
    BALL,
    FLOATING,
    MOVED,
    RIDER,
    Bools,
    Chain,
    Floats,
    Ints,
    Points,
    Stationing,
)

WIDEST = 0.2  # of an element of degree 6 or more: longest step along it
TOGETHER, FEWEST = 32, 4  # states whose shapes are rebuilt at once, at most and where that saves time
TURN_ITERATIONS = 60  # of a fixed point that gains the digits of half a turn per step at each


@inline_kernel
def frame_at(tree, link, q, i, turn, place):
    """Rotation and position of a frame of the state, carried on by the coordinates of its joint in row i of q."""
    f, dof = tree.frame[link], tree.dof[link]
    R, r = so3.from_quaternion(quaternion_of(turn, f)), (0.0, 0.0, 0.0)
    if tree.kind[link] != BALL:
        r = load3(place, f)
    if tree.kind[link] == FLOATING:
        r = add(r, load3(q, i, dof))
        dof += 3
    if tree.kind[link] != MOVED:
        R = product(R, so3.exp(load3(q, i, dof)))
    return R, r


@inline_kernel
def quaternion_of(turn, f):
    return (turn[f, 0], turn[f, 1], turn[f, 2], turn[f, 3])


@inline_kernel
def set_poses(tree, q, i, turn, place, pose):
    """Poses of all child roots in their parents for row i of q and frames of the state."""
    for link in range(tree.parent.shape[0]):
        if tree.kind[link] >= BALL:
            R, r = frame_at(tree, link, q, i, turn, place)
            Q = load9(tree.rotation, link)
            store(product(Q, R), pose[i], link)
            store(add(load3(tree.position, link), apply(Q, r)), pose[i], link, 9)
        else:
            dof = tree.dof[link]
            angle = q[i, dof] if dof >= 0 and tree.kind[link] != RIDER else 0.0
            place_child(tree.rotation, tree.position, tree.S, link, angle, pose, i)


@inline_kernel
def turn_rate(w, spin):
    """Rate of the rotation vector w of a frame that turns with ``spin`` in its own axes."""
    return apply_transpose(so3.left_tangent_inverse(w), spin)  # the inverse right tangent


@inline_kernel
def turned(q, w):
    """The unit quaternion q times the rotation exp(w), on the same side as q."""
    a, b, c, d = so3.to_quaternion(product(so3.from_quaternion(q), so3.exp(w)))
    f = 1.0 / math.sqrt(a * a + b * b + c * c + d * d)
    if a * q[0] + b * q[1] + c * q[2] + d * q[3] < 0.0:
        f = -f
    return f * a, f * b, f * c, f * d


@inner_kernel
def place_frames(plant, method, state, stages, h):
    """Where the polynomial of the step takes ball and floating joints.

    With R = R_0 exp(theta)  theta' = T^-1(theta) w  from 0, and  x' = R v ;  the joint rates v and w are twists in the
    axes of the child.
    """
    tree, s, history = plant.chain.tree, method.b.shape[0], method.history
    for link in range(tree.parent.shape[0]):
        kind, d = tree.kind[link], tree.dof[link]
        if kind not in (BALL, FLOATING) or plant.drives.prescribed[max(d, 0)]:
            continue
        turns = d + 3 if kind == FLOATING else d
        before = load3(state.q_rate[None], 0, turns)
        for _ in range(TURN_ITERATIONS):
            change = 0.0
            for i in range(s):
                x = (0.0, 0.0, 0.0)
                for k in range(s):
                    rate = turn_rate(load3(stages.q, k, turns), load3(stages.qd, k, turns))
                    x = plus3(x, h * method.A[i, k], plus3(rate, -history, before))
                for c in range(3):
                    change = max(change, abs(x[c] - stages.q[i, turns + c]))
                store(x, stages.q, i, turns)
            if change <= 1e-16:
                break
        if kind == FLOATING:
            R0 = so3.from_quaternion(quaternion_of(state.turn, tree.frame[link]))
            before = load3(state.q_rate[None], 0, d)
            for i in range(s):
                x = (0.0, 0.0, 0.0)
                for k in range(s):
                    R = product(R0, so3.exp(load3(stages.q, k, turns)))
                    rate = plus3(apply(R, load3(stages.qd, k, d)), -history, before)
                    x = plus3(x, h * method.A[i, k], rate)
                store(x, stages.q, i, d)


@inner_kernel
def advance_frames(plant, method, state, stages, base):
    """Frames of the state at the end of a step; the coordinates that led there start anew."""
    tree, end = plant.chain.tree, base.shape[0] - 1
    for link in range(tree.parent.shape[0]):
        kind, f = tree.kind[link], tree.frame[link]
        if kind == MOVED:
            for c in range(4):
                state.turn[f, c] = base[end, 3 + c]
            for c in range(3):
                state.place[f, c] = base[end, c]
            for c in range(6):
                state.V[tree.first_node[link], c] = base[end, 7 + c]
        elif kind in (BALL, FLOATING):
            d = tree.dof[link]
            if kind == FLOATING:
                if method.history != 0.0:
                    R = product(so3.from_quaternion(quaternion_of(state.turn, f)), so3.exp(load3(stages.q, 0, d + 3)))
                    rate = apply(R, load3(stages.qd, 0, d))
                    for c in range(3):
                        state.q_rate[d + c] += method.rate_gain * (rate[c] - state.q_rate[d + c])
                        turning = state.q_rate[d + 3 + c]
                        state.q_rate[d + 3 + c] += method.rate_gain * (stages.qd[0, d + 3 + c] - turning)
                for c in range(3):
                    state.place[f, c] += state.q[d + c]
                    state.q[d + c] = 0.0
                d += 3
            w = load3(state.q[None], 0, d)
            store(turned(quaternion_of(state.turn, f), w), state.turn, f)
            for c in range(3):
                state.q[d + c] = 0.0


@kernel
def place_joints_at(tree, q, turn, place, pose):
    """`set_poses` of one state, for Python."""
    set_poses(tree, q, 0, turn, place, pose)


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
def curved_flat(xi, i, first, p):
    """Whether an element whose first strain point is given is curved about the third axis of its sections alone."""
    flat = True
    for k in range(first, first + p):
        flat = flat and xi[i, k, 3] == 0.0 and xi[i, k, 4] == 0.0
    return flat


@inline_kernel
def flat_angle(mesh, xi, i, element, interval):
    """`magnus_rotation` of such an element, whose brackets are all zero."""
    p = mesh.N.shape[0]
    angle = 0.0
    for g in range(p):
        angle += (mesh.moments[interval, g, 0] + mesh.moments[interval, g, 2] / 12) * xi[i, element * p + g, 5]
    return mesh.length[element] * angle


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
            flat = curved_flat(xi, i, element * p, p)
            for interval in range(p):
                if flat:
                    w = (0.0, 0.0, flat_angle(mesh, xi, i, element, interval))
                else:
                    w = magnus_rotation(mesh, xi, i, element, interval)
                g = so3.turn_back(w, g)
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
    flat: bool  # at rest all links lie in the plane of the first two axes of their sections


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
def pose_at(a, link):
    return load9(a, link), (a[link, 9], a[link, 10], a[link, 11])


@inline_kernel
def bends_flat(path, e):
    """Whether links bend in the plane of the first two axes of their sections alone."""
    flat = path.flat
    for k in range(e.shape[0]):
        flat = flat and e[k, 2] == 0.0 and e[k, 3] == 0.0 and e[k, 4] == 0.0
    return flat


@inline_kernel
def load_plane(a, k):
    return a[k, 0], a[k, 1], a[k, 5]


@inline_kernel
def bracket_in_plane(a, b):
    """se3.ad of twists (v1, v2, w3)."""
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], 0.0


@inline_kernel
def pose_in_plane(path, e, k):
    """se3.exp of `magnus_twist` over interval k of a link that bends flat, at a third of the cost."""
    rest, p = path.rest[k], path.weights.shape[1]
    a1, a2, a3 = load_plane(rest, 0), load_plane(rest, 1), load_plane(rest, 2)
    for g in range(p):
        x = load_plane(e, path.element[k] * p + g)
        a1 = plus3(a1, path.weights[k, g, 0], x)
        a2 = plus3(a2, path.weights[k, g, 1], x)
        a3 = plus3(a3, path.weights[k, g, 2], x)
    c1 = bracket_in_plane(a2, a1)
    c2 = bracket_in_plane(a1, plus3(c1, 2.0, a3))
    u = plus3(plus3(c1, -1.0, a3), -20.0, a1)
    v1, v2, w = plus3(plus3(a1, 1.0 / 12.0, a3), 1.0 / 240.0, bracket_in_plane(plus3(a2, 1.0 / 60.0, c2), u))
    b, c = so3.tangent_coefficients(w * w)
    sine, cosine, d = w - c * w * w * w, 1.0 - b * w * w, 1.0 - c * w * w
    return lifted((cosine, sine, d * v1 - b * w * v2, d * v2 + b * w * v1))


@inline_kernel
def lifted(pose):
    """A pose in the plane of the first two axes, by cosine, sine and two coordinates, as one in space."""
    cosine, sine, x, y = pose
    return (cosine, -sine, 0.0, sine, cosine, 0.0, 0.0, 0.0, 1.0), (x, y, 0.0)


@inner_kernel
def march(tree, path, e, relative, tips, out):
    """World poses (rows, 9) and (rows, 3) at the stations, from those of links in their parents."""
    flat = bends_flat(path, e)
    for link in range(tree.parent.shape[0]):
        g = root_of(tree, path, link, relative, tips, out)
        for k in range(path.first[link], path.first[link + 1]):
            g = se3.mul(g, pose_in_plane(path, e, k) if flat else se3.exp(magnus_twist(path, e, k)))
            keep_pose(g, path.row[k], out)
        store(g[0], tips, link)
        store(g[1], tips, link, 9)


@inline_kernel
def root_of(tree, path, link, relative, tips, out):
    """World pose of the root of a link, stored where its station is wanted."""
    g = pose_at(relative, link)
    if tree.parent[link] >= 0:
        g = se3.mul(pose_at(tips, tree.parent[link]), g)
    keep_pose(g, path.root_row[link], out)
    return g


@inline_kernel
def keep_pose(g, row, out):
    """A world pose where its station is wanted, which has a row then."""
    if row >= 0:
        store(g[0], out[0], row)
        store(g[1], out[1], row)


class Shapes(NamedTuple):
    """Scratch for TOGETHER states, for those whose links bend flat: rows of one number of each state."""

    flat: Bools  # (TOGETHER,) which they are
    strain: Floats  # (points 3, TOGETHER) the components in the plane
    moments: Floats  # (9, TOGETHER) of one interval
    twist: Floats  # (6, TOGETHER) over it, the square of its angle and tangent coefficients
    pose: Floats  # (intervals 4, TOGETHER) ends of intervals in the root of the link: cosine, sine and coordinates


@inline_kernel
def bend_together(path, count, shapes):
    """Poses along links for some states at once, by the steps of `pose_in_plane`.

    Written out, since the compiler lets a loop do several states at a time only where it calls nothing.
    """
    strain, m, t, pose = shapes.strain, shapes.moments, shapes.twist, shapes.pose
    p = path.weights.shape[1]
    for link in range(path.first.shape[0] - 1):
        for k in range(path.first[link], path.first[link + 1]):
            for c in range(3):
                sum_moments(path, k, strain[3 * p * path.element[k] + c :], m[3 * c : 3 * c + 3], c, count)
            for s in range(count):
                x1, x2, x3, y1, y2, y3 = m[0, s], m[1, s], m[2, s], m[3, s], m[4, s], m[5, s]
                w1, w2, w3 = m[6, s], m[7, s], m[8, s]
                cx, cy = y2 * w1 - w2 * y1, w2 * x1 - x2 * w1
                dx, dy, dw = cx + 2.0 * x3, cy + 2.0 * y3, 2.0 * w3
                zx, zy = x2 + (y1 * dw - w1 * dy) * (1.0 / 60.0), y2 + (w1 * dx - x1 * dw) * (1.0 / 60.0)
                ux, uy, uw = cx - x3 - 20.0 * x1, cy - y3 - 20.0 * y1, -w3 - 20.0 * w1
                t[0, s] = x1 + x3 * (1.0 / 12.0) + (zy * uw - w2 * uy) * (1.0 / 240.0)
                t[1, s] = y1 + y3 * (1.0 / 12.0) + (w2 * ux - zx * uw) * (1.0 / 240.0)
                w = w1 + w3 * (1.0 / 12.0)
                t[2, s], t[3, s] = w, w * w
            so3.many_tangent_coefficients(t[3, :count], t[4], t[5])
            h = pose[4 * k : 4 * k + 4]
            for s in range(count):
                w, x, b, c = t[2, s], t[3, s], t[4, s], t[5, s]
                d = 1.0 - c * x
                h[0, s], h[1, s] = 1.0 - b * x, w * d
                h[2, s], h[3, s] = d * t[0, s] - b * w * t[1, s], d * t[1, s] + b * w * t[0, s]
            if k > path.first[link]:
                g = pose[4 * k - 4 : 4 * k]
                for s in range(count):
                    cosine, sine, x, y = g[0, s], g[1, s], h[2, s], h[3, s]
                    h[2, s], h[3, s] = g[2, s] + cosine * x - sine * y, g[3, s] + sine * x + cosine * y
                for s in range(count):
                    cosine, sine, x, y = g[0, s], g[1, s], h[0, s], h[1, s]
                    h[0, s], h[1, s] = cosine * x - sine * y, sine * x + cosine * y


@inline_kernel
def sum_moments(path, k, strain, m, c, count):
    """Three moments over interval k of component c of some states."""
    rest, weights = path.rest[k], path.weights[k]
    at = 5 if c == 2 else c
    for j in range(3):
        r = rest[j, at]
        for s in range(count):
            m[j, s] = r
    for g in range(weights.shape[0]):
        f1, f2, f3 = load3(weights, g)
        for s in range(count):
            x = strain[3 * g, s]
            m[0, s] += f1 * x
            m[1, s] += f2 * x
            m[2, s] += f3 * x


@inline_kernel
def place_bent(tree, path, s, shapes, relative, tips, out):
    """`march` for one of the states of `bend_together`."""
    pose = shapes.pose
    for link in range(tree.parent.shape[0]):
        root = root_of(tree, path, link, relative, tips, out)
        g, last = root, path.first[link + 1] - 1
        for k in range(path.first[link], last + 1):
            if path.row[k] >= 0 or k == last:
                g = se3.mul(root, lifted((pose[4 * k, s], pose[4 * k + 1, s], pose[4 * k + 2, s], pose[4 * k + 3, s])))
                keep_pose(g, path.row[k], out)
        store(g[0], tips, link)
        store(g[1], tips, link, 9)


@kernel
def rebuild(tree, path, strained, q, frames, scratch, out):
    """World poses at the stations for n states with joint positions q (n, dofs).

    strained: rows (n, size), and where in them the strains begin; frames: rotations (n, frames, 4) and positions
    (n, frames, 3); out: rotations (n, rows, 9) and positions (n, rows, 3); scratch: `new_scratch`.
    """
    relative, tips, e, shapes = scratch
    (states, begin), (turn, place), (R, r) = strained, frames, out
    end, strain = begin + e.size, shapes.strain
    together = path.flat and states.shape[0] >= FEWEST
    for first in range(0, states.shape[0], TOGETHER):
        count, some = min(TOGETHER, states.shape[0] - first), False
        for s in range(count):
            copy_to(states[first + s, begin:end], e)
            shapes.flat[s] = together and bends_flat(path, e)
            some = some or shapes.flat[s]
            if together:  # of all, so that no number is without a meaning
                for k in range(e.shape[0]):
                    strain[3 * k, s], strain[3 * k + 1, s], strain[3 * k + 2, s] = load_plane(e, k)
        if some:
            bend_together(path, count, shapes)
        for s in range(count):
            n = first + s
            set_poses(tree, q[n : n + 1], 0, turn[n], place[n], relative)
            if shapes.flat[s]:
                place_bent(tree, path, s, shapes, relative[0], tips[0], (R[n], r[n]))
            else:
                copy_to(states[n, begin:end], e)
                march(tree, path, e, relative[0], tips[0], (R[n], r[n]))


Scratch = tuple[Floats, Floats, Floats, Shapes]
Strained = tuple[Floats, int]  # rows (n, size), and where in them the strains of all points begin


def new_scratch(chain: Chain, path: Path) -> Scratch:
    """For `rebuild`: poses (1, links, 12) of links in their parents and of their tips, strains of a state, shapes."""
    links, points = len(chain.tree.parent), len(chain.section.C)
    counts = (3 * points, 9, 6, 4 * len(path.element)) if path.flat else (0, 0, 0, 0)
    shapes = Shapes(np.empty(TOGETHER, np.bool_), *(np.empty((count, TOGETHER)) for count in counts))
    return np.empty((1, links, 12)), np.empty((1, links, 12)), np.empty((points, 6)), shapes


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
            # strongly bent links show the error of long steps; high degrees are asked for more digits than that leaves
            wide = np.flatnonzero(np.diff(marks) > WIDEST * (b - a)) if p > 5 else ()
            marks = np.sort(np.append(marks, [0.5 * (marks[k] + marks[k + 1]) for k in wide]))
            for x, y in itertools.pairwise(marks):
                weights.append((b - a) * points.moments((x - a) / (b - a), (y - x) / (b - a)))
                element.append(int(chain.tree.first_element[link]) + i)
                row.append(numbers.get(y, -1))
        first.append(len(element))
    moments = np.array(weights, dtype=float).reshape(len(element), p, 3)
    strain_points = np.array(element, dtype=np.int64)[:, None] * p + np.arange(p)
    rest = moments.transpose(0, 2, 1) @ chain.section.rest[strain_points]
    marks_of_links, elements, reached = (np.array(each, np.int64) for each in (first, element, row))
    return Path(marks_of_links, elements, moments, rest, reached, root_row, rows, not rest[:, :, 2:5].any())


Frames = tuple[Floats, Floats]  # rotations (n, frames, 4) and positions (n, frames, 3) of n states


def rebuild_poses(
    chain: Chain, path: Path, e: Floats, q: Floats, frames: Frames | None = None
) -> tuple[Floats, Floats]:
    """Positions (n, rows, 3) and rotations (n, rows, 3, 3) at the stations of a path, for strains (n, points, 6).

    ``q`` needs no columns of coordinates without names: where they are is in ``frames``.
    """
    return poses_of(chain, path, (e.reshape(len(e), -1), 0), q, frames)


def poses_of(
    chain: Chain, path: Path, strained: Strained, q: Floats, frames: Frames | None = None
) -> tuple[Floats, Floats]:
    """The same for strains among other numbers."""
    count, unnamed = len(q), chain.dofs - q.shape[1]
    turn, place = frames or (np.zeros((count, 0, 4)), np.zeros((count, 0, 3)))
    q = np.concatenate([q, np.zeros((count, unnamed))], axis=1) if unnamed else q
    R, r = np.empty((count, path.rows, 9)), np.empty((count, path.rows, 3))
    rebuild(chain.tree, path, strained, q, (turn, place), new_scratch(chain, path), (R, r))
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
