"""Figures of runs, drawn but not rendered: rendering, which knows no arms, takes most of the time."""

from __future__ import annotations

from typing import Any

import pytest
from matplotlib.figure import Figure

from pliant.results import Trajectory
from pliant.view.figures import draw_ledger, draw_loads, draw_motion, draw_shape, draw_strains

ALL = [draw_motion, draw_loads, draw_strains, draw_ledger, draw_shape]


def drawn(run: Trajectory) -> list[Figure]:
    """All figures that `write_figures` writes."""
    return [draw(run) for draw in ALL]


def leave_empty(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files of figures get their place and format, but an empty page: tests/view renders the figures of runs."""
    write = Figure.savefig

    def savefig(_: Figure, *place: Any, **options: Any) -> None:
        write(Figure(figsize=(1.0, 1.0)), *place, **options)

    monkeypatch.setattr(Figure, "savefig", savefig)
