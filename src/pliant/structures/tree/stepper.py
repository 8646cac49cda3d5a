"""Drive the compiled loop: tables of inputs in, a record out."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from pliant.errors import InvalidInput
from pliant.jit import machine_code
from pliant.model.contract import Record, Run
from pliant.model.driver import CHUNK, Schedule, drive, input_tables, samples_of, servos_inside, times_reached
from pliant.model.ledger import Ledger, ledger_of
from pliant.model.sampling import ServoPlace
from pliant.model.stage_method import ExplicitMethod
from pliant.model.state import Cause, Ending
from pliant.structures.energy_ledger import KINETIC, STRAIN
from pliant.structures.tree.arrays import Mechanism, Servos, new_mechanism
from pliant.structures.tree.columns import SERVO_COLUMNS
from pliant.structures.tree.midpoint import NOT_CONVERGED, SINGULAR
from pliant.structures.tree.motion import Floats
from pliant.structures.tree.step import (
    Output,
    Tables,
    Work,
    new_output,
    new_work,
    run_gill,
    run_midpoint,
    start_run,
)

if TYPE_CHECKING:
    from pliant.structures.tree.model import TreeArm

Loop = Callable[[Mechanism, Work, Tables, Output], tuple[int, int]]

WITHIN = 1e-9  # part of a step by which the ends of a step look into it, so that a jump belongs to one side


class Stepper:
    """Everything that a run needs beside its tables: constants, state and scratch."""

    def __init__(self, arm: TreeArm, run: Run) -> None:
        self.model, self.run, self.plan = arm, run, Schedule.of(run)
        self.explicit = isinstance(run.method, ExplicitMethod)
        self.system = system = arm.system(run.inputs)
        system.refuse_weightless()
        inside = run.inputs.servos if servos_inside(self, run) else ()
        self.servo_joints = np.array([arm.joint_names.index(servo.joint) for servo in inside], np.int64)
        sampled = [samples_of(run, servo.period) for servo in inside]
        self.samples = np.array(sampled, np.bool_).reshape(len(inside), len(run.grid) - 1)
        self.commanded = np.zeros(len(inside))
        self.mechanism = new_mechanism(
            system.tree,
            system.springs,
            system.drives,
            system.loads.wrenches,
            Servos(system.drive[self.servo_joints], _laws(inside)),
            system.loops,
            condensed=system.new_condensed(),
        )
        self.begin = 0
        self.ahead: Tables | None = None
        self.compiled: Loop = run_gill if self.explicit else run_midpoint
        self.loop = self.compiled
        loads = len(system.loads.given)
        q, v = arm.coordinates(system, run.start)
        self.work = new_work(self.mechanism, loads, q, v)
        self.output = new_output(self.mechanism, loads, len(self.plan.tau) + 1)

    def command(self, rates: Floats) -> None:
        """What the servos are to reach from now on."""
        self.commanded = rates[self.servo_joints]

    def state_vector(self) -> Floats:
        return self.model.state_of(self.system, self.work.step.q, self.work.step.v)

    def tables(self, held: Floats, a: int, b: int) -> Tables:
        """Inputs of the steps a .. b-1; all but the torques that controllers hold is made for many chunks at once."""
        ahead = self.ahead
        if ahead is None or not self.begin <= a <= b <= self.begin + len(ahead.h):
            self.begin, self.ahead = a, (ahead := self._ahead(a, b))
        rows = slice(a - self.begin, b - self.begin)
        joint = ahead.joint[rows]
        if np.count_nonzero(held):  # in a tenth of the time of any()
            joint = joint.copy()
            joint[:, :, : len(held), 2] += held
        return Tables(
            ahead.h[rows],
            ahead.end[rows],
            ahead.driven,
            joint,
            ahead.load[rows],
            ahead.sampled[rows],
            self.commanded,
            ahead.first[rows],
            ahead.stop[rows],
            self.plan.tau,
        )

    def _ahead(self, a: int, b: int) -> Tables:
        """For as many steps from a on as the inputs can be read; at least up to b, or refused."""
        try:
            return self._tabulated(a, min(max(b, a + CHUNK), len(self.plan.h)))
        except InvalidInput:
            return self._tabulated(a, b)

    def _tabulated(self, a: int, b: int) -> Tables:
        """Inputs of the steps a .. b-1 at their middles, ends and starts, without torques that are held."""
        run, system = self.run, self.system
        h = self.plan.h[a:b]
        parts = np.array([0.5, 1.0 - WITHIN, WITHIN] if self.explicit else [0.5, 1.0])
        nothing = np.zeros(len(run.inputs.prescribed))
        joints, loads = input_tables(run, run.grid[a:b, None] + h[:, None] * parts, nothing)
        # where a gear is elastic, a prescribed joint is not what its drive acts on
        apart = np.flatnonzero(
            np.array(run.inputs.prescribed, np.bool_) & (system.drive != system.structure.joints)
        )
        return Tables(
            h,
            run.grid[a + 1 : b + 1],
            np.concatenate([system.drive, system.structure.joints[apart]]),
            np.concatenate([joints, joints[:, :, apart]], axis=2) if len(apart) else joints,
            system.loads.in_body_axes(loads),
            np.ascontiguousarray(self.samples[:, a:b].T).reshape(b - a, len(self.commanded)),
            self.commanded,
            self.plan.first[a:b],
            self.plan.stop[a:b],
            self.plan.tau,
        )

    def steps(self, tables: Tables) -> tuple[int, int]:
        """Advance through the tables."""
        answer = self.loop(self.mechanism, self.work, tables, self.output)
        if self.loop is self.compiled:
            self.loop = machine_code(self.compiled)
        return answer

    def stopped(self, status: int, done: int) -> Ending:
        """Why the loop gave up."""
        time, mass = float(self.run.grid[done]), "give every coordinate a mass to move"
        if status == SINGULAR:
            remedy = f"take smaller steps, or {mass}" if self.explicit else mass
            return Ending(Cause.SINGULAR, time, "the mass matrix", remedy)
        cause = Cause.NOT_CONVERGED if status == NOT_CONVERGED else Cause.NOT_FINITE
        return Ending(cause, time, "a step", "take smaller steps, or check the sizes of loads and drives")

    def keep(self, row: int) -> None:
        """The present state and account to a row of the output."""
        out, step, ledger = self.output, self.work.step, self.work.ledger
        out.x[row] = np.concatenate([step.q, step.v])
        out.sums[row], out.joints[row], out.loads[row] = ledger.sums, ledger.joints, ledger.loads
        out.sums[row, KINETIC], out.sums[row, STRAIN] = self._energies()
        out.effort[row] = step.drive

    def _energies(self) -> tuple[float, float]:
        step = self.work.step
        kinetic, _ = self.system.dynamics.energies(step.q, step.v)
        return kinetic, self.system.elastic_energy(step.q)

    def record(self, done: int, ending: Ending) -> Record:
        """Cut the output to what was computed and put it under names."""
        arm, run, system, out = self.model, self.run, self.system, self.output
        times = times_reached(self.plan, run, done, ending, self.keep)
        rows, n = len(times), system.size
        if rows > 1:
            out.effort[0] = out.effort[1]
        states = arm.states_of(system, out.x[:rows, :n], out.x[:rows, n:])
        self._place_prescribed(times, states)
        acting = np.where(run.inputs.prescribed, system.structure.joints, system.drive)
        efforts = {name: out.effort[:rows, k : k + 1].copy() for name, k in zip(arm.joint_names, acting)}
        counts = self.work.ledger.counts
        statistics = {
            "steps": float(done),
            "iterations": float(counts[0]),
            "factorisations": float(counts[1]),
        }
        return Record(times, states, efforts, self._ledger(rows, acting), ending, statistics)

    def _place_prescribed(self, times: Floats, states: Floats) -> None:
        """Prescribed joints are where they are meant to be between steps too."""
        given = np.flatnonzero(np.array(self.run.inputs.prescribed, np.bool_))
        if len(given):
            signals, part = self.run.inputs.joint_signals(times), self.model.layout.part
            part(states, "joint_position")[:, given] = signals[:, given, 0]
            part(states, "joint_rate")[:, given] = signals[:, given, 1]

    def _ledger(self, rows: int, acting: Floats) -> Ledger:
        out, given = self.output, self.system.loads.given
        works = {name: out.joints[:rows, k].copy() for name, k in zip(self.model.joint_names, acting)}
        for k, load in enumerate(self.run.inputs.loads):
            works[load.name] = out.loads[:rows, given == k].sum(axis=1)
        return ledger_of(out.sums[:rows].copy(), works, self.work.ledger.worst, self.run.method.exact)


def _laws(servos: tuple[ServoPlace, ...]) -> Floats:
    """One row for each servo."""
    rows = [
        (
            servo.gain,
            servo.command_limit,
            servo.command_resolution,
            servo.rate_limit,
            servo.rate_resolution,
            servo.torque_limit,
        )
        for servo in servos
    ]
    return np.array(rows, float).reshape(len(rows), SERVO_COLUMNS)


def advance(arm: TreeArm, run: Run) -> Record:
    """Run over the grid of the request."""
    if not isinstance(run.method, ExplicitMethod) and (run.method.stages != 1 or not run.method.exact):
        raise InvalidInput(
            "arms in minimal coordinates are stepped by Gauss(order=2), their energy-exact rule, or by RungeKuttaGill;"
            " choose one of them"
        )
    stepper = Stepper(arm, run)
    if not start_run(stepper.mechanism, stepper.work):
        remedy = "give every coordinate a mass to move"
        return stepper.record(0, Ending(Cause.SINGULAR, float(run.grid[0]), "the start", remedy))
    stepper.keep(0)
    return drive(stepper, run)
