"""A compiled lumped arm: a tree of stations with massless beams between them.

What straight fields neglect: a beam that bends grows shorter. The far end of a field moves across it by its deflection
and not along it. A beam whose sections turn by small θ(s) against its rest tangent t draws its end in by the integral

    of  cross(θ, cross(θ, t)) / 2 ,

for a cantilever under a force on its end 3 δ² / 5 L. Summed over the fields between base and tip, the rate of u is by
how much the tip of the arm is too fast or too slow, to leading order.

The equations of motion in the blocks of [konno1996]:

    tau = M11 theta'' + M12 e'' + h1 + g1 ,      0 = M21 theta'' + M22 e'' + h2 + g2 + K e          (32), (39)

theta are the joint coordinates, e the deflections of all fields. Equations (38) and (41) of the paper print J_e^T R J_e
where M21 = sum J_e^T R J_theta must stand.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from pliant.errors import InvalidInput
from pliant.formulations.lumped.fields import Field, LumpedStructure
from pliant.mechanics.shape_functions import gauss_rule
from pliant.model.inputs import Inputs
from pliant.model.state import LinkObservation
from pliant.robot import FlexibleLink
from pliant.robot.robot import nearest
from pliant.spatial.arrays import turned_in_order
from pliant.structures.beam_stretch import Stretch, end_flexibility, shape_inside
from pliant.structures.places import Place
from pliant.structures.tree.model import TreeArm
from pliant.structures.tree.motion import Floats
from pliant.structures.tree.observe import Bent, Poses, observe_rigid_link, poses_of
from pliant.structures.tree.structure import ON_BASE, LinkPlaces
from pliant.structures.tree.system import System

POINTS = 4  # rotations are polynomials of second degree in uniform fields, their squares of fourth
TOO_BENT = (
    "bent links grow shorter and straight fields do not; take more fields for each link, bend it less, or"
    " compile the robot with GeometricallyExact()"
)


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


@dataclass(frozen=True, eq=False, repr=False)
class LumpedArm(TreeArm):
    """States: positions and rates of the joints, deflections of the fields and their rates, rotors of gear motors."""

    structure: LumpedStructure
    _shapes: dict[tuple[int, float], tuple[Floats, ...]] = field(default_factory=dict, init=False)

    def static_turns(self, system: System, q: Floats) -> dict[int, Floats]:
        """Of each body behind fields whose rotations are no coordinates: its rotation (3, n) in the world."""
        if not self.structure.condensed:
            return {}
        tables, ends = system.condensed, system.placed(q)[system.condensed.home + 1, :9].reshape(-1, 3, 3)
        own = np.zeros((len(tables.home), 3, system.size))
        frames = ends @ tables.frame[:, :9].reshape(-1, 3, 3)
        for column in tables.coordinate.tolist():
            one = q.copy()
            one[tables.coordinate] = 0.0
            one[column] = 1.0
            own[:, :, column] = np.einsum("kij,kj->ki", frames, system.deflections(one)[:, 3:])
        before = system.before[1:, tables.home]
        return {body: own[before[body]].sum(axis=0) for body in range(system.size) if before[body].any()}

    def static_turns_by(self, system: System, q: Floats, displaced: Floats) -> Floats:
        """Linear in the displacements, so that one search for deflections serves."""
        tables, ends = system.condensed, system.placed(q)[system.condensed.home + 1, :9].reshape(-1, 3, 3)
        one, turns = q.copy(), np.zeros((system.size + 1, 3))
        one[tables.coordinate] = displaced[tables.coordinate]
        own = ends @ (tables.frame[:, :9].reshape(-1, 3, 3) @ system.deflections(one)[:, 3:, None])
        turns[:-1] = system.before[1:, tables.home].astype(float) @ own[..., 0]
        return turns

    def deflections(self, states: Floats, poses: Poses) -> tuple[Floats, Floats]:
        """Of all fields, and their rates, (n, fields, 6)."""
        q, v = self.coordinates(self.bare, states)
        s, rate = np.zeros((2, len(states), len(self.structure.fields), 6))
        for k, each in enumerate(self.structure.fields):
            s[:, k, list(each.kept)], rate[:, k, list(each.kept)] = q[:, each.columns], v[:, each.columns]
            if self.structure.condensed:
                s[:, k] = _relative(poses, each)
        return s, rate

    def shape_at(self, k: int, station: float) -> tuple[Floats, ...]:
        """Rest pose, and deflection and strain per deflection of the far end of field k, section wrench per wrench."""
        if (k, station) not in self._shapes:
            each, beam = self.structure.fields[k], self.structure.beam
            link = self.robot.link(each.link)
            assert isinstance(link, FlexibleLink)
            rest, deflection, strain, section = shape_inside(link, each.start, each.end, station, beam)
            stiffness = np.linalg.inv(end_flexibility(Stretch.of(link, each.start, each.end), beam))
            self._shapes[k, station] = rest, deflection @ stiffness, strain @ stiffness, section
        return self._shapes[k, station]

    def observe_links(self, states: Floats, poses: Poses, stations: int) -> tuple[LinkObservation, ...]:
        deflections = self.deflections(states, poses)
        return tuple(
            self._observe_fields(link, poses, deflections, stations)
            if link.fields
            else observe_rigid_link(self, poses, link)
            for link in self.structure.links
        )

    def bent_section(self, link: LinkPlaces, station: float) -> Bent:
        if not link.fields:
            return super().bent_section(link, station)
        at = station * float(link.stations[-1])
        k = link.fields[int(np.clip(np.searchsorted(link.stations, at, side="right") - 1, 0, len(link.fields) - 1))]
        own, (rest, per_end, strain, _) = self.structure.fields[k], self.shape_at(k, at)
        kept = np.zeros((6, self.bare.size))
        kept[list(own.kept), own.columns] = 1.0
        return Bent(own.root, per_end @ kept, rest, strain @ kept)

    def _observe_fields(
        self, link: LinkPlaces, poses: Poses, deflections: tuple[Floats, Floats], stations: int
    ) -> LinkObservation:
        wanted = np.linspace(0.0, link.stations[-1], stations)
        at = np.clip(np.searchsorted(link.stations, wanted, side="right") - 1, 0, len(link.fields) - 1)
        seen = [self._inside(link.fields[int(k)], poses, deflections, float(station)) for k, station in zip(at, wanted)]
        x, R, strain, wrench = (np.stack([each[i] for each in seen], axis=1) for i in range(4))
        return LinkObservation(link.name, wanted, x, R, strain, wrench)

    def _inside(self, k: int, poses: Poses, deflections: tuple[Floats, Floats], station: float) -> tuple[Floats, ...]:
        """Position, rotation, strain and section wrench at a station of field k."""
        own, (rest, per_end, strain_of, section) = self.structure.fields[k], self.shape_at(k, station)
        s, rate = (table[:, k] for table in deflections)
        deflection = s @ per_end.T
        x, R = poses.at(own.root)
        inside = rest[:3, 3] + deflection[:, :3]
        turned = turned_in_order(deflection[:, 3:]) @ rest[:3, :3]
        wrench = s @ own.stiffness.T + rate @ own.damping.T
        return x + np.einsum("nij,nj->ni", R, inside), R @ turned, s @ strain_of.T, wrench @ section.T

    too_bent = TOO_BENT

    def neglected_displacement(self, states: Floats) -> Floats:
        """By what straight fields neglect."""
        poses, before = poses_of(self, states), self.bare.before[self.structure.tip.body + 1]
        deflection, _ = self.deflections(states, poses)
        total = np.zeros((len(states), 3))
        at, weights = gauss_rule(POINTS)
        for k, each in enumerate(self.structure.fields):
            length = each.end - each.start
            if length <= 0.0 or not len(each.columns) or not before[each.columns[-1]]:
                continue
            drawn_in = np.zeros((len(states), 3))
            for place, weight in zip(at, weights):
                rest, per_end, _, _ = self.shape_at(k, each.start + float(place) * length)
                turn = deflection[:, k] @ per_end[3:].T
                drawn_in += 0.5 * weight * length * np.cross(turn, np.cross(turn, rest[:3, 0]))
            _, R = poses.at(each.root)
            total += np.einsum("nij,nj->ni", R, drawn_in)
        return total

    def blocks(self, state: Floats | None = None, inputs: Inputs | None = None) -> Blocks:
        """M11 to K and the Jacobians of all stations, equations (12) to (39) [konno1996], by default at the start."""
        system = self.bare if inputs is None else self.system(inputs)
        q, v = self.coordinates(system, self.initial_state() if state is None else state)
        structure, dynamics = self.structure, system.dynamics
        theta, e = structure.joints, structure.elastic
        M, K, gravity = dynamics.mass_matrix(q), system.elastic_stiffness(q), dynamics.gravity(q)
        h = dynamics.bias(q, v) - gravity
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

    def internal_forces(self, position: ArrayLike, rate: ArrayLike, acceleration: ArrayLike) -> dict[str, Floats]:
        """Forces and moments (6,) of every field of an arm that moves without deflection, equation (41) [konno1996].

        In the axes of the near end of the field, on its far end, from inside: what the field would carry by K e where
        it deflects, and what holds it straight where it does not.
        """
        structure, system = self.structure, self.bare
        motion = np.zeros((3, system.size))
        given = {"position": position, "rate": rate, "acceleration": acceleration}
        for row, (word, of_joints) in enumerate(given.items()):
            values = np.asarray(of_joints, float)
            if values.shape != (len(structure.joints),):
                names = ", ".join(self.joint_names)
                raise InvalidInput(f"{word} has shape {values.shape}; give a number for each of {names}")
            motion[row, structure.joints] = values
        wrenches, (R, x) = system.dynamics.wrenches(*motion), system.dynamics.poses(motion[0])
        forces = {}
        for each in structure.fields:
            near = each.root
            turn, origin = (R[near.body], x[near.body]) if near.body != ON_BASE else system.base_pose
            far = origin + turn @ (near.position + near.rotation @ each.far[:3, 3])
            force, moment = wrenches[each.home, :3], wrenches[each.home, 3:]
            both = np.array([force, moment - np.cross(far, force)])
            forces[each.name] = -(both @ (turn @ near.rotation)).ravel()
        return forces


def _relative(poses: Poses, field: Field) -> Floats:
    """Deflection (n, 6) of a field between frames that turn."""
    near, R = poses.at(field.root)
    if not len(field.columns):
        return np.zeros((len(near), 6))
    end = Place(int(field.columns[-1]), np.zeros(3), np.eye(3))
    far, R_far = poses.at(end)
    back = np.swapaxes(R, 1, 2)
    d = np.einsum("nij,nj->ni", back, far - near) - field.far[:3, 3]
    turned = back @ R_far
    # about x, the new y and the newest z
    x, z = np.arctan2(-turned[:, 1, 2], turned[:, 2, 2]), np.arctan2(-turned[:, 0, 1], turned[:, 0, 0])
    return np.concatenate([d, np.stack([x, np.arcsin(turned[:, 0, 2]), z], axis=1)], axis=1)
