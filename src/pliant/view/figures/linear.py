"""Figures of linear analysis: magnitude and phase over frequency, mode shapes."""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING

import numpy as np

from pliant.errors import InvalidInput
from pliant.view.figures.style import (
    COLUMN,
    FAINT,
    INK,
    PAGE,
    SPACE,
    best_view,
    choose_projection,
    color,
    map_axes,
    styled,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure, FigureBase

    from pliant.analysis.frequency_response import FrequencyResponse
    from pliant.analysis.modes import Modes


def draw_frequency_response(response: FrequencyResponse) -> Figure:
    """Magnitude above, phase below, over a logarithmic axis of frequency where all frequencies are positive."""
    from matplotlib.ticker import MultipleLocator

    with styled(COLUMN, 4.0) as figure:
        upper, lower = figure.subplots(2, 1, sharex=True, height_ratios=(2, 1))
        upper.semilogy(response.frequency, response.magnitude, color=color(0))
        marks = (("resonance", response.resonances, "-"), ("antiresonance", response.antiresonances, ":"))
        for name, found, dashes in marks:
            for k, each in enumerate(found):
                label = "" if k else name
                upper.axvline(each.frequency, color=FAINT, linestyle=dashes, linewidth=1.0, zorder=0, label=label)
        if any(found for _, found, _ in marks):
            figure.legend(loc="outside lower center", ncols=2)
        upper.set_ylabel(response.magnitude_label)
        upper.set_title(f"{response.input} to {response.output}")
        phase = np.degrees(response.phase)
        lower.plot(response.frequency, phase, color=color(0))
        lower.yaxis.set_major_locator(MultipleLocator(90.0 * max(1, round(float(np.ptp(phase)) / 540.0))))
        lower.set_ylim(float(phase.min()) - 20.0, float(phase.max()) + 20.0)
        lower.set_ylabel("phase [deg]")
        lower.set_xlabel("frequency [Hz]")
        if response.frequency[0] > 0.0:
            lower.set_xscale("log")
        lower.set_xlim(float(response.frequency[0]), float(response.frequency[-1]))
    return figure


PART_OF_THE_ARM = 0.15  # size of the drawn motion against the size of the arm
LARGEST_TURN = 0.4  # rad
FRAMES = 9  # of half a cycle, from one end of the swing to the other


def draw_mode_shapes(modes: Modes, count: int = 6) -> Figure:
    """The first ``count`` modes, each as the arm between both ends of its swing."""
    if count < 1:
        raise InvalidInput(f"count = {count} must be at least 1; give the number of modes to draw")
    shown = min(count, len(modes.eigenvalue))
    columns = min(3, shown)
    rows = ceil(shown / columns)
    with styled(COLUMN if columns == 1 else PAGE, 2.9 * rows) as figure:
        panels = figure.subfigures(rows, columns, squeeze=False).ravel()
        for mode in range(shown):
            _draw_mode(panels[mode], modes, mode)
    return figure


# Links whose axes move less than this part of the arm twist: then their edges are drawn, this far from the axes.
VISIBLE, EDGE = 0.01, 0.08


def _draw_mode(panel: FigureBase, modes: Modes, mode: int) -> None:
    rest = modes.observation(mode, 0.0, 2)
    still = np.concatenate([link.position[0] for link in rest.links])
    size = float(np.ptp(still, axis=0).max()) or 1.0
    swing = modes.observation(mode, visible_amplitude(modes, mode, size), 2 * FRAMES - 1)
    curves = [link.position[:FRAMES] for link in swing.links]
    if max(float(np.ptp(curve, axis=0).max(initial=0.0)) for curve in curves) < VISIBLE * size:
        sides = (EDGE * size, -EDGE * size)
        curves = [
            link.position[:FRAMES] + side * link.rotation[:FRAMES, :, :, 1] for link in swing.links for side in sides
        ]
    everything = np.concatenate([still, *(curve.reshape(-1, 3) for curve in curves)])
    motion = np.concatenate([curve[0] - curve[-1] for curve in curves])
    projection = choose_projection(everything)
    if projection.planar and np.abs(projection.of(motion)).max() < 0.5 * np.abs(motion).max():
        projection = SPACE
    axes = map_axes(panel, projection, everything, zoom=0.85, ticks=0, view=best_view(motion, everything))
    for frame in range(FRAMES):
        ends = frame in (0, FRAMES - 1)
        for curve in curves:
            points = projection.of(curve[frame])
            axes.plot(*points.T, color=color(0) if ends else FAINT, linewidth=1.8 if ends else 0.7)
    for link in rest.links:
        axes.plot(*projection.of(link.position[0]).T, color=INK, linewidth=1.0, linestyle=":")
    if projection.planar:
        axes.locator_params(nbins=4)
    axes.set_title(mode_title(modes, mode))


def visible_amplitude(modes: Modes, mode: int, size: float) -> float:
    """So that no node moves or rotates farther than a drawing can show."""
    shape = np.abs(modes.shape[mode])
    moved, turned = shape[:, :3].max(), shape[:, 3:].max()
    return float(min(PART_OF_THE_ARM * size / max(moved, 1e-300), LARGEST_TURN / max(turned, 1e-300)))


def mode_title(modes: Modes, mode: int) -> str:
    value, where = modes.eigenvalue[mode], modes.direction(mode)
    along = where if where.startswith("about") else f"along {where}"
    if modes.frequency[mode] > 0.0:
        return f"{mode + 1}: {modes.frequency[mode]:.4g} Hz, {along}"
    return f"{mode + 1}: no oscillation, {value.real:.3g}/s, {along}"
