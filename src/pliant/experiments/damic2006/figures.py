"""Figures 10 and 13 of the paper, every reading and start; the motion of the long links, and how meshes converge."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from pliant.experiments.damic2006.anthropomorphic import CASES, LIFTING, PLANES, Case
from pliant.experiments.damic2006.computed import AXES, Computed, Rung
from pliant.experiments.damic2006.deflection import Shadow
from pliant.experiments.damic2006.meshes import COUNTS, Links
from pliant.experiments.damic2006.two_links import LENGTH, Reading
from pliant.model.state import Array
from pliant.results.observables import POSITION
from pliant.view.figures.style import FAINT, INK, PAGE, color, line, mark, styled, time_axis, time_bar, time_colors

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

DEFLECTION = "deflection [m]"
PLOTTED = 10  # outputs of case 2 in a plotted point: the paper's 1 ms
FLASHES = 41
EARLY, MILLI = 0.02 + 1e-9, 1e3  # s shown of the start, with the last time that steps add up to
OUT_OF_SCALE = 5.0  # a start that goes so many times further than the rest would hide it


def draw(made: Computed) -> dict[str, Figure]:
    """Every figure by the name of its file."""
    starts = {f"figure_13_{case.short.replace(', ', '_').replace(' ', '_')}": arm_figure(made, case) for case in CASES}
    return {
        "figure_10_deflections": deflections(made),
        "case_1_motion": motion(made),
        "case_1_meshes": meshes(made.ladder),
        **starts,
        "case_2_first_milliseconds": first_milliseconds(made),
    }


def deflections(made: Computed) -> Figure:
    """Figure 10 for both readings; the converged motion lies under that of ten elements."""
    with styled(PAGE, 6.4) as figure:
        grid = figure.subplots(2, 2, sharex=True)
        for row, reading in zip(grid, Reading, strict=True):
            seen, fine = made.paper[reading], made.fine[reading]
            row[0].plot(fine.time, fine.inner, color=FAINT, linewidth=2.4, label="converged")
            row[0].plot(seen.time, seen.inner, color=color(0), label=str(Shadow.ROOT_SECTION))
            row[0].set_title(f"a) inner link, outer angle {reading}")
            for k, shadow in enumerate(Shadow):
                if reading is Reading.ABSOLUTE and shadow is Shadow.MOVED_ELBOW:
                    continue  # its axes are those of the root section
                row[1].plot(fine.time, fine.outer[shadow], color=FAINT, linewidth=2.4)
                row[1].plot(seen.time, seen.outer[shadow], label=str(shadow), **line(k))
            row[1].set_title(f"b) outer link, outer angle {reading}")
            for axes in row:
                bottom, top = axes.get_ylim()
                axes.set_ylim(bottom - 0.4 * (top - bottom), top)  # room for the names
                axes.legend(loc="lower right")
                axes.set_ylabel(DEFLECTION)
                time_axis(axes, seen.time)
                axes.label_outer()
                axes.tick_params(labelleft=True)
    return figure


def motion(made: Computed) -> Figure:
    """Both readings, strobed."""
    with styled(PAGE, 5.6) as figure:
        panels = figure.subplots(1, 2, sharex=True, sharey=True)
        for axes, (reading, seen) in zip(panels, made.fine.items(), strict=True):
            flashes = np.linspace(0, len(seen.time) - 1, FLASHES).astype(int)
            shape = seen.model.observe(seen.run.states[flashes])
            shades = time_colors(seen.time).to_rgba(seen.time[flashes])
            for n, shade in enumerate(shades):
                for link in shape.links:
                    axes.plot(link.position[n, :, 0], link.position[n, :, 1], color=shade, linewidth=1.2)
            axes.set_aspect("equal", adjustable="box")
            axes.set_title(f"outer angle {reading}")
            axes.set_xlabel(POSITION["x"].label)
        panels[0].set_ylabel(POSITION["y"].label)
        time_bar(figure, panels[1], seen.time)
    return figure


def meshes(ladder: Sequence[Rung]) -> Figure:
    """Error of the tip against elements."""
    with styled(PAGE, 3.9) as figure:
        panels = figure.subplots(1, 2, sharey=True)
        for axes, reading in zip(panels, Reading, strict=True):
            for k, kind in enumerate(dict.fromkeys(rung.kind for rung in ladder)):
                rungs = [rung for rung in ladder if rung.kind == kind and rung.reading is reading]
                off = [rung.tip / LENGTH for rung in rungs]
                axes.loglog([rung.elements for rung in rungs], off, label=kind, **mark(k))
            axes.set_title(f"outer angle {reading}")
            axes.set_xlabel("elements of a link")
            axes.set_xticks(COUNTS, labels=map(str, COUNTS))
            axes.set_xticks((), minor=True)
        panels[0].set_ylabel("largest error of the tip / 8 m")
        panels[0].legend()
    return figure


def arm_figure(made: Computed, case: Case) -> Figure:
    """Figure 13, a to f: torques, errors of the end-effector, deflections."""
    flexible, rigid = made.arms[Links.BENDING][case], made.arms[Links.RIGID][case]
    with styled(PAGE, 8.6) as figure:
        grid = figure.subplots(3, 2, sharex=True)
        for column, (seen, words) in enumerate(((flexible, "flexible"), (rigid, "rigid"))):
            joints = [f"joint {k}" for k in (1, 2, 3)]
            _lines(grid[0, column], seen.time, seen.torques, joints)
            grid[0, column].set_title(f"{'ab'[column]}) joint torques, {words} links")
            grid[0, column].set_ylabel("torque [N m]")
            _lines(grid[1, column], seen.time, seen.error, list(AXES))
            grid[1, column].set_title(f"{'cd'[column]}) errors of the end-effector, {words} links")
            grid[1, column].set_ylabel("error [m]")
        for column, link in enumerate(reversed(LIFTING)):
            axes = grid[2, column]
            _lines(axes, flexible.time, flexible.deflection[link], list(PLANES))
            axes.set_title(f"{'ef'[column]}) deflection of link {3 - column}, the {_words(link)}")
            axes.set_ylabel(DEFLECTION)
            time_axis(axes, flexible.time)
        figure.suptitle(f"started {case}")
    return figure


def _words(link: str) -> str:
    return link.replace("_", " ")


def _lines(axes: Axes, time: Array, values: Array, labels: list[str]) -> None:
    for k, (column, label) in enumerate(zip(values[::PLOTTED].T, labels, strict=True)):
        axes.plot(time[::PLOTTED], column, linewidth=1.0, label=label, **line(k))
    later = values[time > EARLY]
    low, high, first = float(later.min()), float(later.max()), float(values.flat[np.abs(values).argmax()])
    if abs(first) > OUT_OF_SCALE * max(abs(low), abs(high)):
        beyond = 0.5 * (high - low)
        axes.set_ylim(low - beyond, high + beyond)
        words = f"in the first {MILLI * EARLY:.0f} ms up to {first:.3g}"
        axes.text(0.03, 0.05, words, transform=axes.transAxes)
    low, high = axes.get_ylim()
    axes.set_ylim(low, high + 0.2 * (high - low))  # room for the names
    axes.legend(loc="upper right", ncols=len(labels))


def first_milliseconds(made: Computed) -> Figure:
    """What samples every millisecond miss: links ring after the start."""
    shown = Links.SPECTRAL, Links.SHEARING, Links.BENDING
    with styled(PAGE, 5.6) as figure:
        grid = figure.subplots(2, 2, sharex=True)
        for column, case in enumerate(CASES[:2]):
            for row, link in enumerate(LIFTING):
                axes = grid[row, column]
                for k, words in enumerate(shown):
                    seen = made.arms[words][case]
                    early = seen.time <= EARLY
                    time, bent = MILLI * seen.time[early], seen.deflection[link][early, 0]
                    axes.plot(
                        time, bent, color=(FAINT, color(1), color(0))[k], linewidth=(2.4, 1.0, 1.0)[k], label=words
                    )
                axes.plot(time[::PLOTTED], bent[::PLOTTED], "o", color=INK, markersize=3, label="every 1 ms")
                axes.set_title(f"{_words(link)}\nstarted {case}")
                axes.set_ylabel(DEFLECTION)
                time_axis(axes, time)
                axes.set_xlabel("$t$ [ms]")
                axes.label_outer()
                axes.tick_params(labelleft=True)
        grid[0, 0].legend()
    return figure
