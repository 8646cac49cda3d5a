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

HOME, FIRST, STOP, START, END = range(5)  # columns of Cloud.link: body, range of coordinates, range of points
MASS, PLACE = 0, 1  # columns of Cloud.point
# rows of the scratch: displacement and its rate at the start of a step and in its mean; the same and its acceleration
# where forces are computed, at the end; force and momentum
START_MOVED, START_SPEED, MEAN_SPEED, MOVED, SPEED, ACCELERATION, END_MOVED, END_SPEED, FORCE, MOMENTUM = range(10)
SCRATCH_ROWS = 10
NONE = (0.0, 0.0, 0.0)
Columns = tuple[int, int, int]


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


class Cloud(NamedTuple):
    """Of all links. Rows 3 p to 3 p + 2 are those of point p; those of the spins of link k come behind all points."""

    link: Ints  # (links, 5)
    point: Floats  # (points, 4) mass, place in the frame of the body
    spin: Floats  # (links, 3) inertia about three axes
    axes: Floats  # (links, 9) from these axes to those of the body
    to_rows: Floats  # (n, rows) displacement of points in the frame of the body, and turns about the axes
    to_coordinates: Floats  # (rows, n) its transpose: both are read along their rows
    scratch: Floats  # (10, rows)


def new_cloud(links: Sequence[LinkCloud], n: int) -> Cloud:
    """Of links that deform by some of n coordinates."""
    points = np.concatenate([np.zeros((0, 4)), *(np.column_stack([link.mass, link.place]) for link in links)])
    rows, start = 3 * len(points), 0
    to_coordinates = np.zeros((rows + 3 * len(links), n))
    facts = np.zeros((len(links), 5), np.int64)
    for k, link in enumerate(links):
        end, part = start + len(link.mass), slice(link.first, link.first + link.turn.shape[1])
        facts[k] = link.home, part.start, part.stop, start, end
        to_coordinates[3 * start : 3 * end, part] = link.shape.reshape(3 * len(link.mass), -1)
        to_coordinates[rows + 3 * k : rows + 3 * k + 3, part] = link.turn
        start = end
    spin, axes = (np.array([getattr(link, name).ravel() for link in links]) for name in ("spin", "axes"))
    own = points, spin.reshape(-1, 3), axes.reshape(-1, 9)
    both = np.ascontiguousarray(to_coordinates.T), to_coordinates
    return Cloud(facts, *own, *both, np.zeros((SCRATCH_ROWS, len(to_coordinates))))


def mass_of_shapes(links: Sequence[LinkCloud], n: int) -> Floats:
    """(n, n) what coordinates of shapes share with each other."""
    mass = np.zeros((n, n))
    for link in links:
        part = slice(link.first, link.first + link.turn.shape[1])
        mass[part, part] = np.einsum("p,pil,pim->lm", link.mass, link.shape, link.shape)
        mass[part, part] += link.turn.T @ (link.spin[:, None] * link.turn)
    return mass


def no_cloud() -> Cloud:
    return new_cloud((), 0)


@inline_kernel
def spread(cloud: Cloud, k: int, x: Floats, out: int) -> None:
    """Points and spins of link k moved by the coordinates x, to a row of the scratch."""
    to_rows, moved = cloud.to_rows, cloud.scratch[out]
    start, end, behind = 3 * cloud.link[k, START], 3 * cloud.link[k, END], 3 * (cloud.point.shape[0] + k)
    first, stop = cloud.link[k, FIRST], cloud.link[k, STOP]
    # slices, so that the compiler knows that no index counts from the end
    own, by = moved[start:end], x[first:stop]
    own[:] = 0.0
    a, b, c = 0.0, 0.0, 0.0
    for j in range(by.shape[0]):
        factor, shape, turn = by[j], to_rows[first + j, start:end], to_rows[first + j, behind : behind + 3]
        for r in range(own.shape[0]):
            own[r] += factor * shape[r]
        a += factor * turn[0]
        b += factor * turn[1]
        c += factor * turn[2]
    moved[behind], moved[behind + 1], moved[behind + 2] = a, b, c


@inline_kernel
def of_point(cloud: Cloud, what: int, p: int) -> Vector:
    return load3(cloud.scratch, what, 3 * p)


@inline_kernel
def of_spin(cloud: Cloud, what: int, k: int) -> Vector:
    return load3(cloud.scratch, what, 3 * (cloud.point.shape[0] + k))


@inline_kernel
def place_of(cloud: Cloud, p: int, moved: int, b: int, motion: Floats) -> Vector:
    """Where point p is in the world, from its displacement in a row of the scratch."""
    d = add(load3(cloud.point, p, PLACE), of_point(cloud, moved, p))
    return add(load3(motion, b, at.POSE_X), apply(load9(motion, b, at.POSE_R), d))


