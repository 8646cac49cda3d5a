"""Which end of each bond decides its effort: assigned in sequence, to draw and to explain.

Sources first, then stores, whose rates then are what acts on them, then losses, then what is left; after each choice
all that follows from it. Nothing is computed from it: a store whose flow or effort is decided elsewhere depends on
other stores (derivative causality), a loss whose causality is free stands in an algebraic loop, and a junction that
is told twice is a conflict, which numbers may yet resolve.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pliant.bond_graph.elements import GY, ONLY, TF, C, Junction, Part, R, Source, Store, TwoPort, ZeroJunction
from pliant.bond_graph.flat import FlatGraph, Path, Place, flatten
from pliant.bond_graph.graph import Component


@dataclass(frozen=True)
class Causality:
    """``strokes``: of each bond, by the path of its component and its number there, whether the stroke is at its end.

    The part at the stroke is told the effort and answers with the flow. ``derivative`` are stores with derivative
    causality, ``loops`` parts in algebraic loops whose causality was free, ``conflicts`` sentences.
    """

    strokes: dict[tuple[Path, int], bool]
    derivative: tuple[str, ...]
    loops: tuple[str, ...]
    conflicts: tuple[str, ...]

    def __str__(self) -> str:
        lines = [f"{each} has derivative causality: its state depends on other stores" for each in self.derivative]
        lines += [f"{each} stands in an algebraic loop: its causality was free" for each in self.loops]
        return "\n".join([*lines, *self.conflicts]) or "all stores have integral causality, without algebraic loops"


def causality(graph: Component) -> Causality:
    """Of all bonds of a graph."""
    return _Assignment(flatten(graph)).result()


class _Assignment:
    """Causality on its way; True where effort acts along the arrow, so that the stroke is at its end."""

    def __init__(self, flat: FlatGraph) -> None:
        self.flat = flat
        self.along: list[bool | None] = [None] * len(flat.bonds)
        self.waiting: list[int] = []
        self.conflicts: dict[Place, str] = {}

    def told(self, bond: int, sign: int) -> bool | None:
        """Whether the effort of a bond is told to the part at which it arrives (sign 1) or begins (-1)."""
        along = self.along[bond]
        return None if along is None else along == (sign == 1)

    def tell(self, place: Place, bond: int, sign: int, effort: bool) -> None:
        """Decide whether a part is told the effort of a bond, or its flow."""
        known = self.told(bond, sign)
        if known is None:
            self.along[bond] = effort == (sign == 1)
            own = self.flat.bonds[bond]
            self.waiting += [own.start.place, own.end.place]
        elif known != effort:
            word, other = ("effort", "flow") if effort else ("flow", "effort")
            self.conflicts.setdefault(place, f"{place} must be told the {word} of a bond that tells it the {other}")

    def follow(self) -> None:
        """All that follows from what is decided."""
        while self.waiting:
            place = self.flat.places[self.waiting.pop()]
            if isinstance(place.part, Junction):
                self.follow_junction(place)
            elif isinstance(place.part, TwoPort):
                self.follow_two_port(place, place.part)

    def follow_junction(self, place: Place) -> None:
        decides = isinstance(place.part, ZeroJunction)  # the bond that is told differently from all others
        known = [self.told(bond, sign) for bond, _, sign in place.bonds]
        count, word = known.count(decides), "effort" if decides else "flow"
        if count > 1:
            self.conflicts[place] = f"{place} is told its {word} by {count} bonds"
        if count or known.count(None) == 1:
            for (bond, _, sign), each in zip(place.bonds, known, strict=True):
                if each is None:
                    self.tell(place, bond, sign, not decides if count else decides)
        elif None not in known:
            self.conflicts[place] = f"{place} is told its {word} by no bond"

    def follow_two_port(self, place: Place, part: TwoPort) -> None:
        for port, other in (("a", "b"), ("b", "a")):
            known = self.told(*place.at(port))
            if known is not None:
                self.tell(place, *place.at(other), known if isinstance(part, GY) else not known)

    def is_free(self, place: Place) -> bool:
        return self.told(*place.at(ONLY)) is None

    def result(self) -> Causality:
        derivative: list[str] = []
        loops: list[str] = []
        for kind in (Source, TwoPort, Store, R):
            own = [place for place in self.flat.places if isinstance(place.part, kind)]
            loops += [str(place) for place in own if kind is R and self.is_free(place)]
            for place, port, effort in ((each, *wish) for each in own for wish in _wishes(each.part)):
                known = self.told(*place.at(port))
                if kind is Store and known is (not effort):
                    derivative.append(str(place))
                elif kind is not R or known is None:
                    self.tell(place, *place.at(port), effort)
                    if kind in (Store, R):  # of all others, all first
                        self.follow()
            self.follow()
        for k, bond in enumerate(self.flat.bonds):
            if self.along[k] is None:
                start = self.flat.places[bond.start.place]
                loops.append(str(start))
                self.tell(start, k, -1, False)
                self.follow()
        strokes = {(bond.path, bond.number): bool(self.along[k]) for k, bond in enumerate(self.flat.bonds)}
        dependent, free_ones = (tuple(dict.fromkeys(words)) for words in (derivative, loops))
        return Causality(strokes, dependent, free_ones, tuple(self.conflicts.values()))


def _wishes(part: Part) -> Iterator[tuple[str, bool]]:
    """Ports whose causality an element asks for, and whether it is to be told their effort."""
    match part:
        case Source():
            yield ONLY, part.gives == "flow"
        case R():
            yield ONLY, not part.gives_effort
        case Store():
            yield from ((port, not isinstance(part, C)) for port in part.ports)
        case TwoPort() if len(part.matrix) != len(part.matrix[0]):  # such a matrix is only read one way
            yield from (("a", False), ("b", isinstance(part, TF)))
