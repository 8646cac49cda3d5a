"""The deformation of a co-rotational beam element and its exact finite change, as potentials of the relative pose.

[damic2006] (4)-(13), with p = R_a^T (x_b - x_a) and S = R_a^T R_b of the two end sections. The co-rotated frame E has
its x-axis along the chord and its z-axis across the y-axis of section a. With l = |p| , rho = sqrt(p1^2 + p3^2) ,
c = p1/rho , s = p3/rho , r = rho/l , i = p2/l , in the axes of a,

        | c r  -c i  -s |
    E = |  i     r    0 | ,   theta1 = -log E ,   theta2 = log(E^T S) ,   u = l - L ,
        | s r  -s i   c |

    w = (u, -L theta1_z, L theta1_y, theta2 - theta1) ,   V = L/2 (w/L - rest) . K (w/L - rest) .

The energy (12) of the paper depends on these six numbers only. To first order they are displacement and rotation of
section b seen from section a, so that K is L times the inverse of the flexibility of the stretch between them. We
depart from the paper in three points: links may be curved or tapered, the change of w over a step is exact, and axes
may be the mean of both ends. The paper measures bending in the axes of section a. But the rotation vector theta2 of a
section that twists is seen from half of its twist, theta1 from none: an error of first order in the length of elements
where both bending stiffnesses differ. In mean axes theta1 is turned by half of the twist w4 too.

Every factor is a product, a quotient or a function of one scalar, so the product rule with means and divided
differences gives the change of w as an exact linear function of those of p and S, and forces follow by the transposed
function:

    l dl = p . dp ,  rho drho = p1 dp1 + p3 dp3 ,  rho dc = dp1 - c drho ,  l di = dp2 - i dl ,  l dr = drho - r dl

with means for all factors, and d(E^T S) = dE^T S + E^T dS. Rotation vectors are A(k) times the skew part of their
matrix, as in `relative_pose`.
"""

from __future__ import annotations

import numpy as np

from pliant.jit import inline_kernel, inner_kernel, kernel
from pliant.spatial.rows import load3, load9, plus3, store
from pliant.spatial.se3 import Twist, angular, join, linear
from pliant.spatial.small_matrices import add_skew, set_block
from pliant.spatial.vectors import (
    UNIT,
    Matrix,
    Vector,
    add,
    add_matrices,
    apply,
    apply_transpose,
    column,
    cross,
    dot,
    mean,
    product,
    scale,
    scale_matrix,
    sub,
    transpose,
)
from pliant.structures.nodal.mechanism import Floats
from pliant.structures.relative_pose import (
    A_SERIES,
    CHANGE,
    DA,
    PSI,
    SHORT_BELOW,
    SHORT_TERMS,
    SMALL_ANGLE,
    A,
    K,
    P,
    U,
    between_directors,
    values_and_differences,
)

# columns of a row beside P, U, PSI and CHANGE; K, A and DA are those of E^T S
FRAME, S_TURN, K_FRAME, A_FRAME, DA_FRAME, CHORD, TURN, COSINE, SINE = 3, 7, 10, 11, 20, 22, 29, 38, 39
COLUMNS = 40
NO_LENGTH = 1e-200  # m^2
LARGEST_TURN = 0.65  # 1 - cos of the angle between the chord and an end section, 1.2 rad

Corotated = tuple[Matrix, Matrix, Vector, tuple[float, float, float, float], tuple[float, float]]


@inline_kernel
def frame_matrix(c: float, s: float, r: float, i: float) -> Matrix:
    """E."""
    return (c * r, -c * i, -s, i, r, 0.0 * c, s * r, -s * i, c)


@inline_kernel
def skew_part(E: Matrix) -> Vector:
    """vee(skew E)."""
    return (0.5 * (E[7] - E[5]), 0.5 * (E[2] - E[6]), 0.5 * (E[3] - E[1]))


@inline_kernel
def fall_of_cosine(s: Vector, trace: float) -> float:
    """1 - cos of the angle of a rotation matrix, without cancellation where that is small."""
    k = 0.5 * (3.0 - trace)
    if k.real < SMALL_ANGLE:
        s2 = dot(s, s)
        k = s2 / (1.0 + np.sqrt(1.0 - s2))
    return k


@inline_kernel
def value_and_difference(k0: float, k1: float) -> tuple[float, float]:
    """A(k1) and its divided difference from k0; at once where elements bend little."""
    if max(k0.real, k1.real) < SHORT_BELOW:
        a = A_SERIES[SHORT_TERMS - 1]
        da = a
        for n in range(SHORT_TERMS - 2, 0, -1):
            a = a * k1 + A_SERIES[n]
            da = da * k0 + a
        return a * k1 + A_SERIES[0], da
    a, _, da, _ = values_and_differences(k0, k1)
    return a, da


