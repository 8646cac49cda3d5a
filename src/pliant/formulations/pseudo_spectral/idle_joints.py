"""Joints of pseudo-spectral arms that carry nothing that has inertia along them."""

from __future__ import annotations

import numpy as np

from pliant.errors import InvalidInput
from pliant.formulations.pseudo_spectral.assembly import Assembly
from pliant.formulations.pseudo_spectral.normal_form import Mechanics
from pliant.mechanics.idle_motion import idle_motion


def refuse_idle_joints(arm: Assembly, own: Mechanics) -> None:
    """Refuse joints whose motion has no equation; links do not bend meanwhile, rotors of elastic gears rest."""
    n, moving = own.coefficients, np.flatnonzero(~own.prescribed)
    T = np.zeros((len(own.M), len(moving)))
    T[n + moving, np.arange(len(moving))] = 1.0
    T[:n] = -np.linalg.solve(own.G[:n, :n], own.G[:n] @ T)
    mass = T.T @ own.M @ T
    slides = np.array([arm.joints[k].freedoms[0].slides for k in moving], np.bool_)
    most = [mass.diagonal()[slides == kind].max(initial=0.0) for kind in (False, True)]
    idle = idle_motion(mass, np.where(slides, most[1], most[0]), [arm.joints[k].name for k in moving])
    if idle:
        raise InvalidInput(idle)
