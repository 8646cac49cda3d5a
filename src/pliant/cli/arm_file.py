"""Which arm a word on the command line means."""

from __future__ import annotations

from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING

from pliant.errors import InvalidInput

if TYPE_CHECKING:
    from pliant.robot import Robot


def find_robot(word: str) -> Robot:
    """The robot of a YAML file, or else of the library."""
    from pliant import library
    from pliant.robot import load

    if Path(word).is_file():
        return load(word)
    names = sorted(library.names())
    if word in names:
        return load(library.path(word))
    close = get_close_matches(word, names, n=1)
    guess = f"did you mean '{close[0]}'? " if close else ""
    raise InvalidInput(
        f"'{word}' is neither a file nor an arm of the library; {guess}"
        f"give the path of a YAML file or one of {', '.join(names)}"
    )