@inline_kernel
def times(J: Vector, x: Vector) -> Vector:
    return (J[0] * x[0], J[1] * x[1], J[2] * x[2])


@inline_kernel
def in_axes(axes: Matrix, R: Matrix, x: Vector) -> Vector:
    return apply_transpose(axes, apply_transpose(R, x))


@inner_kernel
def stand(cloud: Cloud, q: Floats, v: Floats, where: int) -> None:
    """Points and spins with coordinates q and their rates v, at the start or the end of a step or where forces act."""
    for k in range(cloud.link.shape[0]):
        spread(cloud, k, q, where)
        spread(cloud, k, v, where + 1)


@inner_kernel
def follow_step(cloud: Cloud, w: Floats, h: float) -> None:
    """Points and spins in the middle and at the end of a step with the mean velocity w, none of which is prescribed."""
    for k in range(cloud.link.shape[0]):
        spread(cloud, k, w, MEAN_SPEED)
    per_half, scratch = 2.0 / h, cloud.scratch
    for r in range(scratch.shape[1]):
        u, v, mean = scratch[START_MOVED, r], scratch[START_SPEED, r], scratch[MEAN_SPEED, r]
        scratch[MOVED, r], scratch[SPEED, r], scratch[ACCELERATION, r] = u + 0.5 * h * mean, mean, per_half * (mean - v)
        scratch[END_MOVED, r], scratch[END_SPEED, r] = u + h * mean, 2.0 * mean - v


@inner_kernel
def accelerate_cloud(cloud: Cloud, a: Floats) -> None:
    """Accelerations of points and spins where forces act."""
    for k in range(cloud.link.shape[0]):
        spread(cloud, k, a, ACCELERATION)


@inner_kernel
def push_links(cloud: Cloud, motion: Floats) -> None:
    """Adds wrench and momentum of points and spins to the bodies that carry them; twists and accelerations stand.

    What the motion of the link pushes the coordinates by stays in the scratch; what these do to each other is constant
    and in the matrix m of the shapes.
    """
    for k in range(cloud.link.shape[0]):
        b = cloud.link[k, HOME] + 1
        R, V, A = load9(motion, b, at.POSE_R), load6(motion, b, at.TWIST), load6(motion, b, at.ACCELERATION)
        w, W, H = angular(V), EMPTY, EMPTY
        for p in range(cloud.link[k, START], cloud.link[k, END]):
            m, r = cloud.point[p, MASS], place_of(cloud, p, MOVED, b, motion)
            speed, own = add(linear(V), cross(w, r)), apply(R, of_point(cloud, SPEED, p))
            push = add(add(linear(A), cross(angular(A), r)), cross(w, add(speed, scale(2.0, own))))
            store(scale(m, apply_transpose(R, push)), cloud.scratch, FORCE, 3 * p)
            store(scale(m, apply_transpose(R, speed)), cloud.scratch, MOMENTUM, 3 * p)
            f = scale(m, add(push, apply(R, of_point(cloud, ACCELERATION, p))))
            momentum = scale(m, add(speed, own))
            W = plus6(W, 1.0, join(f, cross(r, f)))
            H = plus6(H, 1.0, join(momentum, cross(r, momentum)))
        axes, J, behind = load9(cloud.axes, k), load3(cloud.spin, k), 3 * (cloud.point.shape[0] + k)
        turning, faster = in_axes(axes, R, w), in_axes(axes, R, angular(A))
        L = times(J, add(turning, of_spin(cloud, SPEED, k)))
        n = times(J, add(faster, of_spin(cloud, ACCELERATION, k)))
        W = plus6(W, 1.0, join(NONE, apply(R, apply(axes, add(n, cross(turning, L))))))
        H = plus6(H, 1.0, join(NONE, apply(R, apply(axes, L))))
        store(times(J, faster), cloud.scratch, FORCE, behind)
        store(times(J, turning), cloud.scratch, MOMENTUM, behind)
        add_to(1.0, W, motion, b, at.WRENCH)
        add_to(1.0, H, motion, b, at.MOMENTUM)


@inner_kernel
def push_coordinates(cloud: Cloud, force: Floats, momentum: Floats) -> None:
    """Adds what the last pass left in the scratch to force and momentum of the coordinates."""
    for k in range(cloud.link.shape[0]):
        behind, first, stop = 3 * (cloud.point.shape[0] + k), cloud.link[k, FIRST], cloud.link[k, STOP]
        own, moving = force[first:stop], momentum[first:stop]
        for rows in ((3 * cloud.link[k, START], 3 * cloud.link[k, END]), (behind, behind + 3)):
            for r in range(rows[0], rows[1]):
                f, p, shape = cloud.scratch[FORCE, r], cloud.scratch[MOMENTUM, r], cloud.to_coordinates[r, first:stop]
                for j in range(own.shape[0]):
                    own[j] += f * shape[j]
                    moving[j] += p * shape[j]


