"""Inverse dynamics, momentum and energy by recursions along the tree [featherstone2008].

    tau = M(q) a + h(q, v) + g(q) :      A_i = A_p + J_i a_i + (V_p x J_i) v_i ,     f_i = d/dt (I_i V_i) ,
    F_i = f_i + sum over the children of F ,      tau_i = J_i . F_i + rotor_i a_i ,

with the acceleration of the base opposite to gravity. With the composite momentum H_i, summed as F_i is,

    p_i = dT/dv_i = J_i . H_i + rotor_i v_i ,     dT/dq_i = (V_i x J_i) . H_i ,

because turning coordinate i carries everything behind it along but for the motion V_i that came from before it.

Inertia of everything behind a coordinate, about the world's origin, and the mass matrix.

The composite inertia of body i is ten numbers (mass, first moment, second moment) that add up along the tree. With
F_i = I_i J_i, the momentum behind coordinate i at unit rate,  M_ij = J_j . F_i  for every j on the way from i to the
base, and zero for two coordinates on different branches [featherstone2008].
"""

from __future__ import annotations

from pliant.jit import inline_kernel, inner_kernel, kernel
from pliant.spatial.rows import add_to, dot6, load6, plus6, store
from pliant.spatial.se3 import Twist, ad, angular, join, linear
from pliant.spatial.vectors import Matrix, Vector, add, apply, apply_transpose, cross, dot, scale
from pliant.structures.tree import columns as at
from pliant.structures.tree.motion import (
    EMPTY,
    Floats,
    Ints,
    Pose,
    Tree,
    center_of,
    move_body,
    place_base,
    place_body,
    place_turned,
    pose_of,
    turn_afresh,
)


@inline_kernel
def own_inertia(tree: Tree, i: int, w: Vector) -> Vector:
    """Inertia about the centre of mass times w, both in the axes of the body."""
    J = load6(tree.facts, i, at.INERTIA)
    return (
        J[0] * w[0] + J[3] * w[1] + J[4] * w[2],
        J[3] * w[0] + J[1] * w[1] + J[5] * w[2],
        J[4] * w[0] + J[5] * w[1] + J[2] * w[2],
    )


@inline_kernel
def accelerate_body(tree: Tree, i: int, v: float, a: float, J: Twist, motion: Floats) -> Twist:
    """Spatial acceleration of body i from that of its parent and its own Jacobian column J."""
    p = tree.joints[i, at.PARENT] + 1
    C = ad(load6(motion, p, at.TWIST), J)
    B = plus6(plus6(load6(motion, p, at.ACCELERATION), a, J), v, C)
    store(B, motion, i + 1, at.ACCELERATION)
    return B


@inline_kernel
def own_wrench(tree: Tree, i: int, pose: Pose, V: Twist, A: Twist) -> Twist:
    """Rate of the momentum of body i, from its twist V and spatial acceleration A."""
    c, w, al = center_of(tree, i, pose), angular(V), angular(A)
    speed = add(linear(V), cross(w, c))
    f = scale(tree.facts[i, at.MASS], add(add(linear(A), cross(al, c)), cross(w, speed)))
    n = cross(c, f)
    if tree.joints[i, at.BODY] == at.RIGID:
        R = pose[0]
        wb = apply_transpose(R, w)
        turning = add(own_inertia(tree, i, apply_transpose(R, al)), cross(wb, own_inertia(tree, i, wb)))
        n = add(n, apply(R, turning))
    return join(f, n)


@inline_kernel
def own_momentum(tree: Tree, i: int, pose: Pose, V: Twist) -> Twist:
    """Momentum of body i about the origin."""
    c, w = center_of(tree, i, pose), angular(V)
    f = scale(tree.facts[i, at.MASS], add(linear(V), cross(w, c)))
    n = cross(c, f)
    if tree.joints[i, at.BODY] == at.RIGID:
        R = pose[0]
        n = add(n, apply(R, own_inertia(tree, i, apply_transpose(R, w))))
    return join(f, n)


