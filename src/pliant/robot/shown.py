"""How objects of several lines print, in a terminal and in notebooks."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from html import escape

MOST_LISTED = 8  # words in a line that shows an object


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
