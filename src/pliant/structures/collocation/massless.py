"""Joints of spectral links that carry nothing that has inertia along them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pliant.mechanics.massless_motion import mass_matrix
from pliant.model.inputs import Inputs
from pliant.structures.collocation.chain import Floats
from pliant.structures.massless import refuse_massless

if TYPE_CHECKING:
    from pliant.structures.collocation.model import GeometricallyExactArm


def refuse_massless_joints(arm: GeometricallyExactArm, state: Floats, inputs: Inputs) -> None:
    """Refuse joints whose motion has no equation, of those that are not prescribed; links do not bend meanwhile."""
    part, inertia, mesh = arm.layout.part, arm.chain.inertia, arm.chain.mesh
    moving = np.flatnonzero(~np.array(inputs.prescribed, np.bool_))
    rotors = np.diag(arm.plant(inputs).joints.inertia[moving])
    T, M = np.zeros((len(inertia.M), 6, len(moving))), inertia.M
    for column, rate in enumerate(np.eye(len(arm.joint_names))[moving]):
        moved = arm.moving_state(part(state, "strain"), part(state, "joint_position"), rate, arm.frames(state))
        T[:, :, column] = part(moved, "twist")
    if inertia.at_points:
        near, far = mesh.N[0]
        T = np.concatenate([T, near * T[mesh.start] + far * T[mesh.start + 1]])
        M = np.concatenate([M, inertia.M_point])
    translates = np.array([arm.robot.freedom(arm.joint_names[k]).translates for k in moving], np.bool_)
    whole = M[:, 0, 0].sum()
    turning = whole * arm.reach**2 + np.einsum("nii->", M[:, 3:, 3:])
    names = [arm.joint_names[k] for k in moving]
    refuse_massless(mass_matrix(T, M) + rotors, np.where(translates, whole, turning), names)
