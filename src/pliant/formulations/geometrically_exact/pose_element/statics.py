"""Forces on a mechanism at rest and their derivatives.

The balance of a step that goes nowhere is that of the forces of the pose: both its ends are the same. Over a step so
long that inertia counts for nothing, its derivative in the displacement of the end is half the stiffness, because
forces are symmetric functions of both ends.
"""

from __future__ import annotations

from typing import NamedTuple

from pliant.formulations.geometrically_exact.pose_element.balance import Sizes
from pliant.formulations.geometrically_exact.pose_element.mechanism import (
    REVOLUTE,
    Floats,
    Ints,
    Mechanism,
    Pose,
    Tree,
)
from pliant.formulations.geometrically_exact.pose_element.motion import move
from pliant.formulations.geometrically_exact.pose_element.newton import evaluate
from pliant.formulations.geometrically_exact.pose_element.relative_pose import vector
from pliant.formulations.geometrically_exact.pose_element.step_data import Moment, Signals, Step
from pliant.jit import inline_kernel, kernel
from pliant.spatial.vectors import add, cross, dot

LONG = 1e6  # s; inertia over its square is below round-off of any stiffness
PROBE = 1e-6  # m or rad; the square of it, and round-off over it, spoil ten digits of a stiffness
JOINT, LINE = 6, 7  # parts of unknowns beside the six of a node


class Unknowns(NamedTuple):
    """What moves: a node's displacement (part 0 .. 2, world) or turn (3 .. 5, body), a joint, or a line's force."""

    row: Ints  # node or line
    part: Ints


class Static(NamedTuple):
    """Scratch of an equilibrium."""

    start: Moment
    end: Moment
    step: Step
    sizes: Sizes
    force: Floats  # (lines,) of the closed lines


@kernel
def displace(unknowns: Unknowns, change: Floats, factor: float, static: Static) -> None:
    """Velocities of a long step that change the unknowns by ``factor change``, and the forces of closed lines."""
    step = static.step
    for i in range(step.Y.shape[0]):
        step.s[i] = 0.0
        for k in range(6):
            step.Y[i, k] = 0.0
    for k in range(static.force.shape[0]):
        step.impulse[k] = LONG * static.force[k]
    for u in range(unknowns.row.shape[0]):
        i, part = unknowns.row[u], unknowns.part[u]
        if part == LINE:
            step.impulse[i] += LONG * factor * change[u]
        elif part == JOINT:
            step.s[i] = factor * change[u] / LONG
        else:
            step.Y[i, part] = factor * change[u] / LONG


@kernel
def residual_at(
    mechanism: Mechanism, signals: Signals, now: Pose, unknowns: Unknowns, static: Static, residual: Floats
) -> None:
    """Unbalanced forces along the unknowns, and the gaps of closed lines, after `displace`."""
    step = static.step
    move(mechanism.tree, mechanism.coordinates.prescribed, signals, static.start, static.end, step)
    evaluate(mechanism, signals, now, static.start, static.end, step, static.sizes)
    for u in range(unknowns.row.shape[0]):
        i, part = unknowns.row[u], unknowns.part[u]
        if part == LINE:
            residual[u] = static.end.phi[i]
        elif part == JOINT:
            residual[u] = step.row[i] / LONG
        else:
            residual[u] = step.rho[i, part] / LONG


@inline_kernel
def velocity_along(tree: Tree, i: int, part: int, step: Step) -> float:
    """What the residual of an unknown does its work on, in the present step.

    A joint keeps its own residual back from its parent, so it works on the motion of the parent along the axis too.
    """
    if part < 3:
        return float(step.Y[i, part])
    if part < JOINT:
        return float(step.omega[i, part - 3])
    axis, p = vector(step.axis, i, 0), tree.parent[i]
    carried = vector(step.omega, p, 0)
    if tree.hang[i] != REVOLUTE:
        carried = add(vector(step.Y, p, 0), cross(carried, vector(step.lever, i, 0)))
    return float(step.s[i] + dot(axis, carried) / dot(axis, axis))


@kernel
def stiffness(
    mechanism: Mechanism,
    signals: Signals,
    now: Pose,
    unknowns: Unknowns,
    static: Static,
    work: Floats,
    K: Floats,
) -> None:
    """Derivatives K[0] of the residual and the velocities K[1] that each residual works on, column by column.

    ``work`` (3, unknowns) is scratch. A gap is not a mean over the step: its derivative is whole, and so is that of
    the balance in a line's force.
    """
    count = unknowns.row.shape[0]
    change, plus, minus = work[0], work[1], work[2]
    for u in range(count):
        change[u] = 0.0
    for u in range(count):
        change[u] = 1.0
        displace(unknowns, change, -PROBE, static)
        residual_at(mechanism, signals, now, unknowns, static, minus)
        displace(unknowns, change, PROBE, static)
        residual_at(mechanism, signals, now, unknowns, static, plus)
        change[u] = 0.0
        for v in range(count):
            mean = unknowns.part[v] != LINE and unknowns.part[u] != LINE
            K[0, v, u] = (plus[v] - minus[v]) / (PROBE if mean else 2.0 * PROBE)
            if unknowns.part[v] == LINE:
                K[1, v, u] = 1.0 if u == v else 0.0
            else:
                along = velocity_along(mechanism.tree, unknowns.row[v], unknowns.part[v], static.step)
                K[1, v, u] = along * LONG / PROBE
