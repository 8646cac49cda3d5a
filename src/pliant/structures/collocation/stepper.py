"""Steps of collocated chains: what the compiled loop needs, and what it keeps."""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING

import numpy as np

from pliant.errors import InvalidInput
from pliant.mechanics.block_elimination import EVERY, new_increments
from pliant.mechanics.joint_laws import LOWER, SMOOTHING, STATIC, UPPER
from pliant.mechanics.shape_functions import lagrange_values
from pliant.model.contract import WATCHED_STEPS, Kept, NewtonTolerance, Run, with_held
from pliant.model.inputs import Inputs
from pliant.model.stage_method import StageMethod, gauss_collocation
from pliant.model.state import Cause, Ending
from pliant.robot.joint import BASE
from pliant.spatial.arrays import rotation_from_quaternion
from pliant.structures import energy_ledger as columns
from pliant.structures.bundles import zeros_of
from pliant.structures.collocation.bending import bent_too_far
from pliant.structures.collocation.chain import FLOATING, Floats, Method, State, Tree, new_stages, new_state
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
from pliant.structures.collocation.plane import components_that_move, leads_out
from pliant.structures.collocation.relation_solver import measure_start, new_beside
from pliant.structures.collocation.relations import Bools, Relating
from pliant.structures.collocation.step import Output, Tables, Work, fit_to_base, run_steps, stored_energies
from pliant.structures.energy_ledger import new_ledger
from pliant.structures.ledger import ledger_of
from pliant.structures.loads import BASE_COLUMNS, base_table, twists_of_base
from pliant.structures.loop_constraints import change_point, independent
from pliant.structures.memory import Memory, numbers_of, refill
from pliant.structures.relations import CLOSED
from pliant.structures.stepping import CONVERGED, DEEPEST, LOOP_OPENED, NOT_FINITE, SINGULAR

LOST = 0.1  # part of the smallest answer of closed lines at the start, below which branches may meet

if TYPE_CHECKING:
    from pliant.structures.collocation.model import GeometricallyExactArm


def method_tables(method: StageMethod) -> tuple[Method, Spectrum]:
    """The numbers of a stage method as the kernels read them."""
    rates = method.history, method.rate_gain, method.extrapolation
    loss = method.dissipation, method.damped
    tables = Method(method.A, method.S, method.weights, method.update, *rates, *method.stress_average, *loss)
    return tables, Spectrum(*method.spectrum)


def state_of(arm: GeometricallyExactArm, x: Floats) -> State:
    """A state with its own arrays, from a state vector."""
    state, named = new_state(arm.chain), len(arm.joint_names)
    for array, part in zip(state, ("twist", "strain", "joint_position", "joint_rate")):
        of_state = arm.layout.part(x, part)
        array[: len(of_state)] = of_state
    if arm.geared:
        state.rotor[:named] = arm.layout.part(x, "rotor")
    else:
        state.rotor[:named, 0], state.rotor[:named, 1] = state.q[:named], state.qd[:named]
    if len(state.turn):
        (state.turn[:],), (state.place[:],) = arm.frames(x)
        _set_flight(arm.chain.tree, state)
    return state


def steps_of(tables: Tables, part: slice) -> Tables:
    """Some steps of the tables."""
    h, end, joints, loads, base, first, stop, tau, dense, noted = tables
    inputs = joints[part], loads[part], base[part]
    return Tables(h[part], end[part], *inputs, first[part], stop[part], tau, dense, noted[part])


