"""The tables of the reference page, made from the declarations.

Run ``python -m tests.robot.reference_tables docs/robot_file_reference.md`` to renew the tables of the page.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pliant.robot as parts
from pliant.robot.data_file import DataFile
from pliant.robot.declared import Choice, Declaration, Declared, Name, Part, Quantity, Rule, declarations
from pliant.robot.field_table import bound_in_words, shape_in_words, value_in_words

TABLE = re.compile(r"<!-- fields of (\w+) -->\n.*?<!-- end -->", re.DOTALL)


def field_table(cls: type[Declared]) -> str:
    """A Markdown table of the fields of a part: name, content, unit, bound, default, meaning."""
    lines = ["| field | holds | unit | bound | default | meaning |", "|---|---|---|---|---|---|"]
    for declaration in declarations(cls):
        for rule in declaration.quantities or (declaration.rule,):
            unit, bound = (rule.unit, bound_in_words(rule)) if isinstance(rule, Quantity) else ("", "")
            default = "required" if declaration.required else _default(declaration)
            meaning = rule.meaning.rstrip(",")
            lines.append(f"| `{declaration.name}` | {_holds(rule)} | {unit} | {bound} | {default} | {meaning} |")
    return "\n".join(lines)


def renew(page: str) -> str:
    """The page with every table made anew."""
    return TABLE.sub(
        lambda match: f"<!-- fields of {match[1]} -->\n{field_table(getattr(parts, match[1]))}\n<!-- end -->", page
    )


def _holds(rule: Quantity | Rule) -> str:
    if isinstance(rule, DataFile):
        return f"file {', '.join(f'`{suffix}`' for suffix in rule.suffixes)}"
    if isinstance(rule, Name):
        return "name"
    if isinstance(rule, Choice):
        return " or ".join(f"`{option.value}`" for option in rule.options)
    if isinstance(rule, Part):
        words = ", ".join(f"`{word}`" for word in rule.kind.words)
        return f"list of {words}" if rule.many else words
    assert isinstance(rule, Quantity)
    return shape_in_words(rule)


def _default(declaration: Declaration) -> str:
    value = declaration.default
    if value is None or value == ():
        return "none"
    if isinstance(value, Declared):
        return f"`{value.word}`"
    return value_in_words(value) if isinstance(value, (tuple, float)) else f"`{value}`"


if __name__ == "__main__":
    page = Path(sys.argv[1])
    page.write_text(renew(page.read_text(encoding="utf-8")), encoding="utf-8")
