"""A bond graph as a model: it is simulated, balanced, linearised and connected like an arm.

States are those of stores and integrals; ports are the sources that are left open.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from pliant.bond_graph.arrays import PART, Energies, System, TapeWriter, energies, instant_system, step_system
from pliant.bond_graph.descriptor import GraphDescriptor
from pliant.bond_graph.diagnosis import refuse_undetermined, why_singular
from pliant.bond_graph.elements import Source
from pliant.bond_graph.equations import STATE, UNKNOWN, Equations, Exchange, assemble
from pliant.bond_graph.expression import NAME, TIME, Expression, names_in, parse, substituted
from pliant.bond_graph.flat import FlatGraph, flatten
from pliant.bond_graph.graph import Component
from pliant.bond_graph.instant import at_instant, balanced, consistent, given, scaled, solved
from pliant.bond_graph.solver import Plan, make_plan
from pliant.bond_graph.step import Program, Stored
from pliant.bond_graph.stepper import Stepper
from pliant.bond_graph.tape import Point, evaluate_once, row_values
from pliant.errors import InvalidInput
from pliant.model.contract import Equilibrium, Run, SecondOrder
from pliant.model.inputs import Inputs
from pliant.model.linear import LinearSystem
from pliant.model.linear.port import LinearPort
from pliant.model.port import Causality, Frame, Port
from pliant.model.state import Array, Block, Layout
from pliant.robot.shown import Shown, listed

USUAL_STEP = 1e-3  # s; pivots are tried with it
GUESSES = (0.0, 1e-3, 1.0)  # of all unknowns, where a law has no derivative at zero


@dataclass(frozen=True, eq=False)
class Compiled:
    """What is worked out once from a graph."""

    flat: FlatGraph
    equations: Equations
    step: System
    instant: System
    energies: Energies
    program: Program
    plan: Plan
    guess: Array


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
        flat = flatten(self.graph)
        equations = assemble(flat)
        step = step_system(equations)
        refuse_undetermined(step, equations)
        found, guess = _first_plan(step, equations)
        stored = energies(equations)
        return Compiled(
            flat, equations, step, instant_system(equations), stored, _program(equations, step, stored), found, guess
        )

    # what it is ---------------------------------------------------------------------------------------------------

    @cached_property
    def layout(self) -> Layout:
        meaning = {"C": "displacement", "I": "momentum", "": "integral of a signal"}
        return Layout(
            tuple(
                Block(block.name, (len(block.starts),), block.unit, meaning[block.kind])
                for block in self.compiled.equations.blocks
            )
        )

    @cached_property
    def open_sources(self) -> tuple[Exchange, ...]:
        return tuple(each for each in self.compiled.equations.sources if each.first >= 0)

    @cached_property
    def ports(self) -> tuple[Port, ...]:
        return tuple(_port(each) for each in self.open_sources)

    @cached_property
    def state_names(self) -> tuple[str, ...]:
        blocks = self.layout.blocks
        return tuple(
            block.name if block.size == 1 else f"{block.name}[{k}]" for block in blocks for k in range(block.size)
        )

    def initial_state(self) -> Array:
        """Where stores and integrals start; those that constraints bind are brought to agree by impulses."""
        start = np.array([each for block in self.compiled.equations.blocks for each in block.starts])
        return consistent(self.compiled, self.inputs, start, 0.0)

    def energy(self, states: Array) -> tuple[Array, Array, Array]:
        """That of I, that of C, and nothing for gravity, which is a source or a C."""
        own, n = self.compiled.energies, len(states)
        values = np.zeros((n, len(own.kinetic)))
        none = np.zeros(len(self.compiled.equations.unknowns))
        point = Point(np.zeros(self.layout.size), none, np.zeros(0), self.compiled.step.rate, np.zeros(2))
        row_values(own.tape, point, np.ascontiguousarray(states, dtype=float), np.zeros(own.longest), values)
        kinetic = own.kinetic == 1
        return values[:, kinetic].sum(axis=1), values[:, ~kinetic].sum(axis=1), np.zeros(n)

    def with_inputs(self, inputs: Inputs, components: tuple[object, ...]) -> BondGraph:
        """The same graph with signals on its open sources; column 2 of the joint signals holds them, port by port."""
        made = replace(self, inputs=inputs, components=components)
        if "compiled" in self.__dict__:
            made.__dict__["compiled"] = self.compiled
        return made

    # what it does -------------------------------------------------------------------------------------------------

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
        """Small deviations: inputs are the open sources, outputs what answers at them."""
        equations = self.compiled.equations
        n, m = len(equations.unknowns), len(state)
        z = solved(self.compiled, inputs, state, time)
        u = given(inputs, np.array([time]))[0]
        _, F_z, F_x = at_instant(self.compiled, np.concatenate([z, state]), time, u)
        part = scaled(F_z)
        own, size, row_size = part.F_z.toarray(), part.size, part.rows
        by_state = F_x.toarray() * row_size[:, None]
        by_input = self._by_input(n) * row_size[:, None]
        rates, answers = np.zeros((m, n)), np.zeros((by_input.shape[1], n))
        rates[np.arange(m), list(equations.rates)] = size[list(equations.rates)]
        for source in self.open_sources:
            effort_in = _port(source).causality is Causality.EFFORT_IN
            for k, number in enumerate(source.flows if effort_in else source.efforts):
                answers[source.first + k, number] = source.sign * size[number]
        ports = [LinearPort.of(port) for port in self.ports]
        in_names = tuple(name for port in ports for name in port.input_names)
        out_names = tuple(
            name
            for port in ports
            for name in port.names_of(port.flow if port.causality is Causality.EFFORT_IN else port.effort)
        )
        if not part.N.shape[1]:
            through = -np.linalg.solve(own, np.hstack([by_state, by_input]))
            A, B, C, D = (
                rates @ through[:, :m],
                rates @ through[:, m:],
                answers @ through[:, :m],
                answers @ through[:, m:],
            )
            return LinearSystem(A=A, B=B, C=C, D=D, inputs=in_names, outputs=out_names, states=self.state_names)
        E = np.zeros((m + n, m + n))
        E[:m, :m] = np.eye(m)
        return LinearSystem(
            E=E,
            A=np.block([[np.zeros((m, m)), rates], [by_state, own]]),
            B=np.vstack([np.zeros((m, by_input.shape[1])), by_input]),
            C=np.hstack([np.zeros((len(answers), m)), answers]),
            D=np.zeros((len(answers), by_input.shape[1])),
            states=(*self.state_names, *(f"unknown {k}" for k in range(n))),
            inputs=in_names,
            outputs=out_names,
        )

    def _by_input(self, rows: int) -> Array:
        own = self.compiled.instant.equation
        matrix = np.zeros((rows, self.compiled.equations.inputs))
        np.add.at(matrix, (own.u_at[:, 0], own.u_at[:, 1]), own.u_by)
        return matrix

    def unknowns(self, states: Array, times: Array) -> Array:
        """All efforts, flows and signals (n, unknowns) at states."""
        z, rows = None, []
        for state, time in zip(np.asarray(states, float), times, strict=True):
            z = solved(self.compiled, self.inputs, state, float(time), z)
            rows.append(z)
        return np.array(rows).reshape(len(states), -1)

    def values(self, states: Array, formula: str, times: Array | None = None) -> Array:
        """A formula of variables and signals, such as ``spring.e * v.f`` or ``link.theta[1]``, at states (n, size)."""
        own, n = self.compiled, len(self.compiled.equations.unknowns)

        def at(leaf: Expression) -> Expression:
            """A variable as a state of the vector (z, x, t)."""
            place = {UNKNOWN: leaf.index, STATE: n + leaf.index}.get(leaf.name, n + self.layout.size)
            return Expression(NAME, name=PART, index=place)

        named = substituted(
            parse(formula), lambda each: each if each is TIME else own.equations.leaf((), each.name, each.index)
        )
        asked, writer = substituted(named, at), TapeWriter()
        writer.add(0, asked, {}, (0,) * (n + self.layout.size + 1))
        rows, now = np.asarray(states, float), np.zeros(len(states)) if times is None else np.asarray(times, float)
        z = self.unknowns(rows, now) if UNKNOWN in {each.name for each in names_in(named)} else np.zeros((len(rows), n))
        whole, out = np.column_stack([z, rows, now]), np.zeros((len(rows), 1))
        rate = np.zeros(whole.shape[1], np.int64)
        point = Point(np.zeros(whole.shape[1]), np.zeros(1), np.zeros(0), rate, np.zeros(2))
        row_values(writer.tape(), point, whole, np.zeros(writer.longest), out)
        return out[:, 0]


def compiled(graph: Component) -> BondGraph:
    """The model of a graph; what cannot be computed is refused in a sentence with its path."""
    sources = (place.part for place in flatten(graph).places if isinstance(place.part, Source))
    model = BondGraph(graph, Inputs.none(sum(each.size or 1 for each in sources if each.is_open)))
    _ = model.compiled
    return model


def _port(source: Exchange) -> Port:
    part, domain = source.place.part, source.place.part.domain
    causality = Causality.EFFORT_IN if part.symbol == "Se" else Causality.FLOW_IN
    return Port(
        source.name,
        domain.effort,
        domain.effort_unit,
        domain.flow,
        domain.flow_unit,
        len(source.efforts),
        Frame.WORLD,
        causality,
    )


def _first_plan(system: System, equations: Equations) -> tuple[Plan, Array]:
    """Pivots for the start of the graph; refused where it is singular wherever it is tried."""
    x = np.array([each for block in equations.blocks for each in block.starts])
    values, why = system.values(), ""
    for guess in GUESSES:
        z = np.full(system.size, guess)
        evaluate_once(
            system.equation, system.tape, system.point(x, z, np.zeros(equations.inputs), 0.0, USUAL_STEP), values
        )
        found = make_plan(system.begin, system.columns, values.J)
        if found is not None:
            return found, z
        why = why or why_singular(system, equations, values.J)
    raise InvalidInput(why)


def _program(equations: Equations, step: System, stored: Energies) -> Program:
    pairs: list[tuple[int, int, int]] = []
    signs: list[float] = []
    efforts: list[int] = []
    for k, source in enumerate(equations.sources):
        pairs += [(e, f, k) for e, f in zip(source.efforts, source.flows, strict=True)]
        signs += [float(source.sign)] * len(source.efforts)
        efforts += source.efforts
    for loss in equations.losses:
        pairs += [(e, f, -1) for e, f in zip(loss.efforts, loss.flows, strict=True)]
        signs += [float(loss.sign)] * len(loss.efforts)
    own = Stored(
        stored.K_at,
        stored.K_by,
        stored.K_kinetic,
        stored.b_at,
        stored.b_by,
        stored.b_kinetic,
        stored.change,
        stored.change_kinetic,
    )
    table = np.array(pairs, np.int64).reshape(-1, 3)
    return Program(step.equation, step.tape, own, table, np.array(signs), np.array(efforts, np.int64), step.linear)
