"""Figures of a motion: shapes at several times, joints and tip over time."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from pliant.errors import InvalidInput
from pliant.model.state import Array
from pliant.view.figures import style
from pliant.view.figures.style import color, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, FigureBase

    from pliant.results import Trajectory


def draw_shape(trajectory: Trajectory, flashes: int = 14) -> Figure:
    """All links at evenly spaced times, time as colour, over the path of the tip."""
    if flashes < 2:
        raise InvalidInput(f"flashes = {flashes} must be at least 2, the first and the last shape; raise it")
    positions = np.concatenate([link.position for link in trajectory.links], axis=1)
    projection = style.choose_projection(positions)
    seen = _flash_indices(trajectory.time, flashes)
    colors = style.time_colors(trajectory.time).to_rgba(trajectory.time[seen])
    with styled(6.6, 5.6) as figure:
        axes = style.map_axes(figure, projection, positions)
        axes.plot(*projection.of(trajectory.tip_position).T, color=style.FAINT, linewidth=0.9, zorder=1)
        for order, (index, shade) in enumerate(zip(seen, colors, strict=True)):
            for link in trajectory.links:
                points = projection.of(link.position[index])
                axes.plot(*points.T, color=shade, linewidth=2.2, zorder=2 + order)
                axes.plot(*points[:1].T, color=shade, marker="o", markersize=3.2, zorder=2 + order)
        base = projection.of(trajectory.links[0].position[0, 0])
        axes.plot(*base[:, None], marker="s", markersize=7, color=style.INK, zorder=3 + len(seen))
        axes.set_title(f"{trajectory.provenance.robot_name}: {len(seen)} shapes")
        style.time_bar(figure, axes, trajectory.time)
    return figure


def _flash_indices(time: Array, flashes: int) -> list[int]:
    wanted = np.linspace(time[0], time[-1], flashes)
    nearest = np.argmin(np.abs(time[None, :] - wanted[:, None]), axis=1)
    return sorted(set(nearest.tolist()))


# Steps of colour along the path of the tip, too fine to be seen.
SHADES = 120


def draw_motion(trajectory: Trajectory) -> Figure:
    """Positions and rates of all joints over time, and the path of the tip."""
    units = sorted({unit.position for unit in trajectory.joint_units}, reverse=True)
    rows = 2 * len(units)
    if not units:
        with styled(5.0, 4.0) as figure:
            _tip_path(figure, trajectory)
        return figure
    with styled(9.4, max(4.0, 1.9 * rows)) as figure:
        left, right = _halves(figure)
        panels = left.subplots(rows, 1, sharex=True, squeeze=False)
        for row, axes in enumerate(panels[:, 0]):
            _joints(axes, trajectory, units[row // 2], rates=bool(row % 2))
            axes.label_outer()
        _tip_path(right, trajectory)
    return figure


def _halves(figure: Figure) -> list[FigureBase]:
    return list(np.ravel(np.array(figure.subfigures(1, 2, width_ratios=(1.0, 1.1), wspace=0.03))))


def _joints(axes: Axes, trajectory: Trajectory, unit: str, rates: bool) -> None:
    values = trajectory.joint_rate if rates else trajectory.joint_position
    chosen = [k for k, joint in enumerate(trajectory.joint_units) if joint.position == unit]
    for k in chosen:
        axes.plot(trajectory.time, values[:, k], color=color(k), label=trajectory.joint_names[k])
    kind = trajectory.joint_units[chosen[0]]
    observable = kind.rate("joint rate") if rates else kind.coordinate("joint position")
    axes.set_ylabel(observable.label)
    style.time_axis(axes, trajectory.time)
    if not rates:
        axes.set_title("joints")
        axes.legend(loc="best")


def _tip_path(figure: FigureBase, trajectory: Trajectory) -> None:
    tip, time = trajectory.tip_position, trajectory.time
    projection = style.choose_projection(tip)
    axes = style.map_axes(figure, projection, tip)
    points, colors = projection.of(tip), style.time_colors(time)
    axes.plot(*points[:1].T, marker="o", markersize=5.5, color=colors.to_rgba(time[0]), zorder=3)
    ends = np.unique(np.linspace(0, len(time) - 1, SHADES + 1).astype(int))
    for first, last in pairwise(ends):
        shade = colors.to_rgba((time[first] + time[last]) / 2)
        axes.plot(*points[first : last + 1].T, color=shade, linewidth=1.6)
    axes.set_title("path of the tip")
    style.time_bar(figure, axes, time)
