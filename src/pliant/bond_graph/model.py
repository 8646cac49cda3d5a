"""A bond graph as a model: it is simulated, balanced, linearised and connected like an arm.

States are those of stores and integrals; ports are the sources that are left open.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from pliant.bond_graph.arrays import instant_system, step_system, stored_energies
from pliant.bond_graph.descriptor import GraphDescriptor
from pliant.bond_graph.diagnosis import refuse_undetermined, why_singular
from pliant.bond_graph.equations import Equations, Exchange
from pliant.bond_graph.flat import flatten
from pliant.bond_graph.graph import Component
from pliant.bond_graph.instant import USUAL_STEP, at_instant, balanced, consistent, given, scaled, solved
from pliant.bond_graph.step import Program
from pliant.bond_graph.stepper import Stepper
from pliant.errors import InvalidInput
from pliant.formulas.expression import NAME, TIME, Expression, names_in, parse, substituted
from pliant.formulas.sparse import Plan, make_plan
from pliant.formulas.system import PART, STATE, UNKNOWN, System, TapeWriter
from pliant.formulas.tape import Floats, Ints, Point, Tape, evaluate_once, row_values
from pliant.model.contract import Equilibrium, Run, SecondOrder
from pliant.model.inputs import Inputs
from pliant.model.linear import LinearSystem
from pliant.model.linear.port import LinearPort
from pliant.model.port import Causality, Frame, Port
from pliant.model.state import Array, Block, Layout
from pliant.robot.shown import Shown, listed

GUESSES = (0.0, 1e-3, 1.0)  # of all unknowns, where a law has no derivative at zero
MEANING = {"C": "displacement", "I": "momentum", "": "integral of a signal"}


@dataclass(frozen=True, eq=False)
class Compiled:
    """What is worked out once from a graph."""

    equations: Equations
    step: System
    instant: System
    program: Program
    energy: Tape  # a row for each store
    kinetic: Ints  # (stores,) whether it is an I
    longest: int  # row of a tape of energies
    plan: Plan
    guess: Array
    to_rates: Any  # (states, unknowns), sparse: x' = to_rates z

    @staticmethod
    def of(graph: Component) -> Compiled:
        from scipy.sparse import csc_array

        equations = Equations(flatten(graph))
        step = step_system(equations)
        refuse_undetermined(step, equations)
        plan, guess = _first_plan(step, equations)
        energy, kinetic, stored, longest = stored_energies(equations)
        exchanges = [*enumerate(equations.sources), *((-1, loss) for loss in equations.losses)]
        pairs = [(e, f, k) for k, each in exchanges for e, f in zip(each.efforts, each.flows, strict=True)]
        signs = [float(each.sign) for _, each in exchanges for _ in each.efforts]
        efforts = np.array([e for source in equations.sources for e in source.efforts], np.int64)
        table = np.array(pairs, np.int64).reshape(-1, 3)
        program = Program(step.equation, step.tape, stored, table, np.array(signs), efforts, step.linear)
        ones, m = np.ones(len(equations.rates)), len(equations.rates)
        to_rates = csc_array((ones, (np.arange(m), equations.rates)), shape=(m, len(equations.unknowns)))
        return Compiled(
            equations, step, instant_system(equations), program, energy, kinetic, longest, plan, guess, to_rates
        )


@dataclass(frozen=True, repr=False)
class BondGraph(Shown):
    """The model of a graph, with what is connected to its open sources.

    The start satisfies all constraints: where stores depend on each other, impulses make them agree.
    """

    graph: Component
    inputs: Inputs = field(compare=False)
    components: tuple[object, ...] = ()

    highest_order = 2

    def __getstate__(self) -> dict[str, object]:
        return {word: self.__dict__[word] for word in ("graph", "inputs", "components")}

    def _shown(self) -> tuple[str, dict[str, str]]:
        return "Bond graph", {
            "parts": listed(tuple(self.graph.parts)),
            "state": f"{self.layout.size} numbers ({listed([block.name for block in self.layout.blocks])})",
            "ports": listed([port.name for port in self.ports]),
            "equations": f"{len(self.compiled.equations.rows)}",
            "components": listed([repr(each) for each in self.components]),
        }

    @cached_property
    def compiled(self) -> Compiled:
        return Compiled.of(self.graph)

    @cached_property
    def layout(self) -> Layout:
        blocks = self.compiled.equations.blocks
        return Layout(tuple(Block(each.name, (len(each.starts),), each.unit, MEANING[each.kind]) for each in blocks))

    @cached_property
    def open_sources(self) -> tuple[Exchange, ...]:
        return tuple(each for each in self.compiled.equations.sources if each.first >= 0)

    @cached_property
    def ports(self) -> tuple[Port, ...]:
        return tuple(_port(each) for each in self.open_sources)

    def initial_state(self) -> Array:
        """Where stores and integrals start; those that constraints bind are brought to agree by impulses."""
        return consistent(self.compiled, self.inputs, _starts(self.compiled.equations), 0.0)

    def energy(self, states: Array) -> tuple[Array, Array, Array]:
        """That of I, that of C, and nothing for gravity, which is a source or a C."""
        own = self.compiled
        values = _on_tape(own.energy, np.asarray(states, float), len(own.kinetic), own.longest)
        kinetic = own.kinetic == 1
        return values[:, kinetic].sum(axis=1), values[:, ~kinetic].sum(axis=1), np.zeros(len(states))

    def with_inputs(self, inputs: Inputs, components: tuple[object, ...]) -> BondGraph:
        """The same graph with signals on its open sources; column 2 of the joint signals holds them, port by port."""
        made = replace(self, inputs=inputs, components=components)
        made.__dict__["compiled"] = self.compiled
        return made

    def stepper(self, run: Run) -> Stepper:
        return Stepper(self, run)

    def descriptor(self, inputs: Inputs) -> GraphDescriptor:
        """The equations as they are, for integrators with error control."""
        return GraphDescriptor(self, inputs)

    def equilibrium(self, start: Array, inputs: Inputs, time: float, load_steps: int, accuracy: float) -> Equilibrium:
        """A state near ``start`` in which nothing changes; sources that are driven are raised in steps."""
        state, total, goal = start, 0, given(inputs, np.array([time]))[0]
        for step in range(1, load_steps + 1):
            found, iterations, ending = balanced(self.compiled, state, goal * (step / load_steps), time, accuracy)
            total += iterations
            if not ending.completed:
                return Equilibrium(state, (step - 1) / load_steps, total, ending)
            state = found
        return Equilibrium(state, 1.0, total, ending)

    def linearise(self, state: Array, inputs: Inputs, time: float) -> SecondOrder:
        raise InvalidInput("a bond graph has equations of first order, with no mass matrix; use linearize")

    def linear_system(self, state: Array, inputs: Inputs, time: float) -> LinearSystem:
        """Small deviations of states and unknowns: inputs are the open sources, outputs what answers at them."""
        own, u = self.compiled, given(inputs, np.array([time]))[0]
        z = solved(own, inputs, state, time)
        _, F_z, F_x = at_instant(own, np.concatenate([z, state]), time, u)
        part, n, m, k = scaled(own, F_z, F_x), len(z), len(state), len(u)
        A, B, C = np.zeros((m + n, m + n)), np.zeros((m + n, k)), np.zeros((k, m + n))
        A[:m, m:] = (own.to_rates * part.size).toarray()
        A[m:, :m], A[m:, m:] = part.rows[:, None] * (F_x @ np.eye(m)), part.F_z @ np.eye(n)
        entry = own.instant.equation
        B[m + entry.u_at[:, 0], entry.u_at[:, 1]] = part.rows[entry.u_at[:, 0]] * entry.u_by
        names: list[tuple[str, ...]] = []
        for source, port in zip(self.open_sources, self.ports, strict=True):
            words, numbers = (port.effort, port.flow), (source.efforts, source.flows)
            answer = int(port.causality is Causality.EFFORT_IN)  # the flow answers
            rows, columns = source.first + np.arange(port.size), list(numbers[answer])
            C[rows, m + np.array(columns)] = source.sign * part.size[columns]
            names += zip(LinearPort.of(port).names_of(words[1 - answer]), LinearPort.of(port).names_of(words[answer]))
        inputs_names, outputs = tuple(zip(*names)) or ((), ())
        states = tuple(f"{block.name}[{i}]" for block in self.layout.blocks for i in range(block.size))
        if not part.N.shape[1]:
            through = np.linalg.solve(A[m:, m:], np.hstack([A[m:, :m], B[m:]]))
            (A, B), (C, D) = (np.split(-rows[:, m:] @ through, [m], axis=1) for rows in (A[:m], C))
            return LinearSystem(A=A, B=B, C=C, D=D, inputs=inputs_names, outputs=outputs, states=states)
        E, D = np.diag(np.arange(m + n) < m).astype(float), np.zeros((k, k))
        return LinearSystem(E=E, A=A, B=B, C=C, D=D, inputs=inputs_names, outputs=outputs).explicit

    def unknowns(self, states: Array, times: Array) -> Array:
        """All efforts, flows and signals (n, unknowns) at states."""
        rows: list[Array] = []
        for state, time in zip(states, times, strict=True):
            rows.append(solved(self.compiled, self.inputs, state, float(time), rows[-1] if rows else None))
        return np.array(rows).reshape(len(states), -1)

    def values(self, states: Array, formula: str, times: Array | None = None) -> Array:
        """A formula of variables and signals, such as ``spring.e * v.f`` or ``link.theta[1]``, at states (n, size)."""
        equations, states = self.compiled.equations, np.asarray(states, float)
        n, m = len(equations.unknowns), self.layout.size

        def place(leaf: Expression) -> Expression:
            """A variable as a state of the vector (z, x, t)."""
            index = {UNKNOWN: leaf.index, STATE: n + leaf.index}.get(leaf.name, n + m)
            return Expression(NAME, name=PART, index=index)

        def leaf(each: Expression) -> Expression:
            return each if each is TIME else equations.leaf((), each.name, each.index)

        named, now = substituted(parse(formula), leaf), np.zeros(len(states)) if times is None else np.asarray(times)
        asked = any(each.name == UNKNOWN for each in names_in(named))
        z = self.unknowns(states, now) if asked else np.zeros((len(states), n))
        writer = TapeWriter()
        writer.add(0, substituted(named, place), {}, (0,) * (n + m + 1))
        return _on_tape(writer.tape(), np.column_stack([z, states, now]), 1, writer.longest)[:, 0]


def compiled(graph: Component) -> BondGraph:
    """The model of a graph; what cannot be computed is refused in a sentence with its path."""
    own = Compiled.of(graph)
    model = BondGraph(graph, Inputs.none(own.equations.inputs))
    model.__dict__["compiled"] = own
    return model


def _on_tape(tape: Tape, states: Floats, rows: int, longest: int) -> Floats:
    """Values (n, rows) of formulas of states (n, size)."""
    out, size = np.zeros((len(states), rows)), states.shape[1]
    point = Point(np.zeros(size), np.zeros(1), np.zeros(0), np.zeros(size, np.int64), np.zeros(2))
    row_values(tape, point, np.ascontiguousarray(states), np.zeros(longest), out)
    return out


def _port(source: Exchange) -> Port:
    part, own = source.place.part, source.place.part.domain
    causality = Causality.EFFORT_IN if part.symbol == "Se" else Causality.FLOW_IN
    words = (own.effort, own.effort_unit, own.flow, own.flow_unit)
    return Port(source.name, *words, len(source.efforts), Frame.WORLD, causality)


def _starts(equations: Equations) -> Array:
    return np.array([each for block in equations.blocks for each in block.starts])


def _first_plan(system: System, equations: Equations) -> tuple[Plan, Array]:
    """Pivots for the start of the graph; refused where it is singular wherever it is tried."""
    values, why = system.values(), ""
    for guess in GUESSES:
        z = np.full(system.size, guess)
        point = system.point(_starts(equations), z, np.zeros(equations.inputs), 0.0, USUAL_STEP)
        evaluate_once(system.equation, system.tape, point, values)
        found = make_plan(system.begin, system.columns, values.J)
        if found is not None:
            return found, z
        why = why or why_singular(system, equations, values.J)
    raise InvalidInput(why)
