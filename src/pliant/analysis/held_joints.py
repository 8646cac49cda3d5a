"""A model with some of its joints held where one wants them: its rest there, and what a small change of them does.

At rest the small motions of the model with these joints freed, and driven by the torques that hold them, have

    K y = P^T torque ,   P y = change of the joint positions ,

so that the motion E of the whole arm per change of the joints, deflection included, follows from one bordered system.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from pliant.errors import InvalidInput
from pliant.model.contract import Model, SecondOrder, Settled, refuse_other_than_model
from pliant.model.inputs import Inputs
from pliant.model.layout import Array
from pliant.robot.topology import nearest

LOAD_STEPS = 10
ACCURACY = 1e-13
ROUND_OFF = 1e-12  # part of the largest stiffness below which that of a free joint may be noise


@dataclass(frozen=True, eq=False)
class HeldJoints:
    """The joints of ``names`` of a model are held; all else is as connected, at ``time``."""

    model: Model
    names: tuple[str, ...]
    time: float

    @cached_property
    def columns(self) -> tuple[int, ...]:
        return tuple(self.model.joint_names.index(name) for name in self.names)

    @cached_property
    def span(self) -> Array:
        """How far to both sides the positions of joints without limits are sought: half a turn, or a metre."""
        slides = {each.name: each.slides for joint in self.model.robot.joints for each in joint.freedoms}
        return np.array([1.0 if slides.get(name) else np.pi for name in self.names])

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

    def settle(self, positions: Array, near: Array | None = None) -> Settled:
        """Equilibrium with the joints there; from ``near``, a state almost at rest there, in one step."""
        inputs = self._inputs(True, np.stack([positions, 0.0 * positions, 0.0 * positions], axis=1))
        if near is not None:
            settled = self.model.settle(near, inputs, self.time, 1, ACCURACY)
            if settled.ending.completed:
                return settled
        return self.model.settle(self.start(positions), inputs, self.time, LOAD_STEPS, ACCURACY)

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
        """Small motions about an equilibrium with the joints free under the torques that hold them there."""
        signals = np.zeros((len(self.names), 3))
        lack = self.model.small_motions(state, self._inputs(False, signals), self.time)
        rows = lack.joint_position[list(self.columns)]
        signals[:, 2] = -np.linalg.lstsq(rows.T, lack.unbalanced, rcond=None)[0]
        return self.model.small_motions(state, self._inputs(False, signals), self.time)

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


def hold(model: Model, joints: Sequence[str] | None, time: float) -> HeldJoints:
    """The joints of those names; by default all that are not prescribed, of a robot without loops."""
    refuse_other_than_model(model)
    if joints is None:
        if model.robot.loops:
            raise InvalidInput(
                f"robot '{model.robot.name}' has the loop joint '{model.robot.loops[0].name}', and its joints are not"
                " independent; name those that are driven with joints"
            )
        names = tuple(
            name for name, given in zip(model.joint_names, model.inputs.prescribed, strict=True) if not given
        )
    else:
        names = tuple(joints)
        for name in names:
            if name not in model.joint_names:
                raise InvalidInput(
                    f"joints: '{name}' is no joint coordinate of robot '{model.robot.name}';"
                    f" {nearest(name, model.joint_names)}"
                )
    if not names:
        raise InvalidInput(
            f"robot '{model.robot.name}' has no joint to hold: all are prescribed or fixed; free one"
        )
    return HeldJoints(model, names, time)


def checked_positions(held: HeldJoints, positions: ArrayLike) -> Array:
    array = np.asarray(positions, float)
    if array.shape != (len(held.names),) or not np.all(np.isfinite(array)):
        raise InvalidInput(
            f"positions has shape {array.shape} or is not finite; give {len(held.names)} finite numbers in rad or m,"
            f" one for each of {', '.join(held.names)}"
        )
    return array