def kept_lines(
    arm: GeometricallyExactArm, start: Floats, inputs: Inputs, step: float, relating: Relating | None = None
) -> Bools:
    """Which lines (2, lines) a step needs, and which the velocities at its end: others imply the rest.

    Links that bend make constraints independent that are not so for rigid ones. Asked once, of a step of one stage.
    """
    relating = relating or Relating(arm, inputs)
    chain, plant = arm.chain, arm.plant(inputs, relating=relating)
    points, nodes, _links = len(chain.section.C), len(chain.inertia.M), len(chain.tree.parent)
    lines, dofs = plant.relations, chain.dofs
    method, spectrum = method_tables(gauss_collocation(1))
    control = Control(1.0, 1.0, 1.0, 1, True, 0.0, np.zeros(5), np.zeros(3, np.int64))
    solver = Solver(
        new_stages(1, chain),
        new_frozen(chain, 1, np.float64),
        new_spectral_factors(chain, 1, np.float64),
        new_increments(nodes, points, dofs, np.float64),
        zeros_of(Last, (1, nodes, 6), (1, points, 6), (1, dofs), (1, dofs)),
        new_beside(len(lines.taken), 0, 1, 1, (nodes, points, dofs), np.float64),
    )
    state, closed = state_of(arm, start), lines.lines.law == CLOSED
    state.V[:], state.qd[:] = 0.0, 0.0
    signals = np.zeros((1, len(arm.joint_names), 3))
    signals[0, :, 0] = state.q[: signals.shape[1]]
    base = np.zeros((int(arm.moved), BASE_COLUMNS))
    if arm.moved:
        base[0, :3], base[0, 3:7] = state.place[0], state.turn[0]
    tables = signals, np.zeros((1, len(inputs.loads), 6)), base
    if not probe_lines(plant, Scheme(method, spectrum, control), state, solver, tables, step):
        return lines.kept  # the run will say why
    in_step = ~closed | independent(solver.beside.S[0], closed)
    return np.array([in_step, independent(impulse_answers(arm, start, inputs, relating), closed)])


def impulse_answers(arm: GeometricallyExactArm, at: Floats, inputs: Inputs, relating: Relating | None = None) -> Floats:
    """What each closed line sees (lines, lines) of a unit impulse of each in a state."""
    plant, state = arm.plant(inputs, relating=relating), state_of(arm, at)
    links, nodes = len(arm.chain.tree.parent), len(arm.chain.inertia.M)
    state.V[:], state.qd[:] = 0.0, 0.0
    work = np.zeros(len(arm.joint_names) + 1)
    probe_velocities(plant, state, np.zeros((1, links, 12)), work, new_projection(links, nodes))
    return np.array(plant.relations.fit.S[:, 0])


def base_twists(arm: GeometricallyExactArm, inputs: Inputs, times: Floats) -> Floats:
    """Position, quaternion and twist in its own axes of a moved base at many times (n, 13); no rows if it rests."""
    if not arm.moved:
        return np.zeros((len(times), BASE_COLUMNS))[:0]
    table = base_table(arm.robot, inputs, times)
    table[:, 7:] = twists_of_base(arm.robot, inputs, times)
    return table


def _set_flight(tree: Tree, state: State) -> None:
    """Rates of the coordinates of free joints, which are the twists of their children."""
    for k in np.flatnonzero(tree.kind == FLOATING):
        state.qd[tree.dof[k] : tree.dof[k] + 6] = state.V[tree.first_node[k + 5]]


