"""Bond graphs as trees: components hold parts, which are elements, junctions or components, joined by bonds.

A component is constant and knows nobody outside. Using it twice copies the whole tree below it, as in [damic2006]:

    wheel = Component({"mass": I(inertia=20.0), "v": OneJunction()}, [Bond("v", "mass")], ports={"hub": "v"})
    car = Component({"left": wheel, "right": wheel, ...}, ...)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pliant.bond_graph.elements import Part, Value, Vector, starts_of, vector
from pliant.errors import InvalidInput, clip
from pliant.formulas.expression import Expression, names_in
from pliant.frozen_mapping import FrozenMapping

if TYPE_CHECKING:
    from pliant.bond_graph.model import BondGraph

RESERVED = ("t", "q", "p", "e", "f", "pi")
BETWEEN = " / "  # names of a path in messages


@dataclass(frozen=True)
class Arrow:
    """What leads from one part to another."""

    start: str
    end: str


class Bond(Arrow):
    """A half arrow from one part to another; positive power flows along it.

    An end is written ``part`` or ``part.port``. The port may be left out where there is one; a bond that ends at a TF
    or GY ends at its port a, one that begins there begins at its port b. Its size follows from the ports.
    """


class Signal(Arrow):
    """A line without power from a signal that the component knows to an input of a part, written ``part.input``."""


@dataclass(frozen=True)
class Integral:
    """A signal that is the integral over time of formulas, from ``start`` on."""

    of: Value | Sequence[Value]
    start: float | Sequence[float] = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "of", vector("integral", "of", self.of))
        object.__setattr__(self, "start", starts_of("integral", self.start, len(self.formulas)))

    @property
    def formulas(self) -> Vector:
        return self.of  # type: ignore[return-value]


@dataclass(frozen=True)
class Component:
    """Parts by name, the bonds between them, and what is seen from outside.

    ``ports`` are names for ports of parts (``part`` or ``part.port``) to which bonds outside may lead. ``signals`` are
    computed here: formulas, or `Integral` of formulas; all parts may use them by name, the component around by
    ``name.signal``. ``inputs`` are signals that come from outside, with their sizes, and ``wires`` bring signals to
    inputs of parts. ``about`` says in words what it is.
    """

    parts: Mapping[str, Part | Component]
    bonds: Sequence[Bond] = ()
    ports: Mapping[str, str] = field(default_factory=FrozenMapping)
    signals: Mapping[str, Value | Sequence[Value] | Integral] = field(default_factory=FrozenMapping)
    inputs: Mapping[str, int] | Sequence[str] = field(default_factory=FrozenMapping)
    wires: Sequence[Signal] = ()
    about: str = ""

    def __post_init__(self) -> None:
        for name, part in self.parts.items():
            if not isinstance(part, (Part, Component)):
                raise InvalidInput(f"part '{clip(name)}' is {clip(repr(part))}; give an element or a component")
        for kind, arrows in ((Bond, self.bonds), (Signal, self.wires)):
            for each in arrows:
                if not isinstance(each, kind):
                    raise InvalidInput(f"{clip(repr(each))} is no {kind.__name__}; write {kind.__name__}('a', 'b')")
        inputs = self.inputs if isinstance(self.inputs, Mapping) else dict.fromkeys(self.inputs, 1)
        signals = {name: _signal(name, value) for name, value in self.signals.items()}
        tables = {"parts": self.parts, "ports": self.ports, "signals": signals, "inputs": inputs}
        for word, table in tables.items():
            for name in table:
                check_name("signal" if word == "inputs" else word.removesuffix("s"), name)
            object.__setattr__(self, word, FrozenMapping(table))
        for name in (*signals, *inputs):
            if name in RESERVED or name in self.parts or (name in signals and name in inputs):
                raise InvalidInput(
                    f"signal '{name}' has the name of a part, of another signal or of one of {', '.join(RESERVED)};"
                    " rename it"
                )
        object.__setattr__(self, "bonds", tuple(self.bonds))
        object.__setattr__(self, "wires", tuple(self.wires))

    def compile(self) -> BondGraph:
        """The model of the graph: its equations, ready to be simulated, linearised and connected."""
        from pliant.bond_graph.model import compiled

        return compiled(self)

    def walk(self, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Part | Component]]:
        """All parts of the tree with their paths, each before what it holds."""
        for name, part in self.parts.items():
            yield (*path, name), part
            if isinstance(part, Component):
                yield from part.walk((*path, name))

    def at(self, path: Sequence[str]) -> Part | Component:
        """The part at the end of a path of names."""
        found: Part | Component = self
        for k, name in enumerate(path):
            if not isinstance(found, Component) or name not in found.parts:
                near = ", ".join(found.parts) if isinstance(found, Component) else "its component"
                raise InvalidInput(f"there is no part '{shown(path[: k + 1])}'; name one of {near}")
            found = found.parts[name]
        return found


def _signal(name: str, value: object) -> Integral | Vector:
    return value if isinstance(value, Integral) else vector("signal", name, value)


def check_name(word: str, name: object) -> None:
    """Names are words without the signs that separate them in paths."""
    if not isinstance(name, str) or not name.strip() or any(sign in name for sign in "./[]'\"\n") or name[0] in "_#":
        raise InvalidInput(
            f"{word} '{clip(str(name))}' needs a name without . / [ ] and quotes that begins with a letter; rename it"
        )


def shown(path: Sequence[str]) -> str:
    """A path of component names as it stands in messages, such as ``arm / link 1 / beam 3``."""
    return BETWEEN.join(path)


def split_end(text: str) -> tuple[str, str]:
    """Part and port, or an empty word, of an end of a bond."""
    part, _, port = text.partition(".")
    return part, port


def modulators(part: Part) -> tuple[Expression, ...]:
    """The names in the formulas of an element that are not its own: where signals arrive."""
    return tuple(each for each in names_in(*part.formulas()) if each.name not in RESERVED)
