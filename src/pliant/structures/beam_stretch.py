"""A stretch of a flexible link as a massless beam: stiffness at its end, shape and section forces inside.

With wrench W = (f, n) on the far end, in the axes of the near end, the section at s with pose (R, X) carries

    N = R^T f ,   M = R^T (n + (X_end - X) x f) ,   strain = C (N, M) ,

C the inverse of the section stiffness. The deflection of a point follows by virtual work, F = int A^T C A ds at the
end. Everything is linear about the rest shape, which may be curved. Fields of lumped arms and finite elements of
equivalent rigid links are such stretches.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from pliant.mechanics.rigid_body import WEIGHT, hat, inertia_along, inside_pieces, poses_along, transform_inertia
from pliant.robot import FlexibleLink, Straight
from pliant.robot.section import UniformSection

Floats = NDArray[np.float64]


class Beam(Enum):
    """Which theory gives the stiffness of a field from the section of its link."""

    TIMOSHENKO = "bends and shears"
    EULER_BERNOULLI = "bends without shear"


PIECES = 16  # between jumps of a link that is curved or whose section changes; each is a helix
NO_SHEAR = [0, 3, 4, 5]


@dataclass(frozen=True, eq=False)
class Stretch:
    """The material of a link between two stations, with Gauss points in pieces of constant rest strain."""

    link: FlexibleLink
    start: float
    end: float
    width: Floats  # (pieces,)
    station: Floats  # (pieces, 3)
    inside: Floats  # (pieces, 3, 4, 4) in the frame of the start
    far: Floats  # (4, 4)

    @staticmethod
    def of(link: FlexibleLink, start: float, end: float) -> Stretch:
        marks = [start, *(s for s in link.breakpoints if start < s < end), end]
        even = isinstance(link.rest_shape, Straight) and isinstance(link.section, UniformSection)
        pieces = 1 if even else PIECES
        parts = [np.linspace(a, b, pieces + 1) for a, b in itertools.pairwise(marks)]
        ends = parts[0] if len(parts) == 1 else np.unique(np.concatenate(parts))
        width = np.diff(ends)
        poses, inside = poses_along(link.rest_strain(0.5 * (ends[1:] + ends[:-1])), width)
        return Stretch(link, start, end, width, inside_pieces(ends), inside, poses[-1])

    def inertia(self) -> Floats:
        """(6, 6) about the start, in its axes."""
        shape = (len(self.width), 3, 6, 6)
        return inertia_along(self.inside, self.width, self.link.inertia(self.station.ravel()).reshape(shape))

    def compliance(self, beam: Beam) -> Floats:
        """C at the Gauss points, (pieces x 3, 6, 6)."""
        return compliance_at(self.link, self.station.ravel(), beam)

    def carried(self, point: Floats) -> Floats:
        """A at the Gauss points, (pieces x 3, 6, 6), for a wrench on a point in the frame of the start."""
        return carried(self.inside.reshape(-1, 4, 4), point)

    def weights(self) -> Floats:
        return np.asarray((self.width[:, None] * WEIGHT).ravel())


def compliance_at(link: FlexibleLink, stations: Floats, beam: Beam) -> Floats:
    """C at stations of a link, (n, 6, 6)."""
    stiffness = link.stiffness(stations)
    if beam is Beam.TIMOSHENKO:
        return np.asarray(np.linalg.inv(stiffness))
    without = np.zeros_like(stiffness)
    kept = np.ix_(range(len(stiffness)), NO_SHEAR, NO_SHEAR)
    without[kept] = np.linalg.inv(stiffness[kept])
    return without


def carried(poses: Floats, point: Floats) -> Floats:
    """Section wrench at poses (n, 4, 4) per wrench on a point, (n, 6, 6)."""
    turned = poses[:, :3, :3].swapaxes(1, 2)
    matrix = np.zeros((len(poses), 6, 6))
    matrix[:, :3, :3] = matrix[:, 3:, 3:] = turned
    matrix[:, 3:, :3] = turned @ hat(point - poses[:, :3, 3])
    return matrix


def _summed(weights: Floats, A: Floats, C: Floats, B: Floats) -> Floats:
    """The sum of A^T C B at points, by weights."""
    return np.asarray(np.tensordot(weights, A.swapaxes(1, 2) @ C @ B, 1))


def end_flexibility(stretch: Stretch, beam: Beam) -> Floats:
    """Deflection of the far end per wrench on it, (6, 6)."""
    A, C = stretch.carried(stretch.far[:3, 3]), stretch.compliance(beam)
    return _summed(stretch.weights(), A, C, A)


def end_damping(stretch: Stretch, beam: Beam, stiffness: Floats) -> Floats:
    """Wrench on the far end per rate of its deflection, by the damping of the section in the static shape."""
    damping = stretch.link.material_damping(stretch.station.ravel())
    if not damping.any():
        return np.zeros((6, 6))
    A, C = stretch.carried(stretch.far[:3, 3]), stretch.compliance(beam)
    strain = C @ A @ stiffness
    return np.asarray(np.einsum("n,nij,nik,nkl->jl", stretch.weights(), strain, damping, strain))


def shape_inside(link: FlexibleLink, start: float, end: float, at: float, beam: Beam) -> tuple[Floats, ...]:
    """At the station ``at`` of a field: its rest pose, and per wrench on the far end its deflection and strain."""
    whole, near = (Stretch.of(link, start, end), Stretch.of(link, start, max(at, start + 1e-12 * (end - start))))
    point = whole.far[:3, 3]
    A_here, C = near.carried(near.far[:3, 3]), near.compliance(beam)
    deflection = _summed(near.weights(), A_here, C, near.carried(point))
    section = carried(near.far[None], point)[0]
    return near.far, deflection, compliance_at(link, np.array([at]), beam)[0] @ section, section


def lumped_inertia(link: FlexibleLink, start: float, end: float, node: float) -> Floats:
    """Inertia (6, 6) of the material between two stations about the section at ``node``, in its axes."""
    total = np.zeros((6, 6))
    if start < node:
        before = Stretch.of(link, start, node)
        back = np.asarray(np.linalg.inv(before.far), np.float64)
        total += transform_inertia(before.inertia(), back[:3, :3], back[:3, 3])
    if node < end:
        total += Stretch.of(link, node, end).inertia()
    return total