@inner_kernel
def cloud_energies(tree: Tree, cloud: Cloud, motion: Floats) -> tuple[float, float]:
    """Kinetic energy, but for that of shapes alone, and potential of gravity at the end of a step; twists stand."""
    kinetic, potential, g = 0.0, 0.0, load3(tree.base[None], 0, at.GRAVITY)
    for k in range(cloud.link.shape[0]):
        b = cloud.link[k, HOME] + 1
        R, V = load9(motion, b, at.POSE_R), load6(motion, b, at.TWIST)
        for p in range(cloud.link[k, START], cloud.link[k, END]):
            m, r = cloud.point[p, MASS], place_of(cloud, p, END_MOVED, b, motion)
            speed, own = add(linear(V), cross(angular(V), r)), apply(R, of_point(cloud, END_SPEED, p))
            kinetic += m * dot(speed, add(scale(0.5, speed), own))
            potential -= m * dot(r, g)
        w = in_axes(load9(cloud.axes, k), R, angular(V))
        kinetic += dot(times(load3(cloud.spin, k), w), add(scale(0.5, w), of_spin(cloud, END_SPEED, k)))
    return kinetic, potential


@inner_kernel
def cloud_lift(tree: Tree, cloud: Cloud, h: float, motion: Floats, columns: Columns) -> float:
    """Change of the potential over a step, as `midpoint.lift`, whose columns hold difference, mean and way."""
    lifted, g = 0.0, load3(tree.base[None], 0, at.GRAVITY)
    for k in range(cloud.link.shape[0]):
        b = cloud.link[k, HOME] + 1
        for p in range(cloud.link[k, START], cloud.link[k, END]):
            own = scale(h, of_point(cloud, MEAN_SPEED, p))
            middle = add(add(load3(cloud.point, p, PLACE), of_point(cloud, START_MOVED, p)), scale(0.5, own))
            moved = add(apply(load9(motion, b, columns[0]), middle), apply(load9(motion, b, columns[1]), own))
            lifted -= cloud.point[p, MASS] * dot(add(load3(motion, b, columns[2]), moved), g)
    return lifted


@inner_kernel
def add_cloud_inertia(cloud: Cloud, q: Floats, motion: Floats) -> None:
    """Mass, first and second moment of all points and spins, to those of the bodies that carry them."""
    for k in range(cloud.link.shape[0]):
        spread(cloud, k, q, MOVED)
        b = cloud.link[k, HOME] + 1
        for p in range(cloud.link[k, START], cloud.link[k, END]):
            m, (x, y, z) = cloud.point[p, MASS], place_of(cloud, p, MOVED, b, motion)
            mx, my, mz = m * x, m * y, m * z
            ten = (m, mx, my, mz, my * y + mz * z, mx * x + mz * z, mx * x + my * y, -mx * y, -mx * z, -my * z)
            add_to(1.0, ten, motion, b, at.COMPOSITE)
        R, axes, J = load9(motion, b, at.POSE_R), load9(cloud.axes, k), load3(cloud.spin, k)
        for i in range(3):
            x, y, z = apply(R, apply(axes, (1.0 * (i == 0), 1.0 * (i == 1), 1.0 * (i == 2))))
            add_to(J[i], (x * x, y * y, z * z, x * y, x * z, y * z), motion, b, at.COMPOSITE + 4)


@inner_kernel
def add_coupling(tree: Tree, cloud: Cloud, moved: tuple[Floats, Ints], motion: Floats, M: Floats) -> None:
    """Adds to M what coordinates of shapes share with the joints that carry the link.

    The displacements of `add_cloud_inertia` stand. ``moved`` are S and the span of its rows.
    """
    S, span = moved
    for k in range(cloud.link.shape[0]):
        home, spin = cloud.link[k, HOME], load3(cloud.spin, k)
        b, behind = home + 1, 3 * (cloud.point.shape[0] + k)
        R, axes = load9(motion, b, at.POSE_R), load9(cloud.axes, k)
        for j in range(cloud.link[k, FIRST], cloud.link[k, STOP]):
            W = join(NONE, apply(R, apply(axes, times(spin, load3(cloud.to_rows, j, behind)))))
            for p in range(cloud.link[k, START], cloud.link[k, END]):
                f = apply(R, scale(cloud.point[p, MASS], load3(cloud.to_rows, j, 3 * p)))
                W = plus6(W, 1.0, join(f, cross(place_of(cloud, p, MOVED, b, motion), f)))
            i = home
            while i >= 0:
                value = dot6(load6(motion, i + 1, at.AXIS), W)
                for c in range(span[i, 0], span[i, 1]):
                    M[j, c] += value * S[i, c]
                    M[c, j] += value * S[i, c]
                i = tree.joints[i, at.PARENT]
