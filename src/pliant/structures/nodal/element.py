"""The element between a node and its parent: its force and exact finite change, its tangent, its force at an instant.

Nothing else knows what an element is made of. An element is a potential of the relative pose of its nodes: it measures
a deformation (`measure`), takes the change of it over a step as an exact linear function of mean velocities (`change`),
and turns section forces into forces on the nodes by the transposed function (`force`), so that work and stored energy
agree. These three, and the linear strain operators of the tangent, are all that depends on the kind of an element.
"""

from __future__ import annotations

from pliant.jit import inline_kernel
from pliant.spatial.se3 import Twist, join, right_tangent_inverse
from pliant.spatial.vectors import Matrix, Vector, add, apply, apply_transpose, cross, dot, scale, sub
from pliant.structures.nodal.joint_laws import NO_TIME
from pliant.structures.nodal.mechanism import Elements, Floats
from pliant.structures.nodal.motion import Moment, Step
from pliant.structures.nodal.relative_pose import (
    CHANGE,
    PSI,
    K,
    U,
    discrete_gradient,
    measure_change,
    measure_relative_pose,
    world_force,
)
from pliant.structures.nodal.rows import (
    UNIT,
    add_product,
    add_skew,
    add_to,
    matrix,
    mean,
    multiply_into,
    put_six,
    vector,
)

EPSILON = 2.3e-16

# So far all elements are of the kind LOGARITHM; another kind is a branch in each of these three kernels.


@inline_kernel
def measure(kind: int, r: Vector, Ra: Matrix, Rb: Matrix, k0: float, rows: Floats, i: int) -> None:
    """Row i of the deformation of two frames, r apart in the world; k0 is that of the start of the step."""
    measure_relative_pose(r, Ra, Rb, k0, rows, i)


@inline_kernel
def change(kind: int, moved: tuple[Vector, Vector], Ra: Matrix, Rb: Matrix, start: Floats, end: Floats, i: int) -> None:
    """Its change over a step, exactly; ``moved`` is what b moved and turned against a, in the world."""
    measure_change(moved[0], moved[1], Ra, Rb, start, end, i)


@inline_kernel
def force(
    kind: int, Ra: Matrix, Rb: Matrix, start: Floats, end: Floats, i: int, stress: tuple[Vector, Vector]
) -> tuple[Vector, Vector]:
    """Force and moment on b, in the world, whose work on the same motion is that of the stress on the change."""
    return world_force(Ra, Rb, discrete_gradient(start, end, i, stress[0], stress[1]))


@inline_kernel
def mean_stresses(
    elements: Elements, e: int, h: float, start: Moment, end: Moment
) -> tuple[Vector, Vector, Vector, Vector]:
    """Section force and moment from the mean strain, and those of Kelvin-Voigt from its increment.

    Both matrices are symmetric; their rows stand in one piece, their columns do not.
    """
    half, rate = 0.5 / elements.length[e], 1.0 / (elements.length[e] * h)
    stiffness, damping = elements.K[e], elements.C[e]
    n0, n1, n2, m0, m1, m2 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    a0, a1, a2, b0, b1, b2 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for j in range(6):
        increment = end.strain[e, CHANGE + j]
        strain = start.strain[e, U + j] / elements.length[e] - elements.rest[e, j] + half * increment
        speed = rate * increment
        n0 += stiffness[j, 0] * strain
        n1 += stiffness[j, 1] * strain
        n2 += stiffness[j, 2] * strain
        m0 += stiffness[j, 3] * strain
        m1 += stiffness[j, 4] * strain
        m2 += stiffness[j, 5] * strain
        a0 += damping[j, 0] * speed
        a1 += damping[j, 1] * speed
        a2 += damping[j, 2] * speed
        b0 += damping[j, 3] * speed
        b1 += damping[j, 4] * speed
        b2 += damping[j, 5] * speed
    return (n0, n1, n2), (m0, m1, m2), (a0, a1, a2), (b0, b1, b2)


@inline_kernel
def mean_stress(elements: Elements, e: int, h: float, start: Moment, end: Moment) -> tuple[Vector, Vector]:
    """Section force and moment, elastic and viscous."""
    n, m, n_viscous, m_viscous = mean_stresses(elements, e, h, start, end)
    return add(n, n_viscous), add(m, m_viscous)


