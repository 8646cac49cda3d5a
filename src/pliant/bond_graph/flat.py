"""The tree of a graph without its components: elements, junctions, bonds and signals, each with its path of names."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from pliant.bond_graph.elements import ONLY, Junction, Part, Source, TwoPort, Vector
from pliant.bond_graph.graph import Bond, Component, Integral, shown, split_end
from pliant.errors import InvalidInput, clip

Path = tuple[str, ...]


class Attachment(NamedTuple):
    """A port of an element or junction, which stands at ``place`` among all of them."""

    place: int
    port: str


@dataclass(frozen=True, eq=False)
class FlatBond:
    """A bond between elements and junctions; ``path`` and ``number`` say which one it is in its component."""

    path: Path
    number: int
    start: Attachment
    end: Attachment
    size: int


@dataclass(frozen=True, eq=False)
class Place:
    """An element or junction, and its bonds: which one, at which port, 1 where it arrives and -1 where it leaves."""

    path: Path
    part: Part
    bonds: list[tuple[int, str, int]] = field(default_factory=list)

    @property
    def words(self) -> str:
        return shown(self.path)

    def at(self, port: str) -> tuple[int, int]:
        """The bond at a port of an element, and its sign."""
        return next((bond, sign) for bond, own, sign in self.bonds if own == port)


@dataclass(frozen=True, eq=False)
class FlatSignal:
    """Formulas of a signal, written in the names of the component at ``scope``; with starts if it is an integral."""

    scope: Path
    name: str
    formulas: Vector
    starts: tuple[float, ...] | None

    @property
    def words(self) -> str:
        return shown((*self.scope, self.name))


@dataclass(frozen=True, eq=False)
class FlatGraph:
    """Everything that a graph is made of."""

    top: Component
    scopes: dict[Path, Component]
    places: list[Place]
    bonds: list[FlatBond]
    signals: dict[tuple[Path, str], FlatSignal]
    index: dict[Path, int]


def flatten(top: Component) -> FlatGraph:
    """All elements and bonds of the tree; what is not connected, or connected wrongly, is refused with its path."""
    scopes: dict[Path, Component] = {(): top}
    places: list[Place] = []
    index: dict[Path, int] = {}
    for path, part in top.walk():
        if isinstance(part, Component):
            scopes[path] = part
        else:
            index[path] = len(places)
            places.append(Place(path, part))
    if not places:
        raise InvalidInput("the bond graph has no element; add parts")
    joined = []
    for path, scope in scopes.items():
        for k, bond in enumerate(scope.bonds):
            start, end = (_attachment(scopes, index, path, bond, at_end) for at_end in (False, True))
            joined.append((path, k, start, end))
    sizes = _sizes(places, [(_bond_words(scopes, path, k), start, end) for path, k, start, end in joined])
    bonds = [FlatBond(*each, size) for each, size in zip(joined, sizes, strict=True)]
    for k, each in enumerate(bonds):
        for attachment, sign in ((each.start, -1), (each.end, 1)):
            places[attachment.place].bonds.append((k, attachment.port, sign))
    for place in places:
        _check_place(place, bonds, scopes)
    return FlatGraph(top, scopes, places, bonds, _signals(scopes), index)


def _bond_words(scopes: dict[Path, Component], path: Path, number: int) -> str:
    bond = scopes[path].bonds[number]
    inside = f" of '{shown(path)}'" if path else ""
    return f"the bond from '{bond.start}' to '{bond.end}'{inside}"


def _attachment(
    scopes: dict[Path, Component], index: dict[Path, int], path: Path, bond: Bond, at_end: bool
) -> Attachment:
    """Where an end of a bond leads, through the ports of components down to an element."""
    scope, here = scopes[path], path
    text = bond.end if at_end else bond.start
    words = f"the bond from '{clip(bond.start)}' to '{clip(bond.end)}'"
    while True:
        name, port = split_end(text)
        inside = f" in '{shown(here)}'" if here else ""
        if name not in scope.parts:
            raise InvalidInput(
                f"{words}{inside}: there is no part '{clip(name)}'; name one of {_some(scope.parts)}, or"
                " 'part.port' for a port of a component"
            )
        here, part = (*here, name), scope.parts[name]
        if isinstance(part, Part):
            return Attachment(index[here], _port_of(part, port, at_end, here))
        scope = part
        if not scope.parts:
            raise InvalidInput(f"'{shown(here)}' has no elements inside: {scope.about or 'give it parts'}")
        if port not in scope.ports:
            found = f"has no port '{clip(port)}'" if port else "is a component, whose port must be named"
            raise InvalidInput(f"{words}: '{shown(here)}' {found}; name one of {_some(scope.ports) or 'none'}")
        text = scope.ports[port]


def _some(names: object) -> str:
    return clip(", ".join(str(each) for each in names), 200)  # type: ignore[attr-defined]


def _port_of(part: Part, port: str, at_end: bool, path: Path) -> str:
    names = [each.name for each in part.ports]
    if not port and isinstance(part, TwoPort):
        return "a" if at_end else "b"
    if not port and len(names) == 1:
        return names[0]
    if port not in names:
        raise InvalidInput(f"{part.symbol} '{shown(path)}' has no port '{clip(port)}'; name one of {', '.join(names)}")
    return port


def _sizes(places: list[Place], joined: list[tuple[str, Attachment, Attachment]]) -> list[int]:
    """Sizes of all bonds: those of ports, carried through junctions."""
    known: dict[Attachment, int] = {}
    for k, place in enumerate(places):
        for port in place.part.ports:
            if port.size is not None:
                known[Attachment(k, port.name)] = port.size
    waiting = list(joined)
    while waiting:
        left = [each for each in waiting if not _carry(known, *each)]
        if len(left) == len(waiting):  # nothing says how large these are
            known[left[0][1]] = 1
        waiting = left
    return [known[start] for _, start, _ in joined]


def _carry(known: dict[Attachment, int], words: str, start: Attachment, end: Attachment) -> bool:
    a, b = known.get(start), known.get(end)
    if a is not None and b is not None and a != b:
        raise InvalidInput(f"{words} joins a port of size {a} and a port of size {b}; make them equal")
    size = a if a is not None else b
    if size is None:
        return False
    known[start] = known[end] = size
    return True


def _check_place(place: Place, bonds: list[FlatBond], scopes: dict[Path, Component]) -> None:
    part, found = place.part, [port for _, port, _ in place.bonds]
    label = f"{part.symbol} '{place.words}'"
    if isinstance(part, Junction):
        if not found:
            raise InvalidInput(f"{label} has no bond; join it to something or remove it")
        return
    for port in part.ports:
        count = found.count(port.name)
        where = f" at its port '{port.name}'" if port.name != ONLY else ""
        if count == 0:
            raise InvalidInput(f"{label} is not connected{where}; give it a bond or remove it")
        if count > 1:
            raise InvalidInput(f"{label} has {count} bonds{where}; put a junction between them")
        bond, sign = place.at(port.name)
        leaves = port.name == "b" if isinstance(part, TwoPort) else isinstance(part, Source)
        if sign != (-1 if leaves else 1) and not isinstance(part, Source):
            way = "leave" if leaves else "point to"
            raise InvalidInput(
                f"{_bond_words(scopes, bonds[bond].path, bonds[bond].number)} must {way} {label}{where}; turn it round"
            )


def _signals(scopes: dict[Path, Component]) -> dict[tuple[Path, str], FlatSignal]:
    signals = {}
    for path, scope in scopes.items():
        for name, value in scope.signals.items():
            if isinstance(value, Integral):
                signals[path, name] = FlatSignal(path, name, value.formulas, value.start)  # type: ignore[arg-type]
            else:
                signals[path, name] = FlatSignal(path, name, value, None)  # type: ignore[arg-type]
    return signals


class Variable(NamedTuple):
    """A variable of a part, as formulas name it: ``word`` is q, p, e or f."""

    place: int
    port: str
    word: str


def resolve(graph: FlatGraph, scope: Path, name: str) -> FlatSignal | Variable:
    """What a name means inside a component; refused with its path if it means nothing."""
    here, words = scope, name.split(".")
    while True:
        component, first = graph.scopes[here], words[0]
        if len(words) == 1 and first in component.signals:
            return graph.signals[here, first]
        if len(words) == 1 and first in component.inputs:
            here, words = _wired(graph, here, first)
            continue
        if first not in component.parts:
            break
        path = (*here, first)
        if path in graph.index:
            return _variable(graph, graph.index[path], words[1:], scope, name)
        if len(words) == 1:
            break
        here, words = path, words[1:]
    known = (*component.signals, *component.inputs, *(f"{each}...." for each in component.parts))
    inside = f" in '{shown(scope)}'" if scope else ""
    raise InvalidInput(f"the name '{clip(name)}'{inside} is not known; there are t, {_some(known)}")


def _wired(graph: FlatGraph, path: Path, name: str) -> tuple[Path, list[str]]:
    """Where the input of a component comes from."""
    if path:
        around = path[:-1]
        for wire in graph.scopes[around].wires:
            if wire.end == f"{path[-1]}.{name}":
                return around, wire.start.split(".")
    whom = f"'{shown(path)}'" if path else "the whole graph"
    raise InvalidInput(f"nobody gives the signal '{name}' to {whom}; add a wire to it in the component around")


def _variable(graph: FlatGraph, place: int, words: list[str], scope: Path, name: str) -> Variable:
    part = graph.places[place].part
    if len(words) == 1:
        word = words[0]
        port = part.ports[0].name
        several = len(part.ports) > 1 and word in ("e", "f")
    else:
        port, word = (".".join(words[:-1]), words[-1]) if words else ("", "")
        several = port not in [each.name for each in part.ports]
    stored = getattr(part, "variable", "")
    allowed = ["e", "f"] if not isinstance(part, Junction) else ["e" if part.symbol == "0" else "f"]
    if several or word not in [*allowed, stored]:
        ports = [each.name for each in part.ports]
        ends = allowed if len(ports) == 1 else [f"{each}.{end}" for each in ports for end in allowed]
        text = ", ".join([*ends, *([stored] if stored else [])])
        inside = f" in '{shown(scope)}'" if scope else ""
        raise InvalidInput(
            f"the name '{clip(name)}'{inside} is not known: {part.symbol} '{graph.places[place].words}' has {text}"
        )
    return Variable(place, port, word)


def unused_wires(graph: FlatGraph) -> Iterator[str]:
    """Sentences on wires that lead nowhere."""
    for path, scope in graph.scopes.items():
        inside = f" of '{shown(path)}'" if path else ""
        for wire in scope.wires:
            part, _, name = wire.end.partition(".")
            target = scope.parts.get(part)
            if not isinstance(target, Component) or name not in target.inputs:
                yield (
                    f"the wire from '{clip(wire.start)}' to '{clip(wire.end)}'{inside} leads to no input of a"
                    " component; write it as part.input"
                )
