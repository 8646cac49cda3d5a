"""What loads do to the coordinates, and how that changes when the arm moves.

With the Jacobian columns J of motion about the world's origin and the wrench W = (F, N + x x F) of a load there,

    Q_i = J_i . W ,    dQ_i/dq_j = J_i . dW_j + [j before i] (J_j x J_i) . W .

A dead load keeps F and N while its point moves; one that turns with its body is carried along whole.
"""

from __future__ import annotations

import numpy as np

from pliant.formulations.lumped.structure import Floats
from pliant.formulations.lumped.system import System
from pliant.mechanics.minimal.motion import AXIS, POSE_R, POSE_X


def load_force(system: System, q: Floats, loads: Floats) -> tuple[Floats, Floats]:
    """Q (n,) and dQ/dq (n, n) of loads (given, 6)."""
    n, wrenches = system.size, system.loads.wrenches
    Q, slope = np.zeros(n), np.zeros((n, n))
    if not loads.any():
        return Q, slope
    motion, table = system.placed(q), system.loads.in_body_axes(loads)
    J = motion[1:, AXIS : AXIS + 6]
    v, w = J[:, :3], J[:, 3:]
    strictly = system.before[1:] & ~np.eye(n, dtype=bool)  # [i, j] whether j moves what carries i
    for k, body, point, weight, world in zip(*wrenches[:5]):
        before = system.before[body + 1]
        R = motion[body + 1, POSE_R : POSE_R + 9].reshape(3, 3)
        x = motion[body + 1, POSE_X : POSE_X + 3] + R @ point
        force, moment = weight * table[k, :3], weight * table[k, 3:]
        if not world:
            force, moment = R @ force, R @ moment
        W = np.concatenate([force, moment + np.cross(x, force)])
        Q[before] += J[before] @ W
        if world:
            change = np.concatenate([np.zeros((n, 3)), np.cross(v + np.cross(w, x), force)], axis=1)
        else:
            turned = np.cross(w, W[3:]) + np.cross(v, W[:3])
            change = np.concatenate([np.cross(w, W[:3]), turned], axis=1)
        # (J_j x J_i) . W = -J_i . (J_j carrying W along)
        carried = np.concatenate([np.cross(w, W[:3]), np.cross(w, W[3:]) + np.cross(v, W[:3])], axis=1)
        slope += np.outer(before, before) * (J @ change.T - strictly * (J @ carried.T))
    return Q, slope
