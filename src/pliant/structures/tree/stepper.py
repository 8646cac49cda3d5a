"""Steps of trees in minimal coordinates: what the compiled loops need, and what they keep."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from pliant.errors import InvalidInput
from pliant.model.contract import Kept, Run, with_held
from pliant.model.sampling import servos_inside
from pliant.model.schedule import WITHIN, samples_of
from pliant.model.stage_method import ExplicitMethod
from pliant.model.state import Cause, Ending
from pliant.structures.change_points import LARGEST, LEFT, NEAR
from pliant.structures.energy_ledger import KINETIC, STRAIN
from pliant.structures.joint_tables import steep_law
from pliant.structures.ledger import ledger_of
from pliant.structures.loop_constraints import change_point, closing_rows
from pliant.structures.memory import Memory, numbers_of, refill
from pliant.structures.stepping import LOOP_OPENED, NOT_CONVERGED, SINGULAR
from pliant.structures.tree.arrays import Mechanism, Servos
from pliant.structures.tree.columns import SAME_VELOCITY, SERVO_COLUMNS
from pliant.structures.tree.motion import Floats
from pliant.structures.tree.step import Output, Tables, Work, new_output, new_work, run_gill, run_midpoint, start_run

if TYPE_CHECKING:
    from pliant.structures.tree.model import TreeArm

Loop = Callable[[Mechanism, Work, Tables, Output], tuple[int, int]]

SERVO_LAW = ("gain", "command_limit", "command_resolution", "rate_limit", "rate_resolution", "torque_limit")
PART_OF_TOLERANCE = 0.01  # velocities are asked for more than displacements, whose errors add up over a run


class Stepper:
    """Everything that a run needs beside its tables: constants, state and scratch."""

    def __init__(self, arm: TreeArm, run: Run) -> None:
        if not isinstance(run.method, ExplicitMethod) and (run.method.stages != 1 or not run.method.exact):
            raise InvalidInput(
                "arms in minimal coordinates are stepped by Gauss(order=2), their energy-exact rule, or by"
                " RungeKuttaGill; choose one of them"
            )
        self.model, self.run = arm, run
        self.explicit = isinstance(run.method, ExplicitMethod)
        self.system = system = arm.system(run.inputs)
        system.refuse_weightless()
        inside = servos_inside(run.inputs)
        self.servo_joints = np.array([arm.joint_names.index(servo.joint) for servo in inside], np.int64)
        self.samples = np.zeros((len(run.grid) - 1, len(inside)), np.bool_)
        for k, servo in enumerate(inside):
            self.samples[:, k] = samples_of(run.grid, servo.period, run.origin)
        self.commanded = np.zeros(len(inside))
        laws = [[getattr(servo, name) for name in SERVO_LAW] for servo in inside]
        servos = np.array(laws, float).reshape(len(inside), SERVO_COLUMNS)
        self.mechanism = system.stepping(Servos(system.drive[self.servo_joints], servos))
        self.loop: Loop = run_gill if self.explicit else run_midpoint
        loads = len(system.loads.given)
        q, v = arm.coordinates(system, run.start)
        self.work = new_work(self.mechanism, loads, q, v)
        self.work.step.number[SAME_VELOCITY] = PART_OF_TOLERANCE * run.newton_tolerance.displacement
        self.output = new_output(self.mechanism, loads, len(run.schedule.tau) + 1)

    @property
    def held(self) -> Floats:
        return self.work.step.held

    def memory(self) -> Memory:
        return (*numbers_of(self.work), self.work.step.kept)

    def recall(self, memory: Memory) -> None:
        refill(self.memory(), memory)

    def command(self, rates: Floats) -> None:
        """What the servos are to reach from now on."""
        self.commanded = rates[self.servo_joints]

    def state_vector(self) -> Floats:
        return self.model.state_of(self.system, self.work.step.q, self.work.step.v)

    def start(self) -> Ending | None:
        started = start_run(self.mechanism, self.work)
        self.keep(0)
        remedy = "give every coordinate a mass to move"
        return None if started else Ending(Cause.SINGULAR, float(self.run.grid[0]), "the start", remedy)

    def times(self, a: int, b: int) -> Floats:
        """Middle and end of each step; of explicit methods the start too."""
        parts = np.array([0.5, 1.0 - WITHIN, WITHIN] if self.explicit else [0.5, 1.0])
        return np.asarray(self.run.grid[a:b, None] + self.run.schedule.h[a:b, None] * parts)

    def tables(self, a: int, b: int, joints: Floats, loads: Floats) -> Tables:
        run, plan, system = self.run, self.run.schedule, self.system
        # where a gear is elastic, a prescribed joint is not what its drive acts on
        apart = np.flatnonzero(np.array(run.inputs.prescribed, np.bool_) & (system.drive != system.structure.joints))
        driven = np.concatenate([system.drive, system.structure.joints[apart]])
        joints = np.concatenate([joints, joints[:, :, apart]], axis=2) if len(apart) else joints
        inputs = driven, joints, system.loads.in_body_axes(loads), self.samples[a:b], self.commanded
        rows = plan.first[a:b], plan.stop[a:b], plan.tau
        return Tables(plan.h[a:b], run.grid[a + 1 : b + 1], *inputs, *rows)

    def advance(self, tables: Tables, part: slice, held: Floats) -> tuple[int, int]:
        h, end, driven, joint, load, sampled, _, first, stop, tau = tables
        joint = with_held(joint[part], held)
        inputs = driven, joint, load[part], sampled[part], self.commanded
        now = Tables(h[part], end[part], *inputs, first[part], stop[part], tau)
        return self.loop(self.mechanism, self.work, now, self.output)

    def stopped(self, status: int, done: int) -> Ending:
        """Why the loop gave up."""
        time, mass = float(self.run.grid[done]), "give every coordinate a mass to move"
        if status == SINGULAR:
            remedy = f"take smaller steps, or {mass}" if self.explicit else mass
            return Ending(Cause.SINGULAR, time, "the mass matrix", remedy)
        loop = self._lost_loop()
        if loop:
            cause = Cause.LOOP_OPENED if status == LOOP_OPENED else Cause.NOT_CONVERGED
            q = self.work.step.q[self.system.structure.joints]
            return Ending(cause, time, *change_point(loop, dict(zip(self.model.joint_names, q.tolist()))))
        blamed = self._law_to_blame() if status == NOT_CONVERGED else None
        if blamed:
            return Ending(Cause.NOT_CONVERGED, time, *blamed)
        cause = Cause.NOT_CONVERGED if status == NOT_CONVERGED else Cause.NOT_FINITE
        return Ending(cause, time, "a step", "take smaller steps, or check the sizes of loads and drives")

    def _law_to_blame(self) -> tuple[str, str] | None:
        """Of a joint whose friction or stop changed in the last iteration, or acts within the step that failed."""
        laws, step, law = self.mechanism.springs.laws, self.work.step, int(self.work.ledger.counts[3])
        at, position = laws.coordinate, 0.0
        if law >= 0:
            position = float(step.q[at[law]])
        else:
            free = np.flatnonzero(~self.mechanism.drives.prescribed[at])
            at = at[free]
            q, rates = np.stack([step.q[at], step.q_end[at]]), np.stack([step.v[at], step.w[at]])
            found = steep_law(laws.friction[free], laws.stops[free], q, rates)
            if found is None:
                return None
            law, position = found
        joint = int(np.flatnonzero(self.system.structure.joints == at[law])[0])
        return self.model.law_to_blame(self.model.joint_names[joint], position)

    def _lost_loop(self) -> str:
        """The loop whose constraints are about to lose their rank, or nothing."""
        rank, own = self.work.step.rank, [loop.name for loop in self.model.robot.loops for _ in closing_rows(loop)]
        near = (rank[:, LARGEST] > 0.0) & (rank[:, LEFT] < NEAR)
        return own[int(np.argmin(np.where(near, rank[:, LEFT], np.inf)))] if near.any() else ""

    def keep(self, row: int) -> None:
        """The present state and ledger to a row of the output."""
        out, step, ledger = self.output, self.work.step, self.work.ledger
        out.x[row] = np.concatenate([step.q, step.v])
        out.sums[row], out.joints[row], out.loads[row] = ledger.sums, ledger.joints, ledger.loads
        out.sums[row, KINETIC], out.sums[row, STRAIN] = self._energies()
        out.effort[row] = step.drive

    def _energies(self) -> tuple[float, float]:
        step = self.work.step
        kinetic, _ = self.system.dynamics.energies(step.q, step.v)
        return kinetic, self.system.elastic_energy(step.q)

    def kept(self, times: Floats) -> Kept:
        arm, run, system, out, rows = self.model, self.run, self.system, self.output, len(times)
        if rows > 1:
            out.effort[0] = out.effort[1]
        n, given = system.size, system.loads.given
        states = arm.state_of(system, out.x[:rows, :n], out.x[:rows, n:])
        run.place_prescribed(arm.layout, states, times)
        acting = np.where(run.inputs.prescribed, system.structure.joints, system.drive)
        efforts = {name: out.effort[:rows, k : k + 1].copy() for name, k in zip(arm.joint_names, acting)}
        works = {name: out.joints[:rows, k].copy() for name, k in zip(arm.joint_names, acting)}
        for k, load in enumerate(run.inputs.loads):
            works[load.name] = out.loads[:rows, given == k].sum(axis=1)
        iterations, factorisations = self.work.ledger.counts[:2]
        counts = {"iterations": float(iterations), "factorisations": float(factorisations)}
        counts["halvings"] = float(self.work.ledger.counts[2])
        ledger = ledger_of(out.sums[:rows].copy(), works, self.work.ledger.worst, run.method.exact)
        return Kept(states, efforts, ledger, counts)
