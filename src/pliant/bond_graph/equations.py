"""The equations of a graph in descriptor form, without causality.

Unknowns z are the efforts and flows of all bonds and the signals that are computed; those that a junction makes equal
are one. States x are those of stores and of integrals, each with the unknown that is its rate:

    0 = F(z, x, u, t) ,     x' = z[rate] .

So a constraint, an algebraic loop or a dependent store is an equation like all others.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple, cast

from pliant.bond_graph.elements import TF, C, Junction, R, Source, Store, TwoPort, Vector, ZeroJunction, products
from pliant.bond_graph.flat import FlatGraph, Path, Place, some, within
from pliant.bond_graph.graph import Component, Integral, shown
from pliant.errors import InvalidInput, clip
from pliant.formulas.expression import NAME, ZERO, Expression, derivative, name, names_in, substituted
from pliant.formulas.system import INPUT, STATE, UNKNOWN

SIGNAL = "#s"  # the name of a signal that is not resolved yet; no user can write it
EFFORT, FLOW = 0, 1


class Row(NamedTuple):
    """An equation: ``residual`` minus ``gradient`` is zero; the gradient is that of a store by its state."""

    residual: Expression
    owner: str
    gradient: Expression = ZERO


class StateBlock(NamedTuple):
    """States of a store or of an integral; ``kind`` is C, I, or nothing for a signal."""

    name: str
    unit: str
    kind: str
    first: int
    starts: tuple[float, ...]
    energy: Expression = ZERO


class Exchange(NamedTuple):
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


@dataclass
class FlatSignal:
    """A component of a signal that is computed, in the names of the component at ``scope``; ``known`` once resolved."""

    words: str
    scope: Path
    formula: Expression
    known: Expression | None = None
    asked: bool = False


class Equations:
    """Everything that is computed; names of unknowns and owners of rows are for messages."""

    def __init__(self, graph: FlatGraph) -> None:
        self.graph = graph
        self.rows: list[Row] = []
        self.blocks: list[StateBlock] = []
        self.stored: dict[Place, StateBlock] = {}
        self.answers: dict[int, tuple[int, int]] = {}  # of the state of a store: its row and the unknown that it gives
        self.rates: list[int] = []
        self.sources: list[Exchange] = []
        self.losses: list[Exchange] = []
        self.unknowns: list[str] = []
        self.inputs = 0
        self.signals: list[FlatSignal] = []
        self.names: dict[Path, dict[str, Vector]] = {}  # what formulas may name, by component
        self.variables: dict[tuple[int, int], Vector] = {}  # unknowns of each bond, efforts and flows
        self.number_unknowns()
        for place in graph.places:
            if isinstance(place.part, Store):
                self.add_store(place, place.part)
        for integral in self.collect_names():
            self.add_integral(*integral)
        for place in graph.places:
            match place.part:
                case Junction():
                    self.add_junction(place)
                case R() as part:
                    e, f = self.at(place, EFFORT), self.at(place, FLOW)
                    if part.gives_effort:
                        self.equate(place, e, self.resolved(part.given, place, f=f))
                    else:
                        self.equate(place, f, self.resolved(part.given, place, e=e))
                    self.losses.append(self.exchange(place, 1))
                case Source() as part:
                    self.add_source(place, part)
                case TwoPort() as part:
                    self.add_two_port(place, part)
        for k in range(len(self.signals)):
            self.signal(k)

    # variables of bonds -------------------------------------------------------------------------------------------

    def number_unknowns(self) -> None:
        """What junctions make equal is one unknown, also the other variable of two bonds in a row."""
        same: dict[tuple[int, int], tuple[int, int]] = {}

        def root(variable: tuple[int, int]) -> tuple[int, int]:
            while variable in same:
                variable = same[variable]
            return variable

        for place in self.graph.places:
            if isinstance(place.part, Junction):
                common = EFFORT if isinstance(place.part, ZeroJunction) else FLOW
                for kind in (EFFORT, FLOW) if passes(place) else (common,):
                    for bond, _, _ in place.bonds[1:]:
                        a, b = sorted((root((place.bonds[0][0], kind)), root((bond, kind))))
                        if a != b:
                            same[b] = a
        for place in self.graph.places:
            for bond, port, _ in place.bonds:
                size = self.graph.bonds[bond].size
                where = f" at port '{port}'" if len(place.part.ports) > 1 else ""
                for kind, word in ((EFFORT, "effort"), (FLOW, "flow")):
                    if (key := root((bond, kind))) not in self.variables:
                        texts = [f"the {word}{f' [{k}]' if size > 1 else ''} of {place}{where}" for k in range(size)]
                        self.variables[key] = tuple(map(self.new_unknown, texts))
                    self.variables[bond, kind] = self.variables[key]

    def new_unknown(self, words: str) -> Expression:
        self.unknowns.append(words)
        return name(UNKNOWN, len(self.unknowns) - 1)

    def at(self, place: Place, kind: int, port: str | None = None) -> Vector:
        """Efforts or flows at a port; at the first one if it is not named."""
        return self.variables[place.bonds[0][0] if port is None else place.at(port)[0], kind]

    # names in formulas --------------------------------------------------------------------------------------------

    def collect_names(self) -> list[tuple[Path, str, Integral]]:
        """What formulas of each component may name; the signals that are integrals."""
        first, integrals = len(self.rates), []
        for path, scope in self.graph.scopes.items():
            table = self.names[path] = {}
            for word, value in scope.signals.items():
                if isinstance(value, Integral):
                    integrals.append((path, word, value))
                    table[word] = numbered(STATE, first, len(value.formulas))
                    first += len(value.formulas)
                else:
                    formulas = cast(Vector, value)
                    table[word] = numbered(SIGNAL, len(self.signals), len(formulas))
                    words = f"signal '{shown((*path, word))}'"
                    self.signals += [FlatSignal(words, path, each) for each in formulas]
        for place in self.graph.places:
            table, own, part = self.names[place.path[:-1]], place.path[-1], place.part
            if isinstance(part, Store):
                table[f"{own}.{part.variable}"] = numbered(STATE, self.stored[place].first, part.size)
            for port in part.ports:
                prefix, bond = (own, None) if len(part.ports) == 1 else (f"{own}.{port}", port)
                # all bonds of a junction share one of both
                table |= {f"{prefix}.e": self.at(place, EFFORT, bond)} if part.symbol != "1" else {}
                table |= {f"{prefix}.f": self.at(place, FLOW, bond)} if part.symbol != "0" else {}
        for path in sorted(self.graph.scopes, key=len, reverse=True)[:-1]:
            self.names[path[:-1]] |= {f"{path[-1]}.{word}": value for word, value in self.names[path].items()}
        for path, scope in self.graph.scopes.items():
            for wire in scope.wires:
                self.connect_wire(path, scope, wire.start, wire.end)
        return integrals

    def connect_wire(self, path: Path, scope: Component, start: str, end: str) -> None:
        part, _, word = end.partition(".")
        target, values = scope.parts.get(part), self.named(path, start)
        sizes = target.inputs if isinstance(target, Component) else {}
        if sizes.get(word) != len(values):  # type: ignore[union-attr]
            raise InvalidInput(
                f"the wire from '{clip(start)}' to '{clip(end)}'{within(path, 'of')} leads to no input of a component"
                f" with {len(values)} components; write it as part.input, and give inputs their sizes"
            )
        self.names[*path, part][word] = values

    def named(self, path: Path, word: str) -> Vector:
        """The variables that a name means inside a component."""
        table, scope = self.names[path], self.graph.scopes[path]
        if word in table:
            return table[word]
        if word in scope.inputs:
            whom = f"'{shown(path)}'" if path else "the whole graph"
            raise InvalidInput(f"nobody gives the signal '{word}' to {whom}; add a wire to it in the component around")
        near = [each for each in table if each.rpartition(".")[0] == word.rpartition(".")[0]] or list(table)
        raise InvalidInput(f"the name '{clip(word)}'{within(path, 'in')} is not known; there are t, {some(near)}")

    def leaf(self, path: Path, word: str, index: int) -> Expression:
        """One of them, or the formula of a signal that needs no unknown."""
        values = self.named(path, word)
        if index >= len(values):
            raise InvalidInput(f"'{clip(word)}' has {len(values)} components, not {index + 1}; correct it")
        found = values[index]
        return self.signal(found.index) if found.name == SIGNAL else found

    def resolve(self, formula: Expression, path: Path, who: object, **own: Vector) -> Expression:
        """A formula of a component in variables of the whole graph."""

        def change(each: Expression) -> Expression:
            if each.name == "t":
                return each
            if each.index < len(values := own.get(each.name, ())):
                return values[each.index]
            try:
                return self.leaf(path, each.name, each.index)
            except InvalidInput as error:
                raise InvalidInput(f"{who}: {error}") from None

        return substituted(formula, change)

    def resolved(self, formulas: Iterable[Expression], place: Place, **own: Vector) -> Vector:
        return tuple(self.resolve(each, place.path[:-1], place, **own) for each in formulas)

    def signal(self, k: int) -> Expression:
        """A signal that is computed: the variable it renames, a formula of states, or an unknown of its own."""
        own = self.signals[k]
        if own.known is None:
            if own.asked and own.formula.operation == NAME:
                around = [each.words for each in self.signals if each.asked and each.formula.operation == NAME]
                raise InvalidInput(
                    f"signals are defined by each other: {', '.join(around)}; give one of them a formula"
                )
            if own.asked:  # by its own formula: an algebraic loop
                own.known = self.new_unknown(own.words)
                return own.known
            own.asked = True
            value = self.resolve(own.formula, own.scope, own.words)
            own.asked = False
            simple = value.operation == NAME or all(each.name != UNKNOWN for each in names_in(value))
            if own.known is None and simple:
                own.known = value
            else:
                own.known = own.known or self.new_unknown(own.words)
                self.rows.append(Row(own.known - value, own.words))
        return own.known

    # equations ----------------------------------------------------------------------------------------------------

    def equate(self, place: Place, outputs: Vector, values: Vector) -> None:
        self.rows += [Row(output - value, str(place)) for output, value in zip(outputs, values, strict=True)]

    def add_store(self, place: Place, part: Store) -> None:
        for each in names_in(*part.formulas()):
            if each.name != part.variable or each.index >= part.size:
                raise InvalidInput(
                    f"energy of {place} depends on '{clip(str(each))}', but may depend on its own {part.size} states"
                    f" '{part.variable}' alone; add a port for it, or put a modulated TF before it"
                )
        is_c, first = isinstance(part, C), len(self.rates)
        energy = substituted(part.hamiltonian, lambda each: name(STATE, first + each.index))
        unit = part.domain.displacement_unit if is_c else part.domain.momentum_unit
        label, starts = ".".join((*place.path, part.variable)), tuple(part.start)  # type: ignore[arg-type]
        self.stored[place] = StateBlock(label, unit, part.symbol, first, starts, energy)
        self.blocks.append(self.stored[place])
        kinds = (FLOW, EFFORT) if is_c else (EFFORT, FLOW)
        for port in part.ports:
            rates, answers = (self.at(place, kind, port) for kind in kinds)
            for rate, answer in zip(rates, answers, strict=True):
                state = name(STATE, len(self.rates))
                self.rates.append(rate.index)
                self.answers[state.index] = (len(self.rows), answer.index)
                self.rows.append(Row(answer, str(place), derivative(energy, state)))

    def add_integral(self, path: Path, word: str, integral: Integral) -> None:
        first, who = len(self.rates), f"signal '{shown((*path, word))}'"
        for formula in integral.formulas:
            rate = self.resolve(formula, path, who)
            if rate.operation != NAME or rate.name != UNKNOWN:
                unknown = self.new_unknown(f"the rate of {who}")
                self.rows.append(Row(unknown - rate, who))
                rate = unknown
            self.rates.append(rate.index)
        self.blocks.append(StateBlock(".".join((*path, word)), "", "", first, tuple(integral.start)))  # type: ignore[arg-type]

    def add_junction(self, place: Place) -> None:
        if not passes(place):
            other = FLOW if isinstance(place.part, ZeroJunction) else EFFORT
            signed = [[float(sign) * each for each in self.variables[bond, other]] for bond, _, sign in place.bonds]
            self.rows += [Row(sum(each, ZERO), str(place)) for each in zip(*signed, strict=True)]

    def add_source(self, place: Place, part: Source) -> None:
        outputs, values = self.at(place, EFFORT if part.gives == "effort" else FLOW), self.resolved(part.given, place)
        self.sources.append(self.exchange(place, -1, self.inputs if part.is_open else -1))
        if part.is_open:
            values = numbered(INPUT, self.inputs, len(outputs))
            self.inputs += len(outputs)
        self.equate(place, outputs, values)

    def add_two_port(self, place: Place, part: TwoPort) -> None:
        ratio = tuple(self.resolved(row, place) for row in part.matrix)
        told, given = (EFFORT, FLOW) if isinstance(part, TF) else (FLOW, EFFORT)
        self.equate(place, self.at(place, given, "b"), products(ratio, self.at(place, FLOW, "a")))
        self.equate(place, self.at(place, EFFORT, "a"), products(tuple(zip(*ratio)), self.at(place, told, "b")))

    def exchange(self, place: Place, into: int, first: int = -1) -> Exchange:
        efforts, flows = (tuple(each.index for each in self.at(place, kind)) for kind in (EFFORT, FLOW))
        return Exchange(place, efforts, flows, into * place.bonds[0][2], first)


def numbered(kind: str, first: int, count: int) -> Vector:
    return tuple(name(kind, first + k) for k in range(count))


def passes(place: Place) -> bool:
    """Whether a junction has one bond in and one out, which then are one."""
    return len(place.bonds) == 2 and place.bonds[0][2] != place.bonds[1][2]
