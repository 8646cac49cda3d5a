"""Forward dynamics by articulated inertias, at a cost linear in the bodies [featherstone2008].

The wrench that makes the part of the tree behind coordinate i accelerate by A is  P_i A + b_i  once the coordinates
behind have found their own accelerations. Passing coordinate i itself with its torque,

    U = P J ,   D = J . U + rotor ,   u = tau - J . b ,
    P_parent += P - U U^T / D ,    b_parent += b + (P - U U^T / D) c + U u / D ,    c = (V_parent x J) v ,

and on the way back  a_i = (u - U . (A_parent + c)) / D .  A coordinate with a given acceleration passes P whole.
"""

from __future__ import annotations

from pliant.jit import inline_kernel, kernel
from pliant.mechanics.minimal.composite import Ten, inertia_of
from pliant.mechanics.minimal.motion import (
    ACCELERATION,
    ARTICULATED,
    AXIS,
    LEVER,
    MOMENTUM,
    PIVOT,
    TWIST,
    WRENCH,
    Six,
    add_six,
    cross_twists,
    dot_six,
    move_body,
    place_base,
    place_body,
    put_six,
    six,
)
from pliant.mechanics.minimal.recursions import own_wrench
from pliant.mechanics.minimal.tree import BODY, NOTHING, PARENT, ROTOR, Bools, Floats, Tree

TRIANGLE = 21
BIAS = MOMENTUM  # the columns of momenta hold the bias accelerations c here


@inline_kernel
def put_triangle(a: Floats, row: int, I: Ten) -> None:
    """The upper triangle of an inertia as a 6 x 6 matrix, row by row."""
    m, x, y, z = I[0], I[1], I[2], I[3]
    values = (
        m, 0.0, 0.0, 0.0, z, -y,
        m, 0.0, -z, 0.0, x,
        m, y, -x, 0.0,
        I[4], I[7], I[8],
        I[5], I[9],
        I[6],
    )  # fmt: skip
    for k in range(TRIANGLE):
        a[row, ARTICULATED + k] = values[k]


@inline_kernel
def times_triangle(a: Floats, row: int, x: Six) -> Six:
    """A symmetric matrix, kept as its upper triangle, times x."""
    o = ARTICULATED
    p01, p02, p03, p04, p05 = a[row, o + 1], a[row, o + 2], a[row, o + 3], a[row, o + 4], a[row, o + 5]
    p12, p13, p14, p15 = a[row, o + 7], a[row, o + 8], a[row, o + 9], a[row, o + 10]
    p23, p24, p25 = a[row, o + 12], a[row, o + 13], a[row, o + 14]
    p34, p35, p45 = a[row, o + 16], a[row, o + 17], a[row, o + 19]
    return (
        a[row, o] * x[0] + p01 * x[1] + p02 * x[2] + p03 * x[3] + p04 * x[4] + p05 * x[5],
        p01 * x[0] + a[row, o + 6] * x[1] + p12 * x[2] + p13 * x[3] + p14 * x[4] + p15 * x[5],
        p02 * x[0] + p12 * x[1] + a[row, o + 11] * x[2] + p23 * x[3] + p24 * x[4] + p25 * x[5],
        p03 * x[0] + p13 * x[1] + p23 * x[2] + a[row, o + 15] * x[3] + p34 * x[4] + p35 * x[5],
        p04 * x[0] + p14 * x[1] + p24 * x[2] + p34 * x[3] + a[row, o + 18] * x[4] + p45 * x[5],
        p05 * x[0] + p15 * x[1] + p25 * x[2] + p35 * x[3] + p45 * x[4] + a[row, o + 20] * x[5],
    )


@inline_kernel
def plus(x: Six, factor: float, y: Six) -> Six:
    """x + factor y."""
    return (
        x[0] + factor * y[0],
        x[1] + factor * y[1],
        x[2] + factor * y[2],
        x[3] + factor * y[3],
        x[4] + factor * y[4],
        x[5] + factor * y[5],
    )


