"""The elastic energy of point masses on massless beams, the turns of the beams eliminated.

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

from pliant.jit import inline_kernel, inner_kernel, kernel
from pliant.mechanics.minimal.flexibility import (
    ASIDE,
    AXES,
    BEFORE,
    BOTH,
    END,
    ONLY_IT,
    Condensed,
    combined,
    factorise,
    find_flexibility,
    find_shift,
    lever,
    solve,
    undeformed,
    waves,
)
from pliant.mechanics.minimal.motion import AXIS, moved, nine, three
from pliant.mechanics.minimal.tree import KIND, SLIDE_X, Floats, Tree
from pliant.spatial.vectors import Vector, apply, cross, dot, sub


@inline_kernel
def find_deflection(condensed: Condensed, k: int) -> None:
    """Of field k, from the forces."""
    deflection, unit = condensed.deflection, condensed.unit
    for part in range(6):
        deflection[k, part] = 0.0
    for j in range(condensed.f.shape[0]):
        if condensed.reach[j, k] != ASIDE:
            pull = condensed.f[j]
            for part in range(6):
                deflection[k, part] += unit[j, k, 6 + part] * pull


@inline_kernel
def displacement_before(condensed: Condensed, j: int) -> Vector:
    """Of the station before that of displacement j, by the fields before it."""
    at, D, deflection = three(condensed.push, j, BEFORE), (0.0, 0.0, 0.0), condensed.deflection
    for p in range(condensed.inner.shape[0]):
        k = condensed.inner[p]
        if condensed.reach[j, k] == BOTH:
            R, lever_to = nine(condensed.end, k, AXES), sub(at, three(condensed.end, k, END))
            D = moved(D, 1.0, apply(R, three(deflection, k, 0)))
            D = moved(D, 1.0, cross(apply(R, three(deflection, k, 3)), lever_to))
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
            R = nine(condensed.end, k, AXES)
            turn = apply(R, three(condensed.deflection, k, 3))
            U = moved(U, 1.0, apply(R, three(condensed.deflection, k, 0)))
            U = moved(U, 1.0, cross(turn, sub(origin, three(condensed.end, k, END))))
            Phi = moved(Phi, 1.0, turn)
    P, N, back = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for m in range(condensed.outer.shape[0]):
        j = condensed.outer[m]
        if condensed.beyond[row, j] != ASIDE:
            force, moment = lever(condensed, j, condensed.beyond[row, j], origin)
            P, N = moved(P, condensed.f[j], force), moved(N, condensed.f[j], moment)
            if condensed.beyond[row, j] == ONLY_IT and condensed.before[j] >= 0:
                back = moved(back, condensed.f[j], cross(force, displacement_before(condensed, j)))
    if tree.joints[joint, KIND] >= SLIDE_X:
        return dot(three(motion, joint + 1, AXIS), cross(P, Phi))
    both = moved(moved(cross(P, U), 1.0, cross(N, Phi)), -1.0, back)
    return dot(three(motion, joint + 1, AXIS + 3), both)


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
def condensed_force(
    condensed: Condensed, tree: Tree, motion: Floats, q: Floats, turn: Floats, force: Floats
) -> float:
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