@inline_kernel
def node_distance(a: int, b: int, at: Moment) -> Vector:
    """x_b - x_a with what the positions lost to rounding."""
    return add(sub(vector(at.x, b, 0), vector(at.x, a, 0)), sub(vector(at.x_low, b, 0), vector(at.x_low, a, 0)))


@inline_kernel
def balance_element(
    elements: Elements, a: int, i: int, h: float, start: Moment, end: Moment, step: Step
) -> tuple[float, float, float]:
    """Forces of the element between node a and node i; returns work on it, squares of its impulse and its rounding."""
    distance = node_distance(a, i, end)
    kind = elements.kind[i]
    measure(kind, distance, matrix(end.R, a), matrix(end.R, i), start.strain[i, K], end.strain, i)
    Ra, Rb = matrix(step.R_mean, a), matrix(step.R_mean, i)
    r = mean(node_distance(a, i, start), distance)
    spin = vector(step.omega, a, 0)
    y, carried = vector(step.Y, i, 0), add(vector(step.Y, a, 0), cross(spin, r))
    turn = scale(h, sub(vector(step.omega, i, 0), spin))
    change(kind, (scale(h, sub(y, carried)), turn), Ra, Rb, start.strain, end.strain, i)
    n, m = mean_stress(elements, i, h, start, end)
    F, T = force(kind, Ra, Rb, start.strain, end.strain, i, (n, m))
    add_to(step.rho, i, 0, h, F)
    add_to(step.rho, i, 3, h, T)
    add_to(step.rho, a, 0, -h, F)
    add_to(step.rho, a, 3, -h, add(T, cross(r, F)))
    work = dot(n, vector(end.strain, i, CHANGE)) + dot(m, vector(end.strain, i, CHANGE + 3))
    rounding = 2.0 * EPSILON * h * (h * elements.K[i, 0, 0] + 2.0 * elements.C[i, 0, 0]) / elements.length[i]
    return work, h * h * (dot(F, F) + dot(T, T)), rounding * rounding * (dot(y, y) + dot(carried, carried))


@inline_kernel
def element_change(elements: Elements, i: int, h: float, start: Moment, end: Moment) -> tuple[float, float]:
    """Strain energy stored in an element during a step, and its material loss."""
    n, m, n_viscous, m_viscous = mean_stresses(elements, i, h, start, end)
    du, dpsi = vector(end.strain, i, CHANGE), vector(end.strain, i, CHANGE + 3)
    return dot(n, du) + dot(m, dpsi), dot(n_viscous, du) + dot(m_viscous, dpsi)


@inline_kernel
def turn_columns(M: Floats, a: Vector) -> None:
    """M <- M blockdiag(cay(a), cay(a))."""
    f = 1.0 / (1.0 + 0.25 * dot(a, a))
    q0, q1, q2 = f * a[0], f * a[1], f * a[2]
    h0, h1, h2 = 0.5 * a[0], 0.5 * a[1], 0.5 * a[2]
    C = (
        1.0 - (q1 * h1 + q2 * h2),
        -q2 + q0 * h1,
        q1 + q0 * h2,
        q2 + q1 * h0,
        1.0 - (q0 * h0 + q2 * h2),
        -q0 + q1 * h2,
        -q1 + q2 * h0,
        q0 + q2 * h1,
        1.0 - (q0 * h0 + q1 * h1),
    )
    for r in range(6):
        left = apply_transpose(C, (M[r, 0], M[r, 1], M[r, 2]))
        right = apply_transpose(C, (M[r, 3], M[r, 4], M[r, 5]))
        put_six(M, r, (left[0], left[1], left[2], right[0], right[1], right[2]))


@inline_kernel
def put_strain_operators(A: Matrix, B: Matrix, on_b: Floats, on_a: Floats) -> None:
    """d(u, psi) = on_b t_b - on_a t_a in the frames of the nodes."""
    for r in range(3):
        for k in range(3):
            a, b = A[3 * r + k], B[3 * r + k]
            on_b[r, k], on_b[3 + r, 3 + k], on_b[r, 3 + k], on_b[3 + r, k] = a, a, b, 0.0
            on_a[k, r], on_a[3 + k, 3 + r], on_a[k, 3 + r], on_a[3 + k, r] = a, a, b, 0.0