@inline_kernel
def start_articulated(tree: Tree, i: int, v: float, motion: Floats) -> None:
    """Own inertia and bias of body i, whose twist stands."""
    own, p = i + 1, tree.joints[i, PARENT] + 1
    J = six(motion, own, AXIS)
    C = cross_twists(six(motion, p, TWIST), J)
    put_six(motion, own, BIAS, (v * C[0], v * C[1], v * C[2], v * C[3], v * C[4], v * C[5]))
    put_triangle(motion, own, inertia_of(tree, i, motion))
    nothing = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    if tree.joints[i, BODY] == NOTHING:
        put_six(motion, own, WRENCH, nothing)
    else:
        put_six(motion, own, WRENCH, own_wrench(tree, i, six(motion, own, TWIST), nothing, motion))


@inline_kernel
def pass_coordinate(tree: Tree, i: int, tau: float, motion: Floats) -> bool:
    """Add body i with its free coordinate to its parent; False if nothing resists the coordinate."""
    own, p = i + 1, tree.joints[i, PARENT] + 1
    J, b = six(motion, own, AXIS), six(motion, own, WRENCH)
    U = times_triangle(motion, own, J)
    D = dot_six(J, U) + tree.facts[i, ROTOR]
    if not D > 0.0:  # also true for NaN
        return False
    u, inverse = tau - dot_six(J, b), 1.0 / D
    put_six(motion, own, LEVER, U)
    motion[own, PIVOT] = inverse
    motion[own, PIVOT + 1] = u
    if p > 0:
        k = ARTICULATED
        for row in range(6):
            factor = U[row] * inverse
            for column in range(row, 6):
                motion[own, k] -= factor * U[column]
                motion[p, k] += motion[own, k]
                k += 1
        c = six(motion, own, BIAS)
        add_six(motion, p, WRENCH, plus(plus(b, u * inverse, U), 1.0, times_triangle(motion, own, c)))
    return True


@inline_kernel
def pass_prescribed(tree: Tree, i: int, a: float, motion: Floats) -> None:
    """Add body i, whose coordinate has the acceleration a, to its parent."""
    own, p = i + 1, tree.joints[i, PARENT] + 1
    if p > 0:
        for k in range(ARTICULATED, ARTICULATED + TRIANGLE):
            motion[p, k] += motion[own, k]
        c = plus(six(motion, own, BIAS), a, six(motion, own, AXIS))
        add_six(motion, p, WRENCH, plus(six(motion, own, WRENCH), 1.0, times_triangle(motion, own, c)))


@inline_kernel
def placed_dynamics(tree: Tree, prescribed: Bools, v: Floats, tau: Floats, motion: Floats, a: Floats) -> bool:
    """`forward_dynamics` from poses that stand."""
    n = v.shape[0]
    for i in range(n):
        move_body(tree, i, v[i], motion)
        start_articulated(tree, i, v[i], motion)
    for i in range(n - 1, -1, -1):
        if prescribed[i]:
            pass_prescribed(tree, i, a[i], motion)
        elif not pass_coordinate(tree, i, tau[i], motion):
            return False
    for i in range(n):
        own, p = i + 1, tree.joints[i, PARENT] + 1
        A = plus(six(motion, p, ACCELERATION), 1.0, six(motion, own, BIAS))
        if not prescribed[i]:
            a[i] = (motion[own, PIVOT + 1] - dot_six(six(motion, own, LEVER), A)) * motion[own, PIVOT]
        put_six(motion, own, ACCELERATION, plus(A, a[i], six(motion, own, AXIS)))
    return True


@kernel
def forward_dynamics(
    tree: Tree, prescribed: Bools, q: Floats, v: Floats, tau: Floats, motion: Floats, a: Floats
) -> bool:
    """a = M^-1 (tau - h - g); False where no mass resists.

    The accelerations of prescribed coordinates are taken from ``a``, and their torques are not read.
    """
    place_base(tree, motion)
    for i in range(q.shape[0]):
        place_body(tree, i, q[i], motion)
    return placed_dynamics(tree, prescribed, v, tau, motion, a)
