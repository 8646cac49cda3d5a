"""The equations of motion in the blocks of [konno1996].

    tau = M11 theta'' + M12 e'' + h1 + g1 ,      0 = M21 theta'' + M22 e'' + h2 + g2 + K e          (32), (39)

theta are the joint coordinates, e the deflections of all fields. Equations (38) and (41) of the paper print J_e^T R J_e
where M21 = sum J_e^T R J_theta must stand.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from pliant.errors import InvalidInput
from pliant.formulations.lumped.structure import ON_BASE, Floats
from pliant.formulations.lumped.system import System
from pliant.robot.topology import nearest


@dataclass(frozen=True, eq=False)
class StationJacobian:
    """Velocity and spin (12) of a station in world axes: J_theta (6, joints) and J_e (6, deflections)."""

    name: str
    mass: float
    J_theta: Floats
    J_e: Floats


@dataclass(frozen=True, eq=False)
class Blocks:
    """At one state; ``K`` e are the forces of the fields, K constant unless station inertia is neglected.

    ``theta`` and ``e`` name rows and columns.
    """

    M11: Floats
    M12: Floats
    M21: Floats
    M22: Floats
    h1: Floats
    h2: Floats
    g1: Floats
    g2: Floats
    K: Floats
    theta: tuple[str, ...]
    e: tuple[str, ...]
    stations: tuple[StationJacobian, ...]

    def station(self, name: str) -> StationJacobian:
        for each in self.stations:
            if each.name == name:
                return each
        raise InvalidInput(
            f"stations: the arm has no station '{name}'; {nearest(name, [each.name for each in self.stations])}"
        )


def blocks(system: System, q: Floats, v: Floats) -> Blocks:
    """The blocks at positions q and rates v of all coordinates."""
    structure, dynamics = system.structure, system.dynamics
    theta, e = structure.joints, structure.elastic
    M = dynamics.mass_matrix(q)
    gravity = dynamics.gravity(q)
    h = dynamics.bias(q, v) - gravity
    K = system.elastic_stiffness(q)
    stations = []
    for station in structure.stations:
        J = np.zeros((6, system.size))
        if station.place.body >= 0:
            J = dynamics.jacobian(q, station.place.body, station.place.position)
        stations.append(StationJacobian(station.name, station.mass, J[:, theta], J[:, e]))
    return Blocks(
        M[np.ix_(theta, theta)], M[np.ix_(theta, e)], M[np.ix_(e, theta)], M[np.ix_(e, e)],
        h[theta], h[e], gravity[theta], gravity[e], K[np.ix_(e, e)],
        tuple(structure.names[k] for k in theta), tuple(structure.names[k] for k in e), tuple(stations),
    )  # fmt: skip


def internal_forces(
    system: System, position: ArrayLike, rate: ArrayLike, acceleration: ArrayLike
) -> dict[str, Floats]:
    """Forces and moments (6,) of every field of an arm that moves without deflection, equation (41).

    In the axes of the near end of the field, on its far end, from inside: what the field would carry by K e where it
    deflects, and what holds it straight where it does not.
    """
    structure = system.structure
    motion = np.zeros((3, system.size))
    for row, (word, given) in enumerate(
        (("position", position), ("rate", rate), ("acceleration", acceleration))
    ):
        values = np.asarray(given, float)
        if values.shape != (len(structure.joints),):
            names = ", ".join(freedom.name for freedom in structure.freedoms)
            raise InvalidInput(f"{word} has shape {values.shape}; give a number for each of {names}")
        motion[row, structure.joints] = values
    wrenches, (R, x) = system.dynamics.wrenches(*motion), system.dynamics.poses(motion[0])
    forces = {}
    for field in structure.fields:
        near = field.root
        behind = int(field.columns[0]) if len(field.columns) else near.body
        turn, origin = (R[near.body], x[near.body]) if near.body != ON_BASE else system.base_pose
        far = origin + turn @ (near.position + near.rotation @ field.far[:3, 3])
        force, moment = wrenches[behind, :3], wrenches[behind, 3:] - np.cross(far, wrenches[behind, :3])
        axes = (turn @ near.rotation).T
        forces[field.name] = -np.concatenate([axes @ force, axes @ moment])
    return forces
