"""Objects whose fields are declared: checked when built, shown with units, written by the same words."""

from __future__ import annotations

import dataclasses
import inspect
import re
from abc import ABC, ABCMeta, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from html import escape
from typing import Any, ClassVar, cast, get_type_hints

from pliant.errors import InvalidInput, Problem, clip, raise_if_any
from pliant.robot.quantity import BadValue, Quantity, problems_of, settle_one_of

NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")
MOST_LISTED = 8  # words in a line that shows an object
# Of parts, but of no use to who builds one.
INTERNAL = {"conflicts", "elsewhere", "label", "mro", "register", "slides", "word", "words"}


@dataclass(frozen=True)
class Name:
    """The declaration of a field that holds a name."""

    meaning: str

    def settle(self, value: object) -> str:
        if not isinstance(value, str) or not NAME.fullmatch(value):
            shown = clip(str(value))
            raise BadValue(f"= '{shown}' is not a name; write letters, digits, '_' and '-', a letter first")
        return value


@dataclass(frozen=True)
class Choice:
    """The declaration of a field that holds one of the words of an enumeration."""

    meaning: str
    options: type[StrEnum]

    def settle(self, value: object) -> StrEnum:
        words = [option.value for option in self.options]
        if not isinstance(value, str) or value not in words:
            raise BadValue(f"= '{clip(str(value))}' is not known; write one of {', '.join(words)}")
        return self.options(value)


@dataclass(frozen=True)
class Part:
    """The declaration of a field that holds another declared object, or a tuple of them (``many``).

    ``slides`` says whether the part describes a slide or a turn, where its owner does not.
    """

    meaning: str
    kind: type[Declared]
    many: bool = False
    slides: bool | None = None

    def settle(self, value: object) -> Any:
        if not self.many:
            return self._one(value, ())
        if not isinstance(value, (tuple, list)):
            raise BadValue(f"= '{clip(str(value))}' is not a list; write the {self.meaning}")
        return tuple(self._one(item, (i,)) for i, item in enumerate(value))

    def _one(self, value: object, index: tuple[int, ...]) -> Declared:
        if not isinstance(value, self.kind):
            allowed = ", ".join(cls.__name__ for cls in self.kind.words.values())
            raise BadValue(f"= {type(value).__name__} does not fit; write one of {allowed}", index)
        return value


@dataclass(frozen=True)
class Declaration:
    """Everything that is declared about one field; several quantities mean alternatives."""

    name: str
    rules: tuple[Quantity, ...] | Name | Choice | Part
    required: bool
    optional: bool
    default: Any

    @property
    def meaning(self) -> str:
        return self.rules[0].meaning if isinstance(self.rules, tuple) else self.rules.meaning

    @property
    def settled_default(self) -> Any:
        return self.settle(self.default)

    def of_motion(self, slides: bool | None) -> Declaration:
        """The declaration for a slide or for a turn, whose unit is one of two."""
        if slides is None or not isinstance(self.rules, tuple):
            return self
        return dataclasses.replace(self, rules=tuple(rule.of_motion(slides) for rule in self.rules))

    def settle(self, value: object) -> Any:
        if value is None and self.optional:
            return None
        if isinstance(self.rules, tuple):
            return settle_one_of(self.rules, value)
        return self.rules.settle(value)


@dataclass(frozen=True)
class Row:
    """One line of a description: field, value, unit, meaning."""

    field: str
    value: Any
    unit: str
    meaning: str


class Shown(ABC):
    """Prints as a heading and a few lines, in notebooks as a table."""

    @abstractmethod
    def _shown(self) -> tuple[str, dict[str, str]]:
        """The heading, and lines by name; empty ones are left out."""

    def __repr__(self) -> str:
        heading, lines = self._shown()
        return "\n".join([heading, *(f"  {name}: {_plain(text)}" for name, text in lines.items() if text)])

    def __str__(self) -> str:
        return repr(self)

    def _repr_html_(self) -> str:
        heading, lines = self._shown()
        shown = ((escape(name), escape(_plain(text))) for name, text in lines.items() if text)
        rows = "".join(f"<tr><th>{name}</th><td>{text}</td></tr>" for name, text in shown)
        return f"<b>{escape(heading)}</b><table>{rows}</table>"


