"""The figures of a run, drawn but not rendered: rendering, which knows no arms, takes most of the time."""

from __future__ import annotations

from matplotlib.figure import Figure

from pliant.results import Trajectory
from pliant.view.figures import draw_ledger, draw_loads, draw_motion, draw_shape, draw_strains

ALL = [draw_motion, draw_loads, draw_strains, draw_ledger, draw_shape]


def drawn(run: Trajectory) -> list[Figure]:
    """All figures that `write_figures` writes."""
    return [draw(run) for draw in ALL]
