"""The element between a node and its parent: its force and exact finite change, its tangent, its force at an instant.

Nothing else knows what an element is made of. An element is a potential of the relative pose of its nodes: it measures
a deformation, takes the change of it over a step as an exact linear function of mean velocities, and turns section
forces into forces on the nodes by the transposed function, so that work and stored energy agree. These three, and the
linear strain operators of the tangent, are all in which the kinds of elements differ: the pose element
(`relative_pose`), whose deformation is the logarithm of the relative pose, and the co-rotational one (`corotational`).
A mechanism has elements of one kind.
"""

from __future__ import annotations

from pliant.jit import inline_kernel
from pliant.mechanics.joint_laws import NO_TIME
from pliant.spatial.rows import add_to, load3, load6, load9, plus3, plus6, scale6, store
from pliant.spatial.se3 import Twist, angular, join, linear, right_tangent_inverse
from pliant.spatial.small_matrices import add_product, add_skew, multiply, times
from pliant.spatial.vectors import UNIT, Matrix, Vector, add, apply, apply_transpose, cross, dot, mean, scale, sub
from pliant.structures.nodal.codes import COROTATIONAL_MEAN, ELEMENT, POSE
from pliant.structures.nodal.corotational import (
    K_FRAME,
    LARGEST_TURN,
    add_curving,
    add_turning_of_axes,
    carry_to_parent,
    deformation_gradient,
    from_mean_axes,
    mean_frames,
    measure_deformation,
    measure_frame,
    polar_means,
    put_deformation_change,
    put_deformation_operators,
    relative_turn,
    turn_change_to_mean_axes,
    turn_rows_to_mean_axes,
    turn_to_mean_axes,
    turning_rates,
)
from pliant.structures.nodal.coupling import shared_torque
from pliant.structures.nodal.mechanism import Elements, Floats, Tree
from pliant.structures.nodal.motion import Factors, Moment, Motion
from pliant.structures.relative_pose import (
    CHANGE,
    PSI,
    K,
    U,
    discrete_gradient,
    measure_change,
    measure_relative_pose,
    world_force,
)

EPSILON = 2.3e-16
LARGEST_BEND = 1.8  # 1 - cos of the angle between the ends of a pose element or of a bushing, 2.5 rad


@inline_kernel
def measure_element(
    elements: Elements, r: Vector, Ra: Matrix, Rb: Matrix, k0: tuple[float, float], data: Floats, i: int
) -> None:
    """The deformation of the element of node i, with r = x_b - x_a in the world; k0 from `angles` of the start."""
    if elements.kind != POSE:
        measure_frame(r, Ra, Rb, data, i)
        measure_corotated(elements, k0, data, i)
    else:
        measure_relative_pose(r, Ra, Rb, k0[0], data, i)


@inline_kernel
def measure_corotated(elements: Elements, k0: tuple[float, float], data: Floats, i: int) -> None:
    """The deformation of a co-rotational element whose frame is measured."""
    measure_deformation(elements.length[i], k0, data, i)
    if elements.kind == COROTATIONAL_MEAN:
        turn_to_mean_axes(elements.length[i], data, i)


@inline_kernel
def angles(data: Floats, i: int) -> tuple[float, float]:
    """1 - cos of the angles that an element has measured."""
    return data[i, K], data[i, K_FRAME]


@inline_kernel
def too_bent(elements: Elements, i: int, at: Moment) -> bool:
    """Whether an element turned beyond what its measure of deformation tells."""
    if elements.kind != POSE:
        return bool(max(at.strain[i, K], at.strain[i, K_FRAME]) > LARGEST_TURN)
    return bool(at.strain[i, K] > LARGEST_BEND)


@inline_kernel
def corotational_force(
    elements: Elements, i: int, h: float, dp: Vector, turn: Vector, ends: tuple[Moment, Moment]
) -> tuple[Twist, Vector, Vector]:
    """Change of the deformation of a co-rotational element over a step, section force and moment, and (gp, g).

    ``dp`` is the change of p and ``turn`` the Cayley vector of S; gp . dp + g . turn is the work on the element.
    """
    start, end = ends
    rows, length = (start.strain, end.strain), elements.length[i]
    polar = polar_means(start.strain, end.strain, i)
    rates = turning_rates(start.strain, end.strain, i, polar[0])
    put_deformation_change(length, dp, turn, polar, rates, end.strain, i)
    if elements.kind == COROTATIONAL_MEAN:
        turn_change_to_mean_axes(length, start.strain, end.strain, i)
    n, m = mean_stress(elements, i, h, start, end)
    force, moment = n, m
    if elements.kind == COROTATIONAL_MEAN:
        force, moment = from_mean_axes(length, rows, i, n, m)
    gp, g = deformation_gradient(length, force, moment, polar, rates)
    return join(n, m), gp, g


