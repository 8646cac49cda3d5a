"""Kinematics of arms that sag: joints held at chosen positions, forward and inverse kinematics.

At rest the linearised motion of the model with these joints freed, and driven by the torques that hold them, has

    K y = P^T torque ,   P y = change of the joint positions ,

so that the motion E of the whole arm per change of the joints, deflection included, follows from one bordered system.

Where the tip of an arm is at given joint positions, and how it moves with them: undeformed, or as it sags.

Joint positions that bring the tip of an arm, with the deflection it has at rest there, to a target.

Gauss-Newton on the error of the resting tip: the Jacobian counts how the deflection changes with the posture, so that
convergence is fast. Steps are the shortest that serve, joints stop at their limits, and every start is first brought
near by the undeformed arm, which costs little.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike

from pliant.analysis.joint_dynamics import checked_row
from pliant.errors import InvalidInput
from pliant.model.contract import Arm, Equilibrium, SecondOrder, refuse_other_than_model
from pliant.model.inputs import Inputs
from pliant.model.state import Array
from pliant.robot.robot import nearest
from pliant.spatial.arrays import vector_from_rotation

LOAD_STEPS = 10
ACCURACY = 1e-13
ROUND_OFF = 1e-12  # part of the largest stiffness below which that of a free joint may be noise


@dataclass(frozen=True, eq=False)
class HeldJoints:
    """The joints of ``names`` of a model are held; all else is as connected, at ``time``."""

    model: Arm
    names: tuple[str, ...]
    time: float

    @cached_property
    def columns(self) -> tuple[int, ...]:
        return tuple(self.model.joint_names.index(name) for name in self.names)

    @cached_property
    def span(self) -> Array:
        """How far to both sides the positions of joints without limits are sought: half a turn, or a metre."""
        translates = {each.name: each.translates for joint in self.model.robot.joints for each in joint.freedoms}
        return np.array([1.0 if translates.get(name) else np.pi for name in self.names])

    def start(self, positions: Array) -> Array:
        """The undeformed arm with the joints there; other joints where they start or close loops."""
        model = self.model
        q = model.layout.part(model.initial_state(), "joint_position").copy()
        signals = model.inputs.joint_signals(np.array([self.time]))[0]
        given = np.array(model.inputs.prescribed, np.bool_)
        q[given] = signals[given, 0]
        q[list(self.columns)] = positions
        given[list(self.columns)] = True
        return model.initial_state(q, np.zeros(len(q)), tuple(bool(each) for each in given))

    def equilibrium(self, positions: Array, near: Array | None = None) -> Equilibrium:
        """Equilibrium with the joints there; from ``near``, a state almost at rest there, in one step."""
        inputs = self._inputs(True, np.stack([positions, 0.0 * positions, 0.0 * positions], axis=1))
        if near is not None:
            balanced = self.model.equilibrium(near, inputs, self.time, 1, ACCURACY)
            if balanced.ending.completed:
                return balanced
        return self.model.equilibrium(self.start(positions), inputs, self.time, LOAD_STEPS, ACCURACY)

    def _inputs(self, held: bool, signals: Array) -> Inputs:
        own, at = self.model.inputs, list(self.columns)

        def joint_signals(times: Array) -> Array:
            table = own.joint_signals(times).copy()
            table[:, at] = signals
            return table

        def without(values: tuple[float, ...]) -> tuple[float, ...]:
            return tuple(0.0 if k in at else value for k, value in enumerate(values))

        return replace(
            own,
            prescribed=tuple(held if k in at else each for k, each in enumerate(own.prescribed)),
            stiffness=without(own.stiffness),
            damping=without(own.damping),
            joint_signals=joint_signals,
            motors=tuple(motor for motor in own.motors if motor.joint not in self.names),
            controllers=(),
        )

    def freed(self, state: Array) -> SecondOrder:
        """Linearised motion about an equilibrium with the joints free under the torques that hold them there."""
        signals = np.zeros((len(self.names), 3))
        lack = self.model.linearise(state, self._inputs(False, signals), self.time)
        rows = lack.joint_position[list(self.columns)]
        signals[:, 2] = -np.linalg.lstsq(rows.T, lack.unbalanced, rcond=None)[0]
        return self.model.linearise(state, self._inputs(False, signals), self.time)

    def carried(self, small: SecondOrder) -> Array:
        """E (unknowns, joints): how the arm at rest follows a change of its joints."""
        P = small.joint_position[list(self.columns)]
        n, m = len(small.K), len(P)
        # unknowns are stiff and soft by many orders: rows and columns are brought to one size
        stiff = np.abs(small.K).max(axis=1, initial=0.0)
        scale = 1.0 / np.sqrt(np.maximum(stiff, ROUND_OFF * stiff.max(initial=0.0) + 1e-300))
        whole = np.zeros((n + m, n + m))
        whole[:n, :n] = small.K * np.outer(scale, scale)
        bound = P * scale
        size = 1.0 / np.maximum(np.abs(bound).max(axis=1, initial=0.0), 1e-300)
        whole[n:, :n] = bound * size[:, None]
        whole[:n, n:] = whole[n:, :n].T
        right = np.zeros((n + m, m))
        right[n:] = np.diag(size)
        try:
            return np.asarray(scale[:, None] * np.linalg.solve(whole, right)[:n])
        except np.linalg.LinAlgError:
            raise InvalidInput(
                f"with the joints {', '.join(self.names)} held something of robot '{self.model.robot.name}' is still"
                " free to move without any stiffness; hold it too, or give its joint a spring"
            ) from None


def hold(model: Arm, joints: Sequence[str] | None, time: float) -> HeldJoints:
    """The joints of those names; by default all that are not prescribed, of a robot without loops."""
    refuse_other_than_model(model)
    if joints is None:
        if model.robot.loops:
            raise InvalidInput(
                f"robot '{model.robot.name}' has the loop joint '{model.robot.loops[0].name}', and its joints are not"
                " independent; name those that are driven with joints"
            )
        names = tuple(name for name, given in zip(model.joint_names, model.inputs.prescribed, strict=True) if not given)
    else:
        names = tuple(joints)
        for name in names:
            if name not in model.joint_names:
                raise InvalidInput(
                    f"joints: '{name}' is no joint coordinate of robot '{model.robot.name}';"
                    f" {nearest(name, model.joint_names)}"
                )
    if not names:
        raise InvalidInput(f"robot '{model.robot.name}' has no joint to hold: all are prescribed or fixed; free one")
    return HeldJoints(model, names, time)


def checked_positions(held: HeldJoints, positions: ArrayLike) -> Array:
    words = f"numbers in rad or m, one for each of {', '.join(held.names)}"
    return checked_row("positions", positions, len(held.names), words)


PROBE = 1e-3  # rad or m, of differences of fourth order between undeformed postures


@dataclass(frozen=True, eq=False)
class TipPose(ABC):
    """The tip of a link with the joints ``names`` held at ``positions``.

    ``position`` (3,) and ``rotation`` (3, 3) are in the world, ``state`` is that of the whole model.
    """

    names: tuple[str, ...]
    positions: Array
    link: str
    position: Array
    rotation: Array
    state: Array = field(repr=False)
    held: HeldJoints = field(repr=False)

    @property
    @abstractmethod
    def jacobian(self) -> Array:
        """(6, joints) velocity and angular rate of the tip per joint rate, in world axes."""


@dataclass(frozen=True, eq=False)
class RigidTip(TipPose):
    """Of the undeformed arm."""

    @cached_property
    def jacobian(self) -> Array:
        """(6, joints) velocity and angular rate of the tip per joint rate, in world axes."""
        count, model = len(self.names), self.held.model
        ahead = np.array([-2.0, -1.0, 1.0, 2.0])
        weights = np.array([1.0, -8.0, 8.0, -1.0]) / (12.0 * PROBE)
        q = model.layout.part(self.state, "joint_position")
        moved = np.tile(q, (count, 4, 1))
        for k, column in enumerate(self.held.columns):
            moved[k, :, column] += PROBE * ahead
        x, R = tip_of(model, model.undeformed(moved.reshape(4 * count, -1)), self.link)
        turns = vector_from_rotation(R @ self.rotation.T)
        both = np.concatenate([x, turns], axis=1).reshape(count, 4, 6)
        return np.asarray(np.einsum("w,kwi->ik", weights, both))


@dataclass(frozen=True, eq=False)
class RestingTip(TipPose):
    """Of the arm at rest under gravity and loads."""

    @cached_property
    def small(self) -> SecondOrder:
        """Linearised motion with the joints free under the torques that hold them."""
        return self.held.freed(self.state)

    @cached_property
    def carried(self) -> Array:
        """(unknowns, joints) how the arm at rest follows its joints."""
        return self.held.carried(self.small)

    @cached_property
    def jacobian(self) -> Array:
        """(6, joints) change of place and turn of the resting tip per change of the joints, in world axes.

        The deflection changes with the posture, and that counts.
        """
        rows = _tip_rows(self.small, self.link, self.held.model)
        return np.asarray(np.kron(np.eye(2), self.rotation) @ rows @ self.carried)

    @cached_property
    def deflection(self) -> Array:
        """(6,) displacement and turn of the tip from where it is undeformed, in world axes."""
        q = self.held.model.layout.part(self.state, "joint_position")
        x, R = tip_of(self.held.model, self.held.model.undeformed(q[None]), self.link)
        return np.concatenate([self.position - x[0], vector_from_rotation(self.rotation @ R[0].T)])


def rigid_kinematics(
    model: Arm, positions: ArrayLike, joints: Sequence[str] | None = None, link: str | None = None, time: float = 0.0
) -> RigidTip:
    """The tip of ``link`` of the undeformed arm, by default of the last link, with ``joints`` at ``positions``.

    By default all joints that are not prescribed; the others are where they start, or are prescribed at ``time``.
    """
    held = hold(model, joints, time)
    return rigid_tip(held, checked_positions(held, positions), checked_link(model, link))


def forward_kinematics(
    model: Arm, positions: ArrayLike, joints: Sequence[str] | None = None, link: str | None = None, time: float = 0.0
) -> RestingTip:
    """The tip of ``link`` of the arm at rest under gravity and the loads of ``time``, ``joints`` held at ``positions``.

    By default the tip of the last link, and all joints that are not prescribed. Feedback and motors of the held
    joints play no part.
    """
    held = hold(model, joints, time)
    return resting_tip(held, checked_positions(held, positions), checked_link(model, link), None)


def rigid_tip(held: HeldJoints, positions: Array, link: str) -> RigidTip:
    state = held.start(positions)
    x, R = tip_of(held.model, state[None], link)
    return RigidTip(held.names, positions, link, x[0], R[0], state, held)


def resting_tip(held: HeldJoints, positions: Array, link: str, near: Array | None) -> RestingTip:
    """From ``near``, a state almost at rest there, or from the undeformed arm."""
    balanced = held.equilibrium(positions, near)
    if not balanced.ending.completed:
        raise InvalidInput(
            f"the arm finds no equilibrium with its joints at {np.array2string(positions, precision=4)}:"
            f" {balanced.ending}"
        )
    x, R = tip_of(held.model, balanced.state[None], link)
    return RestingTip(held.names, positions, link, x[0], R[0], balanced.state, held)


def tip_of(model: Arm, states: Array, link: str) -> tuple[Array, Array]:
    """Positions (n, 3) and rotations (n, 3, 3) of the tip of a link."""
    if link == model.robot.tip_link:
        return model.tip(states)
    seen = model.observe(states, 2).link(link)
    return seen.position[:, -1], seen.rotation[:, -1]


def _tip_rows(small: SecondOrder, link: str, model: Arm) -> Array:
    """Rows (6, unknowns) of the body displacement of the tip of a link."""
    if link == model.robot.tip_link:
        return small.tip
    own = next(port for port in small.ports if port.port.name == f"{link}.tip")
    return own.rate if own.seen is None else own.seen


def checked_link(model: Arm, link: str | None) -> str:
    names = [joint.child for joint in model.robot.chain_order]
    if link is None:
        return model.robot.tip_link
    if link not in names:
        raise InvalidInput(f"robot '{model.robot.name}' has no link '{link}'; {nearest(link, names)}")
    return link


Tip = TypeVar("Tip", RigidTip, RestingTip)
ITERATIONS = 60
LONGEST = 0.5  # rad or m of a joint in one step
PARTS = (1.0, 0.5, 0.25, 0.125, 0.03)  # of a step that are tried until one brings the tip nearer
DAMPING = 1e-2  # of steps, times the square of the error: singular postures are left slowly, targets met fast
LEAST_DAMPING = 1e-14  # of steps near the target: joints that are not needed stay
WIDTH = 1e-12  # rad or m between the limits of a joint that may not move at all
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

    def step(self, tip: TipPose) -> Array:
        """Damped least squares between the limits: joints that would pass theirs stop there, the others go on."""
        from scipy.optimize import lsq_linear

        q, error = tip.positions, self.error(tip)
        damping = np.sqrt(DAMPING * float(error @ error) + LEAST_DAMPING) * np.eye(len(q))
        rows, right = np.vstack([tip.jacobian[: len(error)], damping]), np.append(error, np.zeros(len(q)))
        found = lsq_linear(rows, right, (self.lower - q - WIDTH, self.upper - q + WIDTH), method="bvls")
        change: Array = np.clip(q + found.x, self.lower, self.upper) - q
        return change * min(1.0, LONGEST / max(float(np.abs(change).max(initial=0.0)), 1e-300))


def inverse_kinematics(
    model: Arm,
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
            f"robot '{model.robot.name}' finds no equilibrium near any of {count} postures; lower the loads, or"
            " give a start"
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
    return _approached(task, tip, lambda at, step: rigid_tip(task.held, at.positions + step, task.link), NEAR)


def _at_rest(task: _Task, near: RigidTip, tolerance: float) -> RestingTip | None:
    """From an undeformed posture to one whose resting tip is as near to the target as steps bring it."""
    try:
        tip = resting_tip(task.held, near.positions, task.link, None)
    except InvalidInput:
        return None

    def moved(at: RestingTip, step: Array) -> RestingTip | None:
        ahead = at.small.state_at(at.carried @ step, np.zeros(len(at.small.M)))
        try:
            return resting_tip(task.held, at.positions + step, task.link, ahead)
        except InvalidInput:
            return None

    return _approached(task, tip, moved, tolerance)


def _approached(task: _Task, tip: Tip, moved: Callable[[Tip, Array], Tip | None], tolerance: float) -> Tip:
    """As near to the target as steps bring the tip; ``moved`` gives the tip after a step of the joints, if it can."""
    for _ in range(ITERATIONS):
        if task.size(tip) <= tolerance:
            break
        step, most = task.step(tip), (1.0 - PROGRESS) * task.size(tip)
        trials = (moved(tip, part * step) for part in PARTS)
        better = next((trial for trial in trials if trial is not None and task.size(trial) < most), None)
        if better is None:
            break
        tip = better
    return tip


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
    x = checked_row("position", position, 3, "numbers in m, in world axes")
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
    limits = zip(tip.names, tip.positions, task.lower, task.upper, strict=True)
    stopped = [name for name, q, low, high in limits if q in (low, high)]
    words = f", with {', '.join(stopped)} at a limit" if stopped else ""
    remedy = f"widen the limits of {stopped[0]}, " if stopped else ""
    return (
        f"the tip of link '{tip.link}' stays {missing} from the target in the best of {count} postures{words};"
        f" {remedy}move the target into reach, ask for the position alone, or raise starts"
    )
