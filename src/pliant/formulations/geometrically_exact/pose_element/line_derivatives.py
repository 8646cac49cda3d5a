"""First and second derivatives of lines in small body displacements of their two nodes.

Rows of twelve numbers, node a first: phi' = gradient . (V_a, V_b) with body twists. Second derivatives are complex
derivatives of the gradients, exact to round-off.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pliant.formulations.geometrically_exact.pose_element.mechanism import (
    ALONG,
    BUSHING,
    DIRECTION,
    DISTANCE,
    SPRING,
    WALL,
    Floats,
    Lines,
)
from pliant.mechanics.twist_matrices import STEP, bracket, hat, logarithm_tangent, to_frame
from pliant.spatial.arrays import twist_from_pose

Numbers = NDArray[Any]


class Pair(NamedTuple):
    """Positions and rotations of the two nodes of a line, with any number of leading axes."""

    xa: Numbers
    Ra: Numbers
    xb: Numbers
    Rb: Numbers


def displaced(pair: Pair, displacements: Floats) -> Pair:
    """Moved by imaginary body displacements (..., 12), for complex derivatives along them."""
    d = 1j * STEP * displacements
    return Pair(
        pair.xa + d[..., :3] @ pair.Ra.T,
        pair.Ra + pair.Ra @ hat(d[..., 3:6]),
        pair.xb + d[..., 6:9] @ pair.Rb.T,
        pair.Rb + pair.Rb @ hat(d[..., 9:]),
    )


def pair_of(lines: Lines, k: int, x: Floats, R: Floats) -> Pair:
    a, b = lines.node[k]
    return Pair(x[a], R[a], x[b], R[b])


def gradient(lines: Lines, k: int, pair: Pair) -> Floats:
    """Gradient (12,) of line k."""
    if lines.measure[k] >= BUSHING:
        rows: Floats = _bushing(lines, k, pair, np.zeros((1, 12)))[0].real
        return rows
    plain: Floats = _plain(lines, k, pair)
    return plain


def gradient_changes(lines: Lines, k: int, pair: Pair, displacements: Floats) -> Floats:
    """Derivatives (m, 12) of the gradient of line k along body displacements (m, 12) of its nodes."""
    bushing = lines.measure[k] >= BUSHING
    rows = (
        _bushing(lines, k, pair, displacements)
        if bushing
        else _plain(lines, k, displaced(pair, displacements))
    )
    return np.asarray(rows.imag / STEP)


def _turned(R: Numbers, v: Numbers) -> Numbers:
    """R^T v."""
    return np.asarray((np.swapaxes(R, -1, -2) @ v[..., None])[..., 0])


def _plain(lines: Lines, k: int, pair: Pair) -> Numbers:
    kind = lines.measure[k]
    (ca, cb), (da, db) = lines.point[k], lines.direction[k]
    if kind == DIRECTION:
        on_a = np.cross(da, _turned(pair.Ra, pair.Rb @ db))
        on_b = np.cross(db, _turned(pair.Rb, pair.Ra @ da))
        none = np.zeros_like(on_a)
        return np.concatenate([none, on_a, none, on_b], axis=-1)
    end = pair.xb + pair.Rb @ cb - pair.xa
    if kind == ALONG:
        place, force = _turned(pair.Ra, end), _turned(pair.Rb, pair.Ra @ da)
        d = np.broadcast_to(da, place.shape)
        return np.concatenate([-d, -np.cross(place, d), force, np.cross(cb, force)], axis=-1)
    e = np.broadcast_to(np.eye(3)[min(kind, 2)], end.shape)
    if kind == DISTANCE:
        r = end - pair.Ra @ ca
        e = r / np.sqrt(np.sum(r * r, axis=-1, keepdims=True))
    fa, fb = _turned(pair.Ra, e), _turned(pair.Rb, e)
    return np.concatenate([-fa, -np.cross(ca, fa), fb, np.cross(cb, fb)], axis=-1)


def _bushing(lines: Lines, k: int, pair: Pair, displacements: Floats) -> Numbers:
    """Row of the derivative of log(g_A^-1 g_B) of frames fixed to the nodes, moved by imaginary displacements."""
    (ca, cb), (Qa, Qb) = lines.point[k], lines.turn[k].reshape(2, 3, 3)
    Ra, Rb = pair.Ra @ Qa, pair.Rb @ Qb
    between = np.eye(4)
    between[:3, :3] = Ra.T @ Rb
    between[:3, 3] = Ra.T @ (pair.xb + pair.Rb @ cb - pair.xa - pair.Ra @ ca)
    on_a, on_b, across = to_frame(Qa, ca), to_frame(Qb, cb), to_frame(between[:3, :3], between[:3, 3])
    log = twist_from_pose(between)
    relative = displacements[:, 6:] @ on_b.T - displacements[:, :6] @ (across @ on_a).T
    moved = log + 1j * STEP * relative @ logarithm_tangent(log).T
    turned = across - 1j * STEP * bracket(relative) @ across
    row = logarithm_tangent(moved)[:, lines.measure[k] - BUSHING]
    return np.concatenate([-np.einsum("mi,mij->mj", row, turned) @ on_a, row @ on_b], axis=1)


class LineForces(NamedTuple):
    """What lines with a law do: forces (lines,), and their derivatives in phi and phi' (lines, lines)."""

    force: Floats
    stiffness: Floats
    damping: Floats


def line_forces(lines: Lines, phi: Floats, rate: Floats) -> LineForces:
    """Forces of springs and of walls that touch; closed lines have none here."""
    count = len(phi)
    force, stiffness, damping = np.zeros(count), np.zeros((count, count)), np.zeros((count, count))
    for k in range(count):
        first, width = k, 1
        if lines.measure[k] >= BUSHING:
            first, width = k - (lines.measure[k] - BUSHING), 6
        span = slice(first, first + width)
        value = (
            lines.stiffness[k, :width] @ (phi[span] - lines.rest[span])
            + lines.damping[k, :width] @ rate[span]
        )
        touches = lines.law[k] == WALL and phi[k] < lines.rest[k] and value < 0.0
        if lines.law[k] == SPRING or touches:
            force[k], stiffness[k, span], damping[k, span] = (
                value,
                lines.stiffness[k, :width],
                lines.damping[k, :width],
            )
    return LineForces(force, stiffness, damping)
