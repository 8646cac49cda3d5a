"""Figures of papers as files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pliant.view.figures.style import PIXELS_PER_INCH
from pliant.whole_file import whole_file

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def write(folder: Path, drawn: dict[str, Figure]) -> list[Path]:
    """Figures as files of their names; the paths written."""
    paths = []
    for name, figure in drawn.items():
        path = folder / f"{name}.png"
        with whole_file(path, overwrite=True) as temporary:
            figure.savefig(temporary, dpi=PIXELS_PER_INCH)
        paths.append(path)
    return paths