@inline_kernel
def own_energies(tree: Tree, i: int, pose: Pose, V: Twist) -> tuple[float, float]:
    """Kinetic energy of body i and its potential in gravity."""
    c, w = center_of(tree, i, pose), angular(V)
    speed = add(linear(V), cross(w, c))
    m, g = tree.facts[i, at.MASS], tree.base
    kinetic = 0.5 * m * dot(speed, speed)
    if tree.joints[i, at.BODY] == at.RIGID:
        wb = apply_transpose(pose[0], w)
        kinetic += 0.5 * dot(wb, own_inertia(tree, i, wb))
    return kinetic, -m * (c[0] * g[at.GRAVITY] + c[1] * g[at.GRAVITY + 1] + c[2] * g[at.GRAVITY + 2])


@inline_kernel
def gather(tree: Tree, i: int, column: int, motion: Floats) -> Twist:
    """Add six numbers of body i to its parent, unless that is the base; returns them."""
    F, p = load6(motion, i + 1, column), tree.joints[i, at.PARENT]
    if p >= 0:
        add_to(1.0, F, motion, p + 1, column)
    return F


@kernel
def place(tree: Tree, q: Floats, motion: Floats) -> None:
    """Poses and Jacobian columns of all bodies."""
    place_base(tree, motion)
    for i in range(q.shape[0]):
        place_body(tree, i, q[i], motion)


@kernel
def place_states(tree: Tree, q: Floats, wanted: Ints, motion: Floats, seen: Floats) -> None:
    """Poses and Jacobian columns, the first 18 of a motion, of some rows of it at many states (states, n)."""
    for row in range(q.shape[0]):
        place(tree, q[row], motion)
        for k in range(wanted.shape[0]):
            for c in range(seen.shape[2]):
                seen[row, k, c] = motion[wanted[k], c]


@kernel
def inverse_dynamics(tree: Tree, q: Floats, v: Floats, a: Floats, motion: Floats, tau: Floats) -> None:
    """tau = M a + h + g."""
    place_base(tree, motion)
    for i in range(q.shape[0]):
        pose, J = place_body(tree, i, q[i], motion)
        V = move_body(tree, i, v[i], J, motion)
        A = accelerate_body(tree, i, v[i], a[i], J, motion)
        if tree.joints[i, at.BODY] == at.NOTHING:
            store(EMPTY, motion, i + 1, at.WRENCH)
        else:
            store(own_wrench(tree, i, pose, V, A), motion, i + 1, at.WRENCH)
    for i in range(q.shape[0] - 1, -1, -1):
        F = gather(tree, i, at.WRENCH, motion)
        tau[i] = dot6(load6(motion, i + 1, at.AXIS), F) + tree.facts[i, at.ROTOR] * a[i]


@kernel
def momentum(tree: Tree, q: Floats, v: Floats, motion: Floats, p: Floats, push: Floats) -> None:
    """p = M v, and push = dT/dq at constant v."""
    place_base(tree, motion)
    for i in range(q.shape[0]):
        pose, J = place_body(tree, i, q[i], motion)
        V = move_body(tree, i, v[i], J, motion)
        store(own_momentum(tree, i, pose, V), motion, i + 1, at.MOMENTUM)
    for i in range(q.shape[0] - 1, -1, -1):
        H, J = gather(tree, i, at.MOMENTUM, motion), load6(motion, i + 1, at.AXIS)
        p[i] = dot6(J, H) + tree.facts[i, at.ROTOR] * v[i]
        push[i] = dot6(ad(load6(motion, i + 1, at.TWIST), J), H)


@inner_kernel
def energies_at(tree: Tree, q: Floats, v: Floats, turn: Floats, motion: Floats) -> tuple[float, float]:
    """Kinetic energy and potential of gravity; the poses stay in ``motion``. Few arguments: a call costs by them."""
    kinetic, potential = 0.0, 0.0
    for i in range(q.shape[0]):
        pose, J = place_turned(tree, i, q[i], (turn[i, 0], turn[i, 1]), motion)
        V = move_body(tree, i, v[i], J, motion)
        kinetic += 0.5 * tree.facts[i, at.ROTOR] * v[i] * v[i]
        if tree.joints[i, at.BODY] != at.NOTHING:
            own = own_energies(tree, i, pose, V)
            kinetic += own[0]
            potential += own[1]
    return kinetic, potential


@kernel
def energies(tree: Tree, q: Floats, v: Floats, turn: Floats, motion: Floats) -> tuple[float, float]:
    """The same from Python; ``turn`` (n, 2) is scratch."""
    place_base(tree, motion)
    turn_afresh(tree, q, turn)
    return energies_at(tree, q, v, turn, motion)


