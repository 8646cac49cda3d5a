"""Figures 2 to 7 of the paper, the convergence of resonance frequencies, and what (5) and (6) lose."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.experiments.vidoni2018 import published, timings
from pliant.experiments.vidoni2018.computed import Computed
from pliant.experiments.vidoni2018.convergence import MODES, PER_ROD
from pliant.experiments.vidoni2018.frame import FOUR, PAPER, Case, elastic_frame
from pliant.experiments.vidoni2018.responses import HALF_PULSE, Input, Response, pulse
from pliant.view.figures.style import COLUMN, FAINT, INK, PAGE, color, line, mark, styled, time_axis

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MILLI = 1e3
SHOWN = 400.0  # Hz
HERTZ, AMPLITUDE, ACCELERATION = "frequency [Hz]", "amplitude [m/s²]", "acceleration [m/s²]"
MARKS = "osD"
FLOOR = 1e-9  # errors below it are drawn there, as the title says
SMALL: dict[str, Any] = {"markersize": 4.0, "linewidth": 1.2}


def draw(made: Computed) -> dict[str, Figure]:
    """Every figure by the name of its file."""
    return {
        "figure_2_frame": frame(),
        "figure_3_torque": torque(),
        "figure_4_gravity": gravity(made),
        "figure_5_time_gravity": times(made, Input.UNDEFORMED),
        "figure_6_torque_response": torque_response(made),
        "figure_7_time_torque": times(made, Input.TORQUE),
        "convergence": convergence(made),
        "exact_links": exact_links(made),
        "literal": literal(made),
    }


def frame() -> Figure:
    """Figure 2: nodes of both meshes; rod 2 is parallel to the hinge."""
    with styled(COLUMN, 4.0) as figure:
        axes = figure.subplots()
        for k, elements in enumerate((2, 4)):
            nodes = np.array([node.position for node in elastic_frame(elements // 2).frames]) + 0.012 * k
            axes.plot(nodes[:, 0], -nodes[:, 1], "-", marker=MARKS[k], color=color(k), label=f"{elements} elements")
        axes.plot([0.0, 0.0], [-0.08, 0.12], color=INK, linewidth=1.0, linestyle="-.", label="hinge axis")
        axes.annotate("motor and shrink disc", (0.0, 0.0), (0.03, -0.09))
        axes.annotate("elbow mass", (0.5, 0.0), (0.38, -0.09))
        axes.annotate("tip", (0.5, 0.5), (0.44, 0.5))
        axes.set_aspect("equal")
        axes.set_ylim(-0.13, 0.56)
        axes.set_xlabel("along rod 1 [m]")
        axes.set_ylabel("along rod 2 [m]")
        axes.legend(loc="center left")
    return figure


def torque() -> Figure:
    """Figure 3: the pulse, with a size and a length of our own."""
    time = np.linspace(-0.02, 0.14, 1601)
    with styled(COLUMN, 2.4) as figure:
        axes = figure.subplots()
        axes.plot(time, np.ravel(pulse().evaluate(time)), color=color(0))
        axes.set_title(f"torque on the hinge, {HALF_PULSE * MILLI:.0f} ms to and fro")
        axes.set_ylabel("torque [N m]")
        time_axis(axes, time)
    return figure


def gravity(made: Computed) -> Figure:
    """Figure 4, for both starts."""
    with styled(PAGE, 9.6) as figure:
        grid = figure.subplots(4, 1)
        for (upper, lower), given in zip((grid[:2], grid[2:]), (Input.UNDEFORMED, Input.BALANCED)):
            _acceleration(upper, made.seen[given], given.value)
            _spectrum(lower, made, given, "IV")
    return figure


def torque_response(made: Computed) -> Figure:
    """Figure 6."""
    with styled(PAGE, 5.4) as figure:
        upper, lower = figure.subplots(2, 1)
        _acceleration(upper, made.seen[Input.TORQUE], Input.TORQUE.value)
        _spectrum(lower, made, Input.TORQUE, "VII")
    return figure


def _acceleration(axes: Axes, seen: dict[Case, Response], words: str) -> None:
    for k, case in enumerate(PAPER):
        # of lines that coincide the ones below are wider, so that all are seen
        width = 1.9 - 0.4 * k
        axes.plot(seen[case].time, seen[case].acceleration, color=color(k), linewidth=width, label=str(case))
    axes.set_title(f"acceleration of the tip along z: {words}")
    axes.set_ylabel(ACCELERATION)
    low, high = axes.get_ylim()
    axes.set_ylim(low, high + 0.2 * (high - low))
    axes.legend(loc="upper right", ncols=4)
    time_axis(axes, seen[FOUR].time)


def _spectrum(axes: Axes, made: Computed, given: Input, table: str) -> None:
    for peak in published.peaks(table)[FOUR].values():
        axes.axvline(peak, color=FAINT, linewidth=1.0, linestyle="--", zorder=0)
    for k, case in enumerate(PAPER):
        seen = made.seen[given][case]
        inside = (seen.frequency > 0.0) & (seen.frequency < SHOWN)
        axes.loglog(seen.frequency[inside], seen.amplitude[inside], linewidth=0.9, label=str(case), **line(k))
    axes.set_title(f"its spectrum; dashed are peaks of Table {table}, {FOUR}")
    axes.set_xlabel(HERTZ)
    axes.set_ylabel(AMPLITUDE)
    axes.set_xlim(0.5, SHOWN)
    axes.set_ylim(1e-4, None)


def times(made: Computed, given: Input) -> Figure:
    """Figures 5 and 7: published and measured times against the number of modes."""
    printed = timings.published().runs[given]
    with styled(PAGE, 5.0) as figure:
        left, right = figure.subplots(1, 2)
        for k, (name, row) in enumerate(timings.ROWS.items()):
            cases = [case for case in printed if (case.elements, case.exported) == row]
            for found, line, words in (
                (printed, "--", "published"),
                (made.times.explicit[given], "-", "explicit steps"),
                (made.times.exact[given], ":", "energy-exact, 1 ms"),
            ):
                means = [float(found[case].mean()) for case in cases]
                left.semilogy([case.modes for case in cases], means, line, marker=MARKS[k], color=color(k), **SMALL)
                if k == 0:
                    right.plot([], [], line, color=INK, label=words)
            right.plot([], [], MARKS[k], color=color(k), label=_words(name), **SMALL)
            vibrating = [case for case in cases if case in made.hinged]
            highest = [made.hinged[case][-1] for case in vibrating]
            for found, line in ((printed, "--"), (made.times.explicit[given], "-")):
                means = [float(found[case].mean()) for case in vibrating]
                right.loglog(highest, means, line, marker=MARKS[k], color=color(k), **SMALL)
        left.set_xlabel("number of modes")
        left.set_ylabel("computing time for 2 s of motion [s]")
        left.set_title(f"Computing time: {given.value}")
        right.set_xlabel("highest frequency of the model [Hz]")
        right.set_title("The same against the highest frequency")
        figure.legend(*right.get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return figure


def _words(row: str) -> str:
    """A row of the tables of the paper, such as 4 (30 m.), for those who have not read them."""
    elements, exported = timings.ROWS[row]
    return f"{elements} elements, {exported} modes kept"


def convergence(made: Computed) -> Figure:
    """Resonance frequencies against modes of four elements, and against elements."""
    whole = made.convergence
    with styled(PAGE, 4.6) as figure:
        left, right = figure.subplots(1, 2)
        for k in range(6):
            error = whole.modes[:, k] / whole.modes[-1, k] - 1.0
            left.semilogy(MODES, np.maximum(error, FLOOR), label=f"$f_{k + 1}$", **mark(k), **SMALL)
            for dashes, found in zip(("-", "--"), whole.elements.values()):
                apart = np.abs(found[:, k] / whole.beam[k] - 1.0)
                right.loglog(2 * np.array(PER_ROD), apart, dashes, **mark(k), **SMALL)
        left.set_title("modes of 4 elements, against all 30; $10^{-9}$ is zero")
        left.set_xlabel("modes, 6 rigid ones among them")
        left.set_ylabel("relative error of frequency")
        left.legend(ncols=2)
        right.set_title("against the converged beam")
        right.set_xlabel("elements of the frame")
        right.set_xticks(2 * np.array(PER_ROD), [str(2 * count) for count in PER_ROD])
        right.minorticks_off()
        for dashes, words in zip(("-", "--"), whole.elements):
            right.plot([], [], dashes, color=INK, label=words)
        right.legend(loc="lower left")
    return figure


def exact_links(made: Computed) -> Figure:
    """Converged links under gravity, with small deflections and geometrically exact, and the element of the paper."""
    cases = {
        "two links, small deflections": made.small,
        "geometrically exact": made.exact,
        str(FOUR): made.seen[Input.UNDEFORMED][FOUR],
    }
    with styled(PAGE, 3.6) as figure:
        axes = figure.subplots()
        for k, (words, seen) in enumerate(cases.items()):
            inside = (seen.frequency > 0.0) & (seen.frequency < 200.0)
            axes.semilogy(seen.frequency[inside], seen.amplitude[inside], linewidth=1.0, label=words, **line(k))
        axes.set_title("spectrum of the tip's acceleration along z, gravity, undeformed start")
        axes.set_xlabel(HERTZ)
        axes.set_ylabel(AMPLITUDE)
        axes.set_xlim(0.0, 200.0)
        axes.set_ylim(1e-3, None)
        axes.legend(loc="upper right")
    return figure


def literal(made: Computed) -> Figure:
    """Energy and tip by (5) and (6) as printed."""
    with styled(COLUMN, 4.0) as figure:
        upper, lower = figure.subplots(2, 1, sharex=True)
        for k, (words, fall) in enumerate({"full equations": made.full, "(5), (6) as printed": made.literal}.items()):
            upper.plot(fall.time, MILLI * (fall.energy - fall.energy[0]), color=color(k), label=words)
        upper.set_ylabel("energy [mJ]")
        upper.set_title("change of energy, nothing but gravity acting")
        upper.set_ylim(top=1.5 * upper.get_ylim()[1])  # room for the names
        upper.legend(loc="upper center", ncols=2)
        away = np.linalg.norm(made.literal.tip - made.full.tip, axis=1)
        lower.plot(made.full.time, MILLI * away, color=color(1))
        lower.set_title("distance of both tips")
        lower.set_ylabel("distance [mm]")
        time_axis(lower, made.full.time)
    return figure
