"""Declared objects: fields with unit, meaning, shape and bounds, written once, checked when built, read everywhere."""

from __future__ import annotations

import dataclasses
import inspect
import math
import re
from abc import ABC, ABCMeta, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum, StrEnum
from functools import cache
from itertools import pairwise
from operator import ge, gt, le, lt
from types import NoneType
from typing import Any, ClassVar, cast, get_args, get_type_hints

import numpy as np

from pliant.errors import InvalidInput, Problem, clip

Vector3 = tuple[float, float, float]
Vector6 = tuple[float, float, float, float, float, float]
Quaternion = tuple[float, float, float, float]
MatrixLike = Sequence[float] | Sequence[Sequence[float]]

UNIT_WORDS = {
    "m": ("metre", "metres"),
    "kg": ("kilogram", "kilograms"),
    "s": ("second", "seconds"),
    "rad": ("radian", "radians"),
    "Pa": ("pascal", "pascals"),
}
# What people write after a number, by SI unit, with its factor; only used to say what to write instead.
SUFFIXES = {
    "m": {"um": 1e-6, "mm": 1e-3, "cm": 1e-2, "m": 1.0, "km": 1e3, "in": 0.0254, "ft": 0.3048},
    "kg": {"g": 1e-3, "kg": 1.0},
    "s": {"us": 1e-6, "ms": 1e-3, "s": 1.0},
    "rad": {"deg": math.pi / 180, "°": math.pi / 180, "rad": 1.0},
    "Pa": {"Pa": 1.0, "kPa": 1e3, "MPa": 1e6, "GPa": 1e9},
    "kg/m^3": {"kg/m^3": 1.0, "kg/m3": 1.0, "g/cm^3": 1e3, "g/cm3": 1e3},
    "m/s^2": {"m/s^2": 1.0, "m/s2": 1.0},
    "m/s": {"m/s": 1.0, "mm/s": 1e-3},
    "rad/s": {"rad/s": 1.0, "deg/s": math.pi / 180},
    "1": {"%": 1e-2},
}
NUMBER = re.compile(r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?")
NUMBER_WITH_SUFFIX = re.compile(rf"({NUMBER.pattern})\s*(\D.*)")
# Of parts, but of no use to who builds one.
INTERNAL = {"conflicts", "elsewhere", "label", "mro", "register", "translates", "unlikely", "word", "words"}
COMPARISONS = (("greater than", gt), ("at least", ge), ("less than", lt), ("at most", le))
UNIT_LENGTH_SLACK = 1e-3
MAGNITUDES = 1e-30, 1e30  # of numbers other than zero
UNUSUAL = 1e6  # so many times beyond what is usual nothing is meant so
ROUND_OFF = 1e-15
SYMMETRY_SLACK, DEFINITE_SLACK = 1e-9, 1e-12


class Demand(Enum):
    """What an array must be as a whole."""

    NONZERO_DIRECTION = "not zero"
    UNIT_QUATERNION = "length 1"
    POSITIVE_DEFINITE = "positive definite"
    POSITIVE_SEMIDEFINITE = "positive semidefinite"
    RIGID_BODY_INERTIA = "possible for a rigid body"
    SECTION_INERTIA = "positive definite, equal masses"
    ASCENDING = "ascending"


def unit_of_motion(unit: str, translates: bool) -> str:
    """The unit that holds for a translation or for a rotation, of a unit such as "rad or m"."""
    rotating, _, translating = unit.partition(" or ")
    return translating if translating and translates else rotating


class BadValue(Exception):
    """A value that a declaration refuses; ``index`` leads to the offending entry."""

    def __init__(self, text: str, index: tuple[int, ...] = ()) -> None:
        super().__init__(text)
        self.text = text
        self.index = index


class Overflowing(float):
    """Infinity, with the text of the finite number that was too large to be held."""

    text: str

    def __new__(cls, text: str) -> Overflowing:
        made = super().__new__(cls, text)
        made.text = text
        return made


@dataclass(frozen=True)
class Quantity:
    """The declaration of one numeric field.

    ``shape`` is () for a number, (n,) for a vector, (n, n) for a symmetric matrix that may also be given
    by its diagonal, and holds None where any count is allowed. Bounds hold for every entry. A field of one number may
    also hold several, which ``each`` names. ``usual`` bounds what is written on purpose.
    """

    unit: str
    meaning: str
    shape: tuple[int | None, ...] = ()
    above: float | None = None
    at_least: float | None = None
    below: float | None = None
    at_most: float | None = None
    demand: Demand | None = None
    each: str = ""
    usual: tuple[float, float] | None = None

    @staticmethod
    def vector(unit: str, meaning: str) -> Quantity:
        return Quantity(unit, meaning, shape=(3,))

    @staticmethod
    def direction(meaning: str) -> Quantity:
        return Quantity("1", meaning, shape=(3,), demand=Demand.NONZERO_DIRECTION)

    @staticmethod
    def quaternion(meaning: str) -> Quantity:
        """Of a rotation; ``meaning`` says from which frame to which."""
        return Quantity("1", f"unit quaternion (w, x, y, z) {meaning}", shape=(4,), demand=Demand.UNIT_QUATERNION)

    @staticmethod
    def coefficients(unit: str, meaning: str) -> Quantity:
        """Six numbers, none negative."""
        return Quantity(unit, meaning, shape=(6,), at_least=0)

    @staticmethod
    def inertia(axes: str) -> Quantity:
        """Of a rigid body, along the given axes."""
        meaning = f"inertia (3 values or 3x3) about the centre of mass, along {axes} axes,"
        return Quantity("kg m^2", meaning, shape=(3, 3), demand=Demand.RIGID_BODY_INERTIA)

    @staticmethod
    def matrix(unit: str, meaning: str, demand: Demand = Demand.POSITIVE_SEMIDEFINITE) -> Quantity:
        """Between 6-vectors, symmetric and at least semidefinite; it may be given by its diagonal."""
        return Quantity(unit, meaning, shape=(6, 6), demand=demand)

    def of_motion(self, translates: bool) -> Quantity:
        """The declaration for a translation or for a rotation."""
        return replace(self, unit=unit_of_motion(self.unit, translates))

    @property
    def bounds(self) -> Iterator[tuple[str, Callable[[float, float], bool], float]]:
        """Each bound in words, with the comparison that must hold between a number and its limit."""
        limits = (self.above, self.at_least, self.below, self.at_most)
        return ((*how, limit) for how, limit in zip(COMPARISONS, limits) if limit is not None)

    @property
    def bound(self) -> str:
        """The bounds in words, empty where there are none."""
        return " and ".join(f"{words} {limit:g}" for words, _, limit in self.bounds)

    @property
    def possible(self) -> tuple[float, float]:
        """Magnitudes beyond which a number is a slip; positions and the like may be as small as they come."""
        low, high = self.usual or (0.0, MAGNITUDES[1] / UNUSUAL)
        return max(low / UNUSUAL, MAGNITUDES[0] if self.above == 0 else 0.0), high * UNUSUAL

    @property
    def remedy(self) -> str:
        if self.unit == "1":
            return f"write the {self.meaning}"
        return f"write the {self.meaning} in {UNIT_WORDS.get(self.unit, (self.unit, self.unit))[1]}"

    @property
    def accepts_matrix(self) -> bool:
        return len(self.shape) == 2 and self.shape[0] is not None

    def checked(self, value: object) -> Any:
        """The value as float or nested tuple of floats; raises BadValue with the reason otherwise."""
        if not self.shape:
            return self._number(value, ())
        plain = value.tolist() if isinstance(value, np.ndarray) else value
        if self.accepts_matrix:
            return self._matrix(plain)
        if len(self.shape) == 2:
            rows = self._items(plain, self.shape[0], ())
            return tuple(self._vector(row, self.shape[1], (i,)) for i, row in enumerate(rows))
        return self._directed(self._vector(plain, self.shape[0], ()))

    def unit_at(self, index: tuple[int, ...]) -> str:
        """The unit of one entry; a (linear, angular) vector or matrix lists its units in that order."""
        units = self.unit.split(", ")
        if len(units) == 1 or not index:
            return self.unit
        angular = [i >= 3 for i in ((index[0], index[-1]) if self.accepts_matrix else index[-1:])]
        return units[sum(angular)]

    def show(self, value: object, index: tuple[int, ...] = ()) -> str:
        """A checked value or entry with its unit, short."""
        unit = self.unit_at(index)
        return _short(value) if unit == "1" else f"{_short(value)} {unit}"

    def _number(self, value: object, index: tuple[int, ...]) -> float:
        if isinstance(value, str):
            raise BadValue(self._about_text(value), index)
        if isinstance(value, np.generic):
            value = value.item()
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise BadValue(f"= {_short(value)} is not a number; {self.remedy}", index)
        try:
            number = float(value)
        except OverflowError:
            raise BadValue(f"has more digits than a number can hold; {self.remedy}", index) from None
        if isinstance(value, Overflowing):
            raise BadValue(f"= {clip(value.text)} is larger than a number can be; {self.remedy}", index)
        if not math.isfinite(number):
            raise BadValue(f"= {self.show(number, index)} must be finite; {self.remedy}", index)
        if not all(holds(number, limit) for _, holds, limit in self.bounds):
            raise BadValue(f"= {self.show(number, index)} must be {self.bound}; {self.remedy}", index)
        least, most = self.possible
        if number != 0.0 and not least <= abs(number) <= most:
            beyond, limit = ("below", least) if abs(number) < least else ("above", most)
            shown, bound = self.show(number, index), self.show(limit, index)
            raise BadValue(f"= {shown} is {beyond} {bound}, a slip; {self.remedy}", index)
        return number + 0.0  # no negative zero, so that equal parts print alike

    def _about_text(self, text: str) -> str:
        text = clip(text)
        if NUMBER.fullmatch(text):
            return f"= '{text}' is text; write {text} without quotes"
        match = NUMBER_WITH_SUFFIX.fullmatch(text)
        factor = SUFFIXES.get(self.unit, {}).get(match[2]) if match else None
        if match and factor is not None:
            word = "dimensionless" if self.unit == "1" else f"SI, {UNIT_WORDS.get(self.unit, (self.unit,))[0]}"
            return f"= '{text}' carries a unit; write {float(match[1]) * factor:.12g} ({word})"
        if match:
            return f"= '{text}' is not a plain number; {self.remedy}, without unit or arithmetic"
        return f"= '{text}' is not a number; {self.remedy}"

    def _items(self, value: object, count: int | None, index: tuple[int, ...]) -> list[object]:
        wanted = "a list of numbers" if count is None else f"a list of {count} numbers"
        if isinstance(value, str):
            raise BadValue(f"= '{clip(value)}' is not {wanted}; {self.remedy}", index)
        if not isinstance(value, Sequence):
            raise BadValue(f"= {_short(value)} is not {wanted}; {self.remedy}", index)
        if count is not None and len(value) != count:
            raise BadValue(f"has {len(value)} entries and must have {count}; {self.remedy}", index)
        if not value:
            raise BadValue(f"has no entries and must have at least one; {self.remedy}", index)
        return list(value)

    def _vector(self, value: object, count: int | None, index: tuple[int, ...]) -> tuple[float, ...]:
        items = self._items(value, count, index)
        return tuple(self._number(item, (*index, i)) for i, item in enumerate(items))

    def _directed(self, vector: tuple[float, ...]) -> tuple[float, ...]:
        if self.demand is Demand.ASCENDING:
            for i, (left, right) in enumerate(pairwise(vector)):
                if right < left:
                    raise BadValue(
                        f"= {self.show(right)} must not be less than the entry before it; {self.remedy}", (i + 1,)
                    )
        if self.demand not in (Demand.NONZERO_DIRECTION, Demand.UNIT_QUATERNION):
            return vector
        largest = max(abs(entry) for entry in vector)
        if largest == 0.0:
            raise BadValue(f"= {_short(vector)} must not be zero; {self.remedy}")
        length = largest * math.sqrt(sum((entry / largest) ** 2 for entry in vector))
        if self.demand is Demand.UNIT_QUATERNION and abs(length - 1) > UNIT_LENGTH_SLACK:
            raise BadValue(f"= {_short(vector)} has length {length:g} and must have length 1; {self.remedy}")
        if abs(length - 1) <= ROUND_OFF:
            return vector
        return tuple(entry / length + 0.0 for entry in vector)

    def _matrix(self, value: object) -> tuple[tuple[float, ...], ...]:
        size = self.shape[0]
        rows = self._items(value, size, ())
        if any(isinstance(row, (Sequence, np.ndarray)) and not isinstance(row, str) for row in rows):
            plain = [row.tolist() if isinstance(row, np.ndarray) else row for row in rows]
            matrix = np.array([self._vector(row, size, (i,)) for i, row in enumerate(plain)])
        else:
            matrix = np.diag(self._vector(rows, size, ()))
        self._demand_of_matrix(matrix)
        symmetric = 0.5 * (matrix + matrix.T) + 0.0
        return tuple(tuple(row) for row in symmetric.tolist())

    def _demand_of_matrix(self, matrix: np.ndarray[Any, Any]) -> None:
        diagonal = np.diag(matrix)
        semidefinite = self.demand not in (Demand.POSITIVE_DEFINITE, Demand.SECTION_INERTIA)
        for i, entry in enumerate(diagonal):
            if entry < 0 or (entry < MAGNITUDES[0] and not semidefinite):
                bound = "at least 0" if semidefinite else "greater than 0"
                shown = self.show(float(entry), (i,))
                raise BadValue(f"has the diagonal entry {i + 1} = {shown}, which must be {bound}; {self.remedy}")
        scale = np.sqrt(np.outer(diagonal, diagonal))
        gap = np.abs(matrix - matrix.T)
        worst = tuple(int(i) for i in np.unravel_index(int(np.argmax(gap - SYMMETRY_SLACK * scale)), gap.shape))
        if gap[worst] > SYMMETRY_SLACK * scale[worst]:
            i, j = worst
            here, there = matrix[i, j], matrix[j, i]
            raise BadValue(
                f"must be symmetric, but entry ({i + 1}, {j + 1}) = {here:g}"
                f" and entry ({j + 1}, {i + 1}) = {there:g}; {self.remedy}"
            )
        inverse = np.where(diagonal > 0, 1 / np.sqrt(np.where(diagonal > 0, diagonal, 1.0)), 1.0)
        smallest = float(np.linalg.eigvalsh(matrix * inverse[:, None] * inverse)[0])
        if smallest < (-DEFINITE_SLACK if semidefinite else DEFINITE_SLACK):
            word = "semidefinite" if semidefinite else "definite"
            raise BadValue(
                f"must be positive {word}, but its smallest eigenvalue (diagonal scaled to 1)"
                f" is {smallest:.3g}; {self.remedy}"
            )
        uneven = np.abs(matrix[:3, :3] - matrix[0, 0] * np.eye(3)).max() > SYMMETRY_SLACK * matrix[0, 0]
        if self.demand is Demand.SECTION_INERTIA and uneven:
            masses = ", ".join(f"{each:g}" for each in diagonal[:3])
            raise BadValue(f"has the masses ({masses}), and a mass is the same along all axes; {self.remedy}")
        small, middle, large = np.linalg.eigvalsh(matrix)[-3:]
        if self.demand is Demand.RIGID_BODY_INERTIA and large > (small + middle) * (1 + SYMMETRY_SLACK):
            raise BadValue(
                f"has the principal values ({small:g}, {middle:g}, {large:g}) {self.unit}, and no rigid body"
                f" has one larger than the sum of the other two; {self.remedy}"
            )


def _short(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, (tuple, list)):
        inner = ", ".join(_short(entry) for entry in value[:6])
        return f"({inner}{', ...' if len(value) > 6 else ''})"
    return clip(str(value))


NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")


@dataclass(frozen=True)
class Rule(ABC):
    """The declaration of a field that holds no number."""

    meaning: str

    @property
    def remedy(self) -> str:
        return f"write the {self.meaning}"

    @abstractmethod
    def checked(self, value: object) -> Any:
        """The value as the field keeps it; raises BadValue with the reason otherwise."""


class Name(Rule):
    """The declaration of a field that holds a name."""

    def checked(self, value: object) -> str:
        if not isinstance(value, str) or not NAME.fullmatch(value):
            shown = clip(str(value))
            raise BadValue(f"= '{shown}' is not a name; write letters, digits, '_' and '-', a letter first")
        return value


@dataclass(frozen=True)
class Choice(Rule):
    """The declaration of a field that holds one of the words of an enumeration, which is the type of the field."""

    options: type[StrEnum] = StrEnum

    @property
    def remedy(self) -> str:
        return f"write one of {', '.join(self.options)}"

    def checked(self, value: object) -> StrEnum:
        if not isinstance(value, str) or value not in list(self.options):
            raise BadValue(f"= '{clip(str(value))}' is not known; {self.remedy}")
        return self.options(value)


@dataclass(frozen=True)
class Part(Rule):
    """The declaration of a field that holds another declared object, or a tuple of them (``many``).

    ``translates`` says whether the part describes a translation or a rotation, where its owner does not. Which kind
    of object it is, and whether there are many, the type of the field says.
    """

    translates: bool | None = None
    kind: type[Any] = object
    many: bool = False

    def checked(self, value: object) -> Any:
        if not self.many:
            return self._one(value, ())
        if not isinstance(value, (tuple, list)):
            raise BadValue(f"= '{clip(str(value))}' is not a list; {self.remedy}")
        return tuple(self._one(item, (i,)) for i, item in enumerate(value))

    def _one(self, value: object, index: tuple[int, ...]) -> object:
        if not isinstance(value, self.kind):
            allowed = ", ".join(cls.__name__ for cls in self.kind.words.values())
            raise BadValue(f"= {type(value).__name__} does not fit; write one of {allowed}", index)
        return value


@dataclass(frozen=True)
class Declaration:
    """Everything that is declared about one field; several quantities mean alternatives."""

    name: str
    rule: Quantity | Rule
    quantities: tuple[Quantity, ...]
    required: bool
    default: Any

    @property
    def meaning(self) -> str:
        return self.rule.meaning

    def of_motion(self, translates: bool | None) -> Declaration:
        """The declaration for a translation or for a rotation, whose unit is one of two."""
        if translates is None or not self.quantities:
            return self
        quantities = tuple(each.of_motion(translates) for each in self.quantities)
        return replace(self, rule=quantities[0], quantities=quantities)

    def quantity_of(self, value: object) -> Quantity | None:
        """Of several quantities that whose shape fits the nesting of the value, else the first."""
        nested = isinstance(value, (Sequence, np.ndarray)) and not isinstance(value, str)
        fits = [each for each in self.quantities if bool(each.shape) == nested]
        return next(iter((*fits, *self.quantities)), None)

    def checked(self, value: object) -> Any:
        if value is None and self.default is None:
            return None
        return (self.quantity_of(value) or self.rule).checked(value)


@dataclass(frozen=True)
class Row:
    """One line of a description: field, value, unit, meaning."""

    field: str
    value: Any
    unit: str
    meaning: str


class Words(str):
    """Text that prints without quotes, as the type in a signature."""

    __repr__ = str.__str__


class Documented(ABCMeta):
    """Lets ``help`` and editors show a part as documentation, made when it is read: most programs never do."""

    @property
    def __doc__(cls) -> str | None:
        """The docstring, with a line for each field."""
        text: str | None = vars(cls).get("__doc__")
        if not text or not shown_fields(cls):
            return text
        from pliant.robot.field_table import field_lines

        return f"{inspect.cleandoc(text)}\n\n{field_lines(cast('type[Declared]', cls))}"

    @__doc__.setter
    def __doc__(cls, text: str | None) -> None:
        vars(type)["__doc__"].__set__(cls, text)

    @property
    def __signature__(cls) -> inspect.Signature:
        """The fields with short types and plain defaults."""
        known = {each.name: each for each in shown_fields(cls)}
        if not known:
            raise AttributeError("__signature__")
        hints = get_type_hints(cls)
        shown = []
        for each in [*inspect.signature(vars(cls)["__init__"]).parameters.values()][1:]:
            default = each.default if known[each.name].required else known[each.name].default
            default = default.value if isinstance(default, StrEnum) else default
            shown.append(each.replace(annotation=short_type(hints[each.name]), default=default))
        return inspect.Signature(shown)

    def __dir__(cls) -> list[str]:
        return [name for name in super().__dir__() if not name.startswith("_") and name not in INTERNAL]


def shown_fields(cls: type) -> tuple[Declaration, ...]:
    """The declared fields of a class; none while it is being made and where some are left to subclasses."""
    # Dataclasses read the docstring before they set this; most names in annotations are not known then.
    if "__match_args__" not in vars(cls):
        return ()
    try:
        return declarations(cls)
    except TypeError:
        return ()


def short_type(hint: Any) -> Words:
    """A type as one would say it: without modules, arrays without what they hold."""
    text = re.sub(r"(?:\w+\.)+(?=\w)", "", inspect.formatannotation(hint))
    return Words(re.sub(r"ndarray\[tuple\[Any, \.\.\.\], dtype\[\w+\]\]", "ndarray", text))


class Declared(metaclass=Documented):
    """Base of all parts of a robot. A subclass with a ``word`` can be written in a file as ``type: word``."""

    word: ClassVar[str] = ""
    words: ClassVar[dict[str, type[Declared]]] = {}
    # Fields that are looked for here but belong elsewhere, each with what to do instead.
    elsewhere: ClassVar[Mapping[str, str]] = {}
    # Whether the part translates or rotates, which decides units such as "rad or m" of the parts that it holds.
    translates: ClassVar[bool | None] = None

    def __init_subclass__(cls, word: str = "") -> None:
        super().__init_subclass__()
        cls.word = word
        cls.words = {}
        if word:
            for ancestor in cls.__mro__:
                if issubclass(ancestor, Declared) and ancestor is not Declared:
                    ancestor.words[word] = cls

    def __post_init__(self) -> None:
        problems: list[Problem] = []
        for declaration in declarations(type(self)):
            value, wrong = try_checked(declaration, getattr(self, declaration.name))
            problems += wrong
            if not wrong:
                object.__setattr__(self, declaration.name, value)
        problems = problems or list(self.conflicts())
        if problems:
            raise InvalidInput(*(replace(problem, place=self.label) for problem in problems))

    def conflicts(self) -> Iterator[Problem]:
        """Problems between fields that are each fine on their own."""
        yield from ()

    @property
    def written(self) -> Declared:
        """What a file says of it."""
        return self

    @property
    def label(self) -> str:
        name = getattr(self, "name", None)
        return f"{type(self).__name__} '{clip(name)}'" if isinstance(name, str) else type(self).__name__

    def __str__(self) -> str:
        rows = (
            f"{row.field} = {row.value}{'' if row.unit in ('', '1') else ' ' + row.unit}"
            for row in describe(self)
            if row.value is not None
        )
        return f"{type(self).__name__}({', '.join(rows)})"


@cache
def declarations(cls: type[Declared]) -> tuple[Declaration, ...]:
    """The declared fields of a class, in order."""
    hints = get_type_hints(cls, include_extras=True)
    found = []
    for field in dataclasses.fields(cast(Any, cls)):
        default = field.default
        if field.default_factory is not dataclasses.MISSING:
            default = field.default_factory()
        rules = getattr(hints[field.name], "__metadata__", ())
        if not rules:
            raise TypeError(f"{cls.__name__}.{field.name} has no declaration")
        rule, (held, many) = rules[0], _held(hints[field.name].__origin__)
        if isinstance(rule, Part):
            rule = replace(rule, kind=held, many=many)
        if isinstance(rule, Choice):
            rule = replace(rule, options=held)
        quantities = tuple(each for each in rules if isinstance(each, Quantity))
        quantities += tuple(replace(each, meaning=each.each, shape=(None,)) for each in quantities if each.each)
        found.append(Declaration(field.name, rule, quantities, default is dataclasses.MISSING, default))
    return tuple(found)


def _held(hint: Any) -> tuple[Any, bool]:
    """The class of what a field of this type holds, and whether it holds many."""
    inner = [each for each in get_args(hint) if each not in (NoneType, Ellipsis)]
    many = getattr(hint, "__origin__", None) in (Sequence, tuple)
    return (_held(inner[0])[0], many) if inner else (hint, False)


def describe(part: Declared) -> tuple[Row, ...]:
    """The fields of a part with value, unit and meaning."""
    given = [(each, getattr(part, each.name)) for each in declarations(type(part))]
    units = (quantity.unit if (quantity := each.quantity_of(value)) else "" for each, value in given)
    return tuple(Row(each.name, value, unit, each.meaning) for (each, value), unit in zip(given, units))


def try_checked(declaration: Declaration, value: object) -> tuple[Any, list[Problem]]:
    """The checked value and no problem, or None and what is wrong."""
    try:
        return declaration.checked(value), []
    except BadValue as bad:
        return None, [Problem(bad.text, (declaration.name, *bad.index))]
