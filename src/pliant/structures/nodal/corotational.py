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

p1 = rho c , p3 = rho s , rho = l r , p2 = l i are polar coordinates, twice, and E turns by their angles. With means
over a step for all factors, changes of lengths and of 2 tan(half of the change) of both angles are exactly

    drho = (c dp1 + s dp3) / (c^2 + s^2) ,       dphi = (c dp3 - s dp1) / (rho (c^2 + s^2)) ,
    dl   = (r drho + i dp2) / (r^2 + i^2) ,      dpsi = (r dp2 - i drho) / (l (r^2 + i^2)) ,

ds = c dphi , dc = -s dphi , di = r dpsi , dr = -i dpsi. In the same way S changes by dS = S c^ with the Cayley vector
c of its turn. All else is products and functions of one scalar, so the product rule with means and divided differences
gives the change of w as an exact linear function of dp and c, and forces follow by the transposed function. Rotation
vectors are A(k) times the skew part of their matrix, as in `relative_pose`; E = Ry Rz is taken one angle at a time.
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
    values_and_differences,
)

# columns of a row beside P, U, PSI and CHANGE; K, A and DA are those of E^T S
FRAME, S_TURN, K_FRAME, A_FRAME, DA_FRAME, CHORD, TURN, COSINE, SINE, LEVEL = 3, 7, 10, 11, 20, 22, 29, 38, 39, 40
COLUMNS = 44
NO_LENGTH = 1e-200  # m^2
LARGEST_TURN = 0.65  # 1 - cos of the angle between the chord and an end section, 1.2 rad

Four = tuple[float, float, float, float]
Corotated = tuple[Matrix, Matrix, Vector, Four, float]
Polar = tuple[Four, Four]
Turning = tuple[tuple[Vector, Vector, Vector, Vector], Matrix, tuple[float, float], Vector]


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
    return 2.0 * dot(s, s) / (1.0 + trace) if k.real < SMALL_ANGLE else k


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
def turned_back(c: float, s: float, S: Matrix) -> Matrix:
    """Ry^T S: the first of the two turns of E taken off."""
    return (
        c * S[0] + s * S[6], c * S[1] + s * S[7], c * S[2] + s * S[8],
        S[3], S[4], S[5],
        c * S[6] - s * S[0], c * S[7] - s * S[1], c * S[8] - s * S[2],
    )  # fmt: skip


@inline_kernel
def in_plane(H: Matrix) -> Four:
    """What the second turn of E acts on: H11 + H22, H21 - H12, H13, H23."""
    return (H[0] + H[4], H[3] - H[1], H[2], H[5])


@inline_kernel
def turned_in_plane(r: float, i: float, level: Four) -> Four:
    """The same four numbers of Rz^T H."""
    both, apart, x, y = level
    return (r * both + i * apart, r * apart - i * both, r * x + i * y, r * y - i * x)


@inline_kernel
def skew_of_frame(c: float, s: float, r: float, i: float) -> Vector:
    """vee(skew E)."""
    return (-0.5 * s * i, -0.5 * s * (1.0 + r), 0.5 * i * (1.0 + c))


@inline_kernel
def measure_frame(x: Vector, Ra: Matrix, Rb: Matrix, data: Floats, e: int) -> None:
    """p, S, l and (c, s, r, i) of row e from the world vector x = x_b - x_a and the rotations."""
    p, S = apply_transpose(Ra, x), product(transpose(Ra), Rb)
    flat = p[0] * p[0] + p[2] * p[2]
    if not flat.real > NO_LENGTH:
        flat = NO_LENGTH  # numbers that are none, in a search that failed, must not end the kernel
    chord, rho = np.sqrt(flat + p[1] * p[1]), np.sqrt(flat)
    per_both = 1.0 / (chord * rho)
    per_chord, per_rho = per_both * rho, per_both * chord
    store(p, data, e, P)
    store((p[0] * per_rho, p[2] * per_rho, rho * per_chord, p[1] * per_chord), data, e, FRAME)
    store(S, data, e, TURN)
    data[e, CHORD] = chord