@inline_kernel
def measure_deformation(
    length: float, r: Vector, Ra: Matrix, Rb: Matrix, k0: tuple[float, float], data: Floats, e: int
) -> None:
    """Row e of ``data`` from the world vector r = x_b - x_a and the rotations; k0 of E^T S and of E at the start."""
    p = apply_transpose(Ra, r)
    flat = p[0] * p[0] + p[2] * p[2]
    if not flat.real > NO_LENGTH:
        flat = NO_LENGTH  # numbers that are none, in a search that failed, must not end the kernel
    chord, rho = np.sqrt(flat + p[1] * p[1]), np.sqrt(flat)
    per_chord, per_rho = 1.0 / chord, 1.0 / rho
    c, s, share, i = p[0] * per_rho, p[2] * per_rho, rho * per_chord, p[1] * per_chord
    E, S = frame_matrix(c, s, share, i), product(transpose(Ra), Rb)
    of_frame = skew_part(E)
    # (3 - trace E) / 2 without cancellation, as 1 - c = s^2 / (1 + c) and 1 - r = i^2 / (1 + r)
    k_frame = s * s / (1.0 + c) + 0.5 * (1.0 + c) * i * i / (1.0 + share)
    of_turn, trace = between_directors(E, S)
    k = fall_of_cosine(of_turn, trace)
    a_frame, da_frame = value_and_difference(k0[1], k_frame)
    a, da = value_and_difference(k0[0], k)
    theta = scale(-a_frame, of_frame)
    store(p, data, e, P)
    store((c, s, share, i), data, e, FRAME)
    store(of_turn, data, e, S_TURN)
    store(S, data, e, TURN)
    store((chord - length, -length * theta[2], length * theta[1]), data, e, U)
    store(plus3(scale(a, of_turn), -1.0, theta), data, e, PSI)
    data[e, K_FRAME], data[e, A_FRAME], data[e, DA_FRAME] = k_frame, a_frame, da_frame
    data[e, K], data[e, A], data[e, DA], data[e, CHORD] = k, a, da, chord


@inline_kernel
def mean_frames(start: Floats, end: Floats, e: int) -> Corotated:
    """Means over a step of E, S, p and (c, s, r, i), and one over those of (l, rho)."""
    E0 = frame_matrix(start[e, FRAME], start[e, FRAME + 1], start[e, FRAME + 2], start[e, FRAME + 3])
    E1 = frame_matrix(end[e, FRAME], end[e, FRAME + 1], end[e, FRAME + 2], end[e, FRAME + 3])
    E = scale_matrix(0.5, add_matrices(E0, E1))
    S = scale_matrix(0.5, add_matrices(load9(start, e, TURN), load9(end, e, TURN)))
    p = mean(load3(start, e, P), load3(end, e, P))
    c, s = 0.5 * (start[e, FRAME] + end[e, FRAME]), 0.5 * (start[e, FRAME + 1] + end[e, FRAME + 1])
    r, i = 0.5 * (start[e, FRAME + 2] + end[e, FRAME + 2]), 0.5 * (start[e, FRAME + 3] + end[e, FRAME + 3])
    rho = 0.5 * (start[e, CHORD] * start[e, FRAME + 2] + end[e, CHORD] * end[e, FRAME + 2])
    return E, S, p, (c, s, r, i), (2.0 / (start[e, CHORD] + end[e, CHORD]), 1.0 / rho)


@inline_kernel
def change_of_frame(dp: Vector, means: Corotated) -> tuple[float, Matrix]:
    """Changes of the chord and of E over a step."""
    _, _, p, (c, s, r, i), (per_chord, per_rho) = means
    d_chord, d_rho = per_chord * dot(p, dp), per_rho * (p[0] * dp[0] + p[2] * dp[2])
    dc, ds = per_rho * (dp[0] - c * d_rho), per_rho * (dp[2] - s * d_rho)
    dr, di = per_chord * (d_rho - r * d_chord), per_chord * (dp[1] - i * d_chord)
    first, third = (c * dr + r * dc, -c * di - i * dc), (s * dr + r * ds, -s * di - i * ds)
    return d_chord, (first[0], first[1], -ds, di, dr, 0.0 * dc, third[0], third[1], dc)


