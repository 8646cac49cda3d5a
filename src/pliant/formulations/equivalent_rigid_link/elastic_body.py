"""A link as a linear elastic body: what finite elements give, and what the equations of motion need of it.

In the frame of its root, with degrees of freedom d, the points of the body are displaced by  U_p d  and its sections
turned by  V_r d.  While the link moves its kinetic energy is

    T = 1/2 sum over p, k of m_pk x_p' . x_k'  +  1/2 sum over r of (w + V_r d') . J_r (w + V_r d') ,

x_p' the velocity of a point of the moving and deforming body, w the spin of its root. Shapes P leave the coordinates q
of  d = P q.  What depends on q is the sum over points, in which fields over the points (the number one, the place, the
displacement by each shape) meet in products of two only. So a few equal mass points have the same energy at all
q: `mass_points`. Of the sections, w meets the sum of J V P q' alone: one body on the mean of their turns has that
momentum, and what it lacks of the energy of q' is a constant matrix.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pliant.errors import InvalidInput
from pliant.robot.robot import nearest
from pliant.spatial.arrays import hat

Floats = NDArray[np.float64]
Matrix = Any  # an array, or a sparse array of scipy

SAME = 1e-12  # part of the largest product of two fields below which a combination of them moves no mass
SMALL = 600  # degrees of freedom up to which joined matrices are full


class Frame(NamedTuple):
    """A frame of the body to which something can be attached; its degrees of freedom are in the axes of the root."""

    name: str
    position: Floats  # (3,)
    rotation: Floats  # (3, 3) from its axes to those of the root
    dofs: NDArray[np.int64]  # (6,) three displacements, three rotations


class Shaped(NamedTuple):
    """A body with m shapes, in the frame of its root."""

    stiffness: Floats  # (m, m)
    damping: Floats  # (m, m)
    mass: Floats  # (p,) of points
    position: Floats  # (p, 3)
    shape: Floats  # (p, 3, m) displacement of the points
    spin_inertia: Floats  # (3, 3) of all sections
    spin_shape: Floats  # (3, m) mean of their turns
    more_mass: Floats  # (m, m) that points and mean turn lack
    frames: Floats  # (frames, 6, m) displacement and rotation of the frames


@dataclass(frozen=True, eq=False)
class ElasticBody:
    """The first frame is the root, the last the tip. Matrices are those of the body free in space.

    ``point_mass`` is (points,) or a symmetric matrix (points, points), as solids with consistent mass have. Rows of
    ``to_point`` (3 points, d) and ``to_spin`` (3 spins, d) belong to x, y, z of one point or spin after the other.
    """

    frames: tuple[Frame, ...]
    stiffness: Matrix  # (d, d)
    damping: Matrix  # (d, d)
    rigid: Floats  # (d, 6) displacements along and rotations about the axes of the root
    point_mass: Matrix
    point_position: Floats  # (points, 3)
    to_point: Matrix
    spin_inertia: Floats  # (spins, 3, 3)
    to_spin: Matrix

    @property
    def size(self) -> int:
        return int(self.stiffness.shape[0])

    @property
    def free(self) -> NDArray[np.int64]:
        """Degrees of freedom of the body clamped at its root."""
        return np.setdiff1d(np.arange(self.size), self.frames[0].dofs)

    @cached_property
    def mass(self) -> Matrix:
        """(d, d)"""
        from scipy.sparse import block_diag, csr_array, diags_array, eye_array, kron

        weight = self.point_mass if self.point_mass.ndim == 2 else diags_array(self.point_mass)
        points, spins = csr_array(self.to_point), csr_array(self.to_spin)
        total = points.T @ (kron(weight, eye_array(3), format="csr") @ points)
        if len(self.spin_inertia):
            total = total + spins.T @ (block_diag(list(self.spin_inertia), format="csr") @ spins)
        return total.tocsr()

    @cached_property
    def rigid_inertia(self) -> Floats:
        """(6, 6) of the undeformed body about its root, in its axes."""
        return np.asarray(self.rigid.T @ (self.mass @ self.rigid))

    def shaped(self, shapes: Floats) -> Shaped:
        """With the shapes (d, m)."""
        m = shapes.shape[1]
        points = np.asarray(self.to_point @ shapes).reshape(-1, 3, m)
        spins = np.asarray(self.to_spin @ shapes).reshape(-1, 3, m)
        whole = self.spin_inertia.sum(axis=0) if len(self.spin_inertia) else np.zeros((3, 3))
        carried = np.einsum("rij,rjm->rim", self.spin_inertia, spins)
        mean = np.linalg.pinv(whole, hermitian=True) @ carried.sum(axis=0)
        more = np.einsum("ril,rim->lm", spins, carried) - mean.T @ whole @ mean
        stiffness, damping = (np.asarray(shapes.T @ (A @ shapes)) for A in (self.stiffness, self.damping))
        frames = np.array([shapes[frame.dofs] for frame in self.frames])
        return Shaped(
            _symmetric(stiffness), _symmetric(damping), *mass_points(self.point_mass, self.point_position, points),
            whole, mean, _symmetric(more), frames,
        )  # fmt: skip


def mass_points(weight: Matrix, position: Floats, shape: Floats) -> tuple[Floats, Floats, Floats]:
    """Masses (p,), places (p, 3) and shapes (p, 3, m) of few points with the energy of many.

    ``weight`` is (n,) or (n, n), ``position`` (n, 3), ``shape`` (n, 3, m). The products of fields, a matrix of
    4 + 3 m rows, are those of as many points of equal mass at most, which need not lie inside of the body.
    """
    n, m = len(position), shape.shape[2]
    if weight.ndim == 1 and n <= 4 + 3 * m:
        heavy = weight > 0.0
        return weight[heavy], position[heavy], shape[heavy]
    fields = np.concatenate([np.ones((n, 1)), position, shape.reshape(n, 3 * m)], axis=1)
    products = fields.T @ (weight[:, None] * fields if weight.ndim == 1 else np.asarray(weight @ fields))
    own = products.diagonal()
    place, shapes = own[1:4].sum(), own[4:].reshape(3, m).sum(axis=0)  # each of all three directions
    size = np.sqrt(np.maximum(np.concatenate([own[:1], np.full(3, place), np.tile(shapes, 3)]), 1e-300))
    values, vectors = np.linalg.eigh(_symmetric(products) / np.outer(size, size))
    kept = values > SAME * values[-1]
    root = np.sqrt(values[kept])[:, None] * vectors[:, kept].T * size
    # a reflection makes the field of the number one the same for all points
    count, total = len(root), float(products[0, 0])
    mirror = root[:, 0] - np.sqrt(total / count)
    if mirror @ mirror > 0.0:
        root = root - np.outer(mirror, 2.0 / (mirror @ mirror) * (mirror @ root))
    root *= np.sqrt(count / total)
    return np.full(count, total / count), root[:, 1:4].copy(), root[:, 4:].reshape(count, 3, m).copy()


def _symmetric(matrix: Floats) -> Floats:
    return np.asarray(0.5 * (matrix + matrix.T))


def rigidly_moved(offset: Floats) -> Floats:
    """Displacement and rotation (6, 6) of a point at an offset, per those of the point that carries it."""
    moved = np.eye(6)
    moved[:3, 3:] = -hat(offset)
    return moved


def frame_named(body: ElasticBody, name: str) -> Frame:
    """The frame of a body that has this name."""
    known = {frame.name: frame for frame in body.frames}
    if name not in known:
        raise InvalidInput(f"frame '{name}' is not one of the elastic body; {nearest(name, known)}")
    return known[name]
