"""A stop or wall: a spring and damper that act only while a distance is negative, and never pull."""

from __future__ import annotations

from pliant.jit import kernel


@kernel
def contact_force(
    phi0: float, phi1: float, h: float, stiffness: float, damping: float
) -> tuple[float, float, float]:
    """Mean force of a step on phi (at least 0), its elastic part, and minus its derivative in phi1.

    The elastic part is the divided difference of k min(phi, 0)^2 / 2 and so stores exactly; the damper sees the
    part of the way that is spent in contact, min(phi1, 0) - min(phi0, 0).
    """
    m0, m1 = min(phi0, 0.0), min(phi1, 0.0)
    if phi0 >= 0.0 and phi1 >= 0.0:
        return 0.0, 0.0, 0.0
    if phi0 < 0.0 and phi1 < 0.0:
        elastic, slope = -0.5 * stiffness * (m0 + m1), 0.5 * stiffness
    else:
        span = phi1 - phi0
        # quotients, because the square of a tiny span underflows
        elastic = -0.5 * stiffness * (m0 + m1) * ((m1 - m0) / span)
        if phi0 >= 0.0:
            slope = 0.5 * stiffness * (phi1 / span) * ((phi1 - 2.0 * phi0) / span)
        else:
            slope = 0.5 * stiffness * (phi0 / span) * (phi0 / span)
    force = elastic - damping * (m1 - m0) / h
    if phi1 < 0.0:
        slope += damping / h
    if force < 0.0:
        return 0.0, elastic, 0.0
    return force, elastic, slope
