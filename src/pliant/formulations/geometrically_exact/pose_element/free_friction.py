"""Dry friction of free links against the world: a viscous drag that is chosen anew for every step.

    force = -f(|v|) v / |v| ,   moment = -f(|w|) w / |w|

As for ball joints, the size of the velocity is that at the start of the step and its direction that of the step, so
that friction loses energy in any step.
"""

from __future__ import annotations

import math

from pliant.formulations.geometrically_exact.pose_element.consistency import node_velocity
from pliant.formulations.geometrically_exact.pose_element.mechanism import Floats, Mechanism, Pose
from pliant.jit import inner_kernel
from pliant.mechanics.joint_laws import SMOOTHING, friction_force


@inner_kernel
def renew_drag(mechanism: Mechanism, now: Pose, R: Floats) -> None:
    """Viscous drag of the gripped nodes for a step that starts with the present velocities."""
    bodies = mechanism.bodies
    for k in range(bodies.gripped.shape[0]):
        i = bodies.gripped[k]
        t = node_velocity(mechanism, i, now, R)
        speed = math.sqrt(t[0] * t[0] + t[1] * t[1] + t[2] * t[2])
        spin = math.sqrt(t[3] * t[3] + t[4] * t[4] + t[5] * t[5])
        for part in range(2):
            law = bodies.grip[k, part]
            rate = max(spin if part == 1 else speed, 1e-3 * law[SMOOTHING])
            force, _ = friction_force(law, rate)
            for j in range(3 * part, 3 * part + 3):
                bodies.viscous[i, j] = bodies.drag[k, j] + force / rate
