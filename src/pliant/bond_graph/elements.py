"""The elements of bond graphs: stores, losses, sources, transformers, gyrators and junctions.

    C   f = q' ,  e = dH/dq            R   e = r f                 TF   f_b = m f_a ,  e_a = m^T e_b
    I   e = p' ,  f = dH/dp            Se  e given, Sf  f given    GY   e_b = r f_a ,  e_a = r^T f_b

Every port may carry a vector. Power flows along half arrows: into C, I and R, out of sources, through TF and GY from
a to b. Formulas use ``q``, ``p``, ``e`` and ``f`` for the own variables of an element, ``t`` for time, and whatever the
component knows in which the element stands; where they use more than their own variables, the element is modulated.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, TypeVar

import numpy as np

from pliant.bond_graph.domain import GENERAL, Domain
from pliant.bond_graph.expression import ZERO, Expression, as_expression, constant, name
from pliant.errors import InvalidInput, clip
from pliant.model.state import Array

Value = Expression | float | int | str
Vector = tuple[Expression, ...]
Matrix = tuple[tuple[Expression, ...], ...]
Numbers = tuple[tuple[float, ...], ...]
Sizes = tuple[tuple[str, int], ...]
ONLY = "port"  # the name of the port of an element that has one
LARGEST = 1000  # components of one bond
K = TypeVar("K")
V = TypeVar("V")


class PowerPort(NamedTuple):
    """Where a bond may end; ``size`` is None where it follows from the bonds."""

    name: str
    size: int | None


class Names(Mapping[str, V]):
    """A mapping that never changes, in its order; equal, hashed and pickled by what it holds."""

    __slots__ = ("_items",)

    def __init__(self, given: Mapping[str, V] | Sequence[tuple[str, V]] = ()) -> None:
        self._items: dict[str, V] = dict(given)

    def __getitem__(self, key: str) -> V:
        return self._items[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __hash__(self) -> int:
        return hash(tuple(self._items.items()))

    def __repr__(self) -> str:
        return repr(self._items)


@dataclass(frozen=True, kw_only=True, repr=False)
class Part:
    """What elements and junctions have in common; ``domain`` names units, it changes no number."""

    symbol: ClassVar[str] = ""
    domain: Domain = GENERAL

    @property
    def ports(self) -> tuple[PowerPort, ...]:
        raise NotImplementedError

    def formulas(self) -> Iterator[Expression]:
        """All formulas of the element."""
        return iter(())

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
        own = [(each.name, getattr(self, each.name), each.default) for each in fields(self)]
        return (
            f"{type(self).__name__}({', '.join(f'{word}={value!r}' for word, value, usual in own if value != usual)})"
        )


@dataclass(frozen=True, kw_only=True, repr=False)
class Store(Part):
    """A C or I element, or both at once: energy H of states x, one for each component of its ports.

    ``sizes`` are the names of its ports with the sizes of their bonds; a number stands for one port. ``start`` is the
    state at the start.
    """

    energy: Value | None = None
    sizes: int | Mapping[str, int] | None = None
    start: float | Sequence[float] = 0.0
    variable: ClassVar[str] = ""
    linear: ClassVar[tuple[str, ...]] = ()  # the fields of linear laws, the inverse of the Hessian second

    def __post_init__(self) -> None:
        word = self.only_one_of(*self.linear, "energy")
        if word == "energy":
            self.put("energy", formula(self.symbol, word, self.energy))
            self.put("sizes", sizes_of(self.symbol, self.sizes, None))
        else:
            given = numbers(self.symbol, word, getattr(self, word))
            self.put(word, given)
            self.put("sizes", sizes_of(self.symbol, self.sizes, len(given)))
            _ = self.hessian
        begin = np.broadcast_to(vector(self.symbol, "start", self.start, self.size), self.size)
        self.put("start", tuple(begin.tolist()))

    @property
    def ports(self) -> tuple[PowerPort, ...]:
        return tuple(PowerPort(*each) for each in self.sizes)  # type: ignore[union-attr]

    @cached_property
    def size(self) -> int:
        return sum(each.size or 1 for each in self.ports)

    @cached_property
    def hessian(self) -> Array | None:
        """Of a quadratic energy."""
        if self.energy is not None:
            return None
        word = self.only_one_of(*self.linear)
        matrix = np.array(getattr(self, word))
        if not np.allclose(matrix, matrix.T, rtol=1e-12, atol=0.0):
            raise InvalidInput(f"{self.symbol}: {word} is not symmetric, so that no energy belongs to it; correct it")
        if word == self.linear[0]:
            return matrix
        if not np.linalg.cond(matrix) < 1e14:
            raise InvalidInput(f"{self.symbol}: {word} cannot be inverted; every component needs its own, not zero")
        inverse = np.linalg.inv(matrix)
        return np.asarray(0.5 * (inverse + inverse.T))

    @cached_property
    def hamiltonian(self) -> Expression:
        """The energy as a formula of the own state."""
        if isinstance(self.energy, Expression):
            return self.energy
        x = [name(self.variable, k) for k in range(self.size)]
        total = ZERO
        for (i, k), value in np.ndenumerate(self.hessian):
            total = total + 0.5 * float(value) * x[i] * x[k]
        return total

    def formulas(self) -> Iterator[Expression]:
        if isinstance(self.energy, Expression):
            yield self.energy


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
    symbol: ClassVar[str] = "R"

    def __post_init__(self) -> None:
        word = self.law
        given = getattr(self, word)
        self.put(word, square(self.symbol, word, given) if self.is_linear else formula_vector(self.symbol, word, given))

    @property
    def law(self) -> str:
        return self.only_one_of("resistance", "conductance", "effort", "flow")

    @property
    def is_linear(self) -> bool:
        return self.law in ("resistance", "conductance")

    @property
    def gives_effort(self) -> bool:
        return self.law in ("resistance", "effort")

    @cached_property
    def given(self) -> Vector:
        """The efforts as formulas of f, or the flows as formulas of e."""
        law = getattr(self, self.law)
        if not self.is_linear:
            return tuple(law)
        other = "f" if self.gives_effort else "e"
        return products(law, [name(other, k) for k in range(len(law))])

    @property
    def ports(self) -> tuple[PowerPort, ...]:
        return (PowerPort(ONLY, len(self.given)),)

    def formulas(self) -> Iterator[Expression]:
        yield from self.given


@dataclass(frozen=True, kw_only=True, repr=False)
class Source(Part):
    """Gives efforts or flows; one that is left open is a port of the model, of ``size`` components."""

    size: int | None = None
    gives: ClassVar[str] = ""

    def __post_init__(self) -> None:
        given = getattr(self, self.gives)
        if given is None:
            self.put("size", checked_size(self.symbol, 1 if self.size is None else self.size))
            return
        formulas = formula_vector(self.symbol, self.gives, given)
        if len(formulas) == 1 and self.size is not None:
            formulas = formulas * checked_size(self.symbol, self.size)
        self.put(self.gives, formulas)
        self.put("size", len(formulas))

    @property
    def is_open(self) -> bool:
        return getattr(self, self.gives) is None

    @property
    def given(self) -> Vector:
        return () if self.is_open else tuple(getattr(self, self.gives))

    @property
    def ports(self) -> tuple[PowerPort, ...]:
        return (PowerPort(ONLY, self.size),)

    def formulas(self) -> Iterator[Expression]:
        yield from self.given


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
    size: int | None = None

    def __post_init__(self) -> None:
        rows = matrix_of(self.symbol, "ratio", self.ratio)
        if self.size is not None:
            if (len(rows), len(rows[0])) != (1, 1):
                raise InvalidInput(f"{self.symbol}: size goes with a ratio of one number; leave it out")
            n = checked_size(self.symbol, self.size)
            rows = tuple(tuple(rows[0][0] if i == k else ZERO for k in range(n)) for i in range(n))
        self.put("ratio", rows)
        self.put("size", None)

    @property
    def ports(self) -> tuple[PowerPort, ...]:
        return (PowerPort("a", len(self.matrix[0])), PowerPort("b", len(self.matrix)))

    @property
    def matrix(self) -> Matrix:
        return self.ratio  # type: ignore[return-value]

    def formulas(self) -> Iterator[Expression]:
        for row in self.matrix:
            yield from row


@dataclass(frozen=True, kw_only=True, repr=False)
class TF(TwoPort):
    """A transformer: f_b = ratio f_a and e_a = ratio^T e_b."""

    symbol: ClassVar[str] = "TF"


@dataclass(frozen=True, kw_only=True, repr=False)
class GY(TwoPort):
    """A gyrator: e_b = ratio f_a and e_a = ratio^T f_b."""

    symbol: ClassVar[str] = "GY"


@dataclass(frozen=True, kw_only=True, repr=False)
class Junction(Part):
    """Any number of bonds of one size, which follows from them where it is not given."""

    size: int | None = None

    def __post_init__(self) -> None:
        if self.size is not None:
            checked_size(self.symbol, self.size)

    @property
    def ports(self) -> tuple[PowerPort, ...]:
        return (PowerPort(ONLY, self.size),)


@dataclass(frozen=True, kw_only=True, repr=False)
class ZeroJunction(Junction):
    """One effort; flows sum to zero."""

    symbol: ClassVar[str] = "0"


@dataclass(frozen=True, kw_only=True, repr=False)
class OneJunction(Junction):
    """One flow; efforts sum to zero."""

    symbol: ClassVar[str] = "1"


def products(matrix: Matrix, x: Sequence[Expression]) -> Vector:
    """matrix x"""
    rows = []
    for row in matrix:
        total = ZERO
        for entry, each in zip(row, x, strict=True):
            total = total + entry * each
        rows.append(total)
    return tuple(rows)


def checked_size(symbol: str, size: object) -> int:
    if isinstance(size, bool) or not isinstance(size, int) or not 1 <= size <= LARGEST:
        raise InvalidInput(
            f"{symbol}: size = {clip(repr(size))} must be a whole number from 1 to {LARGEST}; correct it"
        )
    return size


def sizes_of(symbol: str, given: object, total: int | None) -> Sizes:
    """Names and sizes of ports, which make up ``total`` components if that is known."""
    if given is None:
        return ((ONLY, 1 if total is None else total),)
    if isinstance(given, (Mapping, tuple)):
        pairs = tuple(given.items()) if isinstance(given, Mapping) else given
        sizes = tuple((str(port), checked_size(symbol, size)) for port, size in pairs)
    else:
        sizes = ((ONLY, checked_size(symbol, given)),)
    found = sum(size for _, size in sizes)
    if total is not None and found != total:
        raise InvalidInput(f"{symbol}: its ports have {found} components, but its matrix {total}; make them equal")
    return sizes


def vector(symbol: str, word: str, given: object, size: int) -> Array:
    try:
        values = np.atleast_1d(np.asarray(given, dtype=float))
    except (TypeError, ValueError):
        values = np.full(1, np.nan)
    if values.ndim != 1 or len(values) not in (1, size) or not np.isfinite(values).all():
        raise InvalidInput(f"{symbol}: {word} = {clip(repr(given))} must be {size} finite numbers; correct it")
    return values


def numbers(symbol: str, word: str, given: object) -> Numbers:
    """A square matrix of numbers; a row stands for a diagonal."""
    matrix = square(symbol, word, given)
    if not all(entry.is_constant for row in matrix for entry in row):
        raise InvalidInput(
            f"{symbol}: {word} = {clip(repr(given))} must be numbers, because energy is a function of the states"
            " alone; give an energy"
        )
    return tuple(tuple(entry.value for entry in row) for row in matrix)


def square(symbol: str, word: str, given: object) -> Matrix:
    """A square matrix of formulas; a row stands for a diagonal."""
    if isinstance(given, (list, tuple, np.ndarray)) and not any(
        isinstance(x, (list, tuple, np.ndarray)) for x in given
    ):
        diagonal = formula_vector(symbol, word, given)
        n = len(diagonal)
        return tuple(tuple(diagonal[i] if i == k else ZERO for k in range(n)) for i in range(n))
    matrix = matrix_of(symbol, word, given)
    if len(matrix) != len(matrix[0]):
        raise InvalidInput(f"{symbol}: {word} has {len(matrix)} rows of {len(matrix[0])} entries; make it square")
    return matrix


def matrix_of(symbol: str, word: str, given: object) -> Matrix:
    """A matrix of formulas; one number is a matrix of one entry."""
    if isinstance(given, (Expression, float, int, str)):
        return ((formula(symbol, word, given),),)
    try:
        rows = [list(row) for row in given]  # type: ignore[attr-defined]
    except TypeError:
        raise InvalidInput(f"{symbol}: {word} = {clip(repr(given))} is no number and no matrix; give one") from None
    if not rows or not rows[0] or any(len(row) != len(rows[0]) for row in rows):
        raise InvalidInput(f"{symbol}: {word} must have rows of one length, at least one; correct it")
    return tuple(tuple(formula(symbol, word, entry) for entry in row) for row in rows)


def formula_vector(symbol: str, word: str, given: object) -> Vector:
    """Formulas of all components; one alone stands for one component."""
    if isinstance(given, (list, tuple, np.ndarray)):
        if not len(given):
            raise InvalidInput(f"{symbol}: {word} is empty; give a formula for each component")
        return tuple(formula(symbol, word, each) for each in given)
    return (formula(symbol, word, given),)


def formula(symbol: str, word: str, given: Any) -> Expression:
    try:
        return constant(float(given)) if isinstance(given, np.number) else as_expression(given)
    except InvalidInput as error:
        raise InvalidInput(f"{symbol}: {word}: {error}") from None
