"""Small motions about an equilibrium at rest.

With y the free body displacements (twists of all nodes but the roots, joint rates) the linearised equations
are M y'' + D y' + K y = 0: the same blocks that Newton uses, without elimination.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pliant.formulations.geometrically_exact.chain import Floats
from pliant.formulations.geometrically_exact.element import element_tangent, freeze
from pliant.formulations.geometrically_exact.factorise import Frozen, new_frozen
from pliant.formulations.geometrically_exact.orientation import rebuild_orientations
from pliant.formulations.geometrically_exact.stage_data import Stages, new_stages
from pliant.formulations.geometrically_exact.stages import set_poses
from pliant.formulations.geometrically_exact.statics import add_weights
from pliant.model.contract import SecondOrder
from pliant.model.inputs import Inputs

if TYPE_CHECKING:
    from pliant.formulations.geometrically_exact.model import GeometricallyExactArm


def small_motions(arm: GeometricallyExactArm, state: Floats, inputs: Inputs) -> SecondOrder:
    """M, D, K at a state whose twists are zero; loads are those of time 0."""
    chain = arm.chain
    dofs, points, nodes = len(arm.joint_names), len(chain.section.C), len(chain.inertia.M)
    stages = new_stages(1, len(chain.tree.parent), nodes, points, dofs, chain.inertia.at_points)
    stages.e[0], stages.q[0] = arm.layout.part(state, "strain"), arm.layout.part(state, "joint_position")
    frozen = new_frozen(chain, 1, np.float64)
    set_poses(chain.tree, stages.q, 0, stages.pose)
    freeze(chain.section, stages.e, 0, frozen.xi, frozen.stress, frozen.tangent)
    rebuild_orientations(chain.tree, chain.mesh, frozen.xi, stages.pose, 0, stages.R, stages.R_point)
    loads = arm.load_table(inputs.loads)
    add_weights(chain.inertia, chain.mesh, loads, inputs.load_signals(np.zeros(1)), stages, frozen)
    free = ~np.array(inputs.prescribed, dtype=np.bool_)
    M, D, K = _assemble(arm, frozen, nodes)
    T, joint_columns = _free_to_nodes(arm, stages, free)
    M, D, K = T.T @ M @ T, T.T @ D @ T, T.T @ K @ T
    for dof, column in joint_columns.items():
        D[column, column] += inputs.damping[dof]
        K[column, column] += inputs.stiffness[dof]
    return SecondOrder(M, D, K, T.reshape(nodes, 6, -1))


def _assemble(arm: GeometricallyExactArm, frozen: Frozen, nodes: int) -> tuple[Floats, Floats, Floats]:
    """Matrices over the twists of all nodes, roots included."""
    chain = arm.chain
    mesh, inertia = chain.mesh, chain.inertia
    M, D, K = (np.zeros((6 * nodes, 6 * nodes)) for _ in range(3))
    for a in range(nodes):
        rows = slice(6 * a, 6 * a + 6)
        M[rows, rows] += inertia.M[a]
        D[rows, rows] += inertia.viscous[a]
        K[rows, rows] += frozen.node[a]
    for element, start in enumerate(mesh.start):
        rows = slice(6 * start, 6 * start + 6 * mesh.N.shape[1])
        element_tangent(mesh, element, frozen)
        K[rows, rows] += frozen.K
        D[rows, rows] += frozen.Kd
        if inertia.at_points:
            spread = np.kron(mesh.N[0], np.eye(6))
            M[rows, rows] += spread.T @ inertia.M_point[element] @ spread
            K[rows, rows] += spread.T @ frozen.point[element] @ spread
    return M, D, K


def _free_to_nodes(
    arm: GeometricallyExactArm, stages: Stages, free: NDArray[np.bool_]
) -> tuple[Floats, dict[int, int]]:
    """Matrix from the free unknowns to the twists of all nodes, and the column of each free joint."""
    tree = arm.chain.tree
    nodes = len(arm.chain.inertia.M)
    roots = set(tree.first_node.tolist())
    unknowns = 6 * (nodes - len(roots))
    columns = {int(dof): -1 for dof in tree.dof if dof >= 0 and free[dof]}
    for dof in columns:
        columns[dof] = unknowns
        unknowns += 1
    T = np.zeros((6 * nodes, unknowns))
    position = 0
    for link in range(len(tree.parent)):
        root = int(tree.first_node[link])
        rows = slice(6 * root, 6 * root + 6)
        if tree.parent[link] >= 0:
            pose = stages.pose[0, link]
            R, r = pose[:9].reshape(3, 3), pose[9:]
            Ad = np.zeros((6, 6))
            Ad[:3, :3] = Ad[3:, 3:] = R.T
            Ad[:3, 3:] = -R.T @ np.cross(np.eye(3), r).T  # v + w x r = v - hat(r) w
            node = int(tree.parent_node[link])
            T[rows] = Ad @ T[6 * node : 6 * node + 6]
        dof = int(tree.dof[link])
        if dof in columns:
            T[rows, columns[dof]] += tree.S[link]
        for node in range(root + 1, int(tree.last_node[link]) + 1):
            T[6 * node : 6 * node + 6, position : position + 6] = np.eye(6)
            position += 6
    return T, columns