Ten = tuple[float, float, float, float, float, float, float, float, float, float]


@inline_kernel
def turned_inertia(tree: Tree, i: int, R: Matrix) -> Twist:
    """R J R^T of body i: xx yy zz xy xz yz."""
    x, y, z = (R[0], R[1], R[2]), (R[3], R[4], R[5]), (R[6], R[7], R[8])
    a, b, c = own_inertia(tree, i, x), own_inertia(tree, i, y), own_inertia(tree, i, z)
    return (dot(a, x), dot(b, y), dot(c, z), dot(a, y), dot(a, z), dot(b, z))


@inline_kernel
def inertia_of(tree: Tree, i: int, motion: Floats) -> Ten:
    """Mass, first and second moment of body i alone."""
    if tree.joints[i, at.BODY] == at.NOTHING:
        return (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    m, pose = tree.facts[i, at.MASS], pose_of(motion, i)
    x, y, z = center_of(tree, i, pose)
    mx, my, mz = m * x, m * y, m * z
    J = (my * y + mz * z, mx * x + mz * z, mx * x + my * y, -mx * y, -mx * z, -my * z)
    if tree.joints[i, at.BODY] == at.RIGID:
        J = plus6(J, 1.0, turned_inertia(tree, i, pose[0]))
    return (m, mx, my, mz, J[0], J[1], J[2], J[3], J[4], J[5])


@inline_kernel
def ten(a: Floats, i: int, k: int) -> Ten:
    return (
        a[i, k], a[i, k + 1], a[i, k + 2], a[i, k + 3], a[i, k + 4],
        a[i, k + 5], a[i, k + 6], a[i, k + 7], a[i, k + 8], a[i, k + 9],
    )  # fmt: skip


@inline_kernel
def momentum_at(I: Ten, V: Twist) -> Twist:
    """The momentum of an inertia that moves with the twist V."""
    m, x, y, z = I[0], I[1], I[2], I[3]
    v1, v2, v3, w1, w2, w3 = V
    return (
        m * v1 + w2 * z - w3 * y,
        m * v2 + w3 * x - w1 * z,
        m * v3 + w1 * y - w2 * x,
        y * v3 - z * v2 + I[4] * w1 + I[7] * w2 + I[8] * w3,
        z * v1 - x * v3 + I[7] * w1 + I[5] * w2 + I[9] * w3,
        x * v2 - y * v1 + I[8] * w1 + I[9] * w2 + I[6] * w3,
    )


@inline_kernel
def gather_inertias(tree: Tree, n: int, motion: Floats) -> None:
    """Composite inertias of all bodies; poses stand already."""
    own_inertias(tree, n, motion)
    sum_inertias(tree, n, motion)


@inline_kernel
def own_inertias(tree: Tree, n: int, motion: Floats) -> None:
    for i in range(n):
        store(inertia_of(tree, i, motion), motion, i + 1, at.COMPOSITE)


@inline_kernel
def sum_inertias(tree: Tree, n: int, motion: Floats) -> None:
    for i in range(n - 1, -1, -1):
        p = tree.joints[i, at.PARENT] + 1
        if p > 0:
            add_to(1.0, ten(motion, i + 1, at.COMPOSITE), motion, p, at.COMPOSITE)


@inline_kernel
def fill_mass_matrix(tree: Tree, n: int, motion: Floats, M: Floats) -> None:
    """M from poses that stand already."""
    gather_inertias(tree, n, motion)
    fill_from_inertias(tree, n, motion, M)


@inline_kernel
def fill_from_inertias(tree: Tree, n: int, motion: Floats, M: Floats) -> None:
    """The same from composite inertias."""
    M[:] = 0.0
    for i in range(n):
        J = load6(motion, i + 1, at.AXIS)
        F = momentum_at(ten(motion, i + 1, at.COMPOSITE), J)
        M[i, i] = dot6(J, F) + tree.facts[i, at.ROTOR]
        j = tree.joints[i, at.PARENT]
        while j >= 0:
            M[i, j] = dot6(load6(motion, j + 1, at.AXIS), F)
            M[j, i] = M[i, j]
            j = tree.joints[j, at.PARENT]


@kernel
def mass_matrix(tree: Tree, q: Floats, motion: Floats, M: Floats) -> None:
    """M(q), symmetric."""
    place(tree, q, motion)
    fill_mass_matrix(tree, q.shape[0], motion, M)
