"""The elements of a co-rotational link: deformation at rest, stiffness, damping and inertia.

Stiffness is that of the stretch of the link between both sections, a massless beam with the theory that was chosen:
with F its flexibility at the far end and dw = W d for a displacement d of that end from rest, K = L W^-T F^-1 W^-1.
For a uniform straight stretch without shear this is (12) of [damic2006].

Inertia is that of (16)-(18): with linear shape functions N the integrals of N_i N_j times the section inertia, for a
uniform stretch L/3 on each node and L/6 between them.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from pliant.errors import InvalidInput
from pliant.mechanics.rigid_body import GAUSS, WEIGHT
from pliant.robot import FlexibleLink, Robot
from pliant.spatial.arrays import STEP, hat
from pliant.structures.beam_stretch import Beam, Stretch, end_damping, end_flexibility, shape_inside
from pliant.structures.nodal.assembly import lumped_ends
from pliant.structures.nodal.codes import COROTATIONAL, COROTATIONAL_MEAN
from pliant.structures.nodal.corotational import COLUMNS, deformation_at
from pliant.structures.nodal.tables import Node
from pliant.structures.relative_pose import U

Floats = NDArray[np.float64]
STATIONS, ALIKE = 9, 1e-9  # where sections are looked at, and how much their stiffnesses may differ


class Mass(Enum):
    """How nodes carry the inertia of the elements between them."""

    DIRECTOR = "directors move along straight lines between the nodes"
    LUMPED = "half of an element on each of its nodes"
    MEAN = "the mean of both"

    @property
    def of_directors(self) -> float:
        """The part that directors carry."""
        return {Mass.DIRECTOR: 1.0, Mass.LUMPED: 0.0, Mass.MEAN: 0.5}[self]


class Axes(Enum):
    """The axes of an element in which its bending is measured."""

    AS_NEEDED = "of the first end where all sections bend alike both ways, as in the paper, and mean ones else"
    FIRST_END = "of the section nearer to the root"
    MEAN = "between those of both end sections"

    def needed(self, robot: Robot) -> Axes:
        """What is chosen, for a robot."""
        if self is not Axes.AS_NEEDED:
            return self
        for link in robot.links:
            if isinstance(link, FlexibleLink):
                bending = link.stiffness(np.linspace(0.0, link.length, STATIONS))[:, 4:, 4:]
                if np.abs(bending - bending[:, :1, :1] * np.eye(2)).max() > ALIKE * bending.max():
                    return Axes.MEAN
        return Axes.FIRST_END


@dataclass(frozen=True)
class CorotationalElements:
    """Co-rotational elements of one theory and mass."""

    theory: Beam
    mass: Mass
    axes: Axes
    formulation: str = "Corotational"
    word: str = "co-rotational elements"

    @property
    def code(self) -> int:
        return COROTATIONAL_MEAN if self.axes is Axes.MEAN else COROTATIONAL

    @property
    def shares(self) -> bool:
        return self.mass is not Mass.LUMPED

    def lay(self, row: Node, link: FlexibleLink, a: float, b: float) -> tuple[Floats, Floats]:
        """Of the stretch between two stations."""
        stretch = Stretch.of(link, a, b)
        deformation, W = rest_deformation(stretch.far, b - a, self.axes)
        back = np.linalg.inv(W)
        stiffness = np.asarray(np.linalg.inv(end_flexibility(stretch, self.theory)), float)
        damping = end_damping(stretch, self.theory, stiffness)
        row.rest = deformation / (b - a)
        row.K, row.C = ((b - a) * _symmetric(back.T @ each @ back) for each in (stiffness, damping))
        _, _, strain, wrench = shape_inside(link, a, b, 0.5 * (a + b), self.theory)
        row.seen = np.array([strain, wrench]) @ W.T @ row.K
        near, far = lumped_ends(link, a, b)
        if self.shares:
            part = self.mass.of_directors
            own_near, own_far, shared = director_inertia(link, a, b)
            near, far = part * own_near + (1.0 - part) * near, part * own_far + (1.0 - part) * far
            row.shared = part * shared
        return near, far


def _symmetric(matrix: Floats) -> Floats:
    return np.asarray(0.5 * (matrix + matrix.T))


def rest_deformation(far: Floats, length: float, axes: Axes) -> tuple[Floats, Floats]:
    """w of the pose (4, 4) of the far end, and W (6, 6): its change per displacement and rotation in the near axes."""
    R, r = np.tile(far[:3, :3].astype(complex), (6, 1, 1)), np.tile(far[:3, 3].astype(complex), (6, 1))
    r[:3] += 1j * STEP * np.eye(3)
    R[3:] += 1j * STEP * hat(np.eye(3)) @ far[:3, :3]
    data = np.zeros((6, COLUMNS), complex)
    deformation_at(length, axes is Axes.MEAN, r, R.reshape(6, 9), data)
    deformation = data[:, U : U + 6]
    return deformation[0].real.copy(), deformation.imag.T / STEP


def director_inertia(link: FlexibleLink, a: float, b: float) -> tuple[Floats, Floats, Floats]:
    """Inertia (6, 6) on both nodes, and what they share: mass and second moments of mass along the axes."""
    sections = link.inertia(a + (b - a) * GAUSS)
    J = sections[:, 3:, 3:]
    if np.any(sections[:, :3, 3:]) or np.any(J - J * np.eye(3)):
        raise InvalidInput(
            f"link '{link.name}' has sections whose mass is off the axis or off the principal axes, which directors do"
            " not carry; choose Corotational(mass=corotational.Mass.LUMPED), or write the section in its centre and"
            " principal axes"
        )
    near, far, both = (
        (b - a) * np.einsum("n,nij->ij", WEIGHT * weight, sections)
        for weight in ((1.0 - GAUSS) ** 2, GAUSS**2, GAUSS * (1.0 - GAUSS))
    )
    moments = np.diagonal(both)[3:]
    return near, far, np.append(both[0, 0], 0.5 * moments.sum() - moments)