@inline_kernel
def measure_deformation_change(
    length: float,
    moved: tuple[Vector, Vector],
    world: Matrix,
    Rb: Matrix,
    means: Corotated,
    rows: tuple[Floats, Floats],
    e: int,
) -> None:
    """Change of w over a step into row e of the second of ``rows``, exactly.

    ``moved`` is dp in the axes of a, and what b turned relative to a in the world; ``world`` the mean directors of a
    times the mean of E, ``Rb`` the mean directors of b.
    """
    start, end = rows
    dp, turn = moved
    d_chord, dE = change_of_frame(dp, means)
    b1, b2, b3 = cross(turn, column(Rb, 0)), cross(turn, column(Rb, 1)), cross(turn, column(Rb, 2))
    turned = (b1[0], b2[0], b3[0], b1[1], b2[1], b3[1], b1[2], b2[2], b3[2])
    ds_b, fall_b = between_directors(world, turned)
    ds_E, fall_E = between_directors(dE, means[1])
    a, a_frame = 0.5 * (start[e, A] + end[e, A]), 0.5 * (start[e, A_FRAME] + end[e, A_FRAME])
    of_turn = mean(load3(start, e, S_TURN), load3(end, e, S_TURN))
    d2 = plus3(scale(a, add(ds_b, ds_E)), -0.5 * end[e, DA] * (fall_b + fall_E), of_turn)
    d1 = plus3(scale(-a_frame, skew_part(dE)), 0.5 * end[e, DA_FRAME] * (dE[0] + dE[4] + dE[8]), skew_part(means[0]))
    store((d_chord, -length * d1[2], length * d1[1]), end, e, CHANGE)
    store(sub(d2, d1), end, e, CHANGE + 3)


@inline_kernel
def deformation_gradient(
    length: float, n: Vector, m: Vector, means: Corotated, rows: tuple[Floats, Floats], e: int
) -> tuple[Vector, Vector, float]:
    """(gp, gs, gk) with (n, m) . dw = gp . dp + gs . ds + gk dk, exactly; s and k are those of E^T S for a fixed E."""
    start, end = rows
    E, S, p, (c, s, r, i), (per_chord, per_rho) = means
    a, a_frame = 0.5 * (start[e, A] + end[e, A]), 0.5 * (start[e, A_FRAME] + end[e, A_FRAME])
    of_turn = mean(load3(start, e, S_TURN), load3(end, e, S_TURN))
    gs, gk = scale(a, m), end[e, DA] * dot(of_turn, m)
    on_first = (-m[0], length * n[2] - m[1], -length * n[1] - m[2])
    fs, fk = scale(-a_frame, on_first), -end[e, DA_FRAME] * dot(skew_part(E), on_first)
    # of E^T S:  G = S (-gs^ - gk)/2 ;  of E itself:  G = (fs^ - fk)/2
    G0 = -gk * S[0] - S[1] * gs[2] + S[2] * gs[1] - fk
    G1 = -gk * S[1] + S[0] * gs[2] - S[2] * gs[0] - fs[2]
    G2 = -gk * S[2] - S[0] * gs[1] + S[1] * gs[0] + fs[1]
    G3 = -gk * S[3] - S[4] * gs[2] + S[5] * gs[1] + fs[2]
    G4 = -gk * S[4] + S[3] * gs[2] - S[5] * gs[0] - fk
    G6 = -gk * S[6] - S[7] * gs[2] + S[8] * gs[1] - fs[1]
    G7 = -gk * S[7] + S[6] * gs[2] - S[8] * gs[0] + fs[0]
    G8 = -gk * S[8] - S[6] * gs[1] + S[7] * gs[0] - fk
    gc, gsine = 0.5 * (r * G0 - i * G1 + G8), 0.5 * (r * G6 - i * G7 - G2)
    gr, gi = 0.5 * (c * G0 + s * G6 + G4), 0.5 * (G3 - c * G1 - s * G7)
    g_chord = per_chord * (n[0] - per_chord * (gi * i + gr * r))
    both = g_chord + per_rho * (per_chord * gr - per_rho * (gc * c + gsine * s))
    return (per_rho * gc + both * p[0], per_chord * gi + g_chord * p[1], per_rho * gsine + both * p[2]), gs, gk


@inline_kernel
def rotation_vector_rates(theta: Vector) -> Matrix:
    """(9): from the spin of a section to the rate of its rotation vector, to the fourth power of the angle."""
    x, y, z = theta
    square = dot(theta, theta)
    f = (1.0 + square / 60.0) / 12.0
    return (
        1.0 - f * (y * y + z * z), 0.5 * z + f * x * y, -0.5 * y + f * x * z,
        -0.5 * z + f * x * y, 1.0 - f * (x * x + z * z), 0.5 * x + f * y * z,
        0.5 * y + f * x * z, -0.5 * x + f * y * z, 1.0 - f * (x * x + y * y),
    )  # fmt: skip