@inline_kernel
def measure_deformation(length: float, k0: tuple[float, float], data: Floats, e: int) -> None:
    """The rest of row e; k0 of E^T S and of E at the start of the step."""
    c, s, r, i = data[e, FRAME], data[e, FRAME + 1], data[e, FRAME + 2], data[e, FRAME + 3]
    # (3 - trace E) / 2 without cancellation, as 1 - c = s^2 / (1 + c) and 1 - r = i^2 / (1 + r)
    one_c, one_r = 1.0 + c, 1.0 + r
    k_frame = (s * s * one_r + 0.5 * one_c * one_c * i * i) / (one_c * one_r)
    H = turned_back(c, s, load9(data, e, TURN))
    level = in_plane(H)
    both, apart, x3, y3 = turned_in_plane(r, i, level)
    of_turn = (0.5 * (H[7] - y3), 0.5 * (x3 - H[6]), 0.5 * apart)
    k = fall_of_cosine(of_turn, both + H[8])
    a_frame, da_frame = value_and_difference(k0[1], k_frame)
    a, da = value_and_difference(k0[0], k)
    theta = scale(-a_frame, skew_of_frame(c, s, r, i))
    store(of_turn, data, e, S_TURN)
    store(level, data, e, LEVEL)
    store((data[e, CHORD] - length, -length * theta[2], length * theta[1]), data, e, U)
    store(plus3(scale(a, of_turn), -1.0, theta), data, e, PSI)
    data[e, K_FRAME], data[e, A_FRAME], data[e, DA_FRAME] = k_frame, a_frame, da_frame
    data[e, K], data[e, A], data[e, DA] = k, a, da


@inline_kernel
def skew_of_row(data: Floats, e: int) -> Vector:
    """The same of row e."""
    return skew_of_frame(data[e, FRAME], data[e, FRAME + 1], data[e, FRAME + 2], data[e, FRAME + 3])


@inline_kernel
def mean_turn(start: Floats, end: Floats, e: int) -> Matrix:
    """The mean of S over a step."""
    return scale_matrix(0.5, add_matrices(load9(start, e, TURN), load9(end, e, TURN)))


@inline_kernel
def mean4(start: Floats, end: Floats, e: int, k: int) -> Four:
    """Means of four columns from k on."""
    return (
        0.5 * (start[e, k] + end[e, k]), 0.5 * (start[e, k + 1] + end[e, k + 1]),
        0.5 * (start[e, k + 2] + end[e, k + 2]), 0.5 * (start[e, k + 3] + end[e, k + 3]),
    )  # fmt: skip


@inline_kernel
def polar_means(start: Floats, end: Floats, e: int) -> Polar:
    """Means of (c, s, r, i) over a step, and one over c^2 + s^2, rho (c^2 + s^2), r^2 + i^2 and l (r^2 + i^2)."""
    c, s, r, i = mean4(start, end, e, FRAME)
    chord = 0.5 * (start[e, CHORD] + end[e, CHORD])
    rho = 0.5 * (start[e, CHORD] * start[e, FRAME + 2] + end[e, CHORD] * end[e, FRAME + 2])
    of_rho, of_chord = rho * (c * c + s * s), chord * (r * r + i * i)
    per_both = 1.0 / (of_rho * of_chord)
    per_rho, per_chord = per_both * of_chord, per_both * of_rho
    return (c, s, r, i), (rho * per_rho, per_rho, chord * per_chord, per_chord)


@inline_kernel
def changes_of_chord(dp: Vector, polar: Polar) -> Vector:
    """dl, dphi and dpsi."""
    (c, s, r, i), (per_flat, per_rho, per_round, per_chord) = polar
    d_rho = per_flat * (c * dp[0] + s * dp[2])
    d_chord, d_psi = per_round * (r * d_rho + i * dp[1]), per_chord * (r * dp[1] - i * d_rho)
    return d_chord, per_rho * (c * dp[2] - s * dp[0]), d_psi


@inline_kernel
def force_on_chord(g: Vector, polar: Polar) -> Vector:
    """gp with gp . dp = g . (dl, dphi, dpsi)."""
    (c, s, r, i), (per_flat, per_rho, per_round, per_chord) = polar
    along, across, turn = per_round * g[0], per_chord * g[2], per_rho * g[1]
    on_rho = per_flat * (along * r - across * i)
    return on_rho * c - turn * s, along * i + across * r, on_rho * s + turn * c


