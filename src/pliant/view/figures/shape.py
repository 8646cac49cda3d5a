"""The arm as a strobe light would show it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pliant.errors import InvalidInput
from pliant.model.layout import Array
from pliant.view.figures.style import FAINT, INK, map_axes, styled, time_bar, time_colors
from pliant.view.projection import choose_projection

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from pliant.results import Trajectory


def draw_shape(trajectory: Trajectory, flashes: int = 14) -> Figure:
    """All links at evenly spaced times, time as colour, over the path of the tip."""
    if flashes < 2:
        raise InvalidInput(f"flashes = {flashes} must be at least 2, the first and the last shape; raise it")
    positions = np.concatenate([link.position for link in trajectory.links], axis=1)
    projection = choose_projection(positions)
    seen = _flash_indices(trajectory.time, flashes)
    colors = time_colors(trajectory.time).to_rgba(trajectory.time[seen])
    with styled(6.6, 5.6) as figure:
        axes = map_axes(figure, projection, positions)
        axes.plot(*projection.of(trajectory.tip_position).T, color=FAINT, linewidth=0.9, zorder=1)
        for order, (index, shade) in enumerate(zip(seen, colors, strict=True)):
            for link in trajectory.links:
                points = projection.of(link.position[index])
                axes.plot(*points.T, color=shade, linewidth=2.2, zorder=2 + order)
                axes.plot(*points[:1].T, color=shade, marker="o", markersize=3.2, zorder=2 + order)
        base = projection.of(trajectory.links[0].position[0, 0])
        axes.plot(*base[:, None], marker="s", markersize=7, color=INK, zorder=3 + len(seen))
        axes.set_title(f"{trajectory.provenance.robot_name}: {len(seen)} shapes")
        time_bar(figure, axes, trajectory.time)
    return figure


def _flash_indices(time: Array, flashes: int) -> list[int]:
    wanted = np.linspace(time[0], time[-1], flashes)
    nearest = np.argmin(np.abs(time[None, :] - wanted[:, None]), axis=1)
    return sorted(set(nearest.tolist()))
