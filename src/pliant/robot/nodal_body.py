"""A body as nodes with masses and the stiffness between them, as finite elements give it; what matrices must be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant.robot.declared import SYMMETRY_SLACK, BadValue

Array = NDArray[np.float64]
Numbers = NDArray[np.int64]
Matrix = Any  # an array, or a sparse array of scipy

ISOTROPY_SLACK = 1e-9  # of the largest mass
RIGID_SLACK = 1e-6  # of the largest stiffness: files may hold few digits
DEFINITE_SLACK = 1e-7  # of a diagonal of ones
MOTIONS = tuple(f"{motion} {axis}" for motion in ("displacement along", "rotation about") for axis in "xyz")


@dataclass(frozen=True, eq=False)
class NodalBody:
    """Nodes in axes of their own, each with three displacements, or with three rotations after them."""

    nodes: Array  # (n, 3)
    mass: Matrix  # (n,) or sparse (n, n): the same along x, y and z
    rotary: Array  # (n, 3, 3), or (0, 3, 3) where nodes have no rotations
    stiffness: Matrix  # sparse, 3 or 6 rows for each node
    triangles: Numbers  # (t, 3) nodes of the surface
    middles: Numbers = field(default_factory=lambda: np.zeros((0, 3), np.int64))  # (e, 3) two nodes, that between them
    numbers: Numbers | None = None  # node of each point of the file, -1 where there is none
    sets: Mapping[str, Numbers] = field(default_factory=dict)  # points of the file by name

    @property
    def per_node(self) -> int:
        return 6 if len(self.rotary) else 3

    @property
    def extent(self) -> float:
        """Largest distance along an axis."""
        return float(np.ptp(self.nodes, axis=0).max())

    def of_points(self, points: Numbers) -> Numbers:
        """Nodes of these points of the file, with nodes between two of them."""
        nodes = points if self.numbers is None else self.numbers[points]
        chosen = np.zeros(len(self.nodes), bool)
        chosen[nodes[nodes >= 0]] = True
        inner = chosen[self.middles[:, 0]] & chosen[self.middles[:, 1]]
        chosen[self.middles[inner, 2]] = True
        return np.flatnonzero(chosen)


def rigid_motions(nodes: Array, per_node: int) -> Array:
    """(per_node n, 6) displacements along and rotations about the axes through the origin, at nodes."""
    motions = np.zeros((len(nodes), per_node, 6))
    motions[:, :3, :3] = np.eye(3)
    x, y, z = nodes.T
    motions[:, 0, 4], motions[:, 0, 5] = z, -y
    motions[:, 1, 3], motions[:, 1, 5] = -z, x
    motions[:, 2, 3], motions[:, 2, 4] = y, -x
    if per_node == 6:
        motions[:, 3:, 3:] = np.eye(3)
    return motions.reshape(-1, 6)


def symmetric(matrix: Matrix, nodes: int) -> Matrix:
    """A square matrix of the right size as a sparse one, symmetric to the last digit."""
    from scipy.sparse import csr_array

    rows, *columns = matrix.shape
    if columns != [rows]:
        raise BadValue(f"has the shape {'x'.join(map(str, matrix.shape))}; write a square matrix")
    if rows not in (3 * nodes, 6 * nodes):
        raise BadValue(f"has {rows} rows for {nodes} nodes; write 3 for each node (displacements) or 6 (and rotations)")
    sparse = csr_array(matrix)
    odd = abs(sparse - sparse.T).tocoo()
    if odd.nnz and odd.max() > SYMMETRY_SLACK * abs(sparse).max():
        worst = int(np.argmax(odd.data))
        i, j = int(odd.row[worst]), int(odd.col[worst])
        here, there = float(sparse[i, j]), float(sparse[j, i])
        raise BadValue(
            f"is not symmetric: entry ({i + 1}, {j + 1}) is {here:g} and ({j + 1}, {i + 1}) is {there:g};"
            " write a symmetric matrix"
        )
    return (0.5 * (sparse + sparse.T)).tocsr()


def masses(matrix: Matrix, nodes: int) -> tuple[Matrix, Array]:
    """Masses (n,) or (n, n), and rotary inertia (n, 3, 3) or (0, 3, 3), of a mass matrix."""
    from scipy.sparse import eye_array, kron

    per_node = matrix.shape[0] // nodes
    dofs = np.arange(matrix.shape[0]).reshape(nodes, per_node)
    moved, turned = dofs[:, :3].ravel(), dofs[:, 3:].ravel()
    linear = matrix[moved][:, moved]
    mass = linear[::3][:, ::3].tocsr()
    slack = ISOTROPY_SLACK * abs(matrix).max()
    if (odd := abs(linear - kron(mass, eye_array(3), format="csr")).max()) > slack:
        raise BadValue(
            f"couples directions or is not the same along x, y and z (by {odd:.3g} kg); write a mass matrix that is"
        )
    mass.data[np.abs(mass.data) <= 1e-16 * abs(mass).max()] = 0.0
    mass.eliminate_zeros()
    if mass.nnz <= nodes and (mass - mass.multiply(eye_array(nodes))).nnz == 0:
        mass = mass.diagonal()
    if not (np.all(mass > 0.0) if isinstance(mass, np.ndarray) else positive_definite(mass, 0.0)):
        raise BadValue("is not positive definite; write a mass matrix that gives every node a mass")
    if not len(turned):
        return mass, np.zeros((0, 3, 3))
    if abs(matrix[moved][:, turned]).max() > slack:
        raise BadValue("couples displacements with rotations; write a lumped mass matrix")
    angular = matrix[turned][:, turned].tocoo()
    if np.any(np.abs(angular.data[angular.row // 3 != angular.col // 3]) > slack):
        raise BadValue("couples rotations of different nodes; write a lumped mass matrix")
    rotary = np.zeros((nodes, 3, 3))
    own = angular.row // 3 == angular.col // 3
    rotary[angular.row[own] // 3, angular.row[own] % 3, angular.col[own] % 3] = angular.data[own]
    if np.linalg.eigvalsh(rotary).min() < -slack:
        raise BadValue("has a negative rotary inertia; write a mass matrix that is positive definite")
    return mass, rotary


def refuse_impossible_stiffness(stiffness: Matrix, nodes: Array) -> None:
    """One that is indefinite, or that resists motions of the body as a whole."""
    if not positive_definite(stiffness, DEFINITE_SLACK):
        raise BadValue("has negative eigenvalues; write a stiffness matrix that is positive semidefinite")
    extent = max(float(np.ptp(nodes, axis=0).max()), 1e-300)
    motions = rigid_motions((nodes - nodes.mean(axis=0)) / extent, stiffness.shape[0] // len(nodes))
    if stiffness.shape[0] == 6 * len(nodes):
        motions.reshape(len(nodes), 6, 6)[:, 3:] /= extent
    forces = np.abs(stiffness @ motions).max(axis=0)
    worst = int(np.argmax(forces))
    if forces[worst] > RIGID_SLACK * abs(stiffness).max() * np.abs(motions).max():
        raise BadValue(f"resists a {MOTIONS[worst]} of the whole body; write the stiffness of the body free in space")


def positive_definite(matrix: Matrix, slack: float) -> bool:
    """Whether a symmetric matrix is, after ``slack`` was added to its diagonal scaled to 1."""
    from scipy.sparse import csc_array, diags_array, eye_array
    from scipy.sparse.linalg import splu

    diagonal = matrix.diagonal()
    if diagonal.min() < 0.0 or (slack == 0.0 and diagonal.min() == 0.0):
        return False
    scale = diags_array(1.0 / np.sqrt(np.where(diagonal > 0.0, diagonal, 1.0)))
    scaled = csc_array(scale @ matrix @ scale + slack * eye_array(len(diagonal)))
    try:
        # without exchange of rows the signs of the pivots are those of the eigenvalues
        factors = splu(scaled, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})
    except RuntimeError:  # a pivot is zero
        return False
    return bool(np.all(factors.U.diagonal() > 0.0)) and np.array_equal(factors.perm_r, factors.perm_c)
