"""Ready-made arms from the literature, each number with its source, and bond graphs."""

from __future__ import annotations

from pathlib import Path

from pliant.errors import InvalidInput

__all__ = ["bond_graph", "names", "path"]

FOLDER = Path(__file__).parent


def names() -> tuple[str, ...]:
    """The names of all arms of the library."""
    return _files(FOLDER)


def path(name: str) -> Path:
    """The robot file of an arm of the library."""
    return _file(FOLDER, name, "an arm")


def bond_graph(name: str) -> Path:
    """The file of a bond graph of the library."""
    return _file(FOLDER / "bond_graphs", name, "a bond graph")


def _files(folder: Path) -> tuple[str, ...]:
    return tuple(sorted(file.stem for file in folder.glob("*.yaml")))


def _file(folder: Path, name: str, word: str) -> Path:
    if name not in _files(folder):
        from pliant.robot.robot import nearest  # loads NumPy, which help does without

        raise InvalidInput(f"'{name}' is not {word} of the library; {nearest(name, _files(folder))}")
    return folder / f"{name}.yaml"