@inner_kernel
def put_row(
    v: Vector, spin: Vector, frames: tuple[Matrix, Matrix], chord: float, on_b: Floats, on_a: Floats, k: int
) -> None:
    """Row k of both operators from the same row in the co-rotated frame, per velocity and spin of b."""
    E, F = frames
    carried = (spin[0], spin[1] - chord * v[2], spin[2] + chord * v[1])
    store(join(apply_transpose(F, v), apply_transpose(F, spin)), on_b, k)
    store(join(apply(E, v), apply(E, carried)), on_a, k)


@inner_kernel
def put_deformation_operators(
    length: float, means: Corotated, rows: tuple[Floats, Floats], e: int, on_b: Floats, on_a: Floats
) -> None:
    """dw = on_b t_b - on_a t_a in the frames of the nodes: (4), (5) and (8) of the paper at the middle of a step."""
    start, end = rows
    E, S, _, (_, _, r, i), (per_chord, _) = means
    l = 1.0 / per_chord
    frames, eta, none = (E, product(transpose(E), S)), i / r, (0.0, 0.0, 0.0)
    f = rotation_vector_rates(scale(-0.5 * (start[e, A_FRAME] + end[e, A_FRAME]), skew_part(E)))
    a = 0.25 * (start[e, A] + end[e, A])
    g = rotation_vector_rates(scale(a, add(load3(start, e, S_TURN), load3(end, e, S_TURN))))
    share = length / l
    put_row((1.0, 0.0, 0.0), none, frames, l, on_b, on_a, 0)
    put_row((0.0, share * f[8], -share * (eta * f[6] + f[7])), none, frames, l, on_b, on_a, 1)
    put_row((0.0, -share * f[5], share * (eta * f[3] + f[4])), none, frames, l, on_b, on_a, 2)
    v = (0.0, (f[2] - g[2]) / l, (eta * (g[0] - f[0]) + g[1] - f[1]) / l)
    put_row(v, (g[0], g[1], g[2]), frames, l, on_b, on_a, 3)
    v = (0.0, (f[5] - g[5]) / l, (eta * (g[3] - f[3]) + g[4] - f[4]) / l)
    put_row(v, (g[3], g[4], g[5]), frames, l, on_b, on_a, 4)
    v = (0.0, (f[8] - g[8]) / l, (eta * (g[6] - f[6]) + g[7] - f[7]) / l)
    put_row(v, (g[6], g[7], g[8]), frames, l, on_b, on_a, 5)


@inline_kernel
def add_curving(factor: float, length: float, n: Vector, m: Vector, force_b: Floats) -> None:
    """Add the second derivative of w of a straight element, contracted with (n, m): what bends little is near it."""
    f, half = factor / length, 0.5 * factor / length
    add_skew(force_b, 0, 3, factor, n)
    add_skew(force_b, 3, 3, 0.5 * factor, m)
    for k in range(1, 3):
        force_b[0, k] -= f * n[k]
        force_b[k, 0] -= f * n[k]
        force_b[k, k] += f * n[0]
        force_b[k, 3] -= half * m[k]
        force_b[k, 3 + k] += half * m[0]
        force_b[3, k] -= half * m[k]
        force_b[3 + k, k] += half * m[0]


@inline_kernel
def carry_to_parent(factor: float, f: Twist, means: Corotated, force_b: Floats, force_a: Floats) -> None:
    """force_a = -X^T (force_b + W): the opposite wrench about node a, W from the turn of the wrench f with node b."""
    S, p = means[1], means[2]
    set_block(force_b, force_a)
    add_skew(force_a, 0, 3, -factor, linear(f))
    add_skew(force_a, 3, 0, -factor, linear(f))
    add_skew(force_a, 3, 3, -factor, angular(f))
    for k in range(6):
        force = apply(S, (force_a[0, k], force_a[1, k], force_a[2, k]))
        moment = add(apply(S, (force_a[3, k], force_a[4, k], force_a[5, k])), cross(p, force))
        for j in range(3):
            force_a[j, k], force_a[3 + j, k] = -force[j], -moment[j]


