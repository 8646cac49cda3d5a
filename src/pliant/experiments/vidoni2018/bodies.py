"""Elastic bodies put together: beams by finite elements, rigid parts on their frames, one body fixed to another.

The arms of pliant join links by joints; the paper exports the whole frame as one body.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from pliant.formulations.equivalent_rigid_link.elastic_body import (
    SMALL,
    ElasticBody,
    Floats,
    Frame,
    Matrix,
    frame_named,
    rigidly_moved,
)
from pliant.formulations.equivalent_rigid_link.elements import BeamElement, BeamMesh, MassMatrix
from pliant.robot import FlexibleLink


def beam_body(
    link: FlexibleLink,
    elements: int,
    element: BeamElement = BeamElement.TIMOSHENKO,
    mass: MassMatrix = MassMatrix.CONSISTENT,
) -> ElasticBody:
    """A flexible link by finite elements."""
    return BeamMesh.of(link, elements, element).body(mass)


class RigidPart(NamedTuple):
    """A rigid body fixed to a frame of an elastic one, in the axes of that frame."""

    frame: str
    mass: float
    center: Floats  # (3,) of mass, from the origin of the frame
    inertia: Floats  # (3, 3) about the centre of mass


def with_parts(body: ElasticBody, parts: Sequence[RigidPart]) -> ElasticBody:
    """The body with rigid parts fixed to its frames, each a mass point and a spin."""
    if not parts:
        return body
    from scipy.sparse import block_diag, csr_array, vstack

    points, spins, places, inertias = [], [], [], []
    for part in parts:
        frame = frame_named(body, part.frame)
        lever = frame.rotation @ np.asarray(part.center, np.float64)
        picked = csr_array((np.ones(6), (np.arange(6), frame.dofs)), shape=(6, body.size))
        moved = csr_array(rigidly_moved(lever)) @ picked
        points.append(moved[:3])
        spins.append(moved[3:])
        places.append(frame.position + lever)
        inertias.append(frame.rotation @ np.asarray(part.inertia, np.float64) @ frame.rotation.T)
    masses = np.array([part.mass for part in parts], np.float64)
    known = body.point_mass
    return replace(
        body,
        point_mass=np.r_[known, masses] if known.ndim == 1 else block_diag([known, np.diag(masses)], format="csr"),
        point_position=np.concatenate([body.point_position, places]),
        to_point=vstack([csr_array(body.to_point), *points], format="csr"),
        spin_inertia=np.concatenate([body.spin_inertia, inertias]),
        to_spin=vstack([csr_array(body.to_spin), *spins], format="csr"),
    )


def join(first: ElasticBody, second: ElasticBody, at: str, pose: Floats, name: str) -> ElasticBody:
    """One body of two: the root of the second is fixed to the frame ``at`` of the first, with a pose (4, 4) in it.

    The degrees of freedom of the second but its root follow those of the first; those of its frames are turned into
    the axes of the first root. Its frames get their name behind ``name`` and a point.
    """
    from scipy.sparse import block_diag, csr_array, diags_array, eye_array, hstack, kron, vstack

    carrier = frame_named(first, at)
    R, x = carrier.rotation @ pose[:3, :3], carrier.position + carrier.rotation @ pose[:3, 3]
    both = np.kron(np.eye(2), R)  # from axes of the second root to those of the first
    count, kept = first.size, second.free
    column = dict(zip(kept.tolist(), range(count, count + len(kept))))
    turned = np.eye(second.size)[:, kept] if second.size <= SMALL else eye_array(second.size, format="lil")[:, kept]
    frames = list(first.frames)
    for frame in second.frames[1:]:
        own = np.array([column[k] for k in frame.dofs.tolist()])
        turned[np.ix_(frame.dofs, own - count)] = both.T
        frames.append(Frame(f"{name}.{frame.name}", x + R @ frame.position, R @ frame.rotation, own))
    # all degrees of freedom of the second per those of the joined body
    root = csr_array((np.ones(6), (np.arange(6), carrier.dofs)), shape=(6, count))
    root = csr_array(both.T @ rigidly_moved(x - carrier.position)) @ root
    placed = csr_array((np.ones(6), (second.frames[0].dofs, np.arange(6))), shape=(second.size, 6)) @ root
    to_second = hstack([placed, csr_array(turned)], format="csr")
    to_first = csr_array(eye_array(count, count + len(kept)))

    def sum_of(A: Matrix, B: Matrix) -> Matrix:
        whole = to_first.T @ (csr_array(A) @ to_first) + to_second.T @ (csr_array(B) @ to_second)
        return whole.tocsr() if whole.shape[0] > SMALL else whole.toarray()

    def rows(A: Matrix, B: Matrix) -> Matrix:
        each = kron(eye_array(B.shape[0] // 3), R, format="csr")
        return vstack([csr_array(A) @ to_first, each @ (csr_array(B) @ to_second)], format="csr")

    moved = second.rigid @ both.T @ rigidly_moved(x)
    weights = (first.point_mass, second.point_mass)
    if all(weight.ndim == 1 for weight in weights):
        point_mass: Matrix = np.concatenate(weights)
    else:
        point_mass = block_diag([w if w.ndim == 2 else diags_array(w) for w in weights], format="csr")
    return ElasticBody(
        tuple(frames),
        sum_of(first.stiffness, second.stiffness),
        sum_of(first.damping, second.damping),
        np.concatenate([first.rigid, np.asarray(turned.T @ moved)]),
        point_mass,
        np.concatenate([first.point_position, x + second.point_position @ R.T]),
        rows(first.to_point, second.to_point),
        np.concatenate([first.spin_inertia, R @ second.spin_inertia @ R.T]),
        rows(first.to_spin, second.to_spin),
    )
