"""The tree of a graph without its components: elements, junctions and bonds, each with its path of names."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from pliant.bond_graph.elements import ONLY, Junction, Part, Source, TwoPort
from pliant.bond_graph.graph import Component, shown, split_end
from pliant.errors import InvalidInput, clip

Path = tuple[str, ...]


class Attachment(NamedTuple):
    """A port of an element or junction, which stands at ``place`` among all of them."""

    place: int
    port: str


Ends = dict[tuple[Path, int], tuple[Attachment, Attachment]]  # of bonds, by component and number there


class FlatBond(NamedTuple):
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

    def __str__(self) -> str:
        return f"{self.part.symbol} '{shown(self.path)}'"

    def at(self, port: str) -> tuple[int, int]:
        """The bond at a port of an element, and its sign."""
        return next((bond, sign) for bond, own, sign in self.bonds if own == port)


class FlatGraph(NamedTuple):
    """Components by their paths, the top one first, and what they are made of."""

    scopes: dict[Path, Component]
    places: list[Place]
    bonds: list[FlatBond]


def flatten(top: Component) -> FlatGraph:
    """All elements and bonds of the tree; what is not connected, or connected wrongly, is refused with its path."""
    scopes: dict[Path, Component] = {(): top}
    places: list[Place] = []
    for path, part in top.walk():
        if isinstance(part, Component):
            scopes[path] = part
        else:
            places.append(Place(path, part))
    index = {place.path: k for k, place in enumerate(places)}
    if not places:
        raise InvalidInput("the bond graph has no element; add parts")
    ends: Ends = {}
    for path, scope in scopes.items():
        for k, bond in enumerate(scope.bonds):
            words = _bond_words(scopes, path, k)
            start, end = (_attachment(scopes, index, path, text, words) for text in (bond.start, bond.end))
            ends[path, k] = (start._replace(port=start.port or "b"), end._replace(port=end.port or "a"))
    sizes = _sizes(scopes, places, ends)
    bonds = [FlatBond(*key, *both, sizes[both[0]]) for key, both in ends.items()]
    for k, each in enumerate(bonds):
        for attachment, sign in ((each.start, -1), (each.end, 1)):
            places[attachment.place].bonds.append((k, attachment.port, sign))
    for place in places:
        _check(place, bonds, scopes)
    return FlatGraph(scopes, places, bonds)


def _bond_words(scopes: dict[Path, Component], path: Path, number: int) -> str:
    bond = scopes[path].bonds[number]
    return f"the bond from '{clip(bond.start)}' to '{clip(bond.end)}'{within(path, 'of')}"


def within(path: Path, word: str) -> str:
    """Words for the component at a path; none for the whole graph."""
    return f" {word} '{shown(path)}'" if path else ""


def _attachment(scopes: dict[Path, Component], index: dict[Path, int], path: Path, text: str, words: str) -> Attachment:
    """Where an end of a bond leads, through ports of components; the port of a TF or GY may be left open."""
    while True:
        name, port = split_end(text)
        if name not in scopes[path].parts:
            raise InvalidInput(
                f"{words}: there is no part '{clip(name)}'; name one of {some(scopes[path].parts)}, or 'part.port' for"
                " a port of a component"
            )
        path = (*path, name)
        if path in index:
            break
        if not scopes[path].parts:
            raise InvalidInput(f"'{shown(path)}' has no elements inside: {scopes[path].about or 'give it parts'}")
        if port not in scopes[path].ports:
            found = f"has no port '{clip(port)}'" if port else "is a component, whose port must be named"
            raise InvalidInput(f"{words}: '{shown(path)}' {found}; name one of {some(scopes[path].ports) or 'none'}")
        text = scopes[path].ports[port]
    part = scopes[path[:-1]].parts[name]
    names = list(part.ports)
    if port not in names and (port or not isinstance(part, TwoPort)):
        if port or len(names) > 1:
            raise InvalidInput(f"{words}: '{shown(path)}' has no port '{clip(port)}'; name one of {', '.join(names)}")
        port = names[0]
    return Attachment(index[path], port)


def some(names: Iterable[str]) -> str:
    return clip(", ".join(names), 200)


def _sizes(scopes: dict[Path, Component], places: list[Place], ends: Ends) -> dict[Attachment, int]:
    """Sizes of all ports: those that elements say, carried along bonds and through junctions."""
    known = {Attachment(k, p): n for k, place in enumerate(places) for p, n in place.part.ports.items() if n}
    waiting = dict(ends)
    while waiting:
        left = len(waiting)
        for key, both in list(waiting.items()):
            found = {known[each] for each in both if each in known}
            if len(found) > 1:
                a, b = (known[each] for each in both)
                raise InvalidInput(
                    f"{_bond_words(scopes, *key)} joins a port of size {a} and a port of size {b}; make them equal"
                )
            if found:
                known |= dict.fromkeys(both, found.pop())
                del waiting[key]
        if len(waiting) == left:  # nothing says how large these are
            known[next(iter(waiting.values()))[0]] = 1
    return known


def _check(place: Place, bonds: list[FlatBond], scopes: dict[Path, Component]) -> None:
    part, found = place.part, [port for _, port, _ in place.bonds]
    if isinstance(part, Junction) and not found:
        raise InvalidInput(f"{place} has no bond; join it to something or remove it")
    for port in () if isinstance(part, Junction) else part.ports:
        count = found.count(port)
        where = f" at its port '{port}'" if port != ONLY else ""
        if not count:
            raise InvalidInput(f"{place} is not connected{where}; give it a bond or remove it")
        if count > 1:
            raise InvalidInput(f"{place} has {count} bonds{where}; put a junction between them")
        bond, sign = place.at(port)
        leaves = port == "b" and isinstance(part, TwoPort)
        if sign != (-1 if leaves else 1) and not isinstance(part, Source):
            words = _bond_words(scopes, bonds[bond].path, bonds[bond].number)
            raise InvalidInput(f"{words} must {'leave' if leaves else 'point to'} {place}{where}; turn it round")
