"""All figures of a trajectory as files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from pliant.view.figures.run import draw_ledger, draw_loads, draw_motion, draw_shape, draw_strains
from pliant.view.figures.style import PIXELS_PER_INCH
from pliant.whole_file import refuse_existing, refuse_folder, whole_file

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from pliant.results import Trajectory

DRAWN = (".png", ".pdf", ".svg", ".eps", ".jpg")  # how names of files with one figure end
_Drawing = Callable[["Trajectory", str | None], "Figure"]
_FIGURES: dict[str, _Drawing] = {
    "motion": draw_motion,
    "loads": draw_loads,
    "strains": lambda trajectory, tip: draw_strains(trajectory),
    "ledger": lambda trajectory, tip: draw_ledger(trajectory),
    "shape": lambda trajectory, tip: draw_shape(trajectory, tip=tip),
}


def figure_paths(folder: Path) -> dict[str, Path]:
    """Where each figure goes."""
    return {name: folder / f"{name}.png" for name in _FIGURES}


def refuse_figures(folder: Path, overwrite: bool) -> None:
    """Refuse a folder that cannot take the figures, before any work is spent on them."""
    refuse_folder(folder)
    if folder.exists():
        for path in figure_paths(folder).values():
            refuse_existing(path, overwrite)


def write_figures(
    trajectory: Trajectory,
    folder: Path,
    overwrite: bool = False,
    progress: Callable[[float], None] | None = None,
    tip: str | None = None,
) -> list[Path]:
    """Write every figure as PNG into ``folder``, which is made if need be; all are refused if one exists.

    The tip in them is that of the link ``tip``, by default of the arm.
    """
    refuse_figures(folder, overwrite)
    folder.mkdir(exist_ok=True)
    paths = figure_paths(folder)
    for done, (name, path) in enumerate(paths.items(), start=1):
        with whole_file(path, overwrite) as temporary:
            _FIGURES[name](trajectory, tip).savefig(temporary, dpi=PIXELS_PER_INCH)
        if progress:
            progress(done / len(paths))
    return list(paths.values())
