"""Mass points and rotary inertia of links that deform by shapes, summed over each link: the same as bodies of a tree.

A mass point of a link whose frame moves with the twist V, in world axes about the world's origin, lies at

    r = x + R (X + P q) ,      r' = V_lin + w x r + R P q' ,      r'' = A_lin + al x r + w x (V_lin + w x r)
                                                                        + 2 w x R P q' + R P q'' ,

and pushes on the frame by  m r''  at r and on the coordinates by  P^T R^T m r'' .  The rotary inertia of a link turns
about three axes fixed to its frame, each by its own angle,

    L = J (w + Q q') ,      moment J (al + Q q'') + w x L ,      Q^T J (al + Q q'') on the coordinates,

in the frame of these axes. So a link costs as much as its points, where joints of a tree would cost three bodies each.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from pliant.jit import inline_kernel, inner_kernel
from pliant.spatial.rows import add_to, dot6, load3, load6, load9, plus6, store
from pliant.spatial.se3 import angular, join, linear
from pliant.spatial.vectors import Matrix, Vector, add, apply, apply_transpose, cross, dot, scale
from pliant.structures.tree import columns as at
from pliant.structures.tree.motion import EMPTY, Floats, Ints, Tree

MASS, PLACE = 0, 1  # columns of Cloud.point
FORCE, MOMENTUM = 0, 3  # columns of the scratch of a cloud
NOWHERE = -2
Ints3 = tuple[int, int, int]


class Cloud(NamedTuple):
    """Points and rotary inertias; the first column of their numbers and the one after the last stand in ``span``."""

    home: Ints  # (points,) bodies whose frames carry them, those of one body in a row
    span: Ints  # (points, 2)
    point: Floats  # (points, 4) mass, place in the frame of the body
    shape: Floats  # (points, n, 3) displacement in that frame
    spin_home: Ints  # (spins,)
    spin_span: Ints  # (spins, 2)
    spin: Floats  # (spins, 3) inertia about three axes
    axes: Floats  # (spins, 9) from these axes to those of the body
    turn: Floats  # (spins, n, 3) about these axes
    mass: Floats  # (n, n) constant part of the mass matrix
    scratch: Floats  # (points, 6) force and momentum in the axes of the body
    spin_scratch: Floats  # (spins, 6) moment and momentum about the axes


def no_cloud() -> Cloud:
    z, none, pair = np.zeros, np.zeros(0, np.int64), np.zeros((0, 2), np.int64)
    spins = none, pair, z((0, 3)), z((0, 9)), z((0, 0, 3))
    return Cloud(none, pair, z((0, 4)), z((0, 0, 3)), *spins, z((0, 0)), z((0, 6)), z((0, 6)))


class LinkCloud(NamedTuple):
    """Mass points and rotary inertia of a link with m shapes, whose first coordinate is ``first``."""

    bodies: Ints  # bodies of the tree that stand for them
    home: int
    first: int
    mass: Floats  # (points,)
    place: Floats  # (points, 3) in the frame of the body ``home``
    shape: Floats  # (points, 3, m)
    spin: Floats  # (3,)
    axes: Floats  # (3, 3) from the axes of the spins to those of the body
    turn: Floats  # (3, m)


def new_cloud(links: Sequence[LinkCloud], n: int) -> Cloud:
    """Of all links, for n coordinates."""
    count, spins = sum(len(link.mass) for link in links), len(links)
    z, whole = np.zeros, np.int64
    home, span, shape = z(count, whole), z((count, 2), whole), z((count, n, 3))
    turn, mass, k = z((spins, n, 3)), z((n, n)), 0
    for s, link in enumerate(links):
        own, part = slice(k, k + len(link.mass)), slice(link.first, link.first + link.turn.shape[1])
        home[own], span[own] = link.home, (part.start, part.stop)
        shape[own, part], turn[s, part] = np.swapaxes(link.shape, 1, 2), link.turn.T
        mass[part, part] = np.einsum("p,pil,pim->lm", link.mass, link.shape, link.shape)
        mass[part, part] += link.turn.T @ (link.spin[:, None] * link.turn)
        k = own.stop
    points = np.concatenate([z((0, 4)), *(np.column_stack([link.mass, link.place]) for link in links)])
    spin_home = np.array([link.home for link in links], whole)
    spin_span = np.array([(link.first, link.first + link.turn.shape[1]) for link in links], whole).reshape(-1, 2)
    spin, axes = (np.array([getattr(link, name).ravel() for link in links]) for name in ("spin", "axes"))
    about = spin_home, spin_span, spin.reshape(-1, 3), axes.reshape(-1, 9), turn
    return Cloud(home, span, points, shape, *about, mass, z((count, 6)), z((spins, 6)))


@inline_kernel
def moved_by(shape: Floats, first: int, stop: int, x: Floats) -> Vector:
    """P x of one point."""
    a, b, c = 0.0, 0.0, 0.0
    for j in range(first, stop):
        a += shape[j, 0] * x[j]
        b += shape[j, 1] * x[j]
        c += shape[j, 2] * x[j]
    return (a, b, c)


@inline_kernel
def push_on(shape: Floats, first: int, stop: int, f: Vector, force: Floats) -> None:
    """force += P^T f."""
    for j in range(first, stop):
        force[j] += shape[j, 0] * f[0] + shape[j, 1] * f[1] + shape[j, 2] * f[2]


@inline_kernel
def place_of(cloud: Cloud, k: int, q: Floats, motion: Floats) -> Vector:
    """Where point k is in the world."""
    b = cloud.home[k] + 1
    d = add(load3(cloud.point, k, PLACE), moved_by(cloud.shape[k], cloud.span[k, 0], cloud.span[k, 1], q))
    return add(load3(motion, b, at.POSE_X), apply(load9(motion, b, at.POSE_R), d))


@inner_kernel
def push_links(cloud: Cloud, q: Floats, v: Floats, a: Floats, motion: Floats) -> None:
    """Adds wrench and momentum of points and inertias to the bodies that carry them; twists and accelerations stand.

    What they push the coordinates by stays in the scratch.
    """
    for k in range(cloud.home.shape[0]):
        b, first, stop, shape = cloud.home[k] + 1, cloud.span[k, 0], cloud.span[k, 1], cloud.shape[k]
        R, V, A = load9(motion, b, at.POSE_R), load6(motion, b, at.TWIST), load6(motion, b, at.ACCELERATION)
        m = cloud.point[k, MASS]
        w, r = angular(V), place_of(cloud, k, q, motion)
        speed = add(linear(V), cross(w, r))
        own = apply(R, moved_by(shape, first, stop, v))
        push = add(add(linear(A), cross(angular(A), r)), cross(w, add(speed, scale(2.0, own))))
        f = scale(m, add(push, apply(R, moved_by(shape, first, stop, a))))
        p = scale(m, add(speed, own))
        add_to(1.0, join(f, cross(r, f)), motion, b, at.WRENCH)
        add_to(1.0, join(p, cross(r, p)), motion, b, at.MOMENTUM)
        store(apply_transpose(R, f), cloud.scratch, k, FORCE)
        store(apply_transpose(R, p), cloud.scratch, k, MOMENTUM)
    for k in range(cloud.spin_home.shape[0]):
        b = cloud.spin_home[k] + 1
        R, first, stop, turn = load9(motion, b, at.POSE_R), cloud.spin_span[k, 0], cloud.spin_span[k, 1], cloud.turn[k]
        axes, J = load9(cloud.axes, k), load3(cloud.spin, k)
        w = in_axes(axes, R, angular(load6(motion, b, at.TWIST)))
        al = in_axes(axes, R, angular(load6(motion, b, at.ACCELERATION)))
        L = times(J, add(w, moved_by(turn, first, stop, v)))
        n = times(J, add(al, moved_by(turn, first, stop, a)))
        none = (0.0, 0.0, 0.0)
        add_to(1.0, join(none, apply(R, apply(axes, add(n, cross(w, L))))), motion, b, at.WRENCH)
        add_to(1.0, join(none, apply(R, apply(axes, L))), motion, b, at.MOMENTUM)
        store(n, cloud.spin_scratch, k, FORCE)
        store(L, cloud.spin_scratch, k, MOMENTUM)


@inner_kernel
def push_coordinates(cloud: Cloud, column: int, force: Floats) -> None:
    """Adds what the last pass left in the scratch, FORCE or MOMENTUM, to the coordinates."""
    for k in range(cloud.home.shape[0]):
        push_on(cloud.shape[k], cloud.span[k, 0], cloud.span[k, 1], load3(cloud.scratch, k, column), force)
    for k in range(cloud.spin_home.shape[0]):
        push_on(
            cloud.turn[k], cloud.spin_span[k, 0], cloud.spin_span[k, 1], load3(cloud.spin_scratch, k, column), force
        )


@inline_kernel
def times(J: Vector, x: Vector) -> Vector:
    return (J[0] * x[0], J[1] * x[1], J[2] * x[2])


@inline_kernel
def in_axes(axes: Matrix, R: Matrix, x: Vector) -> Vector:
    return apply_transpose(axes, apply_transpose(R, x))


@inner_kernel
def cloud_energies(tree: Tree, cloud: Cloud, q: Floats, v: Floats, motion: Floats) -> tuple[float, float]:
    """Kinetic energy and potential of gravity, from poses and twists that stand."""
    kinetic, potential, g = 0.0, 0.0, tree.base
    for k in range(cloud.home.shape[0]):
        b, m = cloud.home[k] + 1, cloud.point[k, MASS]
        V, r = load6(motion, b, at.TWIST), place_of(cloud, k, q, motion)
        own = moved_by(cloud.shape[k], cloud.span[k, 0], cloud.span[k, 1], v)
        speed = add(add(linear(V), cross(angular(V), r)), apply(load9(motion, b, at.POSE_R), own))
        kinetic += 0.5 * m * dot(speed, speed)
        potential -= m * (r[0] * g[at.GRAVITY] + r[1] * g[at.GRAVITY + 1] + r[2] * g[at.GRAVITY + 2])
    for k in range(cloud.spin_home.shape[0]):
        b = cloud.spin_home[k] + 1
        w = in_axes(load9(cloud.axes, k), load9(motion, b, at.POSE_R), angular(load6(motion, b, at.TWIST)))
        w = add(w, moved_by(cloud.turn[k], cloud.spin_span[k, 0], cloud.spin_span[k, 1], v))
        kinetic += 0.5 * dot(w, times(load3(cloud.spin, k), w))
    return kinetic, potential


@inner_kernel
def cloud_lift(tree: Tree, cloud: Cloud, step: tuple[Floats, Floats, float], motion: Floats, columns: Ints3) -> float:
    """Change of the potential from q to q + h w, as `midpoint.lift`, whose columns hold difference, mean and way."""
    q, w, h = step
    lifted, g = 0.0, load3(tree.base[None], 0, at.GRAVITY)
    for k in range(cloud.home.shape[0]):
        b, first, stop = cloud.home[k] + 1, cloud.span[k, 0], cloud.span[k, 1]
        own = scale(h, moved_by(cloud.shape[k], first, stop, w))
        middle = add(load3(cloud.point, k, PLACE), moved_by(cloud.shape[k], first, stop, q))
        middle = add(middle, scale(0.5, own))
        way = add(apply(load9(motion, b, columns[0]), middle), apply(load9(motion, b, columns[1]), own))
        lifted -= cloud.point[k, MASS] * dot(add(load3(motion, b, columns[2]), way), g)
    return lifted


@inner_kernel
def add_cloud_inertia(cloud: Cloud, q: Floats, motion: Floats) -> None:
    """Mass, first and second moment of all points and inertias, to those of the bodies that carry them."""
    for k in range(cloud.home.shape[0]):
        m, (x, y, z) = cloud.point[k, MASS], place_of(cloud, k, q, motion)
        mx, my, mz = m * x, m * y, m * z
        ten = (m, mx, my, mz, my * y + mz * z, mx * x + mz * z, mx * x + my * y, -mx * y, -mx * z, -my * z)
        add_to(1.0, ten, motion, cloud.home[k] + 1, at.COMPOSITE)
    for k in range(cloud.spin_home.shape[0]):
        b = cloud.spin_home[k] + 1
        R, axes, J = load9(motion, b, at.POSE_R), load9(cloud.axes, k), load3(cloud.spin, k)
        for i in range(3):
            unit = (1.0 * (i == 0), 1.0 * (i == 1), 1.0 * (i == 2))
            x, y, z = apply(R, apply(axes, unit))
            spread = (x * x, y * y, z * z, x * y, x * z, y * z)
            add_to(J[i], spread, motion, b, at.COMPOSITE + 4)


@inner_kernel
def add_coupling(tree: Tree, cloud: Cloud, moved: tuple[Floats, Ints], q: Floats, motion: Floats, M: Floats) -> None:
    """Between the coordinates of shapes and the joints that carry the link: adds to M, both ways.

    What coordinates of shapes share among themselves is constant. ``moved`` are S and the span of its rows.
    """
    n, (S, span) = cloud.mass.shape[0], moved
    for j in range(n):
        for c in range(n):
            M[j, c] += cloud.mass[j, c]
    for j in range(n):
        k, s = 0, 0
        while k < cloud.home.shape[0] or s < cloud.spin_home.shape[0]:
            home, W = NOWHERE, EMPTY
            while k < cloud.home.shape[0] and (home == NOWHERE or cloud.home[k] == home):
                home = cloud.home[k]
                if cloud.span[k, 0] <= j < cloud.span[k, 1]:
                    f = scale(cloud.point[k, MASS], load3(cloud.shape[k], j))
                    f = apply(load9(motion, home + 1, at.POSE_R), f)
                    W = plus6(W, 1.0, join(f, cross(place_of(cloud, k, q, motion), f)))
                k += 1
            while s < cloud.spin_home.shape[0] and (home == NOWHERE or cloud.spin_home[s] == home):
                home = cloud.spin_home[s]
                if cloud.spin_span[s, 0] <= j < cloud.spin_span[s, 1]:
                    n_own = times(load3(cloud.spin, s), load3(cloud.turn[s], j))
                    moment = apply(load9(motion, home + 1, at.POSE_R), apply(load9(cloud.axes, s), n_own))
                    W = plus6(W, 1.0, join((0.0, 0.0, 0.0), moment))
                s += 1
            i = home
            while i >= 0:
                value = dot6(load6(motion, i + 1, at.AXIS), W)
                for c in range(span[i, 0], span[i, 1]):
                    M[j, c] += value * S[i, c]
                    M[c, j] += value * S[i, c]
                i = tree.joints[i, at.PARENT]
