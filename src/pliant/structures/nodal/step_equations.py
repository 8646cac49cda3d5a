"""The equations of one step of a mechanism, and their exact derivatives.

z0 is the state. z1 are mean velocities (y, eta) of free and element nodes, mean rates of the joints that are not
prescribed, and impulses of closed lines. u are the targets of the joints and the wrenches of the loads as the step
reads them. The residual is what the fast step balances: impulses along all of these motions, and violations of closed
lines. The kernels of the fast step evaluate it; an imaginary part of z0, z1 or u carries the derivative along it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pliant.errors import InvalidInput
from pliant.jit import kernel
from pliant.model.contract import NewtonTolerance, Run
from pliant.model.inputs import Inputs
from pliant.model.stage_method import StageMethod
from pliant.spatial.arrays import STEP
from pliant.structures.bundles import complex_of
from pliant.structures.loads import base_table
from pliant.structures.nodal.balance import SUMS, begin_step
from pliant.structures.nodal.codes import ELEMENT, FREE
from pliant.structures.nodal.consistency import renew_drag
from pliant.structures.nodal.mechanism import Floats, Ints, Mechanism
from pliant.structures.nodal.motion import Motion, Signals, move, new_motion, new_pose, restart_ball_joints
from pliant.structures.nodal.newton import evaluate
from pliant.structures.nodal.singularity import kept_lines
from pliant.structures.nodal.step import Tables, run_steps, start_run, take_up
from pliant.structures.nodal.stepper import Stepper
from pliant.structures.relations import CLOSED
from pliant.structures.step_matrices import StepOfOneMatrix

if TYPE_CHECKING:
    from pliant.structures.nodal.model import PoseElementArm

Numbers = NDArray[Any]

TIGHT = NewtonTolerance(1e-10, 1e-12)  # as `Gauss` asks for


class Spots(NamedTuple):
    """Where unknowns and residuals stand."""

    node: Ints  # free and element nodes
    joint: Ints  # nodes of joints that are not prescribed
    line: Ints  # closed lines that the step needs


@kernel
def step_residual(mechanism: Mechanism, motion: Motion, sums: Numbers) -> None:
    """What a step with the unknowns in ``motion.step`` leaves; joint children and poses follow from these."""
    now, start = motion.now, motion.start
    take_up(mechanism, now, start)
    restart_ball_joints(mechanism.tree, start)
    renew_drag(mechanism, now, start.R)
    move(mechanism, motion)
    begin_step(mechanism, motion)
    evaluate(mechanism, motion, sums)


@dataclass(frozen=True, eq=False)
class MechanismStep(StepOfOneMatrix):
    """One step of a mechanism."""

    mechanism: Mechanism
    signals: Signals  # its base and length
    spots: Spots

    @cached_property
    def _scratch(self) -> tuple[Mechanism, Motion]:
        """Ball joints take their axes, and gripped links their drag, from the state: these are complex too."""
        tree, bodies = self.mechanism.tree, self.mechanism.bodies
        real = new_motion(self.mechanism, new_pose(*self.mechanism.sizes[:2]), 0)
        parts: Any = (complex_of(part) for part in real)
        scratch = Motion(*parts)
        return self.mechanism._replace(
            tree=tree._replace(axis_parent=tree.axis_parent.astype(complex)),
            bodies=bodies._replace(viscous=bodies.viscous.astype(complex)),
        ), scratch

    def _evaluate(self, start: Numbers, unknowns: Numbers, inputs: Numbers) -> Numbers:
        mechanism, motion = self._scratch
        now, step, spots = motion.now, motion.step, self.spots
        parts = (now.x, now.quaternion, now.v, now.w, now.q, now.qd, now.motor)
        borders = np.cumsum([part.size for part in parts])
        for part, values in zip(parts, np.split(start, borders[:-1])):
            part[:] = values.reshape(part.shape)
        velocity, rate, impulse = self.split(unknowns)
        step.Y[spots.node], step.s[spots.joint] = velocity.reshape(-1, 6), rate
        step.impulse[:] = 0.0
        step.impulse[spots.line] = impulse
        target, load = np.split(inputs, [self.signals.target.size])
        signals = self.signals._replace(
            target=target.reshape(-1, 3).astype(complex), load=load.reshape(-1, 6).astype(complex)
        )
        step_residual(mechanism, motion._replace(signals=signals), np.zeros(SUMS, complex))
        return np.concatenate([step.rho[spots.node].ravel(), step.row[spots.joint], motion.end.phi[spots.line]])

    def split(self, unknowns: Numbers) -> tuple[Numbers, Numbers, Numbers]:
        """Velocities of nodes, rates of joints and impulses of lines; residuals stand in the same order."""
        nodes = 6 * len(self.spots.node)
        velocity, rate, impulse = np.split(unknowns, [nodes, nodes + len(self.spots.joint)])
        return velocity, rate, impulse

    @cached_property
    def residual(self) -> Floats:
        """r at the given values."""
        return np.asarray(self._evaluate(self.start, self.unknowns, self.inputs).real)

    @cached_property
    def matrix(self) -> Any:
        """(r_z0, r_z1, r_u), sparse."""
        from scipy.sparse import csc_array, hstack

        values = np.concatenate([self.start, self.unknowns, self.inputs]).astype(complex)
        columns = []
        for k in range(len(values)):
            values[k] += 1j * STEP
            columns.append(csc_array(self._evaluate(*np.split(values, self.borders)).imag[:, None] / STEP))
            values[k] = values[k].real
        return hstack(columns, format="csc")


def _signals(arm: PoseElementArm, inputs: Inputs, time: float, step: float) -> Signals:
    """Prescribed motions and the base at the end of the step, all else at its middle."""
    times = np.array([time + 0.5 * step, time + step])
    joints, loads = inputs.joint_signals(times), inputs.load_signals(times)
    target = np.where(np.array(inputs.prescribed, np.bool_)[:, None], joints[1], joints[0])
    return Signals(np.array([step]), target, loads[0], base_table(arm.robot, inputs, times)[1])


def _spots(arm: PoseElementArm, mechanism: Mechanism, start: Floats) -> Spots:
    tree, prescribed = mechanism.tree, mechanism.coordinates.prescribed
    free = np.append(~prescribed, False)[tree.coordinate]
    kept = kept_lines(arm, mechanism, arm.pose_of(start))[0] & (mechanism.lines.law == CLOSED)
    moving = np.isin(tree.joint_type, (FREE, ELEMENT))
    return Spots(np.flatnonzero(moving), np.flatnonzero(free), np.flatnonzero(kept))


def step_equations(
    arm: PoseElementArm, start: Floats, unknowns: Floats, inputs: Inputs, time: float, step: float
) -> MechanismStep:
    """The equations of the step that begins at ``start``, about these unknowns."""
    mechanism, signals = arm.mechanism(inputs), _signals(arm, inputs, time, step)
    u = np.append(signals.target, signals.load)
    return MechanismStep(start, unknowns, u, mechanism, signals, _spots(arm, mechanism, start))


def step_unknowns(
    arm: PoseElementArm, start: Floats, inputs: Inputs, time: float, step: float, method: StageMethod
) -> tuple[Floats, Floats]:
    """The unknowns that the fast step finds, and the state at its end."""
    grid = np.array([time, time + step])
    stepper = Stepper(arm, Run(start, grid, grid[1:], inputs, method, TIGHT))
    times = np.array([[time + 0.5 * step, time + step]])
    tables = Tables(
        np.array([step]), grid[1:], inputs.joint_signals(times[0])[None], inputs.load_signals(times[0])[None],
        base_table(arm.robot, inputs, times[0])[None], np.ones(1, np.int64), np.full(1, 2), np.ones(2),
    )  # fmt: skip
    work = stepper.work
    good = start_run(stepper.mechanism, work)
    for part, given in zip(work.motion.now, arm.pose_of(start)):
        part[:] = given  # a start of its own fits velocities once more, a step that goes on does not
    if not good or run_steps(stepper.mechanism, stepper.control, work, tables, stepper.output)[0] < 1:
        raise InvalidInput(f"the step of {step:g} s did not converge; take a smaller one")
    if work.halvings[0]:
        raise InvalidInput(f"the step of {step:g} s was halved; take a smaller one")
    spots = _spots(arm, stepper.mechanism, start)
    solved = work.motion.step
    found = (solved.Y[spots.node].ravel(), solved.s[spots.joint], solved.impulse[spots.line])
    return np.concatenate(found), stepper.state_vector()
