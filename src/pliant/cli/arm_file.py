"""Which arm a word on the command line means."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pliant.errors import InvalidInput

if TYPE_CHECKING:
    from pliant.robot import Robot


def find_robot(word: str) -> Robot:
    """The robot of a YAML file, or else of the library."""
    from pliant import library
    from pliant.robot import load
    from pliant.robot.topology import nearest

    if Path(word).is_file():
        return load(word)
    if word in library.names():
        return load(library.path(word))
    raise InvalidInput(
        f"'{word}' is neither a file nor an arm of the library; {nearest(word, library.names())}"
    )