@inline_kernel
def pose_force(
    elements: Elements,
    i: int,
    h: float,
    moved: tuple[Vector, Vector],
    means: tuple[Matrix, Matrix],
    ends: tuple[Moment, Moment],
) -> tuple[Twist, Vector, Vector]:
    """Change of the deformation of a pose element over a step, section force and moment, and force and torque on node b
    in the world.

    ``moved`` is what b moved and turned relative to a in the world, ``means`` are the mean directors of both.
    """
    (start, end), (move, turn), (Ra, Rb) = ends, moved, means
    measure_change(move, turn, Ra, Rb, start.strain, end.strain, i)
    n, m = mean_stress(elements, i, h, start, end)
    F, T = world_force(Ra, Rb, discrete_gradient(start.strain, end.strain, i, n, m))
    return join(n, m), F, T


@inline_kernel
def mean_stresses(elements: Elements, e: int, h: float, start: Moment, end: Moment) -> tuple[Twist, Twist]:
    """Section force and moment from the mean strain, and those of Kelvin-Voigt from its increment.

    Both matrices are symmetric; their rows stand in one piece, their columns do not.
    """
    per_length = 1.0 / elements.length[e]
    half, rate = 0.5 * per_length, per_length / h
    elastic = viscous = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    for j in range(6):
        increment = end.strain[e, CHANGE + j]
        strain = start.strain[e, U + j] * per_length - elements.rest[e, j] + half * increment
        elastic = plus6(elastic, strain, load6(elements.K[e], j))
        viscous = plus6(viscous, rate * increment, load6(elements.C[e], j))
    return elastic, viscous


@inline_kernel
def mean_stress(elements: Elements, e: int, h: float, start: Moment, end: Moment) -> tuple[Vector, Vector]:
    """Section force and moment, elastic and viscous."""
    elastic, viscous = mean_stresses(elements, e, h, start, end)
    both = plus6(elastic, 1.0, viscous)
    return linear(both), angular(both)


@inline_kernel
def node_distance(a: int, b: int, at: Moment) -> Vector:
    """x_b - x_a with what the positions lost to rounding."""
    return add(sub(load3(at.x, b), load3(at.x, a)), sub(load3(at.x_low, b), load3(at.x_low, a)))


@inline_kernel
def measure_ends(elements: Elements, tree: Tree, motion: Motion) -> None:
    """The deformation of every element at the end of a step.

    Loops of their own, and short ones: what one element waits for is hidden by the next.
    """
    start, end = motion.start, motion.end
    for i in range(tree.parent.shape[0]):
        if tree.joint_type[i] == ELEMENT:
            a = tree.parent[i]
            r, Ra, Rb = node_distance(a, i, end), load9(end.R, a), load9(end.R, i)
            if elements.kind != POSE:
                measure_frame(r, Ra, Rb, end.strain, i)
            else:
                measure_relative_pose(r, Ra, Rb, start.strain[i, K], end.strain, i)
    if elements.kind != POSE:
        for i in range(tree.parent.shape[0]):
            if tree.joint_type[i] == ELEMENT:
                measure_corotated(elements, angles(start.strain, i), end.strain, i)