@inline_kernel
def turn_to_mean_axes(length: float, data: Floats, e: int) -> None:
    """Bending of row e in the axes between both sections."""
    c, s = np.cos(0.5 * data[e, PSI]), np.sin(0.5 * data[e, PSI])
    data[e, COSINE], data[e, SINE] = c, s
    y, z = data[e, U + 1], data[e, U + 2]
    data[e, U + 1], data[e, U + 2] = c * y + s * z, c * z - s * y
    data[e, PSI + 1] += (z - data[e, U + 2]) / length
    data[e, PSI + 2] -= (y - data[e, U + 1]) / length


@inline_kernel
def mean_axes(start: Floats, end: Floats, e: int) -> tuple[float, float, float, float]:
    """Means of cosine and sine of half the twist, and what its change alone changes of w2 and w3 in these axes."""
    c0, s0, c1, s1 = start[e, COSINE], start[e, SINE], end[e, COSINE], end[e, SINE]
    c, s = 0.5 * (c0 + c1), 0.5 * (s0 + s1)
    # both in the axes of section a
    y = 0.5 * (c0 * start[e, U + 1] - s0 * start[e, U + 2] + c1 * end[e, U + 1] - s1 * end[e, U + 2])
    z = 0.5 * (s0 * start[e, U + 1] + c0 * start[e, U + 2] + s1 * end[e, U + 1] + c1 * end[e, U + 2])
    x = 0.25 * (end[e, PSI] - start[e, PSI])
    x2 = x * x
    # tan(x) / x
    slope = 1.0 + x2 * (1.0 / 3.0 + x2 * (2.0 / 15.0 + x2 * 17.0 / 315.0)) if abs(x) < 0.01 else np.tan(x) / x
    return c, s, 0.5 * slope * (c * z - s * y), -0.5 * slope * (s * z + c * y)


@inline_kernel
def turn_change_to_mean_axes(length: float, start: Floats, end: Floats, e: int) -> None:
    """The change of row e, as `turn_to_mean_axes` turns the row itself."""
    c, s, by_y, by_z = mean_axes(start, end, e)
    y, z, twist = end[e, CHANGE + 1], end[e, CHANGE + 2], end[e, CHANGE + 3]
    end[e, CHANGE + 1], end[e, CHANGE + 2] = c * y + s * z + by_y * twist, c * z - s * y + by_z * twist
    end[e, CHANGE + 4] += (z - end[e, CHANGE + 2]) / length
    end[e, CHANGE + 5] -= (y - end[e, CHANGE + 1]) / length


@inline_kernel
def from_mean_axes(length: float, rows: tuple[Floats, Floats], e: int, n: Vector, m: Vector) -> tuple[Vector, Vector]:
    """Section force and moment on the deformation in the axes of section a: the transposed of the change."""
    c, s, by_y, by_z = mean_axes(rows[0], rows[1], e)
    y, z = n[1] + m[2] / length, n[2] - m[1] / length
    force = (n[0], c * y - s * z - m[2] / length, s * y + c * z + m[1] / length)
    return force, (m[0] + by_y * y + by_z * z, m[1], m[2])


@inline_kernel
def turn_rows_to_mean_axes(length: float, start: Floats, end: Floats, e: int, operator: Floats) -> None:
    """The rows of a strain operator (6, 6) likewise."""
    c, s, by_y, by_z = mean_axes(start, end, e)
    for k in range(6):
        y, z, twist = operator[1, k], operator[2, k], operator[3, k]
        operator[1, k], operator[2, k] = c * y + s * z + by_y * twist, c * z - s * y + by_z * twist
        operator[4, k] += (z - operator[2, k]) / length
        operator[5, k] -= (y - operator[1, k]) / length


@inline_kernel
def add_turning_of_axes(
    factor: float, length: float, rows: tuple[Floats, Floats], e: int, n: Vector, m: Vector, force_b: Floats
) -> None:
    """Add the second derivative of the turn to mean axes, contracted with (n, m), as `add_curving` does for w."""
    _, _, by_y, by_z = mean_axes(rows[0], rows[1], e)
    y, z = factor * (n[1] + m[2] / length), factor * (n[2] - m[1] / length)
    force_b[3, 2] += 0.5 * y
    force_b[2, 3] += 0.5 * y
    force_b[3, 1] -= 0.5 * z
    force_b[1, 3] -= 0.5 * z
    force_b[3, 3] -= 0.5 * (y * by_z - z * by_y)


@kernel
def deformation_at(length: float, mean: bool, r: Floats, R: Floats, data: Floats) -> None:
    """Rows of ``data`` of elements of one length, with mean axes or not, from the poses (r, R) of section b in a."""
    for e in range(r.shape[0]):
        measure_deformation(length, load3(r, e), UNIT, load9(R, e), (0.0, 0.0), data, e)
        if mean:
            turn_to_mean_axes(length, data, e)
