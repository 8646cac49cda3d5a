"""Joint positions that bring the tip of an arm, with the deflection it has at rest there, to a target.

Gauss-Newton on the error of the resting tip: the Jacobian counts how the deflection changes with the posture, so that
convergence is fast. Steps are the shortest that serve, joints stop at their limits, and every start is first brought
near by the undeformed arm, which costs little.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from pliant.analysis.held_joints import HeldJoints, checked_positions, hold
from pliant.analysis.kinematics import RestingTip, RigidTip, TipPose, checked_link, resting_tip, rigid_tip
from pliant.errors import InvalidInput
from pliant.model.contract import Model
from pliant.model.layout import Array
from pliant.robot.topology import nearest
from pliant.spatial.arrays import vector_from_rotation

ITERATIONS = 60
LONGEST = 0.5  # rad or m of a joint in one step
PARTS = (1.0, 0.5, 0.25, 0.125, 0.03)  # of a step that are tried until one brings the tip nearer
DAMPING = 1e-2  # of steps, times the square of the error: singular postures are left slowly, targets met fast
LEAST_DAMPING = 1e-14  # of steps near the target: joints that are not needed stay
ROOM = 1e-12  # rad or m between the limits of a joint that may not move at all
PROGRESS = 1e-3  # part of what is missing that a step must gain: out of reach, ever smaller ones would follow
NEAR = 1e-6  # m and rad that the undeformed arm may miss: it only shows where to begin
FOLLOWED = 4  # further starts that are followed to the end
SEED = 1  # of further starts, so that answers repeat


@dataclass(frozen=True, eq=False)
class Reach:
    """The posture that was found: ``tip.positions`` of the joints ``tip.names``, and where the tip then rests.

    ``position_error`` in metres, ``rotation_error`` in radians (zero where no rotation was asked for). Where the target
    was not reached, ``reason`` says by how much and what to do; else it is empty.
    """

    tip: RestingTip
    position_error: float
    rotation_error: float
    reason: str = ""

    @property
    def reached(self) -> bool:
        return not self.reason

    @property
    def positions(self) -> Array:
        return self.tip.positions


@dataclass(frozen=True, eq=False)
class _Task:
    """Bring the tip to ``position`` and, if given, to ``rotation``, between the limits of the joints."""

    held: HeldJoints
    link: str
    position: Array
    rotation: Array | None
    lower: Array
    upper: Array

    def error(self, tip: TipPose) -> Array:
        """What is missing, in world axes: (3,) or (6,)."""
        away = self.position - tip.position
        if self.rotation is None:
            return away
        return np.concatenate([away, vector_from_rotation(self.rotation @ tip.rotation.T)])

    def size(self, tip: TipPose) -> float:
        """Of what is missing, metres and radians alike."""
        return float(np.linalg.norm(self.error(tip)))

    def nearer(self, trial: TipPose, tip: TipPose) -> bool:
        return self.size(trial) < (1.0 - PROGRESS) * self.size(tip)

    def step(self, tip: TipPose, error: Array) -> Array:
        """Damped least squares between the limits: joints that would pass theirs stop there, the others go on."""
        from scipy.optimize import lsq_linear

        q = tip.positions
        damping = np.sqrt(DAMPING * float(error @ error) + LEAST_DAMPING) * np.eye(len(q))
        found = lsq_linear(
            np.vstack([tip.jacobian[: len(error)], damping]),
            np.append(error, np.zeros(len(q))),
            (self.lower - q - ROOM, self.upper - q + ROOM),
            method="bvls",
        )
        change: Array = np.clip(q + found.x, self.lower, self.upper) - q
        return change * min(1.0, LONGEST / max(float(np.abs(change).max(initial=0.0)), 1e-300))


def inverse_kinematics(
    model: Model,
    position: ArrayLike,
    rotation: ArrayLike | None = None,
    joints: Sequence[str] | None = None,
    start: ArrayLike | None = None,
    limits: Mapping[str, tuple[float, float]] | None = None,
    *,
    link: str | None = None,
    starts: int = 8,
    tolerance: float = 1e-10,
    time: float = 0.0,
) -> Reach:
    """Positions of ``joints`` at which the resting tip of ``link`` is at ``position`` and, if given, has ``rotation``.

    Gravity and the loads of ``time`` bend the arm, as in `forward_kinematics`. ``start`` is tried first, by default
    where the joints start, then further starts between the limits: those of the robot's joints and of ``limits``.
    With more joints than needed the posture is one near its start. ``tolerance`` bounds what is missing, in metres
    and radians.
    """
    if starts < 1:
        raise InvalidInput(f"starts = {starts} must be at least 1; 8 serves most arms")
    held = hold(model, joints, time)
    lower, upper = _limits(held, limits or {})
    task = _Task(held, checked_link(model, link), *_target(position, rotation), lower, upper)
    initial = model.layout.part(model.initial_state(), "joint_position")[list(held.columns)]
    first = initial if start is None else checked_positions(held, start)
    best, count = None, 0
    for near in _postures(task, np.clip(first, lower, upper), starts):
        count += 1
        found = _at_rest(task, near, tolerance)
        if found is not None and (best is None or task.size(found) < task.size(best)):
            best = found
        if best is not None and task.size(best) <= tolerance:
            break
    if best is None:
        raise InvalidInput(
            f"robot '{model.robot.name}' finds no rest near any of {count} postures; lower the loads, or give a start"
        )
    error = task.error(best)
    turn = float(np.linalg.norm(error[3:]))
    reason = "" if task.size(best) <= tolerance else _reason(task, best, count)
    return Reach(best, float(np.linalg.norm(error[:3])), turn, reason)


def _postures(task: _Task, first: Array, starts: int) -> Iterator[RigidTip]:
    """Where the undeformed arm comes nearest to the target: from the first start, then the best of the others."""
    yield _undeformed(task, first)
    random = np.random.default_rng(SEED)
    low, high = np.maximum(task.lower, -task.held.span), np.minimum(task.upper, task.held.span)
    others = [_undeformed(task, q) for q in random.uniform(low, high, (starts - 1, len(first)))]
    yield from sorted(others, key=task.size)[:FOLLOWED]


def _undeformed(task: _Task, q: Array) -> RigidTip:
    tip = rigid_tip(task.held, q, task.link)
    if task.held.model.robot.loops:
        return tip  # an undeformed posture that closes all loops need not exist near this one
    for _ in range(ITERATIONS):
        error = task.error(tip)
        if task.size(tip) <= NEAR:
            break
        step = task.step(tip, error)
        trials = (rigid_tip(task.held, tip.positions + part * step, task.link) for part in PARTS)
        better = next((trial for trial in trials if task.nearer(trial, tip)), None)
        if better is None:
            break
        tip = better
    return tip


def _at_rest(task: _Task, near: RigidTip, tolerance: float) -> RestingTip | None:
    """From an undeformed posture to one whose resting tip is as near to the target as steps bring it."""
    try:
        tip = resting_tip(task.held, near.positions, task.link, None)
    except InvalidInput:
        return None
    for _ in range(ITERATIONS):
        if task.size(tip) <= tolerance:
            break
        step = task.step(tip, task.error(tip))
        better = next(
            (trial for part in PARTS if (trial := _moved(tip, part * step, task)) is not None), None
        )
        if better is None:
            break
        tip = better
    return tip


def _moved(tip: RestingTip, step: Array, task: _Task) -> RestingTip | None:
    """The tip after a step of the joints, if that brings it nearer."""
    still = np.zeros(len(tip.small.M))
    try:
        trial = resting_tip(
            task.held, tip.positions + step, task.link, tip.small.state_at(tip.carried @ step, still)
        )
    except InvalidInput:
        return None
    return trial if task.nearer(trial, tip) else None


def _limits(held: HeldJoints, given: Mapping[str, tuple[float, float]]) -> tuple[Array, Array]:
    for name, (low, high) in given.items():
        if name not in held.names:
            raise InvalidInput(f"limits: '{name}' is no joint that moves here; {nearest(name, held.names)}")
        if not low <= high:
            raise InvalidInput(f"limits of '{name}': {low:g} lies above {high:g}, rad or m; exchange them")
    own = {each.name: each.law.limits for joint in held.model.robot.joints for each in joint.freedoms}
    lower, upper = np.full(len(held.names), -np.inf), np.full(len(held.names), np.inf)
    for k, name in enumerate(held.names):
        stops = own.get(name)
        if stops is not None:
            lower[k], upper[k] = stops.lower, stops.upper
        if name in given:
            lower[k], upper[k] = max(lower[k], given[name][0]), min(upper[k], given[name][1])
    return lower, upper


def _target(position: ArrayLike, rotation: ArrayLike | None) -> tuple[Array, Array | None]:
    x = np.asarray(position, float)
    if x.shape != (3,) or not np.all(np.isfinite(x)):
        raise InvalidInput(
            f"position has shape {x.shape} or is not finite; give three numbers in m, in world axes"
        )
    if rotation is None:
        return x, None
    R = np.asarray(rotation, float)
    if R.shape != (3, 3) or not np.allclose(R @ R.T, np.eye(3), atol=1e-9) or np.linalg.det(R) < 0.0:
        raise InvalidInput(
            f"rotation of shape {R.shape} is no rotation matrix (3, 3); give one from the tip to the world"
        )
    return x, R


def _reason(task: _Task, tip: RestingTip, count: int) -> str:
    error = task.error(tip)
    missing = f"{np.linalg.norm(error[:3]):.3g} m"
    if task.rotation is not None:
        missing += f" and {np.linalg.norm(error[3:]):.3g} rad"
    stopped = [
        name
        for name, q, low, high in zip(tip.names, tip.positions, task.lower, task.upper, strict=True)
        if q in (low, high)
    ]
    words = f", with {', '.join(stopped)} at a limit" if stopped else ""
    remedy = f"widen the limits of {stopped[0]}, " if stopped else ""
    return (
        f"the tip of link '{tip.link}' stays {missing} from the target in the best of {count} postures{words};"
        f" {remedy}move the target into reach, ask for the position alone, or raise starts"
    )