@inline_kernel
def balance_element(elements: Elements, a: int, i: int, motion: Motion) -> tuple[float, float, float, float]:
    """Forces of the measured element between node a and node i; work on it, squares of its impulse and its rounding,
    and the change of kinetic energy by inertia that turns."""
    h, start, end, step = motion.signals.h[0], motion.start, motion.end, motion.step
    Ra = load9(step.R_mean, a)
    r = mean(node_distance(a, i, start), node_distance(a, i, end))
    spin = load3(step.omega, a)
    y, carried = load3(step.Y, i), add(load3(step.Y, a), cross(spin, r))
    move, turn, kinetic = scale(h, sub(y, carried)), scale(h, sub(load3(step.omega, i), spin)), 0.0
    if elements.kind != POSE:
        Rb, spin = load9(start.R, i), scale(h, load3(step.Y, i, 3))
        turn, factor = relative_turn(apply_transpose(Rb, turn), spin)
        stress, gp, g = corotational_force(elements, i, h, apply_transpose(Ra, move), turn, (start, end))
        if elements.couples:
            shared = shared_torque(elements, a, i, motion)
            g, kinetic = add(g, shared), dot(shared, turn)
        F, T = apply(Ra, gp), apply(Rb, scale(factor, plus3(g, 0.5, cross(spin, g))))
    else:
        stress, F, T = pose_force(elements, i, h, (move, turn), (Ra, load9(step.R_mean, i)), (start, end))
    add_to(h, F, step.rho, i)
    add_to(h, T, step.rho, i, 3)
    add_to(-h, F, step.rho, a)
    add_to(-h, add(T, cross(r, F)), step.rho, a, 3)
    work = dot(linear(stress), load3(end.strain, i, CHANGE)) + dot(angular(stress), load3(end.strain, i, CHANGE + 3))
    rounding = 2.0 * EPSILON * h * (h * elements.K[i, 0, 0] + 2.0 * elements.C[i, 0, 0]) / elements.length[i]
    rounding_2 = rounding * rounding * (dot(y, y) + dot(carried, carried))
    return work, h * h * (dot(F, F) + dot(T, T)), rounding_2, kinetic


@inline_kernel
def element_change(elements: Elements, i: int, h: float, start: Moment, end: Moment) -> tuple[float, float]:
    """Strain energy stored in an element during a step, and its material loss."""
    elastic, viscous = mean_stresses(elements, i, h, start, end)
    du, dpsi = load3(end.strain, i, CHANGE), load3(end.strain, i, CHANGE + 3)
    stored = dot(linear(elastic), du) + dot(angular(elastic), dpsi)
    return stored, dot(linear(viscous), du) + dot(angular(viscous), dpsi)


@inline_kernel
def turn_columns(M: Floats, a: Vector) -> None:
    """M <- M blockdiag(cay(a), cay(a))."""
    f = 1.0 / (1.0 + 0.25 * dot(a, a))
    q0, q1, q2 = f * a[0], f * a[1], f * a[2]
    h0, h1, h2 = 0.5 * a[0], 0.5 * a[1], 0.5 * a[2]
    C = (
        1.0 - (q1 * h1 + q2 * h2), -q2 + q0 * h1, q1 + q0 * h2,
        q2 + q1 * h0, 1.0 - (q0 * h0 + q2 * h2), -q0 + q1 * h2,
        -q1 + q2 * h0, q0 + q2 * h1, 1.0 - (q0 * h0 + q1 * h1),
    )  # fmt: skip
    for r in range(6):
        store(join(apply_transpose(C, load3(M, r)), apply_transpose(C, load3(M, r, 3))), M, r)


@inline_kernel
def put_strain_operators(A: Matrix, B: Matrix, on_b: Floats, on_a: Floats) -> None:
    """d(u, psi) = on_b t_b - on_a t_a in the frames of the nodes."""
    for r in range(3):
        for k in range(3):
            a, b = A[3 * r + k], B[3 * r + k]
            on_b[r, k], on_b[3 + r, 3 + k], on_b[r, 3 + k], on_b[3 + r, k] = a, a, b, 0.0
            on_a[k, r], on_a[3 + k, 3 + r], on_a[k, 3 + r], on_a[3 + k, r] = a, a, b, 0.0


@inline_kernel
def put_stiffness(elements: Elements, i: int, h: float, Ks: Floats) -> None:
    """Ks = h^2/2 (K + 2 C / h) / length."""
    elastic, viscous = 0.5 * h * h / elements.length[i], h / elements.length[i]
    for k in range(6):
        store(plus6(scale6(elastic, load6(elements.K[i], k)), viscous, load6(elements.C[i], k)), Ks, k)


