"""Links of any shape as elastic bodies: nodes of a frame move with it as one rigid body.

A node at x of a frame at p, which is displaced by d and turned by r, is displaced by  d + r x (x - p)  and turned by r.
So the degrees of freedom are six of each frame, root first and tip last, and those of all nodes that no frame holds.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant.formulations.equivalent_rigid_link.elastic_body import ElasticBody, Frame
from pliant.robot.nodal_body import rigid_motions
from pliant.robot.reduced_link import ReducedLink


def reduced_body(link: ReducedLink) -> ElasticBody:
    """The link with its nodes tied to their frames, in the frame of its root."""
    from scipy.sparse import csr_array, eye_array, kron

    body, x, per_node = link.body, link.positions, link.body.per_node
    tied = _tied(link)
    turn = kron(eye_array(len(x) * per_node // 3), link.axes, format="csr")  # from the axes of the root
    moved = turn @ tied
    stiffness = moved.T @ (body.stiffness @ moved)
    stiffness = csr_array(0.5 * (stiffness + stiffness.T))
    rows = np.arange(len(x) * per_node).reshape(len(x), per_node)
    spinning = np.flatnonzero(np.abs(body.rotary).max(axis=(1, 2), initial=0.0) > 0.0)
    frames = tuple(
        Frame(name, position, rotation, np.arange(6 * k, 6 * k + 6))
        for k, (name, position, rotation, _) in enumerate(link.placed_frames)
    )
    at_frames = rigid_motions(np.array([frame.position for frame in frames]), 6)
    free = _free(link)
    return ElasticBody(
        frames=frames,
        stiffness=stiffness,
        damping=link.stiffness_damping * stiffness,
        rigid=np.concatenate([at_frames, rigid_motions(x[free], per_node)]),
        point_mass=body.mass,
        point_position=x,
        to_point=tied[rows[:, :3].ravel()],
        spin_inertia=link.axes.T @ body.rotary[spinning] @ link.axes,
        to_spin=tied[rows[spinning, 3:].ravel()] if len(spinning) else csr_array((0, tied.shape[1])),
    )


def _free(link: ReducedLink) -> NDArray[np.int64]:
    """Nodes that no frame holds."""
    held = np.concatenate([nodes for *_, nodes in link.placed_frames])
    return np.setdiff1d(np.arange(len(link.positions)), held)


def _tied(link: ReducedLink) -> Any:
    """Displacements (and rotations) of all nodes by degrees of freedom, sparse, in the axes of the root."""
    from scipy.sparse import coo_array

    x, per_node, free = link.positions, link.body.per_node, _free(link)
    first = 6 * len(link.placed_frames)
    own = np.arange(per_node)
    rows = [(free[:, None] * per_node + own).ravel()]
    columns = [first + np.arange(per_node * len(free))]
    values = [np.ones(per_node * len(free))]
    for k, (_, position, _, nodes) in enumerate(link.placed_frames):
        motion = rigid_motions(x[nodes] - position, per_node)
        there = (nodes[:, None] * per_node + own).ravel()
        rows.append(np.repeat(there, 6))
        columns.append(np.tile(np.arange(6 * k, 6 * k + 6), len(there)))
        values.append(motion.ravel())
    shape = (per_node * len(x), first + per_node * len(free))
    place = (np.concatenate(rows), np.concatenate(columns))
    tied = coo_array((np.concatenate(values), place), shape=shape).tocsr()
    tied.eliminate_zeros()
    return tied
