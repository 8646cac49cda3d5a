"""Drive the loop: tables of inputs in, a record out."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pliant.formulations.pseudo_spectral.booking import Account, Stretch, stacked
from pliant.formulations.pseudo_spectral.recursion import march
from pliant.formulations.pseudo_spectral.stepping import StageReading, StepMaps, step_maps
from pliant.model.contract import Record, Run
from pliant.model.driving import drive, input_tables, times_reached
from pliant.model.ending import Cause, Ending
from pliant.model.schedule import Schedule

if TYPE_CHECKING:
    from pliant.formulations.pseudo_spectral.model import PseudoSpectralArm

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
FINITE, NOT_FINITE = 0, 1
STIRRED = 1e-12  # part of an input's largest effect that counts as an effect


@dataclass(frozen=True, eq=False)
class Tables:
    """Inputs of the steps first .. first + len(h) - 1."""

    first: int
    h: Floats
    inputs: Floats  # (steps, stages, inputs)
    acceleration: Floats  # (steps, stages, prescribed)
    end_rate: Floats  # (steps, prescribed)
    end_position: Floats


@dataclass(frozen=True, eq=False)
class Prepared:
    """The maps of one step length, for the states that move."""

    maps: StepMaps
    change: Floats
    account: StageReading
    wrench: StageReading


class Machine:
    """The equations of a run, its state and what it has kept."""

    def __init__(self, arm: PseudoSpectralArm, run: Run) -> None:
        self.model, self.run, self.plan = arm, run, Schedule.of(run)
        self.form, self.equations = arm.equations(run.inputs)
        self.prescribed = self.form.mechanics.prescribed
        self.x, self.rate = arm.normal_state(self.form, run.start)
        self.readings, self.places = stacked(self.equations)
        self.x_rate: Floats | None = None
        self.active: Bools = self._stirred_by(self.x != 0.0)
        self.prepared: dict[tuple[bytes, float], Prepared] = {}
        joints, loads = len(self.prescribed), len(run.inputs.loads)
        rows = len(self.plan.tau) + 1
        z = np.zeros
        self.account = Account(*self._energies(), joints, loads, rows)
        self.kept_x, self.kept_rate = z((rows, len(self.x))), z((rows, len(self.rate)))
        self.efforts, self.wrenches = z((rows, joints)), z((rows, 6 * len(arm.assembly.bodies)))

    def _energies(self) -> tuple[float, float]:
        z, s, r = self.x[self.equations.at.z], self.x[self.equations.at.s], self.rate
        return 0.5 * float(z @ z + r @ self.form.prescribed_inertia @ r), 0.5 * float(s @ s)

    def _stirred_by(self, touched: Bools) -> Bools:
        """All states of the groups in which one is touched, or pushed by one that is; positions always belong."""
        group = self.equations.group
        pushed = self.equations.A[:, touched].any(axis=1)
        return np.isin(group, group[touched | pushed]) | (group < 0)

    def tables(self, held: Floats, a: int, b: int) -> Tables:
        """Inputs of the steps a .. b-1, at the stages and the end of each."""
        run, method, own = self.run, self.run.method, self.form.mechanics
        h, ends = self.plan.h[a:b], run.grid[a + 1 : b + 1]
        times = np.concatenate([run.grid[a:b, None] + h[:, None] * method.nodes, ends[:, None]], axis=1)
        joints, loads = input_tables(run, times, held)
        given, stages = np.flatnonzero(self.prescribed), slice(0, method.stages)
        target = joints[:, stages]
        w = np.zeros((b - a, method.stages, self.equations.B.shape[1]))
        drive_input = target[..., 2] + own.stiffness * target[..., 0] + own.damping * target[..., 1]
        w[..., self.equations.at.drives] = np.where(self.prescribed, 0.0, drive_input)
        w[..., self.equations.at.weight] = 1.0
        count = (b - a) * method.stages
        in_body_axes = self.model.in_body_axes(
            run.inputs,
            target[..., 0].reshape(count, joints.shape[2]),
            loads[:, stages].reshape(count, loads.shape[2], 6),
        )
        w[..., self.equations.at.loads] = in_body_axes.reshape(b - a, method.stages, 6 * loads.shape[2])
        rate, acceleration = target[..., given, 1], target[..., given, 2]
        end_rate = joints[:, -1, given, 1]
        if method.exact:
            # accelerations that lead from rate to rate, so that rate and energy follow one polynomial
            start_rate = np.vstack([self.rate[None], end_rate[:-1]])
            missed = end_rate - start_rate - h[:, None] * np.einsum("s,ksj->kj", method.weights, acceleration)
            acceleration = acceleration + (missed / h[:, None])[:, None]
            rate = start_rate[:, None] + h[:, None, None] * np.einsum("st,ktj->ksj", method.A, acceleration)
        w[..., self.equations.at.rates] = rate
        return Tables(a, h, w, acceleration, end_rate, joints[:, -1, given, 0])

    def steps(self, tables: Tables) -> tuple[int, int]:
        """Advance through the tables, stretch by stretch of equal step lengths."""
        self._wake(tables)
        edges = [0, *(np.flatnonzero(np.diff(tables.h)) + 1).tolist(), len(tables.h)]
        for begin, end in itertools.pairwise(edges):
            if not self._stretch(tables, begin, end):
                return begin, NOT_FINITE
        return len(tables.h), FINITE

    def _wake(self, tables: Tables) -> None:
        """Let states move that an input reaches for the first time."""
        B = self.equations.B
        used = tables.inputs.any(axis=(0, 1))
        effect = np.abs(B[:, used])
        touched = (effect > STIRRED * effect.max(axis=0, initial=0.0)).any(axis=1)
        self.active = self.active | self._stirred_by(touched)

    def _prepare(self, h: float) -> Prepared:
        key = (self.active.tobytes(), h)
        if key not in self.prepared:
            equations, active, stages = self.equations, self.active, self.run.method.stages
            A, B = equations.A[np.ix_(active, active)], equations.B[active]
            maps = step_maps(A, B, self.run.method, h)
            self.prepared[key] = Prepared(
                maps,
                np.ascontiguousarray(maps.change.T),
                StageReading.of(self.readings.restricted(active), maps, stages),
                StageReading.of(equations.root_wrench.restricted(active), maps, stages),
            )
        return self.prepared[key]

    def _stretch(self, tables: Tables, begin: int, end: int) -> bool:
        """Steps of equal length; False, and nothing kept, if they leave the numbers."""
        method, equations, active = self.run.method, self.equations, self.active
        h, first = float(tables.h[begin]), tables.first + begin
        prepared = self._prepare(h)
        inputs, acceleration = tables.inputs[begin:end], tables.acceleration[begin:end]
        flat = inputs.reshape(end - begin, -1)
        increments = flat @ prepared.maps.forced.T
        carried = np.empty((end - begin + 1, len(prepared.change)))
        carried[0] = self._carried(inputs[0, 0])
        march(prepared.change, increments, carried)
        if not np.isfinite(carried[-1]).all():
            return False
        rates = np.vstack([self.rate[None], tables.end_rate[begin:end]])
        stretch = Stretch(
            np.tile(h * method.weights, (end - begin, 1)),
            inputs,
            prepared.account.at(carried[:-1], flat, acceleration),
            self.prescribed,
            self.form.mechanics.damping,
        )
        flows = stretch.flows(equations, self.places, *self._changes(carried, increments, rates))
        running = self.account.book(flows, self.run.grid[first + 1 : first + 1 + end - begin])
        rows, step, tau = self._rows(first, end - begin)
        self.account.rows[rows] = running[step] + tau[:, None] * (running[step + 1] - running[step])
        self.efforts[rows] = flows.effort[step]
        wrench = prepared.wrench.at(carried[step], flat[step], acceleration[step])
        self.wrenches[rows] = np.einsum("s,rsw->rw", method.weights, wrench)
        self._keep_states(prepared.maps, first, carried, flat, rates)

        self.x[active], self.rate = carried[-1, : len(self.moving)], rates[-1]
        self.x[equations.at.positions][np.flatnonzero(self.prescribed)] = tables.end_position[end - 1]
        if method.history != 0.0:
            self.x_rate = np.zeros(len(self.x))
            self.x_rate[active] = carried[-1, len(self.moving) :]
        return True

    @property
    def moving(self) -> NDArray[np.int64]:
        """The states that take part."""
        return np.flatnonzero(self.active)

    def _carried(self, inputs: Floats) -> Floats:
        """The present state of what moves, with its rate where the method carries that."""
        if self.run.method.history == 0.0:
            return self.x[self.active]
        if self.x_rate is None:
            self.x_rate = self.equations.A @ self.x + self.equations.B @ inputs
        return np.concatenate([self.x[self.active], self.x_rate[self.active]])

    def _changes(self, carried: Floats, increments: Floats, rates: Floats) -> tuple[Floats, Floats]:
        """Of kinetic and strain energy in every step."""
        moving = self.moving
        count = len(moving)
        products = increments[:, :count] * (carried[:-1, :count] + 0.5 * increments[:, :count])
        turned = (rates[1:] - rates[:-1]) @ self.form.prescribed_inertia
        given = 0.5 * (turned * (rates[1:] + rates[:-1])).sum(axis=1)
        strained = (moving >= self.equations.at.s.start) & (moving < self.equations.at.s.stop)
        return products[:, moving < self.equations.at.z.stop].sum(axis=1) + given, products[:, strained].sum(
            axis=1
        )

    def _rows(self, first: int, steps: int) -> tuple[NDArray[np.int64], NDArray[np.int64], Floats]:
        """The output rows that fall into some steps, in which of them, and where in it."""
        begin, stop = self.plan.first[first], self.plan.stop[first + steps - 1]
        rows = np.arange(begin, stop)
        return rows, self.plan.step[rows] - first, self.plan.tau[rows]

    def _keep_states(
        self, maps: StepMaps, first: int, carried: Floats, inputs: Floats, rates: Floats
    ) -> None:
        """States of the output rows of some steps, by the polynomial of the step where they fall inside it."""
        rows, step, tau = self._rows(first, len(inputs))
        count = len(self.moving)
        x = carried[step + 1, :count]
        inside = np.flatnonzero(tau < 1.0)
        if len(inside):
            at = step[inside]
            E = maps.increments(carried[at], inputs[at], count)
            x[inside] = carried[at, :count] + np.einsum("rs,rsn->rn", self.plan.dense[rows[inside]], E)
        self.kept_x[np.ix_(rows, self.moving)] = x
        self.kept_rate[rows] = rates[step] + tau[:, None] * (rates[step + 1] - rates[step])

    def state_vector(self) -> Floats:
        state: Floats = self.model.states_of(self.form, self.x[None], self.rate[None])[0]
        return state

    def keep(self, row: int) -> None:
        """The present state and account to a row of the output."""
        self.kept_x[row], self.kept_rate[row] = self.x, self.rate
        self.account.rows[row] = self.account.now

    def stopped(self, status: int, done: int) -> Ending:
        """Why the loop gave up."""
        return Ending(
            Cause.NOT_FINITE, float(self.run.grid[done]), "the arm", "check the sizes of loads and drives"
        )

    def record(self, done: int, ending: Ending) -> Record:
        """Cut the output to what was computed and put it under names."""
        arm, run = self.model, self.run
        times = times_reached(self.plan, run, done, ending, self.keep)
        rows = len(times)
        if rows > 1:
            self.efforts[0], self.wrenches[0] = self.efforts[1], self.wrenches[1]
        states = arm.states_of(self.form, self.kept_x[:rows], self.kept_rate[:rows])
        given = np.flatnonzero(self.prescribed)
        if len(given):
            signals = run.inputs.joint_signals(times)
            arm.layout.part(states, "joint_position")[:, given] = signals[:, given, 0]
            arm.layout.part(states, "joint_rate")[:, given] = signals[:, given, 1]
        names = [*arm.joint_names, *(load.name for load in run.inputs.loads)]
        ledger = self.account.ledger(rows, names, run.method.exact)
        efforts = {name: self.efforts[:rows, k : k + 1] for k, name in enumerate(arm.joint_names)}
        for k, joint in enumerate(arm.robot.chain_order):
            efforts[f"{joint.name}.wrench"] = self.wrenches[:rows, 6 * k : 6 * k + 6]
        statistics = {"steps": float(done), "factorisations": float(len(self.prepared))}
        return Record(times, states, efforts, ledger, ending, statistics)


def advance(arm: PseudoSpectralArm, run: Run) -> Record:
    """Run over the grid of the request."""
    machine = Machine(arm, run)
    machine.keep(0)
    return drive(machine, run)
