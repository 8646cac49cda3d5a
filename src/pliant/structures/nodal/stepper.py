"""Steps of mechanisms of nodal poses: what the compiled loop needs, and what it keeps."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pliant.errors import InvalidInput
from pliant.model.contract import Kept, Run, with_held
from pliant.model.inputs import Acts
from pliant.model.state import Cause, Ending
from pliant.robot import Joint
from pliant.robot.joint import BASE
from pliant.spatial.arrays import rotation_from_vector
from pliant.structures import energy_ledger as columns
from pliant.structures.energy_ledger import new_ledger
from pliant.structures.joint_tables import steep_law
from pliant.structures.ledger import ledger_of
from pliant.structures.loads import BASE_COLUMNS, base_table
from pliant.structures.memory import Memory, numbers_of, refill
from pliant.structures.nodal.consistency import new_fit
from pliant.structures.nodal.mechanism import Bools, Floats
from pliant.structures.nodal.motion import new_motion, new_past
from pliant.structures.nodal.newton import LAW, Control, new_solver
from pliant.structures.nodal.singularity import (
    kept_lines,
    nearly_singular,
    refuse_massless_joints,
    why_lost,
    why_opened,
)
from pliant.structures.nodal.step import Output, Tables, Work, run_steps, start_run
from pliant.structures.stepping import LOOP_OPENED, NOT_FINITE, SINGULAR, TOO_BENT, TURNED_OVER

if TYPE_CHECKING:
    from pliant.structures.nodal.assembly import Structure
    from pliant.structures.nodal.model import PoseElementArm


class Stepper:
    """Everything that a run needs beside its tables: constants, state and scratch."""

    def __init__(self, arm: PoseElementArm, run: Run) -> None:
        if run.method.stages != 1 or not run.method.exact:
            raise InvalidInput(
                f"{arm.structure.kind.word} step by their own midpoint rule, which keeps energy and momentum;"
                " use Gauss(order=2)"
            )
        self.model, self.run = arm, run
        rows = len(run.schedule.tau) + 1
        self.mechanism = mechanism = arm.mechanism(run.inputs)
        dofs, loads = len(arm.joint_names), len(run.inputs.loads)
        # impulses are balanced to this part of the momentum, which drifts by less
        asked, memory, counts = run.newton_tolerance, np.zeros(5), np.zeros(4, np.int64)
        self.control = Control(0.01 * asked.displacement, asked.energy, asked.max_iterations, memory, counts)
        now = arm.pose_of(run.start)
        start = float(run.grid[0])
        base = base_table(arm.robot, run.inputs, np.array([start]))[0]
        kept, kept_in_velocity = kept_lines(arm, mechanism, now)
        self.redundant = np.flatnonzero(~kept)
        past = new_past(mechanism)
        past.base[:] = base
        past.target[:] = run.inputs.joint_signals(np.array([start]))[0, :, :2]
        self.ledger = new_ledger(dofs + 1, loads)
        fit = new_fit(mechanism, kept_in_velocity, run.inputs.base_motion is not None)
        motion = new_motion(mechanism, now, loads)
        self.work = Work(
            motion, new_solver(mechanism, kept), fit, past, self.ledger, np.zeros(1, np.int64), np.zeros(1)
        )
        at, moving = motion.start, motion.now
        # views of the state in the order of the layout: made once, since controllers ask at every sample
        self.parts = [
            each.reshape(-1) for each in (at.x, at.quaternion, moving.v, moving.w, at.q, moving.qd, moving.motor)
        ]
        roots = np.array([link.nodes[0] for link in arm.structure.links], np.int64)
        lines = len(mechanism.lines.law)
        # the last row holds the start of a step
        numbers = (arm.layout.size, columns.COLUMNS, dofs + 1, loads, dofs, lines, lines)
        tables = [np.zeros((rows + 1, count)) for count in numbers]
        self.output = Output(roots, np.zeros((rows + 1, len(roots), 6)), *tables)

    def start(self) -> Ending | None:
        """Fit the velocities of the start; an ending if some part has no inertia."""
        started = bool(start_run(self.mechanism, self.work))
        self.keep(0)
        begin = float(self.run.grid[0])
        # a run that goes on from a later time was asked before
        first = self.run.after is not None and begin == self.run.origin
        if not started or begin == 0.0 or first:
            refuse_massless_joints(self.model.structure, self.mechanism, *self.posture()[2:])
        if not started:
            return Ending(Cause.SINGULAR, begin, "the start", "give every moving part an inertia")
        return None

    def times(self, a: int, b: int) -> Floats:
        return self.run.times(a, b)

    def tables(self, a: int, b: int, joints: Floats, loads: Floats) -> Tables:
        run, plan = self.run, self.run.schedule
        base = base_table(self.model.robot, run.inputs, self.times(a, b).ravel()).reshape(b - a, 2, BASE_COLUMNS)
        ends = run.grid[a + 1 : b + 1]
        return Tables(plan.h[a:b], ends, joints, loads, base, plan.first[a:b], plan.stop[a:b], plan.tau)

    def advance(self, tables: Tables, part: slice, held: Floats) -> tuple[int, int]:
        h, end, joints, loads, base, first, stop, tau = tables
        joints = with_held(joints[part], held)
        now = Tables(h[part], end[part], joints, loads[part], base[part], first[part], stop[part], tau)
        done, status = run_steps(self.mechanism, self.control, self.work, now, self.output)
        return done, status

    def state_vector(self) -> Floats:
        return np.concatenate(self.parts)

    def keep(self, row: int) -> None:
        """Copy the present state and ledger to a row of the output."""
        out, ledger = self.output, self.ledger
        out.x[row] = self.state_vector()
        out.sums[row], out.joints[row], out.loads[row] = ledger.sums, ledger.joints, ledger.loads

    def memory(self) -> Memory:
        step, end = self.work.solver.lines, self.work.fit.lines
        return (*numbers_of((self.work, self.control.memory)), step.kept, end.kept, step.order)

    def recall(self, memory: Memory) -> None:
        if sorted(memory[-1].tolist()) != list(range(len(memory[-1]))):
            raise InvalidInput("what the run remembers is no order of its constraints; simulate it again")
        refill(self.memory(), memory)

    def posture(self) -> tuple[Structure, Bools, Floats, Floats]:
        """Where the nodes are, as far as a question about closed loops needs it."""
        at = self.work.motion.start
        prescribed = self.mechanism.coordinates.prescribed
        return self.model.structure, prescribed, at.x.copy(), at.R.reshape(-1, 3, 3).copy()

    def stopped(self, status: int, done: int) -> Ending:
        """Why and where the loop gave up, with what to try."""
        now, where = float(self.run.grid[done] + self.work.inside[0]), int(self.control.counts[2])
        if status == LOOP_OPENED:
            loop = self.model.line_owners(self.run.inputs)[where]
            remedy = why_opened(*self.posture(), loop)
            return Ending(Cause.LOOP_OPENED, now, f"loop '{loop}'", remedy)
        if status == TURNED_OVER:
            owner = self.model.line_owners(self.run.inputs)[where]
            remedy = "it serves up to 2.5 rad; bring its frames closer at rest, or hold them by stiffness or stops"
            return Ending(Cause.TURNED_OVER, now, f"'{owner}'", remedy)
        place = self.model.place_of(where)
        if status == TOO_BENT:
            return Ending(Cause.TOO_BENT, now, place, "take more elements there, or check the loads")
        if status == NOT_FINITE:
            return Ending(Cause.NOT_FINITE, now, place, "check loads and drives there, or take a smaller step")
        loop = nearly_singular(*self.posture())
        if loop:
            cause = Cause.SINGULAR if status == SINGULAR else Cause.NOT_CONVERGED
            return Ending(cause, now, place, why_lost(self.model.structure, loop))
        if status == SINGULAR:
            refuse_massless_joints(self.model.structure, self.mechanism, *self.posture()[2:])
            remedy = "give every moving part an inertia, or keep loops out of singular postures"
            return Ending(Cause.SINGULAR, now, place, remedy)
        law, touched = int(self.control.counts[LAW]), self._touched()
        if law >= 0:
            position = float(self.work.motion.start.q[law])
            return Ending(Cause.NOT_CONVERGED, now, *self.model.law_to_blame(self.model.joint_names[law], position))
        if touched:
            return Ending(
                Cause.NOT_CONVERGED, now, touched, "lower its stiffness or its damping, or take a smaller step"
            )
        steep = self._steep_law()
        if steep:
            return Ending(Cause.NOT_CONVERGED, now, *steep)
        remedy = "take a smaller step, or more elements if the link bends strongly"
        return Ending(Cause.NOT_CONVERGED, now, place, remedy)

    def _touched(self) -> str:
        """The wall or cable that acts within the step that failed, or nothing."""
        owners, motion = np.array(self.model.line_owners(self.run.inputs)), self.work.motion
        for each in self.run.inputs.relations:
            own, side = owners == each.name, 1.0 if each.acts is Acts.BELOW else -1.0
            apart = [side * (at.phi[own] - self.mechanism.lines.rest[own]).sum() for at in (motion.start, motion.end)]
            if each.acts is not Acts.ALWAYS and min(apart) < 0.0:
                return f"the {each.word} '{each.name}'"
        return ""

    def _steep_law(self) -> tuple[str, str] | None:
        """A joint whose friction or stop acts within the step that failed, and what to try."""
        tree, laws, motion = self.mechanism.tree, self.mechanism.coordinates, self.work.motion
        free = np.flatnonzero(tree.coordinate >= 0)
        free = free[~laws.prescribed[tree.coordinate[free]]]
        c, rate = tree.coordinate[free], motion.step.s[free] * motion.step.share[free]
        q0 = motion.start.q[c]
        q = np.stack([q0, q0 + motion.signals.h[0] * rate])
        found = steep_law(laws.friction[c], laws.stops[c], q, np.stack([motion.now.qd[c], rate]))
        return self.model.law_to_blame(self.model.joint_names[c[found[0]]], found[1]) if found else None

    def kept(self, times: Floats) -> Kept:
        out, run, arm, rows = self.output, self.run, self.model, len(times)
        if rows > 1:
            out.torque[0], out.wrench[0], out.impulse[0] = out.torque[1], out.wrench[1], out.impulse[1]
        names = [*arm.joint_names, BASE, *(load.name for load in run.inputs.loads)]
        works = dict(zip(names, np.concatenate([out.joints[:rows], out.loads[:rows]], axis=1).T))
        owners = np.array(arm.line_owners(run.inputs))
        taken = {each.name: out.taken[:rows, owners == each.name].sum(axis=1) for each in run.inputs.relations}
        efforts = {name: out.torque[:rows, k : k + 1] for k, name in enumerate(arm.joint_names)}
        for k, joint in enumerate(arm.robot.chain_order):
            efforts[f"{joint.name}.wrench"] = out.wrench[:rows, k]
            self._add_holding_efforts(joint, efforts, out.x[:rows])
        for owner in dict.fromkeys(owners.tolist()):
            efforts[f"{owner}.force"] = out.impulse[:rows, owners == owner]
        counts = {
            "iterations": float(self.control.counts[0]),
            "factorisations": float(self.control.counts[1]),
            "halvings": float(self.work.halvings[0]),
            "redundant constraints": float(len(self.redundant)),
        }
        ledger = ledger_of(out.sums[:rows], works, self.ledger.worst, exact=True, taken=taken)
        return Kept(out.x[:rows], efforts, ledger, counts)

    def _add_holding_efforts(self, joint: Joint, efforts: dict[str, Floats], states: Floats) -> None:
        """Of prescribed coordinates, what moves them is the part of the joint's wrench along them."""
        names, prescribed = self.model.joint_names, self.run.inputs.prescribed
        q = self.model.layout.part(states, "joint_position")
        wrench = efforts[f"{joint.name}.wrench"]
        for k, freedom in enumerate(joint.freedoms):
            if freedom.name not in names or not prescribed[names.index(freedom.name)]:
                continue
            along = np.asarray(freedom.axis, float)[None] / np.linalg.norm(freedom.axis)
            for later in joint.freedoms[k + 1 :]:
                if not later.translates:
                    axis = np.asarray(later.axis, float) / np.linalg.norm(later.axis)
                    turned = rotation_from_vector(-q[:, [names.index(later.name)]] * axis)
                    along = np.einsum("nij,nj->ni", turned, np.broadcast_to(along, (len(q), 3)))
            part = slice(0, 3) if freedom.translates else slice(3, 6)
            efforts[freedom.name] = np.sum(wrench[:, part] * along, axis=1, keepdims=True)
