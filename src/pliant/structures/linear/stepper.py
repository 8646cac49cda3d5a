"""Steps of linear arms: a constant matrix applied step after step.

A step of a one-step method as constant matrices: factorised once for a step length, then only multiplied.

With the stage increments E_i of ``stage_method`` the stages of x' = A x + B w are

    (S / h - A) E = A x_n - history x'_n + B w ,

linear in x_n, x'_n and the inputs w of all stages. So is everything that is read from them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pliant.jit import inline_kernel, kernel
from pliant.mechanics.dense_algebra import on_one_core
from pliant.model.contract import DONE, Kept, Run
from pliant.model.stage_method import StageMethod
from pliant.model.state import Cause, Ending
from pliant.structures.energy_ledger import COLUMNS
from pliant.structures.ledger import ledger_of
from pliant.structures.linear.arrays import Floats
from pliant.structures.linear.equations import Reading, RunningLedger, Stretch, stacked
from pliant.structures.memory import Memory, refill

if TYPE_CHECKING:
    from pliant.structures.linear.model import PseudoSpectralArm


@inline_kernel
def add_product(matrix: Floats, row: Floats, out: Floats) -> None:
    """out += matrix^T row"""
    n = row.shape[0]
    for block in range(n // 4):
        j = 4 * block
        # four rows at once, summed in the same order: what comes out is read and written a quarter as often
        w, x, y, z = row[j], row[j + 1], row[j + 2], row[j + 3]
        a, b, c, d = matrix[j], matrix[j + 1], matrix[j + 2], matrix[j + 3]
        for i in range(out.shape[0]):
            out[i] = out[i] + a[i] * w + b[i] * x + c[i] * y + d[i] * z
    for j in range(n - n % 4, n):
        x = row[j]
        for i in range(out.shape[0]):
            out[i] += matrix[j, i] * x


@kernel
def add_products(matrix: Floats, rows: Floats, out: Floats) -> None:
    """out[k] += matrix^T rows[k]"""
    for k in range(rows.shape[0]):
        add_product(matrix, rows[k], out[k])


def products(rows: Floats, matrix: Floats) -> Floats:
    """rows @ matrix, each row for itself: in the last bits, none depends on how many others come along."""
    out = np.zeros((len(rows), matrix.shape[1]))
    add_products(np.ascontiguousarray(matrix), np.ascontiguousarray(rows), out)
    return out


@kernel
def march(change: Floats, increments: Floats, states: Floats) -> None:
    """states[k + 1] = states[k] + increments[k]  with  increments[k] += change^T states[k]; the first state is given.

    ``change`` is transposed so that the inner loop runs along memory. The increments hold what inputs force on each
    step when they come in and the whole when they go out: their digits survive where states are large.
    """
    n = states.shape[1]
    for k in range(increments.shape[0]):
        own, now, then = increments[k], states[k], states[k + 1]
        add_product(change, now, own)
        for i in range(n):
            then[i] = now[i] + own[i]


@dataclass(frozen=True, eq=False)
class StepMaps:
    """Over the carried values y, which are x or, for methods with a history, (x, x'), and all inputs of a step.

    ``stages`` and ``stage_inputs`` give the increments E (stages x states); ``change`` and ``forced`` that of y.
    """

    stages: Floats
    stage_inputs: Floats
    change: Floats
    forced: Floats

    def increments(self, carried: Floats, inputs: Floats, states: int) -> Floats:
        """E of many steps, (steps, stages, states)."""
        flat = products(carried, self.stages.T) + products(inputs, self.stage_inputs.T)
        return np.asarray(flat.reshape(len(carried), len(self.stages) // states, states))


@on_one_core
def step_maps(A: Floats, B: Floats, method: StageMethod, h: float) -> StepMaps:
    """The maps of one step of length h."""
    from scipy.linalg import lu_factor, lu_solve

    n, s, history = len(A), method.stages, method.history
    one = np.eye(n)
    factors = lu_factor(np.kron(method.S / h, one) - np.kron(np.eye(s), A))
    stages = lu_solve(factors, np.tile(A, (s, 1)))
    stage_inputs = lu_solve(factors, np.kron(np.eye(s), B))
    last = np.kron(method.update[None], one)
    if history == 0.0:
        return StepMaps(stages, stage_inputs, last @ stages, last @ stage_inputs)
    # one stage: x'_1 = S E / h + history x'_n, and x' moves towards it by the gain
    stages = np.hstack([stages, -history * lu_solve(factors, one)])
    to_rate, gain = method.S[0, 0] / h, method.rate_gain
    rate = to_rate * stages
    rate[:, n:] += (history - 1.0) * one
    change = np.vstack([last @ stages, gain * rate])
    return StepMaps(stages, stage_inputs, change, np.vstack([last @ stage_inputs, gain * to_rate * stage_inputs]))


@dataclass(frozen=True, eq=False)
class StageReading:
    """A reading at the stages of a step, over the carried values, all inputs and the accelerations of that stage."""

    of_carried: Floats  # (carried, stages x rows)
    of_inputs: Floats  # (stages x inputs, stages x rows)
    of_acceleration: Floats  # (prescribed, rows)

    @staticmethod
    @on_one_core
    def of(reading: Reading, maps: StepMaps, stages: int) -> StageReading:
        n = reading.of_state.shape[1]
        spread = np.kron(np.eye(stages), reading.of_state)
        carried = spread @ maps.stages
        carried[:, :n] += np.tile(reading.of_state, (stages, 1))
        direct = np.kron(np.eye(stages), reading.of_input)
        inputs = spread @ maps.stage_inputs + direct
        return StageReading(*(np.ascontiguousarray(each.T) for each in (carried, inputs, reading.of_acceleration)))

    def at(self, carried: Floats, inputs: Floats, acceleration: Floats) -> Floats:
        """Values (steps, stages, rows)."""
        steps, stages, prescribed = acceleration.shape
        shape = (steps, stages, self.of_acceleration.shape[1])
        flat = products(carried, self.of_carried) + products(inputs, self.of_inputs)
        given = products(acceleration.reshape(steps * stages, prescribed), self.of_acceleration)
        return np.asarray(flat.reshape(shape) + given.reshape(shape))


Bools = NDArray[np.bool_]
NOT_FINITE = 1
LARGEST = 1e12  # state, in SI units: no arm comes near, and shapes can still be found
TOGETHER = 1024  # steps that enter the ledger at once
STIRRED = 1e-12  # part of an input's largest effect that counts as an effect


@dataclass(frozen=True, eq=False)
class Tables:
    """Inputs of the steps from ``first`` on, those of joints at the stages and the end of each."""

    first: int
    inputs: Floats  # (steps, stages, inputs)
    acceleration: Floats  # (steps, stages, prescribed)
    end: Floats  # (steps, prescribed, 3) where prescribed joints are then


@dataclass(frozen=True, eq=False)
class Stepped:
    """Steps of one length that are not in the ledger yet: inputs at stages, starts and increments of what moves."""

    first: int
    h: float
    inputs: Floats  # (steps, stages, inputs)
    acceleration: Floats  # (steps, stages, prescribed)
    start: Floats
    increments: Floats
    start_rate: Floats  # (steps, prescribed)
    end_rate: Floats

    @staticmethod
    def joined(parts: list[Stepped]) -> Stepped:
        if len(parts) == 1:
            return parts[0]
        names = ("inputs", "acceleration", "start", "increments", "start_rate", "end_rate")
        return Stepped(
            parts[0].first, parts[0].h, *(np.concatenate([getattr(part, name) for part in parts]) for name in names)
        )


@dataclass(frozen=True, eq=False)
class Prepared:
    """The maps of one step length, for the states that move."""

    maps: StepMaps
    change: Floats  # transposed, as `march` takes it
    forced: Floats  # transposed
    held: Floats  # (joints, carried) by what torques that are held through the step change it
    ledger: StageReading
    wrench: StageReading


@dataclass(eq=False)
class Stretched:
    """Steps begin .. stop-1 of some tables, which have one length: how many are done, and how many of these entered."""

    tables: Tables
    begin: int
    stop: int
    h: float
    prepared: Prepared
    moving: NDArray[np.int64]
    increments: Floats
    carried: Floats
    rates: Floats  # (steps + 1, prescribed)
    done: int = 0
    entered: int = 0

    def waiting(self) -> Stepped:
        """Those that are done and not entered."""
        own = slice(self.entered, self.done)
        steps = slice(self.begin + self.entered, self.begin + self.done)
        inputs, acceleration = self.tables.inputs[steps], self.tables.acceleration[steps]
        moved = self.carried[own], self.increments[own]
        rates = self.rates[own], self.rates[self.entered + 1 : self.done + 1]
        self.entered = self.done
        return Stepped(self.tables.first + steps.start, self.h, inputs, acceleration, *moved, *rates)


class Stepper:
    """The equations of a run, its state and what it has kept."""

    def __init__(self, arm: PseudoSpectralArm, run: Run) -> None:
        self.model, self.run, self.plan = arm, run, run.schedule
        self.method = run.implicit_method("PseudoSpectral")
        self.form, self.equations = arm.equations(run.inputs)
        self.prescribed = self.form.mechanics.prescribed
        self.guided = bool(self.prescribed.any())
        self.x, self.rate = arm.normal_state(self.form, run.start)
        self.readings, self.places = stacked(self.equations)
        self.x_rate: Floats | None = None
        # which states are the positions of prescribed joints, and where their motions have brought them
        self.placed = np.arange(len(self.x))[self.equations.at.positions][np.flatnonzero(self.prescribed)]
        self.place = self.x[self.placed]
        self.to_state = arm.to_state(self.form)
        self.active: Bools = self._stirred_by(self.x != 0.0)
        self.moving = np.flatnonzero(self.active)  # the states that take part
        self.given = np.flatnonzero(self.prescribed)
        self.stretched: Stretched | None = None
        self.nothing = np.zeros(self.equations.B.shape[1])  # no input acts
        self.used: Bools = np.zeros(self.equations.B.shape[1], np.bool_)
        self.pending: list[Stepped] = []
        self.waiting = 0
        self.prepared: dict[tuple[bytes, float], Prepared] = {}
        joints, loads = len(self.prescribed), len(run.inputs.loads)
        rows = len(self.plan.tau) + 1
        z = np.zeros
        x, r, at = self.x, self.rate, self.equations.at
        kinetic = 0.5 * float(x[at.z] @ x[at.z] + r @ self.form.prescribed_inertia @ r)
        self.ledger = RunningLedger(kinetic, 0.5 * float(x[at.s] @ x[at.s]), joints, loads, rows)
        self.kept_x, self.kept_rate = z((rows, len(self.x))), z((rows, len(self.rate)))
        self.efforts, self.wrenches = z((rows, joints)), z((rows, 6 * len(arm.assembly.bodies)))

    def _stirred_by(self, touched: Bools) -> Bools:
        """All states of the groups in which one is touched, or pushed by one that is; positions always belong."""
        group = self.equations.group
        pushed = self.equations.A[:, touched].any(axis=1)
        return np.isin(group, group[touched | pushed]) | (group < 0)

    def start(self) -> None:
        self.keep(0)

    def times(self, a: int, b: int) -> Floats:
        return self.run.times(a, b)

    def tables(self, a: int, b: int, joints: Floats, loads: Floats) -> Tables:
        stages, count = self.method.stages, (b - a) * self.method.stages
        places = joints[:, :stages, :, 0].reshape(count, joints.shape[2])
        turned = self.model.in_body_axes(self.run.inputs, places, loads[:, :stages].reshape(count, -1, 6))
        turned = turned.reshape(b - a, stages, 6 * loads.shape[2])
        inputs, acceleration = self.inputs_of(self.plan.h[a:b], self.rate, joints, turned)
        return Tables(a, inputs, acceleration, joints[:, -1, self.given])

    def advance(self, tables: Tables, part: slice, held: Floats) -> tuple[int, int]:
        """Stretch by stretch of equal step lengths; what is held is added to the inputs."""
        begin, holds = part.start, np.count_nonzero(held) > 0
        if holds:
            drives = self.nothing.copy()
            drives[self.equations.at.drives] = np.where(self.prescribed, 0.0, held) if self.guided else held
            self._wake(drives != 0.0)
        while begin < part.stop:
            now = self.stretched
            if now is None or now.tables is not tables or begin != now.begin + now.done or begin == now.stop:
                now = self._stretch(tables, begin)
            wanted = min(part.stop, now.stop)
            self._march(now, wanted - begin, held if holds else None)
            begin = now.begin + now.done
            if begin < wanted:
                break
        if holds:  # for the ledger; increments have it already
            inputs = tables.inputs[part.start : begin]
            inputs += drives
        return begin - part.start, DONE if begin == part.stop else NOT_FINITE

    def inputs_of(self, h: Floats, start_rate: Floats, joints: Floats, loads: Floats) -> tuple[Floats, Floats]:
        """Inputs w (steps, stages, inputs) and accelerations of prescribed joints (steps, stages, prescribed)."""
        method, own, at = self.method, self.form.mechanics, self.equations.at
        given, target = np.flatnonzero(self.prescribed), joints[:, : method.stages]
        w = np.zeros((len(h), method.stages, self.equations.B.shape[1]))
        drive = target[..., 2] + own.stiffness * target[..., 0] + own.damping * target[..., 1]
        w[..., at.drives] = np.where(self.prescribed, 0.0, drive)
        w[..., at.weight] = 1.0
        w[..., at.loads] = loads
        rate, acceleration = target[..., given, 1], target[..., given, 2]
        if method.exact and len(given):
            # accelerations that lead from rate to rate, so that rate and energy follow one polynomial
            end_rate = joints[:, -1, given, 1]
            rates = np.vstack([start_rate[None], end_rate[:-1]])
            missed = end_rate - rates - h[:, None] * np.einsum("s,ksj->kj", method.weights, acceleration)
            acceleration = acceleration + (missed / h[:, None])[:, None]
            rate = rates[:, None] + h[:, None, None] * np.einsum("st,ktj->ksj", method.A, acceleration)
        w[..., at.rates] = rate
        return w, acceleration

    def _wake(self, acting: Bools) -> None:
        """Let states move that one of these inputs reaches for the first time."""
        fresh = acting & ~self.used
        if not fresh.any():
            return
        self.used |= fresh
        effect = np.abs(self.equations.B[:, fresh])
        touched = (effect > STIRRED * effect.max(axis=0, initial=0.0)).any(axis=1)
        active = self.active | self._stirred_by(touched)
        if (active != self.active).any():
            self.enter()
            self.active, self.moving, self.stretched = active, np.flatnonzero(active), None

    def prepare(self, h: float) -> Prepared:
        key = (self.active.tobytes(), h)
        if key not in self.prepared:
            equations, active, stages = self.equations, self.active, self.method.stages
            A, B = equations.A[np.ix_(active, active)], equations.B[active]
            maps = step_maps(A, B, self.method, h)
            readings = (self.readings.restricted(active), equations.root_wrench.restricted(active))
            ledger, wrench = (StageReading.of(reading, maps, stages) for reading in readings)
            by_stages = maps.forced.reshape(len(maps.forced), stages, maps.forced.shape[1] // stages)
            driven = by_stages[:, :, equations.at.drives].sum(axis=1)
            held = np.where(self.prescribed[:, None], 0.0, driven.T)
            change, forced = (np.ascontiguousarray(each.T) for each in (maps.change, maps.forced))
            self.prepared[key] = Prepared(maps, change, forced, held, ledger, wrench)
        return self.prepared[key]

    def _stretch(self, tables: Tables, begin: int) -> Stretched:
        """The steps from ``begin`` on that have its length."""
        if self.stretched is not None and self.stretched.done > self.stretched.entered:
            self._put_aside(self.stretched.waiting())
        h = self.plan.h[tables.first + begin : tables.first + len(tables.inputs)]
        others = np.flatnonzero(h != h[0])
        count = int(others[0]) if len(others) else len(h)
        steps = slice(begin, begin + count)
        self._wake(np.asarray(tables.inputs[steps].any(axis=(0, 1))))
        prepared = self.prepare(float(h[0]))
        increments = products(tables.inputs[steps].reshape(count, -1), prepared.forced)
        # prescribed joints go as far as their motions do, which a rule of integration misses
        places = np.vstack([self.place[None], tables.end[steps, :, 0]])
        increments[:, np.searchsorted(self.moving, self.placed)] = np.diff(places, axis=0)
        carried = np.empty((count + 1, len(prepared.change)))
        carried[0] = self._carried(tables.inputs[begin, 0])
        rates = np.vstack([self.rate[None], tables.end[steps, :, 1]])
        self.stretched = Stretched(
            tables, begin, steps.stop, float(h[0]), prepared, self.moving, increments, carried, rates
        )
        return self.stretched

    def _put_aside(self, done: Stepped) -> None:
        """For the ledger, with all that have the same length."""
        if self.pending and (self.pending[0].h != done.h or self.waiting >= TOGETHER):
            self._enter_pending()
        self.waiting += len(done.start)
        self.pending.append(done)

    def _march(self, now: Stretched, count: int, held: Floats | None) -> None:
        """The next steps of a stretch, with torques that began to be held: as many as end in a state."""
        begin, end = now.done, now.done + count
        increments, carried = now.increments[begin:end], now.carried[begin : end + 1]
        if held is not None:
            increments += held @ now.prepared.held
        march(now.prepared.change, increments, carried)
        last = carried[-1]
        if not last @ last < LARGEST**2:  # a fifth of the time of the largest magnitude
            bad = int(np.argmin((np.abs(carried) < LARGEST).all(axis=1)))
            end = begin + max(bad - 1, 0)
            carried = carried[: end - begin + 1]
        now.done, size = end, len(now.moving)
        if end == begin:
            return
        self.x[now.moving], self.rate = carried[-1, :size], now.rates[end]
        if len(self.given):
            self.place = now.tables.end[now.begin + end - 1, :, 0].copy()
        if self.method.history != 0.0:
            self.x_rate = np.zeros(len(self.x))
            self.x_rate[now.moving] = carried[-1, size:]

    def enter(self) -> None:
        """The ledger and the output rows of all steps since the last time: dear for one step, cheap for many."""
        if self.stretched is not None and self.stretched.done > self.stretched.entered:
            self._put_aside(self.stretched.waiting())
        if self.pending:
            self._enter_pending()

    def _enter_pending(self) -> None:
        done, self.pending, self.waiting = Stepped.joined(self.pending), [], 0
        steps, method, prepared = len(done.start), self.method, self.prepare(done.h)
        flat = done.inputs.reshape(steps, -1)
        weights = np.tile(done.h * method.weights, (steps, 1))
        readings = prepared.ledger.at(done.start, flat, done.acceleration)
        # rate feedback whose loss is one of the joint; behind a motor it is part of the drive
        motors = {motor.joint for motor in self.run.inputs.motors}
        lossy = np.where([name in motors for name in self.model.joint_names], 0.0, self.form.mechanics.damping)
        stretch = Stretch(weights, done.inputs, readings, self.prescribed, lossy)
        entries, effort = stretch.entries(self.equations, self.places, *self._changes(done), self._numerical_loss(done))
        running = self.ledger.enter(entries, self.run.grid[done.first + 1 : done.first + 1 + steps])
        # the output rows that fall into these steps, in which of them, and where in it
        rows = np.arange(self.plan.first[done.first], self.plan.stop[done.first + steps - 1])
        step, tau = self.plan.step[rows] - done.first, self.plan.tau[rows]
        share = tau[:, None]
        self.ledger.rows[rows] = running[step] + share * (running[step + 1] - running[step])
        self.efforts[rows] = effort[step]
        wrench = prepared.wrench.at(done.start[step], flat[step], done.acceleration[step])
        self.wrenches[rows] = np.einsum("s,rsw->rw", method.weights, wrench)
        self.kept_rate[rows] = done.start_rate[step] + share * (done.end_rate[step] - done.start_rate[step])
        count = len(self.moving)
        x = done.start[step, :count] + done.increments[step, :count]
        inside = np.flatnonzero(tau < 1.0)
        if len(inside) and count:
            at = step[inside]
            E = prepared.maps.increments(done.start[at], flat[at], count)
            x[inside] = done.start[at, :count] + np.einsum("rs,rsn->rn", self.plan.dense[rows[inside]], E)
        self.kept_x[np.ix_(rows, self.moving)] = x

    def _carried(self, inputs: Floats) -> Floats:
        """The present state of what moves, with its rate where the method carries that."""
        if self.method.history == 0.0:
            return self.x[self.active]
        if self.x_rate is None:
            self.x_rate = self.equations.A @ self.x + self.equations.B @ inputs
        return np.concatenate([self.x[self.active], self.x_rate[self.active]])

    def _changes(self, done: Stepped) -> tuple[Floats, Floats]:
        """Of kinetic and strain energy in every step."""
        moving = self.moving
        count, at = len(moving), self.equations.at
        gained = done.increments[:, :count] * (done.start[:, :count] + 0.5 * done.increments[:, :count])
        turned = products(done.end_rate - done.start_rate, self.form.prescribed_inertia)
        given = 0.5 * (turned * (done.end_rate + done.start_rate)).sum(axis=1)
        strained = (moving >= at.s.start) & (moving < at.s.stop)
        return gained[:, moving < at.z.stop].sum(axis=1) + given, gained[:, strained].sum(axis=1)

    def _numerical_loss(self, done: Stepped) -> Floats:
        """What a damped method takes in every step: the energy of its combination of the stage increments."""
        if not (self.method.damped and len(self.moving)):
            return np.zeros(len(done.start))
        moving, at = self.moving, self.equations.at
        flat = done.inputs.reshape(len(done.inputs), -1)
        E = self.prepare(done.h).maps.increments(done.start, flat, len(moving))
        y = np.einsum("s,ksn->kn", self.method.dissipation, E)[:, moving < at.s.stop]
        # the increments of prescribed rates are h A times the accelerations
        turned = done.h * np.einsum("s,st,ktj->kj", self.method.dissipation, self.method.A, done.acceleration)
        given = (products(turned, self.form.prescribed_inertia) * turned).sum(axis=1)
        return np.asarray(0.5 * ((y * y).sum(axis=1) + given))

    def state_vector(self) -> Floats:
        return np.concatenate([self.x, self.rate]) @ self.to_state

    def keep(self, row: int) -> None:
        """The present state and ledger to a row of the output."""
        self.kept_x[row], self.kept_rate[row] = self.x, self.rate
        self.ledger.rows[row] = self.ledger.now

    def memory(self) -> Memory:
        self.enter()
        rate = np.zeros(0) if self.x_rate is None else self.x_rate
        return self.x, self.rate, self.place, rate, self.active, self.used, self.ledger.now, self.ledger.worst

    def recall(self, memory: Memory) -> None:
        own = self.memory()
        self.x_rate = memory[3].copy() if memory[3].shape == self.x.shape else None
        refill((*own[:3], *own[4:]), (*memory[:3], *memory[4:]))
        self.moving = np.flatnonzero(self.active)

    def stopped(self, status: int, done: int) -> Ending:
        """Why the loop gave up."""
        remedy = "weight or feedback may push it over: check them and the sizes of loads, or compile the robot with"
        return Ending(Cause.DIVERGED, float(self.run.grid[done]), "the arm", f"{remedy} GeometricallyExact()")

    def kept(self, times: Floats) -> Kept:
        self.enter()
        arm, run, rows = self.model, self.run, len(times)
        if rows > 1:
            self.efforts[0], self.wrenches[0] = self.efforts[1], self.wrenches[1]
        states = arm.states_of(self.form, self.kept_x[:rows], self.kept_rate[:rows])
        run.place_prescribed(arm.layout, states, times)
        names = [*arm.joint_names, *(load.name for load in run.inputs.loads)]
        works = dict(zip(names, self.ledger.rows[:rows, COLUMNS:].T))
        efforts = {name: self.efforts[:rows, k : k + 1] for k, name in enumerate(arm.joint_names)}
        for k, joint in enumerate(arm.robot.chain_order):
            efforts[f"{joint.name}.wrench"] = self.wrenches[:rows, 6 * k : 6 * k + 6]
        ledger = ledger_of(self.ledger.rows[:rows, :COLUMNS], works, self.ledger.worst, self.method.exact)
        return Kept(states, efforts, ledger, {"factorisations": float(len(self.prepared))})
