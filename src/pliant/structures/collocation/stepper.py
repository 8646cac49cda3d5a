"""Steps of collocated chains: what the compiled loop needs, and what it keeps."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pliant.mechanics.block_elimination import new_increments
from pliant.model.contract import Kept, NewtonTolerance, Run, with_held
from pliant.model.inputs import Inputs
from pliant.model.stage_method import StageMethod, gauss_collocation
from pliant.model.state import Cause, Ending
from pliant.structures import energy_ledger as columns
from pliant.structures.bundles import zeros_of
from pliant.structures.collocation.bending import bent_too_far
from pliant.structures.collocation.chain import Floats, Method, State, new_stages, new_state
from pliant.structures.collocation.factorise import new_frozen, new_spectral_factors
from pliant.structures.collocation.massless import refuse_massless_joints
from pliant.structures.collocation.newton import (
    Control,
    Last,
    Scheme,
    Solver,
    Spectrum,
    new_projection,
    probe_lines,
    probe_velocities,
)
from pliant.structures.collocation.relation_solver import measure_start, new_beside
from pliant.structures.collocation.relations import Bools, Relating
from pliant.structures.collocation.step import Output, Tables, Work, run_steps, stored_energies
from pliant.structures.energy_ledger import new_ledger
from pliant.structures.ledger import ledger_of
from pliant.structures.loop_constraints import independent
from pliant.structures.relations import CLOSED
from pliant.structures.stepping import LOOP_OPENED, NOT_FINITE, SINGULAR

if TYPE_CHECKING:
    from pliant.structures.collocation.model import GeometricallyExactArm


def method_tables(method: StageMethod) -> tuple[Method, Spectrum]:
    """The numbers of a stage method as the kernels read them."""
    rates = method.history, method.rate_gain, method.extrapolation
    tables = Method(method.A, method.S, method.weights, method.update, *rates, *method.stress_average)
    return tables, Spectrum(*method.spectrum)


def state_of(arm: GeometricallyExactArm, x: Floats) -> State:
    """A state with its own arrays, from a state vector."""
    chain = arm.chain
    state = new_state(len(chain.inertia.M), len(chain.section.C), len(arm.joint_names))
    for array, part in zip(state, ("twist", "strain", "joint_position", "joint_rate")):
        array[:] = arm.layout.part(x, part)
    state.rotor[:] = arm.layout.part(x, "rotor") if arm.geared else np.column_stack([state.q, state.qd])
    return state


def kept_lines(arm: GeometricallyExactArm, start: Floats, inputs: Inputs, step: float) -> Bools:
    """Which lines (2, lines) a step needs, and which the velocities at its end: others imply the rest.

    Links that bend make constraints independent that are not so for rigid ones. Asked once, of a step of one stage.
    """
    chain = arm.chain
    dofs, points, nodes, links = (
        len(arm.joint_names),
        len(chain.section.C),
        len(chain.inertia.M),
        len(chain.tree.parent),
    )
    plant = arm.plant(inputs)
    lines = plant.relations
    method, spectrum = method_tables(gauss_collocation(1))
    control = Control(1.0, 1.0, 1.0, 1, True, 0.0, np.zeros(5), np.zeros(3, np.int64))
    solver = Solver(
        new_stages(1, links, nodes, points, dofs, chain.inertia.at_points),
        new_frozen(chain, 1, np.float64),
        new_spectral_factors(chain, 1, np.float64),
        new_increments(nodes, points, dofs, np.float64),
        zeros_of(Last, (1, nodes, 6), (1, points, 6), (1, dofs), (1, dofs)),
        new_beside(len(lines.taken), 1, 1, (nodes, points, dofs), np.float64),
    )
    state, closed = state_of(arm, start), lines.lines.law == CLOSED
    state.V[:], state.qd[:] = 0.0, 0.0
    signals = np.zeros((1, dofs, 3))
    signals[0, :, 0] = state.q
    tables = signals, np.zeros((1, len(inputs.loads), 6))
    if not probe_lines(plant, Scheme(method, spectrum, control), state, solver, tables, step):
        return lines.kept  # the run will say why
    in_step = ~closed | independent(solver.beside.S[0], closed)
    probe_velocities(plant, state, np.zeros((1, links, 12)), np.zeros(dofs), new_projection(links, nodes))
    return np.array([in_step, independent(lines.fit.S[:, 0], closed)])


class Stepper:
    """Everything that a run needs beside its tables: constants, state and scratch."""

    def __init__(self, arm: GeometricallyExactArm, run: Run) -> None:
        chain = arm.chain
        dofs, points, nodes = len(arm.joint_names), len(chain.section.C), len(chain.inertia.M)
        links, loads = len(chain.tree.parent), len(run.inputs.loads)
        self.model, self.run = arm, run
        self.method = run.implicit_method(type(arm.formulation).__name__)
        self.relating = Relating(arm, run.inputs)
        self.plant = arm.plant(run.inputs, self.method.stages)
        relations = self.plant.relations
        method, spectrum = method_tables(self.method)
        gravity, length = float(np.linalg.norm(chain.inertia.gravity)), max(arm.reach, 1e-9)
        in_world, asked = bool(np.any(self.plant.loads.world)), run.newton_tolerance
        orient, gain = gravity > 0.0 or in_world, np.inf if in_world else gravity / length
        memory, counts = np.array([0.0, 1.0, 0.0, 0.0, 0.0]), np.zeros(3, np.int64)
        steering = (asked.displacement, asked.energy, length, asked.max_iterations, orient, gain)
        self.control = Control(*steering, memory, counts)
        self.scheme = Scheme(method, spectrum, self.control)
        s, n_lam, dtype = self.method.stages, len(spectrum.lam), spectrum.lam.dtype.type
        solver = Solver(
            new_stages(s, links, nodes, points, dofs, chain.inertia.at_points),
            new_frozen(chain, n_lam, dtype),
            new_spectral_factors(chain, n_lam, dtype),
            new_increments(nodes, points, dofs, dtype),
            zeros_of(Last, (s, nodes, 6), (s, points, 6), (s, dofs), (s, dofs)),
            new_beside(len(relations.taken), s, n_lam, (nodes, points, dofs), dtype),
        )
        self.state = state_of(arm, run.start)
        if (relations.lines.law == CLOSED).any():
            relations.kept[:] = kept_lines(arm, run.start, run.inputs, float(run.grid[1] - run.grid[0]))
        self.ledger = new_ledger(dofs, loads)
        moved = np.zeros((nodes, 6)), np.zeros((points, 6)), np.zeros((1, links, 12))
        self.work = Work(self.state, solver, self.ledger, new_projection(links, nodes), *moved)
        widths = (arm.layout.size, columns.COLUMNS, dofs, loads, dofs)
        rows = len(run.schedule.tau) + 1
        lines = (rows, len(relations.taken))
        self.output = zeros_of(Output, *((rows, width) for width in widths), (rows, links, 6), lines, lines)
        energies = stored_energies(self.plant, self.state)
        self.ledger.sums[columns.KINETIC], self.ledger.sums[columns.STRAIN] = energies
        if len(relations.taken):
            relations.booked[0] = measure_start(chain.tree, relations, self.state)
            self.ledger.sums[columns.STRAIN] += relations.booked[0]

    def start(self) -> None:
        self.keep(0)

    def times(self, a: int, b: int) -> Floats:
        return self.run.times(a, b)

    def tables(self, a: int, b: int, joints: Floats, loads: Floats) -> Tables:
        plan, ends = self.run.schedule, self.run.grid[a + 1 : b + 1]
        return Tables(plan.h[a:b], ends, joints, loads, plan.first[a:b], plan.stop[a:b], plan.tau, plan.dense)

    def advance(self, tables: Tables, part: slice, held: Floats) -> tuple[int, int]:
        if self.method.history != 0.0 and self.control.counts[1] == 0:
            self.start_rates()
        h, end, joints, loads, first, stop, tau, dense = tables
        joints = with_held(joints[part], held)
        now = Tables(h[part], end[part], joints, loads[part], first[part], stop[part], tau, dense)
        done, status = run_steps(self.plant, self.scheme, self.work, now, self.output)
        return done, status

    def start_rates(self) -> None:
        """Rates of change at the start, from a very short midpoint step, for methods that carry them."""
        run = self.run
        tiny = 1e-5 * float(run.grid[1] - run.grid[0])
        grid = np.array([run.grid[0], run.grid[0] + tiny])
        probe = Run(run.start, grid, grid, run.inputs, gauss_collocation(1), NewtonTolerance(1e-13, 1e-6), None)
        after, times = Stepper(self.model, probe), probe.times(0, 1)
        joints, loads = run.inputs.joint_signals(times[0])[None], run.inputs.load_signals(times[0])[None]
        after.advance(after.tables(0, 1, joints, loads), slice(0, 1), np.zeros(len(self.model.joint_names)))
        before = self.state
        before.V_rate[:] = (after.state.V - before.V) / tiny
        before.e_rate[:] = (after.state.e - before.e) / tiny
        before.q_rate[:] = before.qd
        before.rotor_rate[:] = (after.state.rotor - before.rotor) / tiny
        rigid = self.plant.joints.inertia > 0.0
        before.rotor_rate[rigid, 1] = (after.state.qd - before.qd)[rigid] / tiny

    def state_vector(self) -> Floats:
        return self.model.pack(self.state)

    def keep(self, row: int) -> None:
        """Copy the present state and ledger to a row of the output."""
        out, ledger = self.output, self.ledger
        out.x[row] = self.state_vector()
        out.sums[row], out.joints[row], out.loads[row] = ledger.sums, ledger.joints, ledger.loads

    def stopped(self, status: int, done: int) -> Ending:
        """Why and where the loop gave up, with what to try."""
        now = float(self.run.grid[done])
        if status == LOOP_OPENED:
            loop = self.relating.owners[int(self.control.counts[2])]
            remedy = "its joints cannot follow there; let a prescribed one move freely, or make a link flexible"
            return Ending(Cause.LOOP_OPENED, now, f"loop '{loop}'", remedy)
        place = self.model.place_of(int(self.control.counts[2]))
        if status == SINGULAR or done == 0:
            refuse_massless_joints(self.model, self.model.pack(self.state), self.run.inputs)
        if status == SINGULAR:
            return Ending(Cause.SINGULAR, now, place, "give every moving part an inertia")
        bent = bent_too_far(self.model, self.state.e)
        if bent:
            return Ending(Cause.TOO_BENT, now, bent, "use PoseElement, or more elements and a smaller step")
        if status == NOT_FINITE:
            return Ending(Cause.NOT_FINITE, now, place, "check loads and drives there, or take a smaller step")
        remedy = "take a smaller step, or more elements or PoseElement if the link bends strongly"
        return Ending(Cause.NOT_CONVERGED, now, place, remedy)

    def kept(self, times: Floats) -> Kept:
        out, run, arm, rows = self.output, self.run, self.model, len(times)
        if rows > 1:
            out.torque[0], out.root[0], out.force[0] = out.torque[1], out.root[1], out.force[1]
        run.place_prescribed(arm.layout, out.x[:rows], times)
        names = [*arm.joint_names, *(load.name for load in run.inputs.loads)]
        works = dict(zip(names, np.concatenate([out.joints[:rows], out.loads[:rows]], axis=1).T))
        efforts = {name: out.torque[:rows, k : k + 1] for k, name in enumerate(arm.joint_names)}
        for k, joint in zip(arm.placed.links, arm.robot.chain_order):
            efforts[f"{joint.name}.wrench"] = out.root[:rows, k]
        owners = np.array(self.relating.owners)
        taken = {each.name: out.taken[:rows, owners == each.name].sum(axis=1) for each in run.inputs.relations}
        for owner in dict.fromkeys(owners.tolist()):
            efforts[f"{owner}.force"] = out.force[:rows, owners == owner]
        iterations, factorisations = self.control.counts[:2]
        counts = {"iterations": float(iterations), "factorisations": float(factorisations)}
        if (self.plant.relations.lines.law == CLOSED).any():
            counts["redundant constraints"] = float(np.sum(~self.plant.relations.kept[0]))
        ledger = ledger_of(out.sums[:rows], works, self.ledger.worst, self.method.exact, taken)
        return Kept(out.x[:rows], efforts, ledger, counts)
