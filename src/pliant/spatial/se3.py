"""Rigid motions: the group SE(3), its adjoint action, exponential, logarithm and tangents.

A pose is a pair (rotation, position) that maps body to world. Twists and wrenches are six numbers,
linear part first: (velocity, angular velocity) and (force, moment), in the body frame.

A twist acts on twists as a rotation rate with dual numbers, w + epsilon v, acts on dual vectors.
So every tangent of SE(3) is a block matrix [[J, Q], [0, J]] in which J is the tangent of SO(3) at w and
Q its derivative at w in the direction v; ``Blocks`` is the pair (J, Q).
"""

from __future__ import annotations

from pliant.jit import kernel
from pliant.spatial import so3
from pliant.spatial.vectors import Matrix, Vector, add, apply, cross, dot, product

Pose = tuple[Matrix, Vector]
Twist = tuple[float, float, float, float, float, float]
Wrench = Twist
Blocks = tuple[Matrix, Matrix]


@kernel
def join(linear: Vector, angular: Vector) -> Twist:
    return (linear[0], linear[1], linear[2], angular[0], angular[1], angular[2])


@kernel
def linear(twist: Twist) -> Vector:
    return (twist[0], twist[1], twist[2])


@kernel
def angular(twist: Twist) -> Vector:
    return (twist[3], twist[4], twist[5])


@kernel
def mul(g: Pose, h: Pose) -> Pose:
    """g h: first h, then g."""
    return (product(g[0], h[0]), add(g[1], apply(g[0], h[1])))


@kernel
def exp(twist: Twist) -> Pose:
    """The pose reached after unit time with constant body twist."""
    v, w = linear(twist), angular(twist)
    t2 = dot(w, w)
    b, c = so3.tangent_coefficients(t2)
    a = 1.0 - c * t2
    return (so3.quadratic_in_skew(a, b, w), apply(so3.quadratic_in_skew(b, c, w), v))


@kernel
def log(g: Pose) -> Twist:
    """The twist of least rotation whose exponential is g."""
    w = so3.log(g[0])
    return join(apply(so3.left_tangent_inverse(w), g[1]), w)


@kernel
def ad(twist: Twist, other: Twist) -> Twist:
    """The bracket [twist, other]: derivative of Ad(exp(t twist), other) at t = 0."""
    v, w = linear(twist), angular(twist)
    return join(add(cross(w, linear(other)), cross(v, angular(other))), cross(w, angular(other)))


@kernel
def ad_transpose(twist: Twist, wrench: Wrench) -> Wrench:
    """Dual of ``ad(twist, .)``."""
    v, w = linear(twist), angular(twist)
    f, m = linear(wrench), angular(wrench)
    return join(cross(f, w), add(cross(f, v), cross(m, w)))


@kernel
def carried_wrench(twist: Twist, wrench: Wrench) -> Wrench:
    """Rate of a wrench that is carried along by a twist: minus ``ad_transpose``, as ``ad`` is that of a twist."""
    v, w = linear(twist), angular(twist)
    f, m = linear(wrench), angular(wrench)
    return join(cross(w, f), add(cross(w, m), cross(v, f)))


@kernel
def right_tangent(twist: Twist) -> Blocks:
    """T with exp(twist + d) = exp(twist) exp(T d) to first order."""
    v, w = linear(twist), angular(twist)
    t2 = dot(w, w)
    b, c = so3.tangent_coefficients(t2)
    b_slope, c_slope = so3.tangent_slopes(t2)
    along = dot(w, v)
    return (
        so3.quadratic_in_skew(-b, c, w),
        _derivative_of_quadratic((-b, c), (-b_slope * along, c_slope * along), w, v),
    )


@kernel
def right_tangent_inverse(twist: Twist) -> Blocks:
    v, w = linear(twist), angular(twist)
    e, e_slope = so3.inverse_tangent_coefficients(dot(w, w))
    return (so3.quadratic_in_skew(0.5, e, w), _derivative_of_quadratic((0.5, e), (0.0, e_slope * dot(w, v)), w, v))


@kernel
def _derivative_of_quadratic(value: tuple[float, float], slope: tuple[float, float], w: Vector, v: Vector) -> Matrix:
    """Derivative of p W + q W^2 in the direction v, where (p, q) = value change by slope."""
    p, q = value
    dp, dq = slope
    x, y, z = p * v[0] + dp * w[0], p * v[1] + dp * w[1], p * v[2] + dp * w[2]
    xx, yy, zz = _rate(q, dq, w[0], v[0]), _rate(q, dq, w[1], v[1]), _rate(q, dq, w[2], v[2])
    xy = q * (w[0] * v[1] + w[1] * v[0]) + dq * w[0] * w[1]
    yz = q * (w[1] * v[2] + w[2] * v[1]) + dq * w[1] * w[2]
    zx = q * (w[2] * v[0] + w[0] * v[2]) + dq * w[2] * w[0]
    return (-yy - zz, xy - z, zx + y, xy + z, -zz - xx, yz - x, zx - y, yz + x, -xx - yy)


@kernel
def _rate(q: float, dq: float, w: float, v: float) -> float:
    """Derivative of q w^2."""
    return 2.0 * q * w * v + dq * w * w
