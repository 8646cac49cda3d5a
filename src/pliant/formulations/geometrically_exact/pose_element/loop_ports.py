"""Flows of loop joints that have no coordinate of their own, in small motions.

A joint between two frames turns at  a . (Q w_2 - w_1)  about an axis a of the first, w the spins of the frames in their
own axes and  Q = R_1^T R_2 ;  the second axis of a universal joint belongs to the second frame. Along an axis it slides
at  a . (Q v_2 - v_1 - w_1 x d) ,  d from the first origin to the second. Displacements chi = (xi, theta) of the frames
change all of this,

    Q by  Q hat(theta_2) - hat(theta_1) Q ,     d by  Q xi_2 - xi_1 - theta_1 x d .
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.formulations.geometrically_exact.pose_element.mechanism import Floats
from pliant.formulations.geometrically_exact.pose_element.nodes import Place
from pliant.mechanics.twist_matrices import hat, to_frame
from pliant.robot import Joint, UniversalJoint


class Frames(NamedTuple):
    """The two frames of a loop joint: pose of the second in the first, twists, and rows over the unknowns."""

    Q: Floats
    d: Floats
    twist: tuple[Floats, Floats]  # (6,) of the motion
    displaced: tuple[Floats, Floats]  # (6, unknowns) body displacement
    changed: tuple[Floats, Floats]  # (6, unknowns) change of the twist with the displacement


def frames(
    ends: tuple[Place, Place], pose: tuple[Floats, Floats], V: Floats, T: Floats, twists: Floats
) -> Frames:
    """Of two places at positions and rotations ``pose`` of all nodes that move at V."""
    x, R = pose
    first, second = ends
    turns = [R[end.node] @ end.rotation for end in ends]
    origins = [x[end.node] + R[end.node] @ end.position for end in ends]

    def seen(rows: Floats) -> tuple[Floats, Floats]:
        return (
            np.asarray(to_frame(first.rotation, first.position) @ rows[first.node]),
            np.asarray(to_frame(second.rotation, second.position) @ rows[second.node]),
        )

    between = turns[0].T @ (origins[1] - origins[0])
    return Frames(turns[0].T @ turns[1], between, seen(V), seen(T), seen(twists))


def loop_flow(joint: Joint, number: int, at: Frames) -> tuple[Floats, Floats]:
    """Rows (1, unknowns) of the rate of a coordinate: of rates, and of displacements."""
    freedom = joint.freedoms[number]
    a = np.asarray(freedom.axis, float) / np.linalg.norm(freedom.axis)
    Q, d = at.Q, at.d
    w_1, (v_2, w_2) = at.twist[0][3:], np.split(at.twist[1], 2)
    (xi_1, theta_1), (xi_2, theta_2) = (np.split(each, 2) for each in at.displaced)
    (dv_1, dw_1), (dv_2, dw_2) = (np.split(each, 2) for each in at.changed)

    def turned(vector: Floats) -> Floats:
        """Change of Q times a vector of the second frame."""
        return np.asarray(hat(Q @ vector) @ theta_1 - Q @ hat(vector) @ theta_2)

    if freedom.slides:
        apart = Q @ xi_2 - xi_1 + hat(d) @ theta_1
        shift = Q @ dv_2 + turned(v_2) - dv_1 + hat(d) @ dw_1 - hat(w_1) @ apart
        return (a @ apart)[None], (a @ shift)[None]
    rate, shift = Q @ theta_2 - theta_1, Q @ dw_2 + turned(w_2) - dw_1
    if isinstance(joint, UniversalJoint) and number == 1:
        # its axis belongs to the second frame, which turns against the first
        rate, shift = Q.T @ rate, Q.T @ (shift + hat(Q @ w_2 - w_1) @ rate)
    return (a @ rate)[None], (a @ shift)[None]
