"""Ready-made arms from the literature, each number with its source."""

from __future__ import annotations

from pathlib import Path

from pliant.errors import InvalidInput
from pliant.robot.robot import nearest

__all__ = ["names", "path"]

FOLDER = Path(__file__).parent


def names() -> tuple[str, ...]:
    """The names of all arms of the library."""
    return tuple(sorted(file.stem for file in FOLDER.glob("*.yaml")))


def path(name: str) -> Path:
    """The robot file of an arm of the library."""
    if name not in names():
        raise InvalidInput(f"'{name}' is not an arm of the library; {nearest(name, names())}")
    return FOLDER / f"{name}.yaml"
