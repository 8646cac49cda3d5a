"""Formulas of pages as MathML, which browsers draw by themselves, without a network.

Pages write them in LaTeX between ``$$``, as code hosts read it too; ``\\tag{3}`` is the number of an equation. Letters
in sentences keep their plain form, ``V_a``, and get their index below the line here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from latex2mathml.converter import convert

TAG = re.compile(r"\s*\\tag\{([^}]*)\}")
COMMAND_LEFT = re.compile(r"<m(?:i|o|text)>\s*(?:\\[^<]*|&(?![#\w]))")  # what the converter does not know, it prints
MARKS = "\u0300-\u036f"
RAISED = "\u1d40\u00b9\u00b2\u00b3\u2070-\u209f"
ACCENT = re.compile(
    r"<mover>(?=(?:<mi[^>]*>[^<]*</mi>|<mrow><mi[^>]*>[^<]*</mi></mrow>)<mo[^>]*>&#x(?:002D9|000A8|000AF|0005E);)"
)
INDEXED = re.compile(
    rf"(?<![\w.{MARKS}])((?:[Aa]d|[^\W\d_][{MARKS}]?))_(\{{[^}}]*\}}|[^\W_{RAISED}]{{1,6}})(?:\^(\{{[^}}]*\}}|\w))?"
)


def formula(display: str) -> Any:
    """A visitor of Sphinx that writes a formula; the number of a displayed one stands at the right."""

    from docutils.nodes import SkipNode

    def visit(translator: Any, node: Any) -> None:
        translator.body.append(written(node.astext(), display))
        raise SkipNode

    return visit


def written(latex: str, display: str) -> str:
    """The formula as HTML; what cannot be converted is an error, never a page with backslashes."""
    number = TAG.search(latex)
    text = ACCENT.sub('<mover accent="true">', convert(TAG.sub("", latex).strip(), display=display))
    if unknown := COMMAND_LEFT.search(text):
        raise ValueError(f"the formula {latex!r} has a part that cannot be written: {unknown[0]!r}")
    if display == "inline":
        return text
    shown = f'<span class="number">({number[1]})</span>' if number else ""
    return f'<div class="formula"><div>{text}</div>{shown}</div>'


def indices(app: Any, doctree: Any) -> None:
    """Letters with an index in sentences and tables: below the line, as in the formulas."""
    from docutils import nodes

    for text in list(doctree.findall(nodes.Text)):
        around = text.parent
        while around is not None and not isinstance(around, nodes.literal | nodes.FixedTextElement | nodes.math):
            around = around.parent
        if around is None and INDEXED.search(text):
            text.parent.replace(text, list(lowered(text)))


def lowered(text: str) -> Iterator[Any]:
    """The same text as nodes of docutils."""
    from docutils import nodes

    end = 0
    for found in INDEXED.finditer(text):
        yield nodes.Text(text[end : found.start()] + found[1])
        yield nodes.subscript("", found[2].strip("{}"))
        if found[3]:
            yield nodes.superscript("", found[3].strip("{}"))
        end = found.end()
    yield nodes.Text(text[end:])
