"""Drive the compiled loop: tables of inputs in, a record out."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pliant.errors import InvalidInput
from pliant.formulations.geometrically_exact import account as columns
from pliant.formulations.geometrically_exact.account import new_account, stored_energies
from pliant.formulations.geometrically_exact.chain import Chain, Drives, Floats, Ints, Plant
from pliant.formulations.geometrically_exact.factorise import new_frozen, new_spectral_factors
from pliant.formulations.geometrically_exact.newton import (
    CONVERGED,
    NOT_FINITE,
    SINGULAR,
    Control,
    Last,
    Scheme,
    Solver,
    Spectrum,
)
from pliant.formulations.geometrically_exact.projection import new_projection
from pliant.formulations.geometrically_exact.stage_data import Method, State, new_stages, new_state
from pliant.formulations.geometrically_exact.step import Output, Tables, Work, run_steps
from pliant.jit import announce_compilation
from pliant.mechanics.factors import new_increments
from pliant.mechanics.shape_functions import lagrange_values
from pliant.model.contract import Record, Run
from pliant.model.ending import Cause, Ending
from pliant.model.inputs import Inputs, SampledController
from pliant.model.ledger import Ledger
from pliant.model.sampling import ask
from pliant.model.stage_method import StageMethod

if TYPE_CHECKING:
    from pliant.formulations.geometrically_exact.model import GeometricallyExactArm

CHUNK = 4096  # steps whose input tables are made at once
WATCHED_CHUNK = 512  # the same when somebody watches the progress


def method_tables(method: StageMethod) -> tuple[Method, Spectrum]:
    """The numbers of a stage method as the kernels read them."""
    values, weights = method.stress_average
    return (
        Method(
            method.A,
            method.S,
            method.weights,
            method.update,
            method.history,
            method.rate_gain,
            method.extrapolation,
            values,
            weights,
        ),
        Spectrum(*method.spectrum),
    )


def drives_of(inputs: Inputs) -> Drives:
    prescribed = np.array(inputs.prescribed, dtype=np.bool_)
    return Drives(
        prescribed,
        ~prescribed,
        np.array(inputs.stiffness, dtype=float),
        np.array(inputs.damping, dtype=float),
    )


def state_of(arm: GeometricallyExactArm, x: Floats) -> State:
    """A state with its own arrays, from a state vector."""
    chain = arm.chain
    state = new_state(len(chain.inertia.M), len(chain.section.C), len(arm.joint_names))
    state.V[:] = arm.layout.part(x, "twist")
    state.e[:] = arm.layout.part(x, "strain")
    state.q[:] = arm.layout.part(x, "joint_position")
    state.qd[:] = arm.layout.part(x, "joint_rate")
    return state


def new_output(chain: Chain, dofs: int, loads: int, rows: int) -> Output:
    z = np.zeros
    return Output(
        z((rows, 6 * len(chain.inertia.M) + 6 * len(chain.section.C) + 2 * dofs)),
        z((rows, columns.COLUMNS)),
        z((rows, dofs)),
        z((rows, loads)),
        z((rows, dofs)),
        z((rows, len(chain.tree.parent), 6)),
    )


class Machine:
    """Everything that a run needs beside its tables: constants, state and scratch."""

    def __init__(self, arm: GeometricallyExactArm, run: Run, rows: int) -> None:
        chain = arm.chain
        dofs, points, nodes = len(arm.joint_names), len(chain.section.C), len(chain.inertia.M)
        links, loads = len(chain.tree.parent), len(run.inputs.loads)
        self.arm = arm
        self.plant = Plant(chain, arm.load_table(run.inputs.loads), drives_of(run.inputs))
        method, spectrum = method_tables(run.method)
        gravity, length = float(np.linalg.norm(chain.inertia.gravity)), max(arm.reach, 1e-9)
        in_world = bool(np.any(self.plant.loads.world))
        self.control = Control(
            run.promise.displacement,
            run.promise.energy,
            length,
            run.promise.max_iterations,
            gravity > 0.0 or in_world,
            np.inf if in_world else gravity / length,
            np.array([0.0, 1.0, 0.0, 0.0]),
            np.zeros(3, np.int64),
        )
        self.scheme = Scheme(method, spectrum, self.control)
        s, n_lam, dtype = run.method.stages, len(spectrum.lam), spectrum.lam.dtype.type
        solver = Solver(
            new_stages(s, links, nodes, points, dofs, chain.inertia.at_points),
            new_frozen(chain, n_lam, dtype),
            new_spectral_factors(chain, n_lam, dtype),
            new_increments(nodes, points, dofs, dtype),
            Last(np.zeros((s, nodes, 6)), np.zeros((s, points, 6)), np.zeros((s, dofs))),
        )
        self.state = state_of(arm, run.start)
        self.account = new_account(dofs, loads)
        self.work = Work(
            self.state, solver, self.account, new_projection(links, nodes), np.zeros((1, links, 12))
        )
        self.output = new_output(chain, dofs, loads, rows)
        self.account.sums[columns.KINETIC], self.account.sums[columns.STRAIN] = stored_energies(
            chain, self.state.V, self.state.e
        )

    def steps(self, tables: Tables) -> tuple[int, int]:
        done, status = run_steps(self.plant, self.scheme, self.work, tables, self.output)
        return done, status

    def keep(self, row: int) -> None:
        """Copy the present state and account to a row of the output."""
        out, account = self.output, self.account
        out.x[row] = self.arm.pack(self.state)
        out.sums[row], out.joints[row], out.loads[row] = account.sums, account.joints, account.loads


@dataclass(frozen=True, eq=False)
class Schedule:
    """Step lengths, and where in which step each row of the output falls; row 0 is the start."""

    h: Floats
    times: Floats
    step: Ints
    tau: Floats
    dense: Floats
    first: Ints
    stop: Ints

    @staticmethod
    def of(run: Run) -> Schedule:
        grid = run.grid
        h = grid[1:] - grid[:-1]
        # lengths that differ only by round-off become equal, so that factorisations survive
        changes = np.flatnonzero(np.abs(h[1:] - h[:-1]) > 1e-9 * h[1:]) + 1
        for begin, end in itertools.pairwise([0, *changes.tolist(), len(h)]):
            h[begin:end] = h[begin]
        wanted = run.outputs[run.outputs > grid[0]]
        step = (grid.searchsorted(wanted - 1e-9 * h.min()) - 1).clip(0, len(h) - 1)
        tau = (wanted - grid[step]) / h[step]
        tau[tau > 1 - 1e-9] = 1.0
        dense = np.zeros((len(tau) + 1, run.method.stages))
        if (tau < 1.0).any():
            dense[1:] = lagrange_values(np.append(0.0, run.method.nodes), tau)[:, 1:]
        stop = 1 + np.bincount(step, minlength=len(h)).cumsum()
        first = np.append(1, stop[:-1])
        times, step, tau = np.append(grid[0], wanted), np.append(-1, step), np.append(1.0, tau)
        return Schedule(h, times, step, tau, dense, first, stop)


def make_tables(run: Run, plan: Schedule, held: Floats, a: int, b: int) -> Tables:
    """Tables for the steps a .. b-1 of the grid."""
    h = plan.h[a:b]
    times = run.grid[a:b, None] + h[:, None] * run.method.nodes
    times = np.concatenate([times, run.grid[a + 1 : b + 1, None]], axis=1)
    flat = times.ravel()
    joints = run.inputs.joint_signals(flat).reshape(*times.shape, len(run.inputs.prescribed), 3)
    if held.any():
        joints = joints.copy()
        joints[..., 2] += held
    loads = run.inputs.load_signals(flat).reshape(*times.shape, len(run.inputs.loads), 6)
    if not (np.isfinite(joints).all() and np.isfinite(loads).all()):
        raise InvalidInput("a drive or load is not finite; let signals and motions return finite numbers")
    ends = run.grid[a + 1 : b + 1]
    return Tables(h, ends, joints, loads, plan.first[a:b], plan.stop[a:b], plan.tau, plan.dense)


def readable_tables(run: Run, plan: Schedule, held: Floats, a: int, b: int) -> tuple[Tables | None, str]:
    """Tables for the longest stretch of the steps a .. b-1 whose inputs exist, and what is wrong after it."""
    tables, problem = None, ""
    readable, unreadable, end = a, b + 1, b
    while unreadable - readable > 1:
        try:
            tables = make_tables(run, plan, held, a, end)
            readable = end
        except InvalidInput as error:
            unreadable, problem = end, str(error)
        end = (readable + unreadable) // 2
    return tables, problem


def advance(arm: GeometricallyExactArm, run: Run) -> Record:
    """Run the compiled loop over the grid of the request."""
    announce_compilation(run_steps)
    plan = Schedule.of(run)
    n_steps = len(plan.h)
    machine = Machine(arm, run, len(plan.tau) + 1)
    machine.keep(0)
    ending = Ending(Cause.COMPLETED, float(run.grid[-1]))
    held: dict[str, Floats] = {}
    done = 0
    shown = time.monotonic()
    try:
        for a, b, sampled in chunks(run, n_steps):
            for controller in sampled:
                problem = ask(arm, controller, float(run.grid[a]), arm.pack(machine.state), held)
                if problem:
                    return finish(arm, run, machine, plan, done, problem)
            torque = sum(held.values(), np.zeros(len(arm.joint_names)))
            tables, unreadable = readable_tables(run, plan, torque, a, b)
            if tables is not None:
                if a == 0 and run.method.history != 0.0:
                    start_rates(arm, run, machine)
                count, status = machine.steps(tables)
                done += count
                if status != CONVERGED:
                    ending = stopped(arm, run, machine, status, done)
                    break
            if unreadable:
                now = float(run.grid[done])
                ending = Ending(Cause.INPUT, now, unreadable, "what was computed so far is kept")
                break
            if run.progress and time.monotonic() - shown > 0.1:
                shown = time.monotonic()
                run.progress(done / n_steps)
    except KeyboardInterrupt:
        ending = Ending(Cause.INTERRUPTED, float(run.grid[done]), remedy="what was computed is kept")
    return finish(arm, run, machine, plan, done, ending)


def chunks(run: Run, n_steps: int) -> Iterator[tuple[int, int, list[SampledController]]]:
    """Ranges of steps between samples, each with the controllers that act at its start."""
    size = WATCHED_CHUNK if run.progress else CHUNK
    marks: dict[int, list[SampledController]] = {}
    for controller in run.inputs.controllers:
        times = np.arange(run.grid[0], run.grid[-1] - 1e-9 * controller.period, controller.period)
        for index in np.clip(np.searchsorted(run.grid, times - 1e-6 * controller.period), 0, n_steps - 1):
            marks.setdefault(int(index), []).append(controller)
    edges = sorted({0, n_steps, *marks})
    for left, right in itertools.pairwise(edges):
        for a in range(left, right, size):
            yield a, min(a + size, right), marks.get(a, []) if a == left else []


def start_rates(arm: GeometricallyExactArm, run: Run, machine: Machine) -> None:
    """Rates of change at the start, from a very short midpoint step, for methods that carry them."""
    from pliant.model.contract import Promise
    from pliant.model.stage_method import gauss_collocation

    tiny = 1e-5 * float(run.grid[1] - run.grid[0])
    grid = np.array([run.grid[0], run.grid[0] + tiny])
    probe = Run(run.start, grid, grid, run.inputs, gauss_collocation(1), Promise(1e-13, 1e-6), None)
    after = Machine(arm, probe, 2)
    after.steps(make_tables(probe, Schedule.of(probe), np.zeros(len(arm.joint_names)), 0, 1))
    before = machine.state
    before.V_rate[:] = (after.state.V - before.V) / tiny
    before.e_rate[:] = (after.state.e - before.e) / tiny
    before.q_rate[:] = before.qd


def stopped(arm: GeometricallyExactArm, run: Run, machine: Machine, status: int, done: int) -> Ending:
    """Why and where the loop gave up, with what to try."""
    now = float(run.grid[done])
    place = arm.place_of(int(machine.control.counts[2]))
    if status == NOT_FINITE:
        return Ending(Cause.NOT_FINITE, now, place, "check loads and drives there, or take a smaller step")
    if status == SINGULAR:
        return Ending(Cause.SINGULAR, now, place, "give every moving part an inertia")
    return Ending(
        Cause.NOT_CONVERGED, now, place, "take a smaller step, or more elements if the link bends strongly"
    )


def finish(
    arm: GeometricallyExactArm, run: Run, machine: Machine, plan: Schedule, done: int, ending: Ending
) -> Record:
    """Cut the output to what was computed and put it under names."""
    out = machine.output
    rows = int(np.searchsorted(plan.step, done))
    times = plan.times[:rows]
    if not ending.completed and times[-1] < run.grid[done]:
        machine.keep(rows)
        times = np.append(times, run.grid[done])
        rows += 1
    if rows > 1:
        out.torque[0], out.root[0] = out.torque[1], out.root[1]
    states = out.x[:rows]
    prescribed = np.flatnonzero(run.inputs.prescribed)
    if len(prescribed):
        signals = run.inputs.joint_signals(times)
        arm.layout.part(states, "joint_position")[:, prescribed] = signals[:, prescribed, 0]
        arm.layout.part(states, "joint_rate")[:, prescribed] = signals[:, prescribed, 1]
    sums = out.sums[:rows]
    names = [*arm.joint_names, *(load.name for load in run.inputs.loads)]
    works = np.concatenate([out.joints[:rows], out.loads[:rows]], axis=1)
    ledger = Ledger(
        kinetic=sums[:, columns.KINETIC],
        strain=sums[:, columns.STRAIN],
        gravity=sums[:, columns.GRAVITY],
        works={name: works[:, k] for k, name in enumerate(names)},
        material_loss=sums[:, columns.MATERIAL],
        viscous_loss=sums[:, columns.VISCOUS],
        joint_loss=sums[:, columns.JOINT],
        projection_loss=sums[:, columns.PROJECTION],
        residual=sums[:, columns.RESIDUAL],
        exchanged=sums[:, columns.EXCHANGED],
        worst_ratio=float(machine.account.worst[0]),
        worst_time=float(machine.account.worst[1]),
        exact=run.method.exact,
    )
    efforts = {name: out.torque[:rows, k : k + 1] for k, name in enumerate(arm.joint_names)}
    for k, joint in enumerate(arm.robot.chain_order):
        efforts[f"{joint.name}.wrench"] = out.root[:rows, k]
    statistics = {
        "steps": float(done),
        "iterations": float(machine.control.counts[0]),
        "factorisations": float(machine.control.counts[1]),
    }
    return Record(times, states, efforts, ledger, ending, statistics)
