"""The equations of a graph in descriptor form, without causality.

Unknowns z are the efforts and flows of all bonds and the signals that are computed; those that a junction makes equal
are one. States x are those of stores and of integrals, each with the unknown that is its rate:

    0 = F(z, x, u, t) ,     x' = z[rate] .

So a constraint, an algebraic loop or a dependent store is an equation like all others.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pliant.bond_graph.elements import TF, C, Junction, Part, R, Source, Store, TwoPort, ZeroJunction, products
from pliant.bond_graph.expression import NAME, ZERO, Expression, derivative, name, names_in, substituted
from pliant.bond_graph.flat import FlatGraph, FlatSignal, Path, Place, Variable, resolve, unused_wires
from pliant.errors import InvalidInput, clip

# names of variables in resolved formulas; no user can write them
UNKNOWN, STATE, INPUT = "#z", "#x", "#u"
EFFORT, FLOW = 0, 1


@dataclass(frozen=True, eq=False)
class Row:
    """An equation: ``residual`` minus ``gradient`` is zero; the gradient is that of a store by its state."""

    residual: Expression
    owner: str
    gradient: Expression = ZERO


@dataclass(frozen=True, eq=False)
class StateBlock:
    """States of a store or of an integral; ``kind`` is C, I, or nothing for a signal."""

    name: str
    unit: str
    kind: str
    first: int
    starts: tuple[float, ...]
    energy: Expression = ZERO


@dataclass(frozen=True, eq=False)
class Exchange:
    """Pairs of effort and flow of a source or a loss.

    ``sign`` is 1 where the bond carries power out of a source, or into a loss. ``first`` is that of its inputs, or -1
    if it is not open.
    """

    place: Place
    efforts: tuple[int, ...]
    flows: tuple[int, ...]
    sign: int
    first: int = -1

    @property
    def name(self) -> str:
        return ".".join(self.place.path)


@dataclass(frozen=True, eq=False)
class Equations:
    """Everything that is computed; names of unknowns and owners of rows are for messages."""

    unknowns: tuple[str, ...]
    rows: tuple[Row, ...]
    blocks: tuple[StateBlock, ...]
    rates: tuple[int, ...]
    sources: tuple[Exchange, ...]
    losses: tuple[Exchange, ...]
    inputs: int
    leaf: Callable[[Path, str, int], Expression]


def assemble(graph: FlatGraph) -> Equations:
    """All equations of a graph."""
    for sentence in unused_wires(graph):
        raise InvalidInput(sentence)
    return _Assembly(graph).equations()


class _Assembly:
    """Equations on their way."""

    def __init__(self, graph: FlatGraph) -> None:
        self.graph = graph
        self.offset: list[int] = []
        total = 0
        for bond in graph.bonds:
            self.offset.append(total)
            total += bond.size
        self.same = list(range(2 * total))
        self.rows: list[Row] = []
        self.blocks: list[StateBlock] = []
        self.rates: list[int] = []
        self.states: dict[object, int] = {}  # first state of a place or an integral
        self.known: dict[tuple[FlatSignal, int], Expression] = {}
        self.asked: list[tuple[FlatSignal, int]] = []  # names that are being looked up
        self.inputs = 0

    # variables of bonds -------------------------------------------------------------------------------------------

    def root(self, variable: int) -> int:
        while self.same[variable] != variable:
            self.same[variable] = variable = self.same[self.same[variable]]
        return variable

    def variable(self, bond: int, k: int, kind: int) -> int:
        return 2 * (self.offset[bond] + k) + kind

    def join(self, a: int, b: int) -> None:
        a, b = sorted((self.root(a), self.root(b)))
        self.same[b] = a

    def alias_junctions(self) -> None:
        """What junctions make equal is one unknown, also the other variable of two bonds in a row."""
        for place in self.graph.places:
            if isinstance(place.part, Junction):
                common = EFFORT if isinstance(place.part, ZeroJunction) else FLOW
                first = place.bonds[0][0]
                through = len(place.bonds) == 2 and place.bonds[0][2] != place.bonds[1][2]
                for bond, _, _ in place.bonds[1:]:
                    for k in range(self.graph.bonds[bond].size):
                        self.join(self.variable(first, k, common), self.variable(bond, k, common))
                        if through:
                            self.join(self.variable(first, k, 1 - common), self.variable(bond, k, 1 - common))

    def number_unknowns(self) -> None:
        self.unknowns: list[str] = []
        self.number: dict[int, int] = {}
        for place in self.graph.places:
            for bond, port, _ in place.bonds:
                size = self.graph.bonds[bond].size
                for k in range(size):
                    for kind, word in ((EFFORT, "effort"), (FLOW, "flow")):
                        root = self.root(self.variable(bond, k, kind))
                        if root not in self.number:
                            self.number[root] = len(self.unknowns)
                            component = f" [{k}]" if size > 1 else ""
                            at = f" at port '{port}'" if len(place.part.ports) > 1 else ""
                            self.unknowns.append(f"the {word}{component} of {_label(place)}{at}")

    def at(self, place: Place, port: str, kind: int) -> list[Expression]:
        """Efforts or flows at a port of an element."""
        bond = place.at(port)[0]
        return [name(UNKNOWN, each) for each in self.numbers(bond, kind)]

    def numbers(self, bond: int, kind: int) -> list[int]:
        size = self.graph.bonds[bond].size
        return [self.number[self.root(self.variable(bond, k, kind))] for k in range(size)]

    def new_unknown(self, words: str) -> int:
        self.unknowns.append(words)
        return len(self.unknowns) - 1

    # names in formulas --------------------------------------------------------------------------------------------

    def resolved(self, formula: Expression, scope: Path, own: dict[str, list[Expression]], who: str) -> Expression:
        """A formula of a component in variables of the whole graph."""

        def change(each: Expression) -> Expression:
            if each.name == "t":
                return each
            if each.name in own:
                return _component(own[each.name], each, who)
            try:
                return self.leaf(scope, each.name, each.index)
            except InvalidInput as error:
                raise InvalidInput(f"{who}: {error}") from None

        return substituted(formula, change)

    def leaf(self, scope: Path, word: str, index: int) -> Expression:
        """The variable that a name means inside a component."""
        found = resolve(self.graph, scope, word)
        if isinstance(found, Variable):
            place = self.graph.places[found.place]
            if found.word == getattr(place.part, "variable", ""):
                first = self.states[place]
                values = [name(STATE, first + k) for k in range(place.part.size)]  # type: ignore[attr-defined]
            else:
                kind = EFFORT if found.word == "e" else FLOW
                bond = place.bonds[0][0] if isinstance(place.part, Junction) else place.at(found.port)[0]
                values = [name(UNKNOWN, each) for each in self.numbers(bond, kind)]
            return _component(values, name(word, index), f"'{clip(word)}'")
        if index >= len(found.formulas):
            raise InvalidInput(f"signal '{found.words}' has {len(found.formulas)} components, not {index + 1}")
        return self.signal(found, index)

    def signal(self, signal: FlatSignal, k: int) -> Expression:
        if signal.starts is not None:
            return name(STATE, self.states[signal] + k)
        key = (signal, k)
        if key in self.known:
            return self.known[key]
        formula = signal.formulas[k]
        if formula.operation == NAME:  # another name for the same
            if key in self.asked:
                around = " -> ".join(each.words for each, _ in (*self.asked, key))
                raise InvalidInput(f"signals are defined by each other, {around}; give one of them a formula")
            self.asked.append(key)
            self.known[key] = self.resolved(formula, signal.scope, {}, f"signal '{signal.words}'")
            self.asked.pop()
        elif formula.is_constant:
            self.known[key] = formula
        else:
            self.known[key] = unknown = name(UNKNOWN, self.new_unknown(_signal_words(signal, k)))
            residual = self.resolved(formula, signal.scope, {}, f"signal '{signal.words}'")
            alone = all(each.name != UNKNOWN for each in names_in(residual))
            if alone and unknown.index == len(self.unknowns) - 1:  # it follows from states: no need to solve for it
                self.unknowns.pop()
                self.known[key] = residual
                return residual
            self.rows.append(Row(unknown - residual, f"signal '{signal.words}'"))
        return self.known[key]

    # equations ----------------------------------------------------------------------------------------------------

    def equations(self) -> Equations:
        self.alias_junctions()
        self.number_unknowns()
        for place in self.graph.places:
            if isinstance(place.part, Store):
                self.add_store_states(place, place.part)
        integrals = [each for each in self.graph.signals.values() if each.starts is not None]
        first = len(self.rates)
        for signal in integrals:
            self.states[signal] = first
            first += len(signal.formulas)
        for signal in integrals:
            self.add_integral(signal)
        sources, losses = [], []
        for place in self.graph.places:
            match place.part:
                case Junction() as part:
                    self.add_junction(place, part)
                case Store() as part:
                    self.add_store(place, part)
                case R() as part:
                    losses.append(self.add_loss(place, part))
                case Source() as part:
                    sources.append(self.add_source(place, part))
                case TwoPort() as part:
                    self.add_two_port(place, part)
        for signal in self.graph.signals.values():
            if signal.starts is None:
                for k in range(len(signal.formulas)):
                    self.signal(signal, k)
        return Equations(
            tuple(self.unknowns),
            tuple(self.rows),
            tuple(self.blocks),
            tuple(self.rates),
            tuple(sources),
            tuple(losses),
            self.inputs,
            self.leaf,
        )

    def add_store_states(self, place: Place, part: Store) -> None:
        kind = FLOW if isinstance(part, C) else EFFORT
        first = self.states[place] = len(self.rates)
        for port in part.ports:
            self.rates += self.numbers(place.at(port.name)[0], kind)
        x = [name(STATE, first + k) for k in range(part.size)]
        _only_own(part, place)
        who = f"energy of {_label(place)}"
        energy = self.resolved(part.hamiltonian, place.path[:-1], {part.variable: x}, who)
        unit = part.domain.displacement_unit if isinstance(part, C) else part.domain.momentum_unit
        label = ".".join((*place.path, part.variable))
        self.blocks.append(StateBlock(label, unit, part.symbol, first, part.start, energy))  # type: ignore[arg-type]

    def add_integral(self, signal: FlatSignal) -> None:
        first, who = len(self.rates), f"signal '{signal.words}'"
        for k, formula in enumerate(signal.formulas):
            rate = self.resolved(formula, signal.scope, {}, who)
            if rate.operation == NAME and rate.name == UNKNOWN:
                self.rates.append(rate.index)
                continue
            number = self.new_unknown(f"the rate of {_signal_words(signal, k)}")
            self.rates.append(number)
            self.rows.append(Row(name(UNKNOWN, number) - rate, who))
        label = ".".join((*signal.scope, signal.name))
        self.blocks.append(StateBlock(label, "", "", first, signal.starts or ()))

    def add_junction(self, place: Place, part: Junction) -> None:
        if len(place.bonds) == 2 and place.bonds[0][2] != place.bonds[1][2]:
            return
        other = FLOW if isinstance(part, ZeroJunction) else EFFORT
        for k in range(self.graph.bonds[place.bonds[0][0]].size):
            total = ZERO
            for bond, _, sign in place.bonds:
                total = total + float(sign) * name(UNKNOWN, self.numbers(bond, other)[k])
            self.rows.append(Row(total, _label(place)))

    def add_store(self, place: Place, part: Store) -> None:
        kind = EFFORT if isinstance(part, C) else FLOW
        first = self.states[place]
        energy = next(each.energy for each in self.blocks if each.first == first)
        outputs = [each for port in part.ports for each in self.at(place, port.name, kind)]
        for k, output in enumerate(outputs):
            self.rows.append(Row(output, _label(place), derivative(energy, name(STATE, first + k))))

    def add_loss(self, place: Place, part: R) -> Exchange:
        port = part.ports[0].name
        e, f = self.at(place, port, EFFORT), self.at(place, port, FLOW)
        own = {"f": f} if part.gives_effort else {"e": e}
        for output, formula in zip(e if part.gives_effort else f, part.given, strict=True):
            self.rows.append(Row(output - self.formula(formula, place, own), _label(place)))
        return self.exchange(place, 1)

    def add_source(self, place: Place, part: Source) -> Exchange:
        kind = EFFORT if part.gives == "effort" else FLOW
        outputs, first = self.at(place, part.ports[0].name, kind), -1
        if part.is_open:
            first = self.inputs
            given = [name(INPUT, first + k) for k in range(len(outputs))]
            self.inputs += len(outputs)
        else:
            given = [self.formula(each, place, {}) for each in part.given]
        for output, value in zip(outputs, given, strict=True):
            self.rows.append(Row(output - value, _label(place)))
        return self.exchange(place, -1, first)

    def add_two_port(self, place: Place, part: TwoPort) -> None:
        ratio = tuple(tuple(self.formula(each, place, {}) for each in row) for row in part.matrix)
        transposed = tuple(zip(*ratio))
        in_a, in_b = self.at(place, "a", FLOW), self.at(place, "b", EFFORT if isinstance(part, TF) else FLOW)
        out_b = self.at(place, "b", FLOW if isinstance(part, TF) else EFFORT)
        for output, value in zip(out_b, products(ratio, in_a), strict=True):
            self.rows.append(Row(output - value, _label(place)))
        for output, value in zip(self.at(place, "a", EFFORT), products(transposed, in_b), strict=True):
            self.rows.append(Row(output - value, _label(place)))

    def formula(self, formula: Expression, place: Place, own: dict[str, list[Expression]]) -> Expression:
        return self.resolved(formula, place.path[:-1], own, _label(place))

    def exchange(self, place: Place, into: int, first: int = -1) -> Exchange:
        bond, sign = place.at(place.part.ports[0].name)
        efforts, flows = tuple(self.numbers(bond, EFFORT)), tuple(self.numbers(bond, FLOW))
        return Exchange(place, efforts, flows, into * sign, first)


def _label(place: Place) -> str:
    return f"{place.part.symbol} '{place.words}'"


def _signal_words(signal: FlatSignal, k: int) -> str:
    return f"signal '{signal.words}'" + (f" [{k}]" if len(signal.formulas) > 1 else "")


def _component(values: list[Expression], asked: Expression, who: str) -> Expression:
    if asked.index >= len(values):
        raise InvalidInput(
            f"{who}: '{clip(asked.name)}' has {len(values)} components, not {asked.index + 1}; correct it"
        )
    return values[asked.index]


def _only_own(part: Part, place: Place) -> None:
    """Energy depends on the own state alone, or it would not be kept."""
    for each in names_in(*part.formulas()):
        if each.name != part.variable:  # type: ignore[attr-defined]
            raise InvalidInput(
                f"energy of {_label(place)} depends on '{clip(each.name)}', but may depend on its own state"
                f" '{part.variable}' alone; add a port for it, or put a modulated TF before it"  # type: ignore[attr-defined]
            )