class Stepper:
    """Everything that a run needs beside its tables: constants, state and scratch."""

    def __init__(self, arm: GeometricallyExactArm, run: Run) -> None:
        chain = arm.chain
        dofs, points, nodes = len(arm.joint_names), len(chain.section.C), len(chain.inertia.M)
        links, loads, moved = len(chain.tree.parent), len(run.inputs.loads), int(arm.moved)
        self.model, self.run = arm, run
        self.method = run.implicit_method(type(arm.formulation).__name__)
        self.relating = Relating(arm, run.inputs)
        self.plant = arm.plant(run.inputs, self.method.stages, self.relating)
        relations = self.plant.relations
        method, spectrum = method_tables(self.method)
        gravity, length = sqrt(chain.inertia.gravity @ chain.inertia.gravity), max(arm.reach, 1e-9)
        in_world, asked = bool(self.plant.loads.world.any()), run.newton_tolerance
        orient, gain = gravity > 0.0 or in_world, np.inf if in_world else gravity / length
        memory, counts = np.array([0.0, 1.0, 0.0, 0.0, 0.0]), np.zeros(3, np.int64)
        steering = (asked.displacement, asked.energy, length, asked.max_iterations, orient, gain)
        self.control = Control(*steering, memory, counts)
        self.scheme = Scheme(method, spectrum, self.control)
        self.state = state_of(arm, run.start)
        s, n_lam, dtype = self.method.stages, len(spectrum.lam), spectrum.lam.dtype.type
        self.moving = components_that_move(arm.planes, self.plant, self.state)
        solver = Solver(
            new_stages(s, chain),
            new_frozen(chain, n_lam, dtype, self.moving),
            new_spectral_factors(chain, n_lam, dtype, self.moving),
            new_increments(nodes, points, chain.dofs, dtype),
            zeros_of(Last, (s, nodes, 6), (s, points, 6), (s, chain.dofs), (s, chain.dofs)),
            new_beside(len(relations.taken), len(self.plant.joints.bent), s, n_lam, (nodes, points, chain.dofs), dtype),
        )
        self.parts = arm.parts_of(self.state)  # made once, since controllers ask at every sample
        self.halvings = 0
        self.rates_known = False  # of the states, which some methods carry
        self.inside = 0.0  # s from the start of the step that failed to where its parts led
        self.closed = len(relations.taken) > 0 and bool((relations.lines.law == CLOSED).any())
        if self.closed:
            relations.kept[:] = kept_lines(arm, run.start, run.inputs, float(run.grid[1] - run.grid[0]), self.relating)
        self.ledger = new_ledger(dofs + moved, loads)
        scratch = np.zeros((nodes, 6)), np.zeros((points, 6)), np.zeros((1, links, 12))
        self.work = Work(self.state, solver, self.ledger, new_projection(links, nodes), *scratch)
        if moved:
            fit_to_base(self.plant, self.work, self._base(run.grid[:1]))
        rows = len(run.schedule.tau) + 1
        widths = (columns.COLUMNS, dofs + moved, loads, dofs)
        lines = (rows, len(relations.taken))
        others = (*((rows, width) for width in widths), (rows, links, 6), lines, lines, (WATCHED_STEPS, dofs))
        states = np.empty((rows, arm.layout.size))  # most of the memory, and each row that is read was filled
        self.output = Output(states, *map(np.zeros, others))
        energies = stored_energies(self.plant, self.state)
        self.ledger.sums[columns.KINETIC], self.ledger.sums[columns.STRAIN] = energies
        if len(relations.taken):
            relations.booked[0] = measure_start(chain.tree, relations, self.state, self.work.pose)
            self.ledger.sums[columns.STRAIN] += relations.booked[0]

    def start(self) -> None:
        self.keep(0)

    def times(self, a: int, b: int) -> Floats:
        return self.run.times(a, b)

    def tables(self, a: int, b: int, joints: Floats, loads: Floats) -> Tables:
        plan, ends = self.run.schedule, self.run.grid[a + 1 : b + 1]
        base = np.zeros((b - a, 0, BASE_COLUMNS))
        if self.model.moved:
            base = self._base(self.times(a, b).ravel()).reshape(b - a, -1, BASE_COLUMNS)
        rows = plan.first[a:b], plan.stop[a:b], plan.tau, plan.dense
        return Tables(plan.h[a:b], ends, joints, loads, base, *rows, np.arange(a, b) - (len(plan.h) - WATCHED_STEPS))

    def _base(self, times: Floats) -> Floats:
        return base_twists(self.model, self.run.inputs, times)

    def advance(self, tables: Tables, part: slice, held: Floats) -> tuple[int, int]:
        if self.method.history != 0.0 and not self.rates_known:
            self.start_rates()
            self.rates_known = True
        now = steps_of(tables, part)
        with_held(now.joints, held)
        done, status = self.steps(now)
        while status != CONVERGED and self.advance_in_halves(now, done, held):
            rest = steps_of(now, slice(done + 1, None))
            more, status = self.steps(rest)
            done += 1 + more
        return done, status

    def steps(self, tables: Tables) -> tuple[int, int]:
        """Through the tables, in a plane as long as no load leads out of it; returns (steps done, status)."""
        if len(self.moving) < len(EVERY) and leads_out(self.moving, tables.loads):
            self.leave_plane()
        done, status = run_steps(self.plant, self.scheme, self.work, tables, self.output)
        return done, status

    def leave_plane(self) -> None:
        """From now on solve for all components of twists, with a factorisation that is to be made."""
        solver, lam = self.work.solver, self.scheme.spectrum.lam
        sizes, self.moving = (self.model.chain, len(lam), lam.dtype.type), EVERY
        solver = solver._replace(frozen=new_frozen(*sizes), factors=new_spectral_factors(*sizes))
        self.work = self.work._replace(solver=solver)
        self.control.memory[0] = 0.0

    def advance_in_halves(self, tables: Tables, k: int, held: Floats) -> bool:
        """Step k of the tables in halves, quarters and so on, each with the inputs of its own instants; False if the
        smallest parts do not converge, or if the links are bent too far for any."""
        parts, begin, end, level = [(0.0, 1.0, 0)], 0.0, 1.0, 0  # the next one last; how often it is halved
        while parts:
            begin, end, level = parts.pop()
            if level > 0:
                self.forget_last_step()
                part = self.part_of(tables, k, (begin, end), held)
                if part is not None and self.steps(part)[1] == CONVERGED:
                    continue
            if level == DEEPEST or bent_too_far(self.model, self.state.e):
                self.inside = begin * float(tables.h[k])
                return False
            middle = 0.5 * (begin + end)
            parts += [(middle, end, level + 1), (begin, middle, level + 1)]
            self.halvings += 1
        self.forget_last_step()
        return True

    def part_of(self, tables: Tables, k: int, span: tuple[float, float], held: Floats) -> Tables | None:
        """A part of step k as a step of its own: the inputs at its stages, if there are any, and the rows within it."""
        inputs, whole, (begin, end) = self.run.inputs, float(tables.h[k]), span
        h, until = np.array([(end - begin) * whole]), tables.end[k : k + 1] - (1.0 - end) * whole
        times = self.run.times_of(until - h, h, until)[0]
        try:
            joints, loads = with_held(inputs.joint_signals(times)[None], held), inputs.load_signals(times)[None]
            base = self._base(times)[None]
        except InvalidInput:
            return None
        first, stop, tau, dense = tables.first[k], tables.stop[k], tables.tau, tables.dense
        rows = first + np.flatnonzero((tau[first:stop] > begin) & (tau[first:stop] <= end))
        if len(rows):
            first, tau, dense = rows[0], tau.copy(), dense.copy()
            tau[rows] = (tau[rows] - begin) / (end - begin)
            dense[rows] = lagrange_values(np.append(0.0, self.method.nodes), tau[rows])[:, 1:]
        placed = np.array([first]), np.array([first + len(rows)]), tau, dense
        return Tables(h, until, joints, loads, base, *placed, tables.noted[k : k + 1])

    def forget_last_step(self) -> None:
        """Let the next step start from the state alone: the polynomial of one of another length leads astray."""
        for increments in self.work.solver.last:
            increments[:] = 0.0

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
        for k in np.flatnonzero(self.model.chain.tree.kind == FLOATING):
            dof, frame = self.model.chain.tree.dof[k], self.model.chain.tree.frame[k]
            before.q_rate[dof : dof + 3] = rotation_from_quaternion(before.turn[frame]) @ before.qd[dof : dof + 3]
        before.rotor_rate[:] = (after.state.rotor - before.rotor) / tiny
        rigid = self.plant.joints.inertia > 0.0
        before.rotor_rate[rigid, 1] = (after.state.qd - before.qd)[rigid] / tiny

    def memory(self) -> Memory:
        own = self.plant.relations
        changing = own[own._fields.index("kept") :]  # before it stands what the robot and its components fix
        return (*numbers_of((self.work, changing, self.control.memory)), own.kept, self.work.solver.beside.fresh)

    def recall(self, memory: Memory) -> None:
        if [each.shape for each in memory] != [each.shape for each in self.memory()]:
            self.leave_plane()  # as the run did whose memory it is
        refill(self.memory(), memory)
        self.work.solver.factors.parts[:] = 1 + (np.imag(self.scheme.spectrum.lam) != 0.0)
        self.rates_known = True

    @property
    def noted_rates(self) -> Floats:
        return self.output.rates

    def state_vector(self) -> Floats:
        return np.concatenate(self.parts)

    def keep(self, row: int) -> None:
        """Copy the present state and ledger to a row of the output."""
        out, ledger = self.output, self.ledger
        out.x[row] = self.state_vector()
        out.sums[row], out.joints[row], out.loads[row] = ledger.sums, ledger.joints, ledger.loads

    def stopped(self, status: int, done: int) -> Ending:
        """Why and where the loop gave up, with what to try."""
        now = float(self.run.grid[done]) + self.inside
        if status == LOOP_OPENED:
            loop = self.relating.owners[int(self.control.counts[2])]
            remedy = "its joints cannot follow there; let a prescribed one move freely, or make a link flexible"
            return Ending(Cause.LOOP_OPENED, now, f"loop '{loop}'", remedy)
        place = self.model.place_of(int(self.control.counts[2]))
        if status == SINGULAR or done == 0:
            refuse_massless_joints(self.model, self.model.pack(self.state), self.run.inputs)
        blamed = self._law_to_blame()
        if status == SINGULAR and not blamed:
            return Ending(Cause.SINGULAR, now, place, "give every moving part an inertia")
        loop = self._lost_loop()
        if loop:
            joints = dict(zip(self.model.joint_names, self.state.q.tolist()))
            return Ending(Cause.NOT_CONVERGED, now, *change_point(loop, joints))
        bent = bent_too_far(self.model, self.state.e)
        if bent:
            return Ending(
                Cause.TOO_BENT,
                now,
                bent,
                "use PoseElement, or more elements and a smaller step; or check what loads it",
            )
        if status == NOT_FINITE:
            return Ending(Cause.NOT_FINITE, now, place, "check loads and drives there, or take a smaller step")
        if blamed:
            return Ending(Cause.NOT_CONVERGED, now, *blamed)
        remedy = "take a smaller step, or more elements or PoseElement if the link bends strongly"
        return Ending(Cause.NOT_CONVERGED, now, place, remedy)

    def _lost_loop(self) -> str:
        """The loop whose constraints have lost most of the rank that they had at the start, or nothing."""
        kept = self.plant.relations.kept[1] & (self.plant.relations.lines.law == CLOSED)
        if not kept.any():
            return ""
        inputs, there = self.run.inputs, self.model.pack(self.state)
        before, now = (
            np.linalg.eigvalsh(impulse_answers(self.model, state, inputs)[np.ix_(kept, kept)])[0]
            for state in (self.run.start, there)
        )
        return self.relating.owners[int(np.flatnonzero(kept)[0])] if now < LOST**2 * before else ""

    def _law_to_blame(self) -> tuple[str, str] | None:
        """Of a joint whose friction or stop changed in the last iteration: which of them, and what to try."""
        laws, solver = self.plant.joints.laws, self.work.solver
        for c in self.plant.joints.active:
            jumped = np.abs(solver.stages.qd[:, c] - solver.frozen.rate[c]).max()
            rubs = laws.friction[c, STATIC] > 0.0 and jumped > laws.friction[c, SMOOTHING]
            beyond = (solver.stages.q[:, c] < laws.stops[c, LOWER]) | (solver.stages.q[:, c] > laws.stops[c, UPPER])
            if not laws.prescribed[c] and (rubs or beyond.any()):
                return self.model.law_to_blame(self.model.joint_names[c], float(solver.stages.q[-1, c]))
        return None

    def kept(self, times: Floats) -> Kept:
        out, run, arm, rows = self.output, self.run, self.model, len(times)
        if rows > 1:
            out.torque[0], out.root[0], out.force[0] = out.torque[1], out.root[1], out.force[1]
        run.place_prescribed(arm.layout, out.x[:rows], times)
        if arm.moved:
            base, part = self._base(times), arm.layout.part
            part(out.x[:rows], "frame_position")[:, 0], part(out.x[:rows], "frame_rotation")[:, 0] = np.split(
                base[:, :7], [3], axis=1
            )
            part(out.x[:rows], "twist")[:, 0] = base[:, 7:]
        names = [*arm.joint_names, *((BASE,) if arm.moved else ()), *(load.name for load in run.inputs.loads)]
        works = dict(zip(names, (*out.joints[:rows].T, *out.loads[:rows].T)))
        efforts = {name: out.torque[:rows, k : k + 1] for k, name in enumerate(arm.joint_names)}
        for k, joint in zip(arm.placed.links, arm.robot.chain_order):
            efforts[f"{joint.name}.wrench"] = out.root[:rows, k]
        taken: dict[str, Floats] = {}
        if self.relating.owners:
            owners = np.array(self.relating.owners)
            taken = {each.name: out.taken[:rows, owners == each.name].sum(axis=1) for each in run.inputs.relations}
            for owner in dict.fromkeys(owners.tolist()):
                efforts[f"{owner}.force"] = out.force[:rows, owners == owner]
        iterations, factorisations = self.control.counts[:2]
        counts = {"iterations": float(iterations), "factorisations": float(factorisations)}
        counts["halvings"] = float(self.halvings)
        if self.closed:
            counts["redundant constraints"] = float(np.sum(~self.plant.relations.kept[0]))
        ledger = ledger_of(out.sums[:rows], works, self.ledger.worst, self.method.exact, taken)
        return Kept(out.x[:rows], efforts, ledger, counts)