@inline_kernel
def turning_rates(start: Floats, end: Floats, e: int, frame: Four) -> Turning:
    """How rotation vectors change over a step.

    With dphi and dpsi those of theta1 and of theta2 - theta1; C = Rz^T Ry^T S , mean and difference of A and the mean
    skew part of E^T S, for the change of theta2 with S.
    """
    c, s, r, i = frame
    a, a_frame = 0.5 * (start[e, A] + end[e, A]), 0.5 * (start[e, A_FRAME] + end[e, A_FRAME])
    da, da_frame = end[e, DA], end[e, DA_FRAME]
    of_frame = mean(skew_of_row(start, e), skew_of_row(end, e))
    of_turn = mean(load3(start, e, S_TURN), load3(end, e, S_TURN))
    one_c, one_r = 1.0 + c, 1.0 + r
    half = 0.5 * a_frame
    first_phi = plus3(scale(half, (i * c, c * one_r, i * s)), -0.5 * da_frame * s * one_r, of_frame)
    first_psi = plus3(scale(half, (s * r, -s * i, -r * one_c)), -0.5 * da_frame * i * one_c, of_frame)
    K = turned_back(c, s, mean_turn(start, end, e))
    both, apart, x3, y3 = turned_in_plane(r, i, mean4(start, end, e, LEVEL))
    half = 0.5 * a
    phi = scale(half, (i * K[8] - K[1], r * K[8] + K[0], -i * K[6] - r * K[7]))
    phi = sub(plus3(phi, -0.5 * da * (r * K[6] - i * K[7] - K[2]), of_turn), first_phi)
    psi = sub(plus3(scale(half, (x3, y3, -both)), -0.5 * da * apart, of_turn), first_psi)
    C = (
        r * K[0] + i * K[3], r * K[1] + i * K[4], r * K[2] + i * K[5],
        r * K[3] - i * K[0], r * K[4] - i * K[1], r * K[5] - i * K[2],
        K[6], K[7], K[8],
    )  # fmt: skip
    return (first_phi, first_psi, phi, psi), C, (half, da), of_turn


@inline_kernel
def put_deformation_change(
    length: float, dp: Vector, turn: Vector, polar: Polar, rates: Turning, end: Floats, e: int
) -> None:
    """Change of w over a step into row e of ``end``, exactly; ``turn`` is the Cayley vector of S."""
    (first_phi, first_psi, phi, psi), C, (half, da), of_turn = rates
    d_chord, d_phi, d_psi = changes_of_chord(dp, polar)
    own = scale(half, sub(scale(C[0] + C[4] + C[8], turn), apply_transpose(C, turn)))
    own = plus3(own, da * dot(skew_part(C), turn), of_turn)
    store((
        d_chord, -length * (first_phi[2] * d_phi + first_psi[2] * d_psi),
        length * (first_phi[1] * d_phi + first_psi[1] * d_psi),
    ), end, e, CHANGE)  # fmt: skip
    store(plus3(plus3(own, d_phi, phi), d_psi, psi), end, e, CHANGE + 3)


@inline_kernel
def deformation_gradient(length: float, n: Vector, m: Vector, polar: Polar, rates: Turning) -> tuple[Vector, Vector]:
    """(gp, g) with (n, m) . dw = gp . dp + g . turn, exactly."""
    (first_phi, first_psi, phi, psi), C, (half, da), of_turn = rates
    y, z = length * n[2], -length * n[1]
    on_phi, on_psi = first_phi[1] * y + first_phi[2] * z, first_psi[1] * y + first_psi[2] * z
    gp = force_on_chord((n[0], on_phi + dot(phi, m), on_psi + dot(psi, m)), polar)
    g = scale(half, sub(scale(C[0] + C[4] + C[8], m), apply(C, m)))
    return gp, plus3(g, da * dot(of_turn, m), skew_part(C))


@inline_kernel
def relative_turn(turn: Vector, spin: Vector) -> tuple[Vector, float]:
    """The Cayley vector factor (turn - 1/2 spin x turn) of S = R_a^T R_b, and factor.

    ``turn`` is h (omega_b - omega_a) and ``spin`` the Cayley vector of b, in the axes of b at the start. The same holds
    with that of a in place of ``spin``; but only so do both ends of the step count alike.
    """
    factor = 1.0 / (1.0 + 0.25 * dot(sub(spin, turn), spin))
    return scale(factor, plus3(turn, -0.5, cross(spin, turn))), factor


@inline_kernel
def mean_frames(start: Floats, end: Floats, e: int) -> Corotated:
    """Means over a step of E, S, p and (c, s, r, i), and one over that of l: for the tangent."""
    E0 = frame_matrix(start[e, FRAME], start[e, FRAME + 1], start[e, FRAME + 2], start[e, FRAME + 3])
    E1 = frame_matrix(end[e, FRAME], end[e, FRAME + 1], end[e, FRAME + 2], end[e, FRAME + 3])
    E = scale_matrix(0.5, add_matrices(E0, E1))
    p = mean(load3(start, e, P), load3(end, e, P))
    per_chord = 2.0 / (start[e, CHORD] + end[e, CHORD])
    return E, mean_turn(start, end, e), p, mean4(start, end, e, FRAME), per_chord


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
    E, S, _, (_, _, r, i), per_chord = means
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
        measure_frame(load3(r, e), UNIT, load9(R, e), data, e)
        measure_deformation(length, (0.0, 0.0), data, e)
        if mean:
            turn_to_mean_axes(length, data, e)
