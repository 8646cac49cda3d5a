"""The elements of bond graphs: stores, losses, sources, transformers, gyrators and junctions.

    C   f = q' ,  e = dH/dq            R   e = r f                 TF   f_b = m f_a ,  e_a = m^T e_b
    I   e = p' ,  f = dH/dp            Se  e given, Sf  f given    GY   e_b = r f_a ,  e_a = r^T f_b

Every port may carry a vector. Power flows along half arrows: into C, I and R, out of sources, through TF and GY from
a to b. Formulas use ``q``, ``p``, ``e`` and ``f`` for the own variables of an element, ``t`` for time, and whatever the
component knows in which the element stands; where they use more than their own variables, the element is modulated.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import Field, dataclass, field, fields
from typing import Any, ClassVar

import numpy as np

from pliant.bond_graph.domain import GENERAL, Domain
from pliant.errors import InvalidInput, clip
from pliant.formulas.expression import ZERO, Expression, as_expression, name
from pliant.frozen_mapping import FrozenMapping
from pliant.model.state import Array

Value = Expression | float | int | str
Vector = tuple[Expression, ...]
Matrix = tuple[tuple[Expression, ...], ...]
ONLY = "port"  # the name of the port of an element that has one
LARGEST = 1000  # components of one bond


@dataclass(frozen=True, kw_only=True, repr=False)
class Part:
    """What elements and junctions have in common; ``domain`` names units, it changes no number.

    ``ports`` are where bonds may end, with their sizes; None where a size follows from the bonds.
    """

    symbol: ClassVar[str] = ""
    domain: Domain = GENERAL
    ports: Mapping[str, int | None] = field(init=False, compare=False, default_factory=FrozenMapping)

    def formulas(self) -> Iterator[Expression]:
        """All formulas of the element."""
        for each in fields(self):
            yield from formulas_in(getattr(self, each.name))

    def put(self, field: str, value: object) -> None:
        """Set a field while the element is made."""
        object.__setattr__(self, field, value)

    def only_one_of(self, *words: str) -> str:
        """Which of the fields is given."""
        given = [word for word in words if getattr(self, word) is not None]
        if len(given) != 1:
            found = f"has {' and '.join(given)}" if given else "has none of them"
            raise InvalidInput(f"{self.symbol} takes one of {', '.join(words)}, but {found}; give exactly one")
        return given[0]

    def __repr__(self) -> str:
        own = [f"{each.name}={getattr(self, each.name)!r}" for each in self.given_fields()]
        return f"{type(self).__name__}({', '.join(own)})"

    def given_fields(self) -> list[Field[Any]]:
        """Those that are not as usual."""
        return [each for each in fields(self) if each.init and getattr(self, each.name) != each.default]


@dataclass(frozen=True, kw_only=True, repr=False)
class Store(Part):
    """A C or I element: energy H of states, one for each component of its ports.

    ``sizes`` are the names of its ports with the sizes of their bonds; a number stands for one port. ``start`` is the
    state at the start.
    """

    energy: Value | None = None
    sizes: int | Mapping[str, int] | None = None
    start: float | Sequence[float] | Array = 0.0
    hamiltonian: Expression = field(init=False, compare=False, default=ZERO)  # the energy as a formula of its states
    variable: ClassVar[str] = ""
    linear: ClassVar[tuple[str, ...]] = ()  # the fields of linear laws, the inverse of the Hessian second

    def __post_init__(self) -> None:
        word = self.only_one_of(*self.linear, "energy")
        count = None
        if word == "energy":
            self.put("energy", table(self.symbol, word, self.energy).item())
            self.put("hamiltonian", self.energy)
        else:
            rows = matrix(self.symbol, word, getattr(self, word), square=True)
            if not all(entry.is_constant for row in rows for entry in row):
                raise InvalidInput(
                    f"{self.symbol}: {word} must be numbers, because energy is a function of the states alone; give an"
                    " energy"
                )
            self.put(word, tuple(tuple(entry.value for entry in row) for row in rows))
            self.put("hamiltonian", self.quadratic(word))
            count = len(rows)
        self.put("sizes", sizes_of(self.symbol, self.sizes, count))
        self.put("ports", self.sizes)
        self.put("start", starts_of(self.symbol, self.start, self.size))

    @property
    def size(self) -> int:
        return sum(each or 1 for each in self.ports.values())

    def quadratic(self, word: str) -> Expression:
        """The energy of a linear law."""
        hessian = np.array(getattr(self, word))
        if not np.allclose(hessian, hessian.T, rtol=1e-12, atol=0.0):
            raise InvalidInput(f"{self.symbol}: {word} is not symmetric, so that no energy belongs to it; correct it")
        if word == self.linear[1]:
            if not np.linalg.cond(hessian) < 1e14:
                raise InvalidInput(f"{self.symbol}: {word} cannot be inverted; every component needs its own, not zero")
            hessian = np.linalg.inv(hessian)
        x = np.array([name(self.variable, k) for k in range(len(hessian))])
        return as_expression(0.5 * (x @ ((0.5 * (hessian + hessian.T)) @ x)))


@dataclass(frozen=True, kw_only=True, repr=False)
class C(Store):
    """Stores energy in displacements q: a spring, a capacitor, a tank, gravity, or a field of several ports."""

    stiffness: object = None
    compliance: object = None
    symbol: ClassVar[str] = "C"
    variable: ClassVar[str] = "q"
    linear: ClassVar[tuple[str, ...]] = ("stiffness", "compliance")


@dataclass(frozen=True, kw_only=True, repr=False)
class I(Store):  # noqa: E742
    """Stores energy in momenta p: a mass, a coil, or a field of several ports."""

    mobility: object = None
    inertia: object = None
    symbol: ClassVar[str] = "I"
    variable: ClassVar[str] = "p"
    linear: ClassVar[tuple[str, ...]] = ("mobility", "inertia")


@dataclass(frozen=True, kw_only=True, repr=False)
class R(Part):
    """Turns power into heat: e = resistance f, f = conductance e, or one of them as formulas of the other."""

    resistance: object = None
    conductance: object = None
    effort: object = None
    flow: object = None
    given: Vector = field(init=False, compare=False, default=())  # efforts as formulas of f, or flows as those of e
    symbol: ClassVar[str] = "R"

    def __post_init__(self) -> None:
        word = self.only_one_of("resistance", "conductance", "effort", "flow")
        if word in ("effort", "flow"):
            self.put(word, vector(self.symbol, word, getattr(self, word)))
            self.put("given", getattr(self, word))
        else:
            rows = matrix(self.symbol, word, getattr(self, word), square=True)
            self.put(word, rows)
            self.put("given", products(rows, [name("f" if self.gives_effort else "e", k) for k in range(len(rows))]))
        self.put("ports", FrozenMapping({ONLY: len(self.given)}))

    @property
    def gives_effort(self) -> bool:
        return self.resistance is not None or self.effort is not None


@dataclass(frozen=True, kw_only=True, repr=False)
class Source(Part):
    """Gives efforts or flows; one that is left open is a port of the model, of ``size`` components."""

    size: int | None = None
    gives: ClassVar[str] = ""

    def __post_init__(self) -> None:
        size = checked_size(self.symbol, 1 if self.size is None else self.size)
        if not self.is_open:
            formulas = vector(self.symbol, self.gives, getattr(self, self.gives))
            self.put(self.gives, formulas * size if len(formulas) == 1 else formulas)
            size = len(self.given)
        self.put("size", size)
        self.put("ports", FrozenMapping({ONLY: size}))

    @property
    def is_open(self) -> bool:
        return getattr(self, self.gives) is None

    @property
    def given(self) -> Vector:
        return getattr(self, self.gives) or ()


@dataclass(frozen=True, kw_only=True, repr=False)
class Se(Source):
    """Gives an effort: a force, a voltage, a pressure."""

    effort: object = None
    symbol: ClassVar[str] = "Se"
    gives: ClassVar[str] = "effort"


@dataclass(frozen=True, kw_only=True, repr=False)
class Sf(Source):
    """Gives a flow: a velocity, a current, a volume flow."""

    flow: object = None
    symbol: ClassVar[str] = "Sf"
    gives: ClassVar[str] = "flow"


@dataclass(frozen=True, kw_only=True, repr=False)
class TwoPort(Part):
    """Passes power from port a to port b. ``ratio`` is a number, or a matrix with a row for each component of b."""

    ratio: object
    size: int | None = None  # of vectors whose components have one ratio

    def __post_init__(self) -> None:
        alike = None if self.size is None else [self.ratio] * checked_size(self.symbol, self.size)
        self.put("ratio", matrix(self.symbol, "ratio", alike or self.ratio, square=alike is not None))
        self.put("size", None)
        self.put("ports", FrozenMapping({"a": len(self.matrix[0]), "b": len(self.matrix)}))

    @property
    def matrix(self) -> Matrix:
        return self.ratio  # type: ignore[return-value]


class TF(TwoPort):
    """A transformer: f_b = ratio f_a and e_a = ratio^T e_b."""

    symbol = "TF"


class GY(TwoPort):
    """A gyrator: e_b = ratio f_a and e_a = ratio^T f_b."""

    symbol = "GY"


@dataclass(frozen=True, kw_only=True, repr=False)
class Junction(Part):
    """Any number of bonds of one size, which follows from them where it is not given."""

    size: int | None = None

    def __post_init__(self) -> None:
        size = None if self.size is None else checked_size(self.symbol, self.size)
        self.put("ports", FrozenMapping({ONLY: size}))


class ZeroJunction(Junction):
    """One effort; flows sum to zero."""

    symbol = "0"


class OneJunction(Junction):
    """One flow; efforts sum to zero."""

    symbol = "1"


def formulas_in(value: object) -> Iterator[Expression]:
    if isinstance(value, Expression):
        yield value
    elif isinstance(value, tuple):
        for each in value:
            yield from formulas_in(each)


def products(rows: Matrix, x: Sequence[Expression]) -> Vector:
    """matrix x"""
    return tuple(as_expression(sum((entry * each for entry, each in zip(row, x, strict=True)), ZERO)) for row in rows)


def checked_size(symbol: str, size: object) -> int:
    if isinstance(size, bool) or not isinstance(size, int) or not 1 <= size <= LARGEST:
        raise InvalidInput(
            f"{symbol}: size = {clip(repr(size))} must be a whole number from 1 to {LARGEST}; correct it"
        )
    return size


def sizes_of(symbol: str, given: Any, count: int | None) -> FrozenMapping[int]:
    """Names and sizes of ports, which make up ``count`` components if that is known."""
    if not isinstance(given, Mapping):
        given = {ONLY: (count or 1) if given is None else given}
    sizes = FrozenMapping({str(port): checked_size(symbol, size) for port, size in given.items()})
    found = sum(sizes.values())
    if count not in (None, found):
        raise InvalidInput(f"{symbol}: its ports have {found} components, but its matrix {count}; make them equal")
    return sizes


def starts_of(symbol: str, given: Any, size: int) -> tuple[float, ...]:
    """Numbers for all components; one alone stands for all."""
    entries = vector(symbol, "start", given)
    if len(entries) not in (1, size) or not all(each.is_constant for each in entries):
        raise InvalidInput(f"{symbol}: start = {clip(repr(given))} must be {size} finite numbers; correct it")
    return tuple(each.value for each in entries) * (size // len(entries))


def table(symbol: str, word: str, given: Any) -> Any:
    """Formulas in an array of at most two dimensions."""
    try:
        entries = np.array(given, dtype=object)
        if entries.size and entries.ndim <= 2:
            return np.vectorize(as_expression, otypes=[object])(entries)
    except InvalidInput as error:
        raise InvalidInput(f"{symbol}: {word}: {error}") from None
    except ValueError:
        pass  # rows of several lengths
    raise InvalidInput(f"{symbol}: {word} must be a formula, or rows of one length of them; correct it")


def vector(symbol: str, word: str, given: Any) -> Vector:
    """Formulas of all components; one alone stands for one component."""
    return tuple(table(symbol, word, given).ravel().tolist())


def matrix(symbol: str, word: str, given: Any, square: bool = False) -> Matrix:
    """A matrix of formulas; one alone is a matrix of one entry, where it must be square a row its diagonal."""
    entries = table(symbol, word, given)
    if entries.ndim == 1 and square:
        entries = np.array([[each if i == k else ZERO for k in range(len(entries))] for i, each in enumerate(entries)])
    entries = np.atleast_2d(entries)
    if square and len(entries) != len(entries[0]):
        raise InvalidInput(f"{symbol}: {word} has {len(entries)} rows of {len(entries[0])} entries; make it square")
    return tuple(map(tuple, entries.tolist()))
