"""Joints of a mechanism that carry nothing that has inertia along them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pliant.errors import InvalidInput
from pliant.formulations.geometrically_exact.pose_element.mechanism import (
    ELEMENT,
    FIXED,
    FREE,
    Floats,
    Mechanism,
)
from pliant.formulations.geometrically_exact.pose_element.relative_motion import (
    columns_of,
    maps,
    to_children,
)
from pliant.mechanics.idle_motion import idle_motion, mass_matrix
from pliant.mechanics.rigid_body import spatial_inertia

if TYPE_CHECKING:
    from pliant.formulations.geometrically_exact.pose_element.assembly import Structure


def refuse_idle_joints(structure: Structure, mechanism: Mechanism, x: Floats, R: Floats) -> None:
    """Refuse joints whose motion has no equation."""
    idle = idle_joints(structure, mechanism, x, R)
    if idle:
        raise InvalidInput(idle)


def idle_joints(structure: Structure, mechanism: Mechanism, x: Floats, R: Floats) -> str:
    """Which of the joints that are not prescribed, with the rotors that turn with them; links do not bend meanwhile."""
    tree, bodies, laws = mechanism.tree, mechanism.bodies, mechanism.coordinates
    columns = columns_of(tree._replace(hang=np.where(tree.hang == ELEMENT, FIXED, tree.hang)))
    names = [""] * columns.total
    rotor = np.zeros(columns.total)
    rigid = laws.has_motor & (laws.motor[:, 1] == 0.0)
    for joint in structure.robot.joints:
        root = int(structure.link(joint.child).nodes[0])
        if tree.hang[root] == FREE:
            names[columns.place[root]] = [joint.name] * 6
    for i in np.flatnonzero(tree.coordinate >= 0):
        place = columns.place[i]
        for column in range(place.start, place.stop):
            c = int(tree.coordinate[i]) - (place.stop - 1 - column)
            if not laws.prescribed[c]:
                names[column] = structure.coordinate_names[c]
            rotor[column] = laws.motor[c, 0] if rigid[c] else 0.0
    moving = np.array([bool(name) for name in names], np.bool_)
    T = maps(tree, columns, to_children(tree, x, R)).T[:, :, moving]
    M = np.array(
        [spatial_inertia(m, c, J.reshape(3, 3)) for m, c, J in zip(bodies.mass, bodies.center, bodies.J)]
    )
    mass = mass_matrix(T, M) + np.diag(rotor[moving])
    whole = bodies.mass.sum()
    reach = np.linalg.norm(x - x[0], axis=1).max() + np.linalg.norm(bodies.center, axis=1).max()
    turning = whole * reach**2 + np.einsum("nii->", bodies.J.reshape(-1, 3, 3))
    slides = np.any(np.concatenate([np.zeros((6, 0)), *columns.S], axis=1)[:3, moving] != 0.0, axis=0)
    return idle_motion(mass, np.where(slides, whole, turning), [name for name in names if name])
