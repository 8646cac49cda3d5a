"""Fields in words, made from the declarations: the help of classes and the tables of the reference page.

Run ``python -m pliant.robot.field_table docs/robot_file.md`` to renew the tables of the page.
"""

from __future__ import annotations

import re
import sys
from enum import StrEnum
from pathlib import Path
from textwrap import fill

import pliant.robot as parts
from pliant.robot.declared import Choice, Declaration, Declared, Name, Part, Quantity, declarations

WIDTH = 100  # of help, in characters
TABLE = re.compile(r"<!-- fields of (\w+) -->\n.*?<!-- end -->", re.DOTALL)


def field_lines(cls: type[Declared]) -> str:
    """A line for each field of a part: name, meaning, unit, content, bound, default."""
    lines = ["Fields:"]
    for declaration in declarations(cls):
        first, rules = declaration.rule, declaration.quantities or (declaration.rule,)
        unit, bound = (first.unit, _bound(first)) if isinstance(first, Quantity) else ("1", "")
        holds = " or ".join(_holds_in_python(rule) for rule in rules)
        words = (
            first.meaning.rstrip(",") + (f", in {unit}" if unit != "1" else ""),
            "" if holds == "number" else holds,
            bound,
            "" if declaration.required else _default_in_python(declaration),
        )
        line = f"{declaration.name}: {'; '.join(word for word in words if word)}"
        lines.append(fill(line, WIDTH, initial_indent=" " * 4, subsequent_indent=" " * 8))
    return "\n".join(lines)


def field_table(cls: type[Declared]) -> str:
    """A Markdown table of the fields of a part: name, content, unit, bound, default, meaning."""
    lines = ["| field | holds | unit | bound | default | meaning |", "|---|---|---|---|---|---|"]
    for declaration in declarations(cls):
        for rule in declaration.quantities or (declaration.rule,):
            unit, bound = (rule.unit, _bound(rule)) if isinstance(rule, Quantity) else ("", "")
            default = "required" if declaration.required else _default(declaration)
            meaning = rule.meaning.rstrip(",")
            lines.append(f"| `{declaration.name}` | {_holds(rule)} | {unit} | {bound} | {default} | {meaning} |")
    return "\n".join(lines)


def renew(page: str) -> str:
    """The page with every table made anew."""
    return TABLE.sub(
        lambda match: f"<!-- fields of {match[1]} -->\n{field_table(getattr(parts, match[1]))}\n<!-- end -->", page
    )


def _holds(rule: Quantity | Name | Choice | Part) -> str:
    if isinstance(rule, Name):
        return "name"
    if isinstance(rule, Choice):
        return " or ".join(f"`{option.value}`" for option in rule.options)
    if isinstance(rule, Part):
        words = ", ".join(f"`{word}`" for word in rule.kind.words)
        return f"list of {words}" if rule.many else words
    if not rule.shape:
        return "number"
    if rule.accepts_matrix:
        return f"{rule.shape[0]} numbers or {rule.shape[0]}x{rule.shape[0]}"
    count = "" if rule.shape[-1] is None else f"{rule.shape[-1]} "
    return f"list of {count}numbers" if len(rule.shape) == 2 else f"{count}numbers"


def _holds_in_python(rule: object) -> str:
    """As in the table, with the classes of parts in place of their words in a file."""
    if isinstance(rule, Part):
        kinds = [kind.__name__ for kind in rule.kind.words.values()] or [rule.kind.__name__]
        article = "an" if kinds[0][0] in "AEIOU" else "a"
        return f"{'several of' if rule.many else 'one of' if kinds[1:] else article} {', '.join(kinds)}"
    if isinstance(rule, Choice):
        return " or ".join(f"{rule.options.__name__}.{option.name}" for option in rule.options)
    return _holds(rule) if isinstance(rule, Quantity) else ""


def _default_in_python(declaration: Declaration) -> str:
    value = declaration.default
    if value is None or value == ():
        return "may be left out"
    if isinstance(value, Declared):
        return f"default {type(value).__name__}()"
    if isinstance(value, StrEnum):
        return f"default {type(value).__name__}.{value.name}"
    return f"default {_default(declaration).strip('`')}"


def _bound(quantity: Quantity) -> str:
    demand = quantity.demand.value if quantity.demand else ""
    return ", ".join(words for words in (quantity.bound, demand) if words)


def _default(declaration: Declaration) -> str:
    value = declaration.default
    if value is None or value == ():
        return "none"
    if isinstance(value, Declared):
        return f"`{value.word}`"
    if isinstance(value, tuple):
        return "zeros" if not any(value) else f"({', '.join(f'{entry:g}' for entry in value)})"
    return f"{value:.6g}" if isinstance(value, float) else f"`{value}`"


if __name__ == "__main__":
    page = Path(sys.argv[1])
    page.write_text(renew(page.read_text(encoding="utf-8")), encoding="utf-8")
