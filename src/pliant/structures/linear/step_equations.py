"""The equations of one step of a linear arm, r(z0, z1, u) = 0, with exact derivatives.

z0 is the state at the start; z1 holds the increments E of x at all stages; u the three numbers of each joint and the
wrench of each load at the stages and at the end. With x and the rates of prescribed joints from z0, and w from these
and u,

    r = (S / h - A) E - (1 - history) (A x + B w) ,

the equations that `step_maps` has solved for the fast step; methods that carry rates begin with x' = A x + B w. All is
linear but for one thing: loads that keep their direction in the world, seen from links that prescribed joints rotate.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from pliant.model.contract import NewtonTolerance, Run
from pliant.model.inputs import Inputs
from pliant.model.stage_method import StageMethod
from pliant.structures.linear.arrays import Floats
from pliant.structures.linear.stepper import Stepper
from pliant.structures.step_matrices import StepMatrices

if TYPE_CHECKING:
    from pliant.structures.linear.model import PseudoSpectralArm


def derivative_of(linear: Callable[[Floats], Floats], size: int) -> Floats:
    """The matrix of a function that is linear but for a constant, column by column."""
    nothing = linear(np.zeros(size))
    return np.stack([linear(one) - nothing for one in np.eye(size)], axis=-1)


@dataclass(frozen=True, eq=False)
class LinearStep(StepMatrices):
    """One step about given values (flat vectors); ``at`` makes it about others."""

    stepper: Stepper
    start: Floats
    unknowns: Floats
    inputs: Floats

    def at(self, start: Floats, unknowns: Floats, inputs: Floats) -> LinearStep:
        return replace(self, start=start, unknowns=unknowns, inputs=inputs)

    @cached_property
    def stage_matrix(self) -> Floats:
        """S / h - A over all stages."""
        own, method = self.stepper, self.stepper.method
        A, h = own.equations.A, float(own.plan.h[0])
        return np.kron(method.S / h, np.eye(len(A))) - np.kron(np.eye(method.stages), A)

    def _forced(self, x: Floats, w: Floats) -> Floats:
        """(1 - history) (A x + B w) of all stages, from x and w (stages, inputs)."""
        own = self.stepper
        return np.asarray((1.0 - own.method.history) * (own.equations.A @ x + w @ own.equations.B.T).ravel())

    def _signals(self, u: Floats) -> tuple[Floats, Floats]:
        """Joints (times, joints, 3) and loads (times, loads, 6) from their flat vector."""
        times, joints = self.stepper.method.stages + 1, len(self.stepper.prescribed)
        split = times * joints * 3
        return u[:split].reshape(times, joints, 3), u[split:].reshape(times, -1, 6)

    def _inputs(self, rate: Floats, joints: Floats, loads: Floats) -> Floats:
        """w (stages, inputs), from loads in the axes of their sections."""
        own = self.stepper
        stages = own.method.stages
        flat = loads[:stages].reshape(1, stages, 6 * loads.shape[1])
        w, _ = own.inputs_of(own.plan.h, rate, joints[None], flat)
        return np.asarray(w[0])

    def _in_body_axes(self, joints: Floats, loads: Floats) -> Floats:
        own = self.stepper
        return own.model.in_body_axes(own.run.inputs, joints[:, :, 0], loads)

    def _normal_state(self, state: Floats) -> Floats:
        """x and the rates of prescribed joints in one vector."""
        return np.concatenate(self.stepper.model.normal_state(self.stepper.form, state))

    @cached_property
    def residual(self) -> Floats:
        joints, loads = self._signals(self.inputs)
        n = len(self.stepper.x)
        normal = self._normal_state(self.start)
        w = self._inputs(normal[n:], joints, self._in_body_axes(joints, loads))
        return np.asarray(self.stage_matrix @ self.unknowns - self._forced(normal[:n], w))

    @cached_property
    def matrices(self) -> tuple[Floats, Floats, Floats]:
        """r_z0, r_z1 and r_u."""
        joints, loads = self._signals(self.inputs)
        n, none = len(self.stepper.x), np.zeros_like(self.inputs)

        def by_start(state: Floats) -> Floats:
            normal = self._normal_state(state)
            return -self._forced(normal[:n], self._inputs(normal[n:], *self._signals(none)))

        def by_inputs(u: Floats) -> Floats:
            """Wrenches change in the axes where they are, and by the rotation of these."""
            d_joints, d_loads = self._signals(u)
            rotated = self._in_body_axes(joints, d_loads) + self._rotation(joints, loads, d_joints[:, :, 0])
            w = self._inputs(np.zeros(len(self.stepper.rate)), d_joints, rotated)
            return -self._forced(np.zeros(n), w)

        return (derivative_of(by_start, len(self.start)), self.stage_matrix, derivative_of(by_inputs, len(self.inputs)))

    def _rotation(self, joints: Floats, loads: Floats, change: Floats) -> Floats:
        """Of wrenches R^T f that keep their direction f in the world:  d(R^T f) = -R^T (a x f)  for an axis a."""
        own = self.stepper
        axes = own.model.axes_of_rotation(own.run.inputs.loads, joints[:, :, 0])  # (times, loads, joints, 3)
        turn = np.einsum("tlja,tj->tla", axes, change)
        moved = -np.cross(turn[:, :, None], loads.reshape(*loads.shape[:2], 2, 3))
        return self._in_body_axes(joints, moved.reshape(loads.shape))


def step_equations(
    arm: PseudoSpectralArm, start: Floats, unknowns: Floats, inputs: Inputs, time: float, h: float, method: StageMethod
) -> LinearStep:
    """The step from ``start`` about ``unknowns``, with the inputs that a run reads."""
    stepper = _stepper(arm, start, inputs, time, h, method)
    times = stepper.times(0, 1)[0]
    u = np.concatenate([inputs.joint_signals(times).ravel(), inputs.load_signals(times).ravel()])
    return LinearStep(stepper, start, unknowns, u)


def step_unknowns(
    arm: PseudoSpectralArm, start: Floats, inputs: Inputs, time: float, step: float, method: StageMethod
) -> tuple[Floats, Floats]:
    """The increments that the fast step finds, of those states that move, and the state at its end."""
    stepper = _stepper(arm, start, inputs, time, step, method)
    times = stepper.times(0, 1)[0]
    joints, loads = inputs.joint_signals(times)[None], inputs.load_signals(times)[None]
    stepper.advance(stepper.tables(0, 1, joints, loads), slice(0, 1), np.zeros(len(arm.joint_names)))
    assert stepper.stretched is not None
    done, moving = stepper.stretched.waiting(), stepper.moving
    maps = stepper.prepare(done.h).maps
    E = np.zeros((method.stages, len(stepper.x)))
    E[:, moving] = maps.increments(done.start, done.inputs.reshape(1, -1), len(moving))[0]
    return E.ravel(), stepper.state_vector()


def _stepper(
    arm: PseudoSpectralArm, start: Floats, inputs: Inputs, time: float, step: float, method: StageMethod
) -> Stepper:
    grid = np.array([time, time + step])
    return arm.stepper(Run(start, grid, grid, inputs, method, NewtonTolerance(1e-9, 1e-9)))
