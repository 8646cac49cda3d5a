"""A stop or wall: a spring and damper that act only while a distance is negative, and never pull."""

from __future__ import annotations

from pliant.jit import kernel


@kernel
def contact_force(
    phi0: float, change: float, h: float, stiffness: float, damping: float
) -> tuple[float, float, float]:
    """Mean force of a step on phi (at least 0), its elastic part, and minus its derivative in the change of phi.

    The elastic part is the divided difference of k min(phi, 0)^2 / 2 and so stores exactly; the damper sees the
    part of the way that is spent in contact, min(phi1, 0) - min(phi0, 0).
    """
    phi1 = phi0 + change
    if phi0 >= 0.0 and phi1 >= 0.0:
        return 0.0, 0.0, 0.0
    touching = change
    if phi0 < 0.0 and phi1 < 0.0:
        elastic, slope = -stiffness * (phi0 + 0.5 * change), 0.5 * stiffness
    elif phi0 >= 0.0:
        # quotients, because the square of a tiny change underflows
        touching = phi1
        elastic = -0.5 * stiffness * phi1 * (phi1 / change)
        slope = 0.5 * stiffness * (phi1 / change) * ((phi1 - 2.0 * phi0) / change)
    else:
        touching = -phi0
        elastic = 0.5 * stiffness * phi0 * (phi0 / change)
        slope = 0.5 * stiffness * (phi0 / change) * (phi0 / change)
    force = elastic - damping * touching / h
    if phi1 < 0.0:
        slope += damping / h
    if force < 0.0:
        return 0.0, elastic, 0.0
    return force, elastic, slope
