"""Fields in words, made from the declarations: the help of classes, what the tables of the reference page share, and
sentences on values that are hardly meant as they are written.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from textwrap import fill
from typing import Protocol, runtime_checkable

from pliant.errors import Problem
from pliant.robot.data_file import DataFile
from pliant.robot.declared import SUFFIXES, Choice, Declaration, Declared, Part, Quantity, declarations

WIDTH = 100  # of help, in characters
# Units that people have in mind where they forget to convert, the likeliest first.
OFTEN_MEANT = {"m": ("mm", "cm", "in"), "Pa": ("GPa", "MPa"), "kg/m^3": ("g/cm^3",), "rad": ("deg",), "kg": ("g",)}


@runtime_checkable
class Unlikely(Protocol):
    """A part whose fields are each possible, but may be hardly meant together."""

    def unlikely(self) -> Iterator[Problem]: ...


def field_lines(cls: type[Declared]) -> str:
    """A line for each field of a part: name, meaning, unit, content, bound, default."""
    lines = ["Fields:"]
    for declaration in declarations(cls):
        first, rules = declaration.rule, declaration.quantities or (declaration.rule,)
        unit, bound = (first.unit, bound_in_words(first)) if isinstance(first, Quantity) else ("1", "")
        holds = " or ".join(_holds(rule) for rule in rules)
        words = (
            first.meaning.rstrip(",") + (f", in {unit}" if unit != "1" else ""),
            "" if holds == "number" else holds,
            bound,
            "" if declaration.required else _default(declaration),
        )
        line = f"{declaration.name}: {'; '.join(word for word in words if word)}"
        lines.append(fill(line, WIDTH, initial_indent=" " * 4, subsequent_indent=" " * 8))
    return "\n".join(lines)


def shape_in_words(quantity: Quantity) -> str:
    """What a field of numbers holds."""
    if not quantity.shape:
        return "number"
    if quantity.accepts_matrix:
        return f"{quantity.shape[0]} numbers or {quantity.shape[0]}x{quantity.shape[0]}"
    count = "" if quantity.shape[-1] is None else f"{quantity.shape[-1]} "
    return f"list of {count}numbers" if len(quantity.shape) == 2 else f"{count}numbers"


def bound_in_words(quantity: Quantity) -> str:
    """Bounds and demand, empty where there are none."""
    demand = quantity.demand.value if quantity.demand else ""
    return ", ".join(words for words in (quantity.bound, demand) if words)


def value_in_words(value: object) -> str:
    """A default as one would write it."""
    if isinstance(value, tuple):
        return "zeros" if not any(value) else f"({', '.join(f'{entry:g}' for entry in value)})"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _holds(rule: object) -> str:
    if isinstance(rule, Part):
        kinds = [kind.__name__ for kind in rule.kind.words.values()] or [rule.kind.__name__]
        article = "an" if kinds[0][0] in "AEIOU" else "a"
        return f"{'several of' if rule.many else 'one of' if kinds[1:] else article} {', '.join(kinds)}"
    if isinstance(rule, Choice):
        return " or ".join(f"{rule.options.__name__}.{option.name}" for option in rule.options)
    if isinstance(rule, DataFile):
        return f"a file {' or '.join(rule.suffixes)}"
    return shape_in_words(rule) if isinstance(rule, Quantity) else ""


def _default(declaration: Declaration) -> str:
    value = declaration.default
    if value is None or value == ():
        return "may be left out"
    if isinstance(value, Declared):
        return f"default {type(value).__name__}()"
    if isinstance(value, StrEnum):
        return f"default {type(value).__name__}.{value.name}"
    return f"default {value_in_words(value)}"


def implausible(part: Declared, translates: bool | None = None) -> Iterator[Problem]:
    """Values of a part, and of the parts that it holds, that are possible but far from what anybody builds."""
    translates = type(part).translates if translates is None else translates
    if isinstance(part, Unlikely):
        yield from part.unlikely()
    for declaration in declarations(type(part)):
        value = getattr(part, declaration.name)
        if isinstance(declaration.rule, Part):
            inner = value if isinstance(value, tuple) else (value,)
            for k, each in enumerate(each for each in inner if isinstance(each, Declared)):
                way = (declaration.name, *((getattr(each, "name", k),) if isinstance(value, tuple) else ()))
                moves = declaration.rule.translates
                yield from (found.inside(*way) for found in implausible(each, translates if moves is None else moves))
            continue
        quantity = declaration.of_motion(translates).quantity_of(value)
        if quantity is not None and quantity.usual is not None and value is not None:
            for index, number in enumerate(value) if isinstance(value, tuple) else (((), value),):
                at = (index,) if isinstance(index, int) else ()
                if isinstance(number, float) and number and not _usual(quantity, number):
                    yield Problem(doubted(quantity, number), (declaration.name, *at))


def _usual(quantity: Quantity, number: float) -> bool:
    assert quantity.usual is not None
    low, high = quantity.usual
    return low <= number <= high


def doubted(quantity: Quantity, number: float) -> str:
    """What is unusual about a number, and what it would be in other units."""
    assert quantity.usual is not None
    low, high = quantity.usual
    others = {unit: number * SUFFIXES[quantity.unit][unit] for unit in OFTEN_MEANT.get(quantity.unit, ())}
    meant = [
        f"if {number:g} {unit} is meant, write {value:.4g}" for unit, value in others.items() if low <= value <= high
    ]
    remedy = meant[0] if meant else quantity.remedy
    return f"= {quantity.show(number)} is outside of the usual {low:g} to {high:g} {quantity.unit}; {remedy}"
