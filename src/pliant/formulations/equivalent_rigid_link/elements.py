"""Finite elements of one flexible link: beams between nodes, linear about the rest shape.

An element between the nodes a and b deflects by  e = d_b - T d_a , T the rigid motion of b with a. With the static
flexibility F of the stretch (`structures/beam_stretch.py`) its stiffness is  G^T F^-1 G ,  G = (-T, 1),  and inside, at
the station s, it is displaced by

    u(s) = T(s) d_a + D(s) F^-1 e ,

D the static deflection at s per wrench at b. So taper, curvature and coupled sections are exact at rest and nothing
locks; a uniform straight element of Euler and Bernoulli has the 12 x 12 matrices of the textbooks. The consistent mass
is that of points at the Gauss stations, moved by u, with the rotary inertia of their sections.

The element of Table II of [vidoni2018] is another, found by comparison, the text being silent about it: d is linear
between the nodes, shear is taken in the middle, and its stiffness  kGA / (1 + A L^2 / (192 I))  makes a coarse mesh of
slender links less stiff. With lumped mass it is the element of the table.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from pliant.errors import InvalidInput, clip, refuse_outside
from pliant.formulations.equivalent_rigid_link import elastic_body
from pliant.formulations.equivalent_rigid_link.elastic_body import ElasticBody, Frame
from pliant.mechanics.rigid_body import element_ends, hat
from pliant.mechanics.shape_functions import gauss_rule
from pliant.robot import FlexibleLink, Straight
from pliant.robot.link import STATION_SLACK
from pliant.robot.section import UniformSection
from pliant.structures.beam_stretch import Beam, Floats, Stretch, end_damping, end_flexibility, shape_inside

MOST_ELEMENTS = 200
POINTS_OF_EVEN, POINTS_OF_OTHERS = 4, 8  # Gauss points; cubic displacements of uniform elements need four
ALONG = hat(np.array([1.0, 0.0, 0.0]))


class BeamElement(Enum):
    """How a stretch between two nodes deforms."""

    EULER_BERNOULLI = "bends without shear, exact at rest"
    TIMOSHENKO = "bends and shears, exact at rest"
    LINEAR = "displacements and rotations linear, shear in the middle, softened: Table II of [vidoni2018]"


class MassMatrix(Enum):
    """Where the mass of an element is."""

    CONSISTENT = "along the element, moved as its stiffness has it"
    LUMPED = "at the nodes, half of it at each, with the rotary inertia of the sections"


@dataclass(frozen=True, eq=False)
class BeamMesh:
    """Elements of a link; node k has the degrees of freedom 6 k to 6 k + 5, in the axes of the root."""

    link: FlexibleLink
    element: BeamElement
    ends: Floats  # (nodes,) stations
    poses: Floats  # (nodes, 4, 4) at rest, in the frame of the root

    @staticmethod
    def of(link: FlexibleLink, elements: int, element: BeamElement, stations: Sequence[float] = ()) -> BeamMesh:
        """About as many elements of equal length, with nodes also where the link has jumps and at the stations."""
        refuse_outside(f"elements of link '{link.name}'", elements, 1, MOST_ELEMENTS, "4 to 16 serves most links")
        if not isinstance(element, BeamElement):
            raise InvalidInput(
                f"element = {clip(repr(element))} of link '{link.name}' is not known; write one of"
                f" {', '.join(str(each) for each in BeamElement)}"
            )
        if element is BeamElement.LINEAR:
            _refuse_for_linear(link)
        ends = element_ends(link, elements)
        slack = STATION_SLACK * link.length
        for station in np.asarray(stations, np.float64):
            if not -slack <= station <= link.length + slack:
                raise InvalidInput(
                    f"stations of link '{link.name}': {station:g} m is beyond it; write one from 0 to {link.length:g} m"
                )
            if np.abs(ends - station).min() > slack:
                ends = np.sort(np.append(ends, station))
        poses = [np.eye(4)]
        for start, end in zip(ends[:-1].tolist(), ends[1:].tolist()):
            poses.append(poses[-1] @ Stretch.of(link, start, end).far)
        return BeamMesh(link, element, ends, np.array(poses))

    @property
    def size(self) -> int:
        return 6 * len(self.ends)

    @property
    def beam(self) -> Beam:
        return Beam.EULER_BERNOULLI if self.element is BeamElement.EULER_BERNOULLI else Beam.TIMOSHENKO

    @property
    def even(self) -> bool:
        return isinstance(self.link.rest_shape, Straight) and isinstance(self.link.section, UniformSection)

    @cached_property
    def _in_axes(self) -> Floats:
        """(elements, 12, 12) degrees of freedom of an element in the axes of its near end, per those of the mesh."""
        return np.array([np.kron(np.eye(4), pose[:3, :3].T) for pose in self.poses[:-1]])

    @cached_property
    def _relative(self) -> Floats:
        """(elements, 6, 12) e in the axes of the near end; of the linear element its strain."""
        found = []
        for k, start in enumerate(self.poses[:-1]):
            if self.element is BeamElement.LINEAR:
                length = self.ends[k + 1] - self.ends[k]
                found.append(_linear_strain(length) @ self._in_axes[k])
            else:
                lever = start[:3, :3].T @ (self.poses[k + 1][:3, 3] - start[:3, 3])
                found.append(np.concatenate([-elastic_body.rigidly_moved(lever), np.eye(6)], axis=1) @ self._in_axes[k])
        return np.array(found)

    @cached_property
    def _springs(self) -> tuple[Floats, Floats]:
        """Stiffness and damping (elements, 6, 6) for the above."""
        stiffness, damping = [], []
        for start, end in zip(self.ends[:-1].tolist(), self.ends[1:].tolist()):
            if self.element is BeamElement.LINEAR:
                middle = [0.5 * (start + end)]
                section = self.link.stiffness(middle)[0]
                soft = np.sqrt(_softened(section, end - start))
                stiffness.append((end - start) * soft[:, None] * section * soft)
                damping.append((end - start) * soft[:, None] * self.link.material_damping(middle)[0] * soft)
            else:
                stretch = Stretch.of(self.link, start, end)
                stiffness.append(np.linalg.inv(end_flexibility(stretch, self.beam)))
                damping.append(end_damping(stretch, self.beam, stiffness[-1]))
        return np.array(stiffness), np.array(damping)

    def matrices(self) -> tuple[Floats, Floats]:
        """Stiffness and damping (d, d)."""
        whole = np.zeros((2, self.size, self.size))
        for k, G in enumerate(self._relative):
            own = slice(6 * k, 6 * k + 12)
            for matrix, spring in zip(whole, self._springs):
                matrix[own, own] += G.T @ spring[k] @ G
        return (whole[0] + whole[0].T) / 2.0, (whole[1] + whole[1].T) / 2.0

    def displacement(self, stations: ArrayLike) -> Floats:
        """Displacement and rotation (s, 6, d) of the sections at stations, in the axes of the root."""
        return np.asarray(self._along(stations)[0])

    def strain(self, stations: ArrayLike) -> tuple[Floats, Floats]:
        """Strain and wrench (s, 6, d) of the sections at stations, in their axes."""
        _, strain, wrench = self._along(stations)
        return strain, wrench

    def rest_poses(self, stations: ArrayLike) -> Floats:
        """(s, 4, 4) in the frame of the root."""
        return np.array([self._rest_pose(k, station) for station, k in self._within(stations)])

    def _rest_pose(self, k: int, station: float) -> Floats:
        start, near = float(self.ends[k]), np.asarray(self.poses[k])
        if isinstance(self.link.rest_shape, Straight):
            pose = near.copy()
            pose[0, 3] = station
            return pose
        return near @ Stretch.of(self.link, start, station).far if station > start else near

    def _within(self, stations: ArrayLike) -> list[tuple[float, int]]:
        """Stations, each with its element."""
        wanted = np.atleast_1d(np.asarray(stations, np.float64))
        within = np.clip(np.searchsorted(self.ends, wanted, side="right") - 1, 0, len(self.ends) - 2)
        return list(zip(wanted.tolist(), within.tolist()))

    def _along(self, stations: ArrayLike) -> Floats:
        """Displacement, strain and wrench (3, s, 6, d)."""
        wanted = self._within(stations)
        fields = np.zeros((3, len(wanted), 6, self.size))
        for i, (station, k) in enumerate(wanted):
            fields[:, i, :, 6 * k : 6 * k + 12] = self._inside(k, station)
        return fields

    def _inside(self, k: int, station: float) -> tuple[Floats, Floats, Floats]:
        """Displacement, strain and wrench (6, 12) in element k."""
        start, end = float(self.ends[k]), float(self.ends[k + 1])
        G, spring = self._relative[k], self._springs[0][k]
        if self.element is BeamElement.LINEAR:
            part = (station - start) / (end - start)
            moved = np.concatenate([(1.0 - part) * np.eye(6), part * np.eye(6)], axis=1)
            return moved, G, spring @ G / (end - start)
        rest, deflection, strain, section = self._shape(start, end, station)
        moved = deflection @ spring @ G
        moved[:, :6] += elastic_body.rigidly_moved(rest[:3, 3]) @ self._in_axes[k][:6, :6]
        moved = self._in_axes[k][:6, :6].T @ moved
        return moved, strain @ spring @ G, section @ spring @ G

    @cached_property
    def _known(self) -> dict[tuple[float, ...], tuple[Floats, ...]]:
        return {}

    def _shape(self, start: float, end: float, station: float) -> tuple[Floats, ...]:
        """What `shape_inside` gives, computed once for equal elements."""
        if not self.even:
            return shape_inside(self.link, start, end, station, self.beam)
        key = tuple(round(part / self.link.length, 12) for part in (end - start, station - start))
        if key not in self._known:
            self._known[key] = shape_inside(self.link, start, end, station, self.beam)
        return self._known[key]

    def _frames(self) -> tuple[Frame, ...]:
        return tuple(
            Frame(f"node[{k}]", pose[:3, 3].copy(), pose[:3, :3].copy(), np.arange(6 * k, 6 * k + 6))
            for k, pose in enumerate(self.poses)
        )

    def _rigid(self) -> Floats:
        return np.concatenate([elastic_body.rigidly_moved(pose[:3, 3]) for pose in self.poses])

    def body(self, mass: MassMatrix) -> ElasticBody:
        """The elastic body of the link."""
        points, weights = gauss_rule(POINTS_OF_EVEN if self.even else POINTS_OF_OTHERS)
        if mass is MassMatrix.CONSISTENT:
            width = np.diff(self.ends)
            stations = (self.ends[:-1, None] + width[:, None] * points).ravel()
            found = self._material(stations, (width[:, None] * weights).ravel())
            moved, poses = self.displacement(stations), self.rest_poses(stations)
        elif mass is MassMatrix.LUMPED:
            found, moved, poses = (
                self._at_nodes(points, weights),
                np.eye(self.size).reshape(-1, 6, self.size),
                self.poses,
            )
        else:
            raise InvalidInput(
                f"mass = {clip(repr(mass))} is not known; write one of {', '.join(str(each) for each in MassMatrix)}"
            )
        masses, levers, inertias = found
        at_mass = np.array([elastic_body.rigidly_moved(lever) for lever in levers]) @ moved
        stiffness, damping = self.matrices()
        return ElasticBody(
            self._frames(), stiffness, damping, self._rigid(),
            masses, poses[:, :3, 3] + levers, at_mass[:, :3].reshape(-1, self.size),
            inertias, moved[:, 3:].reshape(-1, self.size),
        )  # fmt: skip

    def _material(self, stations: Floats, lengths: Floats) -> tuple[Floats, Floats, Floats]:
        """Mass, its lever from the axis, and rotary inertia of pieces of material, in the axes of the root."""
        sections = self.link.inertia(stations)
        masses = sections[:, 0, 0]
        R = self.rest_poses(stations)[:, :3, :3]
        moment = sections[:, 3:, :3]
        centers = np.stack([moment[:, 2, 1], moment[:, 0, 2], moment[:, 1, 0]], axis=1)
        centers = np.divide(centers, masses[:, None], out=np.zeros_like(centers), where=masses[:, None] > 0.0)
        crosses = np.array([hat(center) for center in centers]).reshape(-1, 3, 3)
        own = sections[:, 3:, 3:] + masses[:, None, None] * crosses @ crosses
        inertias = lengths[:, None, None] * (R @ own @ np.swapaxes(R, 1, 2))
        return lengths * masses, np.einsum("nij,nj->ni", R, centers), inertias

    def _at_nodes(self, points: Floats, weights: Floats) -> tuple[Floats, Floats, Floats]:
        """The same of the nearest halves of elements."""
        count = len(self.ends)
        masses, levers, inertias = np.zeros(count), np.zeros((count, 3)), np.zeros((count, 3, 3))
        for k, (start, end) in enumerate(zip(self.ends[:-1].tolist(), self.ends[1:].tolist())):
            half = 0.5 * (end - start)
            for node, first in ((k, start), (k + 1, start + half)):
                mass, lever, inertia = self._material(first + half * points, half * weights)
                masses[node] += mass.sum()
                levers[node] += mass @ lever
                inertias[node] += inertia.sum(axis=0)
        return masses, np.divide(levers, masses[:, None], where=masses[:, None] > 0.0, out=levers), inertias


def _linear_strain(length: float) -> Floats:
    """Strain (6, 12) in the middle: gamma = u' + x cross theta, kappa = theta'."""
    difference = np.concatenate([-np.eye(6), np.eye(6)], axis=1) / length
    difference[:3, 3:6] += 0.5 * ALONG
    difference[:3, 9:] += 0.5 * ALONG
    return difference


def _softened(section: Floats, length: float) -> Floats:
    """What remains (6,) of the entries of a section: shear along y belongs to bending about z, along z to y."""
    slender = section[0, 0] * length**2 / 192.0
    return np.array([1.0, 1.0 / (1.0 + slender / section[5, 5]), 1.0 / (1.0 + slender / section[4, 4]), 1.0, 1.0, 1.0])


def _refuse_for_linear(link: FlexibleLink) -> None:
    if not isinstance(link.rest_shape, Straight):
        raise InvalidInput(
            f"link '{link.name}' has the rest shape {link.rest_shape.word}, and the linear element is straight; use"
            " BeamElement.TIMOSHENKO"
        )
    sections = link.stiffness(np.linspace(0.0, link.length, 5))
    if np.any(sections != sections * np.eye(6)):
        raise InvalidInput(
            f"link '{link.name}' has a section stiffness that couples strains, which the linear element does not carry;"
            " use BeamElement.TIMOSHENKO"
        )