def _plain(text: str) -> str:
    """Choices by their name alone: End.TIP, not <End.TIP: 'tip'>."""
    return re.sub(r"<(\w+\.\w+): '[^']*'>", r"\1", text)


def listed(words: Sequence[str]) -> str:
    """Words in a row, of many the first."""
    more = len(words) - MOST_LISTED
    return ", ".join(words[:MOST_LISTED]) + (f" and {more} more" if more > 0 else "")


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
    # Whether the part slides or turns, which decides units such as "rad or m" of the parts that it holds.
    slides: ClassVar[bool | None] = None

    def __init_subclass__(cls, word: str = "") -> None:
        super().__init_subclass__()
        cls.word = word
        cls.words = {}
        if word:
            for ancestor in cls.__mro__:
                if issubclass(ancestor, Declared) and ancestor is not Declared:
                    ancestor.words[word] = cls

    def __post_init__(self) -> None:
        problems = []
        for declaration in declarations(type(self)):
            try:
                settled = declaration.settle(getattr(self, declaration.name))
            except BadValue as bad:
                problems.append(problems_of(bad, declaration.name))
            else:
                object.__setattr__(self, declaration.name, settled)
        problems = problems or list(self.conflicts())
        raise_if_any([dataclasses.replace(problem, place=self.label) for problem in problems])

    def conflicts(self) -> Iterator[Problem]:
        """Problems between fields that are each fine on their own."""
        yield from ()

    @property
    def label(self) -> str:
        name = getattr(self, "name", None)
        return f"{type(self).__name__} '{name}'" if isinstance(name, str) else type(self).__name__

    def __str__(self) -> str:
        rows = (
            f"{row.field} = {row.value}{'' if row.unit in ('', '1') else ' ' + row.unit}"
            for row in describe(self)
            if row.value is not None
        )
        return f"{type(self).__name__}({', '.join(rows)})"


_KNOWN: dict[type[Declared], tuple[Declaration, ...]] = {}


def declarations(cls: type[Declared]) -> tuple[Declaration, ...]:
    """The declared fields of a class, in order."""
    if cls not in _KNOWN:
        _KNOWN[cls] = _read_declarations(cls)
    return _KNOWN[cls]


def _read_declarations(cls: type[Declared]) -> tuple[Declaration, ...]:
    hints = get_type_hints(cls, include_extras=True)
    found = []
    for field in dataclasses.fields(cast(Any, cls)):
        default = field.default
        if field.default_factory is not dataclasses.MISSING:
            default = field.default_factory()
        rules = getattr(hints[field.name], "__metadata__", ())
        if not rules:
            raise TypeError(f"{cls.__name__}.{field.name} has no declaration")
        quantities = tuple(rule for rule in rules if isinstance(rule, Quantity))
        required = default is dataclasses.MISSING
        found.append(Declaration(field.name, quantities or rules[0], required, default is None, default))
    return tuple(found)


def describe(part: Declared) -> tuple[Row, ...]:
    """The fields of a part with value, unit and meaning."""
    rows = []
    for declaration in declarations(type(part)):
        value = getattr(part, declaration.name)
        unit = ""
        if isinstance(declaration.rules, tuple):
            fits = [rule for rule in declaration.rules if bool(rule.shape) == isinstance(value, tuple)]
            unit = (fits or declaration.rules)[0].unit
        rows.append(Row(declaration.name, value, unit, declaration.meaning))
    return tuple(rows)


def try_settle(declaration: Declaration, value: object) -> tuple[Any, list[Problem]]:
    """The settled value and no problem, or None and what is wrong."""
    try:
        return declaration.settle(value), []
    except BadValue as bad:
        return None, [problems_of(bad, declaration.name)]


def try_build(cls: type[Declared], values: dict[str, Any]) -> tuple[Declared | None, list[Problem]]:
    """The object and no problem, or None and what is wrong between its fields."""
    try:
        return cls(**values), []
    except InvalidInput as invalid:
        return None, list(invalid.problems)