@inline_kernel
def put_forces(sign: float, operator: Floats, Ks: Floats, out: Floats) -> None:
    """out = sign operator^T Ks."""
    for r in range(6):
        row = scale6(sign * operator[0, r], load6(Ks, 0))
        for k in range(1, 6):
            row = plus6(row, sign * operator[k, r], load6(Ks, k))
        store(row, out, r)


@inline_kernel
def add_element(elements: Elements, nodes: tuple[int, int], motion: Motion, factors: Factors) -> None:
    """Blocks of the tangent of the element between node i and its parent p: those of both nodes, below and above."""
    i, p = nodes
    h, start, end, step, work = motion.signals.h[0], motion.start, motion.end, motion.step, factors.work
    D, Dp = factors.D[i], factors.D[p]
    on_b, on_a, force_b, force_a, Ks = work[0], work[1], work[2], work[3], work[4]
    half = 0.5 * h * h
    n, m = mean_stress(elements, i, h, start, end)
    put_stiffness(elements, i, h, Ks)
    if elements.kind != POSE:
        frames = mean_frames(start.strain, end.strain, i)
        rows = (start.strain, end.strain)
        put_deformation_operators(elements.length[i], frames, rows, i, on_b, on_a)
        if elements.kind == COROTATIONAL_MEAN:
            for operator in (on_b, on_a):
                turn_rows_to_mean_axes(elements.length[i], start.strain, end.strain, i, operator)
        put_forces(1.0, on_b, Ks, force_b)
        f_b, f_a = times(on_b.T, join(n, m)), times(on_a.T, join(n, m))
        if elements.kind == COROTATIONAL_MEAN:
            add_turning_of_axes(half, elements.length[i], rows, i, n, m, force_b)
            n, m = from_mean_axes(elements.length[i], rows, i, n, m)
        add_curving(half, elements.length[i], n, m, force_b)
        carry_to_parent(half, f_b, frames, force_b, force_a)
    else:
        u = mean(load3(start.strain, i, U), load3(end.strain, i, U))
        psi = mean(load3(start.strain, i, PSI), load3(end.strain, i, PSI))
        A, B = right_tangent_inverse(join(u, psi))
        put_strain_operators(A, B, on_b, on_a)
        put_forces(1.0, on_b, Ks, force_b)
        put_forces(-1.0, on_a, Ks, force_a)
        for P in (force_a, force_b):
            add_skew(P, 0, 3, 0.5 * half, n)
            add_skew(P, 3, 0, 0.5 * half, n)
            add_skew(P, 3, 3, 0.5 * half, m)
        f_b = join(apply_transpose(A, n), add(apply_transpose(B, n), apply_transpose(A, m)))
        f_a = join(apply(A, n), add(apply(B, n), apply(A, m)))
    add_skew(D, 0, 3, -half, linear(f_b))
    add_skew(D, 3, 3, -half, angular(f_b))
    add_skew(Dp, 0, 3, half, linear(f_a))
    add_skew(Dp, 3, 3, half, angular(f_a))
    # the end strain sees increments from the end frame, half a step ahead of the mid frame
    turn_columns(on_b, scale(-0.5 * h, load3(step.Y, i, 3)))
    turn_columns(on_a, scale(-0.5 * h, load3(step.Y, p, 3)))
    add_product(1.0, force_b, on_b, D)
    add_product(-1.0, force_a, on_a, Dp)
    multiply(force_a, on_b, factors.up[i])
    multiply(force_b, on_a, factors.low[i])


@inline_kernel
def instant_wrench(elements: Elements, i: int, r: Vector, R: Matrix, rho: Twist, at: Moment) -> tuple[Vector, Vector]:
    """Force and moment that moves the element of node i, in the node's frame, at an instant.

    ``r`` and ``R`` are the pose of the node in its parent's frame, ``rho`` its twist against the parent.
    """
    # a second time from the angle found, so that slopes between two angles become derivatives
    for _ in range(2):
        measure_element(elements, r, UNIT, R, angles(at.strain, i), at.strain, i)
    move, turn = scale(NO_TIME, linear(rho)), scale(NO_TIME, angular(rho))
    if elements.kind != POSE:
        _, gp, torque = corotational_force(elements, i, NO_TIME, apply(R, move), turn, (at, at))
        return apply_transpose(R, gp), torque
    _, F, T = pose_force(elements, i, NO_TIME, (apply(R, move), apply(R, turn)), (UNIT, R), (at, at))
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
