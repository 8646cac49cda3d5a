"""How far forces on point masses bend the massless beams that carry them: the flexibility F of `condensed`.

With unit forces b on the ends of the fields, in the undeformed arm at the present joint positions theta,

    F(theta) = sum over the fields k of  b_k^T F_k b_k .

Where one joint at most lies between fields, F is a sum of five functions of its position, whose coefficients are found
once: 1, cos, sin, cos 2 theta, sin 2 theta for a turn, and 1, theta, theta^2 for a slide.

The elastic energy of point masses on massless beams, the turns of the beams eliminated.

Stations are points that only slide: in the motion of the tree fields do not turn. Their displacements d, each against
the station before it, are what is left of the deflections; the turns follow statically. With the flexibility F(theta)
of the undeformed arm at the present joint positions (`flexibility`),

    V = d^T F(theta)^-1 d / 2

([konno1996] neglects station inertia in this way). With the forces f = F^-1 d on the stations, V changes by f in d and
by  -f^T F' f / 2  in a joint. Where several joints lie between fields, this is found without F': a joint turns forces
and levers behind it against the fields before it. With the wrench (P, N) of the former about its axis a, and
displacement and turn (U, Phi) that the latter give the joint,

    dV/dtheta = -a . (P x U + N x Phi)  for a turn ,      -a . (P x Phi)  for a slide .

The force on a station acts back on the one before it, in directions that turn as well: where that one lies before the
joint and is displaced by D, a turn has  + a . (f x D)  too.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from pliant.jit import inline_kernel, inner_kernel, kernel
from pliant.spatial.rows import add_to, dot6, load3, load6, load9, plus3, store
from pliant.spatial.se3 import join
from pliant.spatial.small_matrices import times
from pliant.spatial.vectors import Vector, add, apply, apply_transpose, cross, dot, product, sub
from pliant.structures.tree.columns import AXIS, KIND, PARENT, POSE_R, POSE_X, TRANSLATION_X
from pliant.structures.tree.motion import Floats, Ints, Tree, place_body

ASIDE, ONLY_IT, BOTH = 0, 1, 2  # whether a field lies before a station, and before the station before it too

# columns of Condensed.push: direction of a displacement, its station and the one before, in the undeformed arm
DIRECTION, STATION, BEFORE = 0, 3, 6
# columns of Condensed.end: axes and far end of a field in the undeformed arm
AXES, END = 0, 9
WAVES = 5  # functions of one joint's position that span F

Five = tuple[float, float, float, float, float]


class Condensed(NamedTuple):
    """Arrays for c displacements, k fields and the b joints between fields; the last ones are scratch."""

    coordinate: Ints  # (c,) of the tree
    before: Ints  # (c,) body of the station before, or -1
    reach: Ints  # (c, k) ASIDE, ONLY_IT or BOTH
    home: Ints  # (k,) body that holds the axes and the far end of the field
    frame: Floats  # (k, 12) rotation and position of these in the body
    flexibility: Floats  # (k, 6, 6) F_k, zero for deflections that do not happen
    translates: Ints  # (n,) 1 for coordinates of stations
    joint: Ints  # (b,) coordinates between fields and stations
    inside: Ints  # (b, k) 1 for fields before the joint
    beyond: Ints  # (b, c) stations behind the joint, in the words of ``reach``
    turning: Ints  # (c, k) 1 where a joint lies between field and station
    inner: Ints  # fields before joints
    outer: Ints  # displacements behind joints
    steady: Floats  # (c, c) what F has of fields and stations that no joint turns against each other
    wave: Floats  # (c (c + 1) / 2, 5) coefficients of the lower triangle of F, row by row, where b < 2; else empty
    shift: Floats  # (n + 1, 3) how far bodies are displaced
    end: Floats  # (k, 12)
    push: Floats  # (c, 9)
    unit: Floats  # (c, k, 12) b and F_k b; constant where no joint turns
    F: Floats  # (c, c) flexibility, then its factors
    f: Floats  # (c,) forces
    deflection: Floats  # (k, 6) of the fields, in their axes


def none_condensed() -> Condensed:
    """Of an arm whose stations are rigid bodies, or that has none."""
    return new_condensed(0, [], [], np.zeros((0, 0)), [], ([], np.zeros((0, 0)), np.zeros((0, 0))))


class FieldFacts(NamedTuple):
    """One field: the body that holds it, rotation and position there, flexibility, deflections that happen."""

    home: int
    rotation: Floats
    position: Floats
    flexibility: Floats
    parts: tuple[int, ...]


def new_condensed(
    n: int,
    coordinate: list[int],
    before: list[int],
    reach: Floats,
    fields: list[FieldFacts],
    between: tuple[list[int], Floats, Floats],
) -> Condensed:
    """With scratch of its own.

    ``between`` are joints with ``inside`` and ``beyond``. Call `steady_parts` before use.
    """
    c, k = len(coordinate), len(fields)
    joint, inside, beyond = between
    frame, flexibility = np.zeros((k, 12)), np.zeros((k, 6, 6))
    for row, field in enumerate(fields):
        frame[row, :9], frame[row, 9:] = field.rotation.ravel(), field.position
        happening = np.ix_(field.parts, field.parts)
        flexibility[row][happening] = field.flexibility[happening]
    translates = np.zeros(n, np.int64)
    translates[coordinate] = 1
    within = np.asarray(inside).astype(np.int64).reshape(len(joint), k)
    behind = np.asarray(beyond).astype(np.int64).reshape(len(joint), c)
    turning = (within[:, None, :] * (behind[:, :, None] > 0)).sum(axis=0).reshape(c, k) > 0
    waves = (c * (c + 1) // 2 if len(joint) < 2 else 0, WAVES)
    scratch = ((c, c), waves, (n + 1, 3), (k, 12), (c, 9), (c, k, 12), (c, c), (c,), (k, 6))
    return Condensed(
        np.array(coordinate, np.int64),
        np.array(before, np.int64),
        np.asarray(reach).astype(np.int64).reshape(c, k),
        np.array([field.home for field in fields], np.int64),
        frame,
        flexibility,
        translates,
        np.array(joint, np.int64),
        within,
        behind,
        turning.astype(np.int64),
        np.flatnonzero(within.any(axis=0)),
        np.flatnonzero(behind.any(axis=0)),
        *(np.zeros(shape) for shape in scratch),
    )


@inline_kernel
def undeformed(condensed: Condensed, motion: Floats, body: int) -> Vector:
    """Where a body would be without deflections."""
    return sub(load3(motion, body + 1, POSE_X), load3(condensed.shift, body + 1))


@inline_kernel
def find_shift(condensed: Condensed, tree: Tree, motion: Floats, q: Floats) -> None:
    shift = condensed.shift
    for i in range(q.shape[0]):
        step = load3(shift, tree.joints[i, PARENT] + 1)
        if condensed.translates[i] == 1:
            step = plus3(step, q[i], load3(motion, i + 1, AXIS))
        store(step, shift, i + 1)


@inline_kernel
def find_end(condensed: Condensed, motion: Floats, k: int) -> None:
    """Axes and far end of field k in the undeformed arm."""
    body, frame, end = condensed.home[k], condensed.frame, condensed.end
    R = load9(motion, body + 1, POSE_R)
    store(add(undeformed(condensed, motion, body), apply(R, load3(frame, k, 9))), end, k, END)
    axes = product(R, load9(frame, k))
    store(axes, end, k, AXES)


@inline_kernel
def find_push(condensed: Condensed, motion: Floats, j: int) -> None:
    """Direction and stations of displacement j in the undeformed arm."""
    body, push = condensed.coordinate[j], condensed.push
    store(load3(motion, body + 1, AXIS), push, j, DIRECTION)
    store(undeformed(condensed, motion, body), push, j, STATION)
    if condensed.before[j] >= 0:
        store(undeformed(condensed, motion, condensed.before[j]), push, j, BEFORE)


@inline_kernel
def lever(condensed: Condensed, j: int, case: int, origin: Vector) -> tuple[Vector, Vector]:
    """Force and moment about ``origin`` of a unit force of displacement j that is seen as ``case`` says."""
    push = condensed.push
    u, at = load3(push, j, DIRECTION), load3(push, j, STATION)
    if case == BOTH:
        return (0.0, 0.0, 0.0), cross(sub(at, load3(push, j, BEFORE)), u)
    return u, cross(sub(at, origin), u)


@inline_kernel
def find_unit(condensed: Condensed, j: int, k: int) -> None:
    """b, and the deflection F_k b of the field."""
    R, F, unit = load9(condensed.end, k, AXES), condensed.flexibility, condensed.unit
    force, moment = lever(condensed, j, condensed.reach[j, k], load3(condensed.end, k, END))
    t, m = apply_transpose(R, force), apply_transpose(R, moment)
    b = join(t, m)
    store(b, unit[j], k)
    store(times(F[k], b), unit[j], k, 6)


@inline_kernel
def common(unit: Floats, i: int, j: int, k: int) -> float:
    """b_i . F_k b_j."""
    return dot6(load6(unit[i], k), load6(unit[j], k, 6))


@kernel
def steady_parts(condensed: Condensed, tree: Tree, motion: Floats, q: Floats) -> None:
    """What stays the same when joints move, from any posture; once before all else."""
    c, fields = condensed.coordinate.shape[0], condensed.home.shape[0]
    if c == 0:
        return
    find_shift(condensed, tree, motion, q)
    for k in range(fields):
        find_end(condensed, motion, k)
    for j in range(c):
        find_push(condensed, motion, j)
        for k in range(fields):
            if condensed.reach[j, k] != ASIDE:
                find_unit(condensed, j, k)
    for i in range(c):
        for j in range(i + 1):
            condensed.steady[i, j] = 0.0
            for k in range(fields):
                both = condensed.reach[i, k] != ASIDE and condensed.reach[j, k] != ASIDE
                if both and condensed.turning[i, k] == 0 and condensed.turning[j, k] == 0:
                    condensed.steady[i, j] += common(condensed.unit, i, j, k)
    if condensed.wave.shape[0] > 0:
        find_waves(condensed, tree, motion, q)


@inline_kernel
def find_flexibility(condensed: Condensed, motion: Floats) -> None:
    """The lower triangle of F; what no joint turns is known."""
    c, F, reach, turning = condensed.coordinate.shape[0], condensed.F, condensed.reach, condensed.turning
    for m in range(condensed.inner.shape[0]):
        find_end(condensed, motion, condensed.inner[m])
    for m in range(condensed.outer.shape[0]):
        j = condensed.outer[m]
        find_push(condensed, motion, j)
        for p in range(condensed.inner.shape[0]):
            k = condensed.inner[p]
            if turning[j, k] == 1 and reach[j, k] != ASIDE:
                find_unit(condensed, j, k)
    for i in range(c):
        for j in range(i + 1):
            F[i, j] = condensed.steady[i, j]
    for p in range(condensed.inner.shape[0]):
        k = condensed.inner[p]
        for i in range(c):
            if reach[i, k] != ASIDE:
                for j in range(i + 1):
                    if reach[j, k] != ASIDE and (turning[i, k] == 1 or turning[j, k] == 1):
                        F[i, j] += common(condensed.unit, i, j, k)


@inline_kernel
def factorise(F: Floats) -> None:
    """F = L D L^T in place: L below the diagonal, and the inverse of D on it."""
    for j in range(F.shape[0]):
        for k in range(j):
            # the row still holds L D, which the diagonal needs beside L
            scaled = F[j, k]
            F[j, k] = scaled * F[k, k]
            F[j, j] -= scaled * F[j, k]
        F[j, j] = 1.0 / F[j, j]
        for i in range(j + 1, F.shape[0]):
            for k in range(j):
                F[i, j] -= F[i, k] * F[j, k]


@inline_kernel
def solve(F: Floats, x: Floats) -> None:
    """x := F^-1 x with the factors."""
    c = F.shape[0]
    for i in range(c):
        for k in range(i):
            x[i] -= F[i, k] * x[k]
    for i in range(c):
        x[i] *= F[i, i]
    for i in range(c - 1, -1, -1):
        for k in range(i + 1, c):
            x[i] -= F[k, i] * x[k]


@inline_kernel
def waves(condensed: Condensed, tree: Tree, q: Floats, turn: tuple[float, float]) -> tuple[Five, Five]:
    """The functions of the one joint between fields that span F, and their slopes; ``turn`` is its sine and cosine."""
    if condensed.joint.shape[0] == 0:
        return (1.0, 0.0, 0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 0.0, 0.0)
    if tree.joints[condensed.joint[0], KIND] >= TRANSLATION_X:
        x = q[condensed.joint[0]]
        return (1.0, x, x * x, 0.0, 0.0), (0.0, 1.0, 2.0 * x, 0.0, 0.0)
    s, c = turn
    twice_s, twice_c = 2.0 * s * c, (c - s) * (c + s)
    return (1.0, c, s, twice_c, twice_s), (0.0, -s, c, -2.0 * twice_s, 2.0 * twice_c)


@inline_kernel
def combined(wave: Floats, p: int, B: Five) -> float:
    return float(wave[p, 0] * B[0] + wave[p, 1] * B[1] + wave[p, 2] * B[2] + wave[p, 3] * B[3] + wave[p, 4] * B[4])


@inner_kernel
def find_waves(condensed: Condensed, tree: Tree, motion: Floats, q: Floats) -> None:
    """Coefficients of F, from five positions of the joint over one turn, or three over its way.

    Directions of forces, and their levers, are linear in the sine and cosine of the joint, or in its slide, and F is
    their square: so nothing is left out.
    """
    c, wave = condensed.coordinate.shape[0], condensed.wave
    translates, between = False, condensed.joint.shape[0] > 0
    kept = 0.0
    if between:
        translates, kept = tree.joints[condensed.joint[0], KIND] >= TRANSLATION_X, q[condensed.joint[0]]
    wave[:] = 0.0
    for sample in range(3 if translates else WAVES):
        weights = (0.2, 0.0, 0.0, 0.0, 0.0)
        if translates:
            x = sample - 1.0
            weights = (1.0 - x * x, 0.5 * x, 1.5 * x * x - 1.0, 0.0, 0.0)
            q[condensed.joint[0]] = x
        elif between:
            x = 0.4 * math.pi * sample
            weights = (0.2, 0.4 * math.cos(x), 0.4 * math.sin(x), 0.4 * math.cos(2.0 * x), 0.4 * math.sin(2.0 * x))
            q[condensed.joint[0]] = x
        for i in range(q.shape[0]):
            place_body(tree, i, q[i], motion)
        find_shift(condensed, tree, motion, q)
        find_flexibility(condensed, motion)
        p = 0
        for i in range(c):
            for j in range(i + 1):
                for m in range(WAVES):
                    wave[p, m] += weights[m] * condensed.F[i, j]
                p += 1
    if between:
        q[condensed.joint[0]] = kept
        for i in range(q.shape[0]):
            place_body(tree, i, q[i], motion)


@inline_kernel
def find_deflection(condensed: Condensed, k: int) -> None:
    """Of field k, from the forces."""
    deflection, unit = condensed.deflection, condensed.unit
    deflection[k] = 0.0
    for j in range(condensed.f.shape[0]):
        if condensed.reach[j, k] != ASIDE:
            add_to(condensed.f[j], load6(unit[j], k, 6), deflection, k)


@inline_kernel
def displacement_before(condensed: Condensed, j: int) -> Vector:
    """Of the station before that of displacement j, by the fields before it."""
    at, D, deflection = load3(condensed.push, j, BEFORE), (0.0, 0.0, 0.0), condensed.deflection
    for p in range(condensed.inner.shape[0]):
        k = condensed.inner[p]
        if condensed.reach[j, k] == BOTH:
            R, lever_to = load9(condensed.end, k, AXES), sub(at, load3(condensed.end, k, END))
            D = add(D, apply(R, load3(deflection, k)))
            D = add(D, cross(apply(R, load3(deflection, k, 3)), lever_to))
    return D


@inline_kernel
def joint_force(condensed: Condensed, tree: Tree, motion: Floats, row: int) -> float:
    """-dV/dtheta of a joint between fields."""
    joint = condensed.joint[row]
    origin = undeformed(condensed, motion, joint)
    U, Phi = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for p in range(condensed.inner.shape[0]):
        k = condensed.inner[p]
        if condensed.inside[row, k] == 1:
            R = load9(condensed.end, k, AXES)
            turn = apply(R, load3(condensed.deflection, k, 3))
            U = add(U, apply(R, load3(condensed.deflection, k)))
            U = add(U, cross(turn, sub(origin, load3(condensed.end, k, END))))
            Phi = add(Phi, turn)
    P, N, back = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for m in range(condensed.outer.shape[0]):
        j = condensed.outer[m]
        if condensed.beyond[row, j] != ASIDE:
            force, moment = lever(condensed, j, condensed.beyond[row, j], origin)
            P, N = plus3(P, condensed.f[j], force), plus3(N, condensed.f[j], moment)
            if condensed.beyond[row, j] == ONLY_IT and condensed.before[j] >= 0:
                back = plus3(back, condensed.f[j], cross(force, displacement_before(condensed, j)))
    if tree.joints[joint, KIND] >= TRANSLATION_X:
        return dot(load3(motion, joint + 1, AXIS), cross(P, Phi))
    both = plus3(add(cross(P, U), cross(N, Phi)), -1.0, back)
    return dot(load3(motion, joint + 1, AXIS + 3), both)


@inline_kernel
def find_forces(condensed: Condensed, q: Floats) -> float:
    """Forces on the stations from a flexibility that stands; returns V."""
    c, stored = condensed.coordinate.shape[0], 0.0
    factorise(condensed.F)
    for j in range(c):
        condensed.f[j] = q[condensed.coordinate[j]]
    solve(condensed.F, condensed.f)
    for j in range(c):
        stored += 0.5 * condensed.f[j] * q[condensed.coordinate[j]]
    return stored


@inner_kernel
def energy_by_fields(condensed: Condensed, tree: Tree, motion: Floats, q: Floats) -> float:
    """V, whatever lies between the fields."""
    if condensed.joint.shape[0] > 0:
        find_shift(condensed, tree, motion, q)
    find_flexibility(condensed, motion)
    return find_forces(condensed, q)


@inner_kernel
def force_by_fields(condensed: Condensed, tree: Tree, motion: Floats, q: Floats, force: Floats) -> float:
    """`condensed_force`, whatever lies between the fields."""
    stored = energy_by_fields(condensed, tree, motion, q)
    for j in range(condensed.f.shape[0]):
        force[condensed.coordinate[j]] -= condensed.f[j]
    for p in range(condensed.inner.shape[0]):
        find_deflection(condensed, condensed.inner[p])
    for row in range(condensed.joint.shape[0]):
        force[condensed.joint[row]] += joint_force(condensed, tree, motion, row)
    return stored


@inline_kernel
def turn_between(condensed: Condensed, turn: Floats) -> tuple[float, float]:
    """Sine and cosine of the one joint between fields, of those of all coordinates."""
    if condensed.joint.shape[0] == 0:
        return (0.0, 1.0)
    return (turn[condensed.joint[0], 0], turn[condensed.joint[0], 1])


@inline_kernel
def energy_by_waves(condensed: Condensed, tree: Tree, q: Floats, turn: Floats) -> float:
    """V where one joint at most lies between fields."""
    B, _ = waves(condensed, tree, q, turn_between(condensed, turn))
    p = 0
    for i in range(condensed.f.shape[0]):
        for j in range(i + 1):
            condensed.F[i, j] = combined(condensed.wave, p, B)
            p += 1
    return find_forces(condensed, q)


@inline_kernel
def condensed_energy(condensed: Condensed, tree: Tree, motion: Floats, q: Floats, turn: Floats) -> float:
    """V alone; ``motion`` has the poses and Jacobian columns of q, ``turn`` the sines and cosines."""
    if condensed.coordinate.shape[0] == 0:
        return 0.0
    if condensed.wave.shape[0] > 0:
        return energy_by_waves(condensed, tree, q, turn)
    return energy_by_fields(condensed, tree, motion, q)


@inline_kernel
def condensed_force(condensed: Condensed, tree: Tree, motion: Floats, q: Floats, turn: Floats, force: Floats) -> float:
    """Adds -dV/dq to ``force`` and returns V; the rest as for `condensed_energy`."""
    if condensed.coordinate.shape[0] == 0:
        return 0.0
    if condensed.wave.shape[0] == 0:
        return force_by_fields(condensed, tree, motion, q, force)
    stored, f = energy_by_waves(condensed, tree, q, turn), condensed.f
    for j in range(f.shape[0]):
        force[condensed.coordinate[j]] -= f[j]
    if condensed.joint.shape[0] > 0:
        _, slopes = waves(condensed, tree, q, turn_between(condensed, turn))
        p, pull = 0, 0.0
        for i in range(f.shape[0]):
            for j in range(i):
                pull += f[i] * f[j] * combined(condensed.wave, p, slopes)
                p += 1
            pull += 0.5 * f[i] * f[i] * combined(condensed.wave, p, slopes)
            p += 1
        force[condensed.joint[0]] += pull
    return stored


@kernel
def condensed_state(condensed: Condensed, tree: Tree, motion: Floats, q: Floats, force: Floats) -> float:
    """Adds -dV/dq to ``force``; leaves the deflections of all fields in ``condensed.deflection`` and returns V."""
    if condensed.coordinate.shape[0] == 0:
        return 0.0
    stored = force_by_fields(condensed, tree, motion, q, force)
    for k in range(condensed.home.shape[0]):
        find_deflection(condensed, k)
    return stored


@kernel
def add_condensed_stiffness(condensed: Condensed, K: Floats) -> None:
    """Adds F^-1 to the rows and columns of the stations in K, after `condensed_force` at the same place."""
    c = condensed.coordinate.shape[0]
    for j in range(c):
        for i in range(c):
            condensed.f[i] = 1.0 if i == j else 0.0
        solve(condensed.F, condensed.f)
        for i in range(c):
            K[condensed.coordinate[i], condensed.coordinate[j]] += condensed.f[i]