@inline_kernel
def put_stiffness(
    elements: Elements, i: int, h: float, on_b: Floats, on_a: Floats, force_b: Floats, force_a: Floats
) -> None:
    """force_b = on_b^T Ks and force_a = -on_a^T Ks with Ks = h^2/2 (K + 2 C / h) / length."""
    factor = 0.5 * h * h / elements.length[i]
    K, C = elements.K[i], elements.C[i]
    for r in range(6):
        for j in range(6):
            b, a = 0.0, 0.0
            for k in range(6):
                Ks = factor * (K[k, j] + 2.0 * C[k, j] / h)
                b += on_b[k, r] * Ks
                a -= on_a[k, r] * Ks
            force_b[r, j], force_a[r, j] = b, a


@inline_kernel
def add_element(
    elements: Elements,
    nodes: tuple[int, int],
    h: float,
    moments: tuple[Moment, Moment],
    step: Step,
    blocks: tuple[Floats, Floats, Floats, Floats],
    work: Floats,
) -> None:
    """Blocks of the tangent of the element between node i and its parent p: those of both nodes, below and above."""
    i, p = nodes
    start, end = moments
    D, Dp, low, up = blocks
    on_b, on_a, force_b, force_a = work[0], work[1], work[2], work[3]
    u = mean(vector(start.strain, i, U), vector(end.strain, i, U))
    psi = mean(vector(start.strain, i, PSI), vector(end.strain, i, PSI))
    A, B = right_tangent_inverse(join(u, psi))
    put_strain_operators(A, B, on_b, on_a)
    put_stiffness(elements, i, h, on_b, on_a, force_b, force_a)
    n, m = mean_stress(elements, i, h, start, end)
    half = 0.5 * h * h
    for P in (force_a, force_b):
        add_skew(P, 0, 3, 0.5 * half, n)
        add_skew(P, 3, 0, 0.5 * half, n)
        add_skew(P, 3, 3, 0.5 * half, m)
    add_skew(D, 0, 3, -half, apply_transpose(A, n))
    add_skew(D, 3, 3, -half, add(apply_transpose(B, n), apply_transpose(A, m)))
    add_skew(Dp, 0, 3, half, apply(A, n))
    add_skew(Dp, 3, 3, half, add(apply(B, n), apply(A, m)))
    # the end strain sees increments from the end frame, half a step ahead of the mid frame
    turn_columns(on_b, scale(-0.5 * h, vector(step.Y, i, 3)))
    turn_columns(on_a, scale(-0.5 * h, vector(step.Y, p, 3)))
    add_product(1.0, force_b, on_b, D)
    add_product(-1.0, force_a, on_a, Dp)
    multiply_into(force_a, on_b, up)
    multiply_into(force_b, on_a, low)


@inline_kernel
def instant_wrench(elements: Elements, i: int, r: Vector, R: Matrix, rho: Twist, at: Moment) -> tuple[Vector, Vector]:
    """Force and moment that moves the element of node i, in the node's frame, at an instant.

    ``r`` and ``R`` are the pose of the node in its parent's frame, ``rho`` its twist against the parent.
    """
    kind = elements.kind[i]
    # a second time from the angle found, so that slopes between two angles become derivatives
    for _ in range(2):
        measure(kind, r, UNIT, R, at.strain[i, K], at.strain, i)
    move, turn = apply(R, (rho[0], rho[1], rho[2])), apply(R, (rho[3], rho[4], rho[5]))
    change(kind, (scale(NO_TIME, move), scale(NO_TIME, turn)), UNIT, R, at.strain, at.strain, i)
    n, m = mean_stress(elements, i, NO_TIME, at, at)
    F, T = force(kind, UNIT, R, at.strain, at.strain, i, (n, m))
    return apply_transpose(R, F), apply_transpose(R, T)


@inline_kernel
def element_energy(elements: Elements, i: int, at: Moment) -> float:
    """Strain energy of an element."""
    length, energy = elements.length[i], 0.0
    for r in range(6):
        e = at.strain[i, U + r] / length - elements.rest[i, r]
        for k in range(6):
            energy += e * elements.K[i, r, k] * (at.strain[i, U + k] / length - elements.rest[i, k])
    return float(0.5 * length * energy)
