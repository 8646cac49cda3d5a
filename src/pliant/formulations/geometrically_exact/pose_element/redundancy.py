"""Closures that others imply, such as those of a planar loop of rigid links built from joints in space."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pliant.formulations.geometrically_exact.pose_element.balance import new_sizes
from pliant.formulations.geometrically_exact.pose_element.consistency import lay_out_velocities, new_fit
from pliant.formulations.geometrically_exact.pose_element.line_relations import line_gradients
from pliant.formulations.geometrically_exact.pose_element.line_solver import fill_answers, new_line_factors
from pliant.formulations.geometrically_exact.pose_element.mechanism import (
    CLOSED,
    GROUND,
    Bools,
    Floats,
    Mechanism,
    Pose,
)
from pliant.formulations.geometrically_exact.pose_element.motion import (
    choose_mid_frames,
    move,
    restart_ball_joints,
)
from pliant.formulations.geometrically_exact.pose_element.newton import evaluate
from pliant.formulations.geometrically_exact.pose_element.singularity import refuse_singular
from pliant.formulations.geometrically_exact.pose_element.step_data import (
    Signals,
    new_moment,
    new_signals,
    new_step,
)
from pliant.formulations.geometrically_exact.pose_element.tangent import put_tangent
from pliant.formulations.geometrically_exact.pose_element.tree_solver import (
    factorise,
    new_factors,
    new_increment,
)

if TYPE_CHECKING:
    from pliant.formulations.geometrically_exact.pose_element.model import PoseElementArm

DEPENDENT = 1e-11  # part of a closure that is left when those before it are taken out; round-off is below
PROBE_STEP = 1e-3  # s


def kept_lines(arm: PoseElementArm, mechanism: Mechanism, now: Pose) -> tuple[Bools, Bools]:
    """Which lines a step needs, and which of the closed ones the velocities need; the others follow from them.

    Links that bend make closures independent in the step that are dependent for the velocities of rigid parts. The
    choice is made once, so that a posture in which more closures are dependent than around it is refused.
    """
    closed = mechanism.lines.law == CLOSED
    if not closed.any():
        return np.ones(len(closed), np.bool_), closed
    at = arm.moment_of(mechanism, now)
    refuse_singular(arm.structure, mechanism.coordinates.prescribed, at.x, at.R.reshape(-1, 3, 3))
    signals = _resting_signals(mechanism, now)
    in_step = ~closed | _independent(_answers_of_step(arm, mechanism, now, signals), closed)
    return in_step, _independent(_answers_of_velocities(arm, mechanism, now, signals), closed)


def _resting_signals(mechanism: Mechanism, now: Pose) -> Signals:
    """No motion during the probe step."""
    signals = new_signals(len(now.q), _loads(mechanism))
    signals.h[0] = PROBE_STEP
    signals.target[:, 0] = now.q
    base = int(np.flatnonzero(mechanism.tree.hang == GROUND)[0])
    signals.base[:3], signals.base[3:7] = now.x[base], now.quaternion[base]
    return signals


def _loads(mechanism: Mechanism) -> int:
    return int(mechanism.wrenches.load.max(initial=-1)) + 1


def _answers_of_step(arm: PoseElementArm, mechanism: Mechanism, now: Pose, signals: Signals) -> Floats:
    nodes, lines = len(now.x), len(mechanism.lines.law)
    start, end = arm.moment_of(mechanism, now), new_moment(nodes, len(now.q), lines)
    step = new_step(nodes, len(now.q), lines)
    factors, increment = new_factors(nodes), new_increment(nodes)
    own = new_line_factors(lines, nodes, np.ones(lines, np.bool_))
    everything = np.ones(nodes, np.bool_)
    prescribed = mechanism.coordinates.prescribed
    restart_ball_joints(mechanism.tree, start)
    choose_mid_frames(PROBE_STEP, start, step)
    move(mechanism.tree, prescribed, signals, start, end, step)
    evaluate(mechanism, signals, now, start, end, step, new_sizes())
    put_tangent(mechanism, signals, start, end, step, factors, np.zeros((4, 6, 6)))
    factorise(mechanism.tree, prescribed, everything, factors)
    fill_answers(
        mechanism.tree,
        mechanism.lines,
        step,
        step.R_mid,
        (prescribed, everything, factors),
        increment,
        own,
    )
    return own.S


def _answers_of_velocities(arm: PoseElementArm, mechanism: Mechanism, now: Pose, signals: Signals) -> Floats:
    at = arm.moment_of(mechanism, now)
    fit = new_fit(mechanism, mechanism.lines.law == CLOSED, False)
    rates = now._replace(qd=now.qd.copy())
    lay_out_velocities(mechanism, signals, rates, at, fit)
    prescribed = mechanism.coordinates.prescribed
    factorise(fit.tree, prescribed, fit.active, fit.factors)
    line_gradients(mechanism.lines, at, at, at.R, fit.step.gradient)
    solver = (prescribed, fit.active, fit.factors)
    fill_answers(fit.tree, mechanism.lines, fit.step, at.R, solver, fit.increment, fit.lines)
    return fit.lines.S


def _independent(S: Floats, closed: Bools) -> Bools:
    """Closed lines left by a pivoted elimination of the symmetric matrix of their answers."""
    rows = np.flatnonzero(closed)
    A = -0.5 * (S + S.T)[np.ix_(rows, rows)]
    scale = np.sqrt(np.maximum(A.diagonal(), 1e-300))
    A = A / np.outer(scale, scale)
    # a line along which nothing can move has no answer at all
    reachable = scale > 1e-9 * scale.max()
    A[~reachable], A[:, ~reachable] = 0.0, 0.0
    kept = np.zeros(len(closed), np.bool_)
    left = list(np.flatnonzero(reachable))
    while left:
        pivot = max(left, key=lambda k: A[k, k])
        if A[pivot, pivot] < DEPENDENT:
            break
        left.remove(pivot)
        kept[rows[pivot]] = True
        A = A - np.outer(A[:, pivot], A[pivot]) / A[pivot, pivot]
    return kept
