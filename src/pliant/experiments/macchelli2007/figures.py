"""Figures 4 to 8 of the paper, and two of our own about the mesh."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from pliant.experiments.figure_files import write
from pliant.experiments.macchelli2007 import runs
from pliant.experiments.macchelli2007.runs import FAST, GAMMA_X, GAMMA_Y, KAPPA_Z, SLOW, Seen
from pliant.results.observables import POSITION, STATION, STRAIN, TIME
from pliant.view.figures.style import (
    COLUMN,
    FAINT,
    INK,
    PAGE,
    color,
    line,
    mark,
    styled,
    time_axis,
    time_bar,
    time_colors,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from rich.table import Table

    from pliant.experiments.macchelli2007.run import Manoeuvres, SmoothErrors, Steps

LABELS = {KAPPA_Z: rf"$q_\theta$ [{STRAIN['kappa_z'].unit}]", GAMMA_X: "$q_x$", GAMMA_Y: "$q_y$"}
SHOWN_OF_STEP = 0.4 + 1e-9  # seconds, with the last time that steps add up to
TRANSIENT = 0.12
FLASHES = 13
FRONT = 0.045 + 1e-9
MILLI = 1e3


def write_all(folder: Path, steps: Steps, manoeuvres: Manoeuvres, smooth: SmoothErrors) -> list[Path]:
    """Draw and write every figure of the single link; the paths written."""
    return write(
        folder,
        {
            "figure_4_joint_error": joint_error(steps),
            "figure_5_strains_of_the_step": strains_of_step(steps),
            "figure_6_transient": transient(steps.fine),
            "figure_7_pick_and_place": manoeuvre_strains(manoeuvres.pick_and_place, "PP"),
            "figure_8_step_acceleration": manoeuvre_strains(manoeuvres.step_acceleration, "ST"),
            "damping_of_st": damping(manoeuvres),
            "front_of_the_step": front(steps),
            "convergence": convergence(steps, smooth),
        },
    )


def joint_error(steps: Steps) -> Figure:
    """Fig. 4: the joint error decays; all meshes lie on one line, so that they are seen apart below."""
    with styled(COLUMN, 5.0) as figure:
        error, apart = figure.subplots(2, 1, sharex=True)
        error.plot(steps.fine.time, runs.TARGET - steps.fine.angle, color=INK)
        error.set_title("joint error after a step of 1 rad, fine mesh")
        error.set_ylabel(r"$\theta_d - \theta$ [rad]")
        for k, seen in enumerate(each for each in steps.all if each is not steps.fine):
            off = np.abs(seen.angle - np.interp(seen.time, steps.fine.time, steps.fine.angle))
            from_then_on = np.maximum.accumulate(off[::-1])[::-1]
            apart.semilogy(seen.time, from_then_on, label=seen.label, **line(k))
        apart.set_ylim(bottom=1e-6)  # at the very end nothing is left to come
        apart.set_title("differences to it, largest from then on")
        apart.set_ylabel(r"$|\Delta\theta|$ [rad]")
        figure.legend(*apart.get_legend_handles_labels(), loc="outside lower center", ncols=2)
        error.axhline(0.0, color=FAINT, linewidth=0.8, zorder=0)
        time_axis(apart, steps.fine.time)
    return figure


def strains_of_step(steps: Steps) -> Figure:
    """Fig. 5: bending, extension and shear at three stations."""
    stations = {2: "L/4", 4: "L/2", 6: "3L/4"}
    with styled(PAGE, 6.6) as figure:
        grid = figure.subplots(3, 3, sharex=True, sharey="row")
        for column, (eighth, words) in enumerate(stations.items()):
            for row, component in enumerate((KAPPA_Z, GAMMA_X, GAMMA_Y)):
                axes = grid[row, column]
                for k, seen in enumerate((steps.fine, steps.literal[20])):
                    early = seen.time <= SHOWN_OF_STEP
                    values = seen.at(eighth, component)[early]
                    shade, width = ((FAINT, 1.6), (color(0), 0.7))[k]
                    axes.plot(seen.time[early], values, color=shade, linewidth=width, label=seen.label)
                axes.set_ylabel(LABELS[component])
                time_axis(axes, seen.time[early])
                axes.set_xticks((0.0, 0.1, 0.2, 0.3))  # without the last, which would touch the next panel's first
                axes.label_outer()
            grid[0, column].set_title(f"$s$ = {words}")
        grid[0, 2].legend(loc="lower right")
    return figure


def transient(run: Seen) -> Figure:
    """Fig. 6: the first instants, strobed; beside it the same shapes seen from the turning joint, enlarged.

    Only the fine mesh resolves the front of the wave that runs through the link.
    """
    link = run.trajectory.link("link")
    flashes = np.searchsorted(run.time, np.linspace(0.0, TRANSIENT, FLASHES) - 1e-9)
    shown = run.time[: flashes[-1] + 1]
    shades = time_colors(shown).to_rgba(run.time[flashes])
    with styled(PAGE, 4.2) as figure:
        world, joint = figure.subplots(1, 2)
        for n, shade in zip(flashes, shades, strict=True):
            x, y = link.position[n, :, 0], link.position[n, :, 1]
            c, s = np.cos(run.angle[n]), np.sin(run.angle[n])
            world.plot(x, y, color=shade, linewidth=1.8)
            joint.plot(link.station, 100 * (c * y - s * x), color=shade)
        world.set_aspect("equal", adjustable="datalim")
        world.set_title(f"the first {TRANSIENT:g} s after the step")
        world.set_xlabel(POSITION["x"].label)
        world.set_ylabel(POSITION["y"].label)
        joint.set_title("seen from the joint")
        joint.set_xlabel(STATION.label)
        joint.set_ylabel("deflection [cm]")
        time_bar(figure, joint, shown)
    return figure


def manoeuvre_strains(manoeuvres: dict[float, Seen], name: str) -> Figure:
    """Figs. 7 and 8: bending and shear at two stations, slow and fast; the two stations of a pace share their scale."""
    with styled(PAGE, 5.4) as figure:
        grid = figure.subplots(2, 4, sharex="col")
        for axes in grid:
            axes[1].sharey(axes[0])
            axes[3].sharey(axes[2])
        column = 0
        for duration, pace in ((SLOW, "s"), (FAST, "f")):
            seen = manoeuvres[duration]
            for eighth, words in ((2, "L/4"), (4, "L/2")):
                for row, component in enumerate((KAPPA_Z, GAMMA_Y)):
                    axes = grid[row, column]
                    axes.plot(seen.time, seen.at(eighth, component), color=color(row), linewidth=0.9)
                    axes.set_ylabel(LABELS[component] if column % 2 == 0 else "")
                    axes.tick_params(labelleft=column % 2 == 0)
                    time_axis(axes, seen.time)
                    axes.set_xlabel(TIME.label if row == 1 else "")
                # above the power of ten that stands over every second panel
                grid[0, column].set_title(f"{name}-{pace}, $s$ = {words}", y=1.0, pad=16)
                column += 1
    return figure


def damping(manoeuvres: Manoeuvres) -> Figure:
    """What three readings of the paper's viscous damping do to ST-f."""
    with styled(COLUMN, 4.8) as figure:
        grid = figure.subplots(2, 1, sharex=True)
        cases = (manoeuvres.undamped, manoeuvres.dragged, manoeuvres.step_acceleration)
        lag = runs.lag_per_acceleration(2)
        for row, component in enumerate((KAPPA_Z, GAMMA_Y)):
            axes: Axes = grid[row]
            for k, kind in enumerate(cases):
                seen = kind[FAST]
                shade, width = ((FAINT, 0.8), (color(1), 1.0), (color(0), 1.3))[k]
                axes.plot(seen.time, seen.at(2, component), color=shade, linewidth=width, label=seen.label)
            acceleration = runs.step_acceleration(FAST).evaluate(seen.time)[2]
            axes.plot(seen.time, lag[component] * acceleration, "--", color=INK, linewidth=0.9, label="quasi-static")
            axes.set_ylabel(LABELS[component])
            time_axis(axes, seen.time)
            axes.label_outer()
        grid[0].set_title("ST-f at L/4: strain follows acceleration\nonly if the damping is inside the link")
        figure.legend(*grid[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return figure


def front(steps: Steps) -> Figure:
    """The wave that the step sends through the link, as different meshes see it."""
    speed, jump = runs.rotation_wave()
    length = 1.0
    with styled(COLUMN, 4.0) as figure:
        axes = figure.subplots()
        for k, seen in enumerate((steps.literal[20], steps.literal[40], steps.degrees[6], steps.fine)):
            early = seen.time <= FRONT
            axes.plot(
                MILLI * seen.time[early], seen.at(2, KAPPA_Z)[early], ("--", "-", "-.", "-")[k],
                color=(color(0), color(1), color(2), INK)[k], linewidth=(1.0, 1.0, 1.2, 0.8)[k], label=seen.label,
            )  # fmt: skip
        for distance in (0.25, 1.75):
            axes.axvline(MILLI * distance * length / speed, color=FAINT, linestyle=":", zorder=0)
        axes.axhline(jump, color=FAINT, linestyle="--", zorder=0, label="jump by characteristics")
        axes.set_title("curvature at L/4: the front passes,\nreturns from the tip, and passes again")
        axes.set_ylabel(LABELS[KAPPA_Z])
        time_axis(axes, MILLI * seen.time[early])
        axes.set_xlabel("$t$ [ms]")
        figure.legend(loc="outside lower center", ncols=2)
    return figure


def convergence(steps: Steps, smooth: SmoothErrors) -> Figure:
    """How meshes agree: with the jump, and with a smooth command."""
    from pliant.experiments.macchelli2007.run import angle_difference

    with styled(PAGE, 3.9) as figure:
        jump, easy = figure.subplots(1, 2)
        literal = {n: angle_difference(seen, steps.fine) for n, seen in steps.literal.items()}
        degrees = {p: angle_difference(seen, steps.fine) for p, seen in steps.degrees.items()}
        panels = (
            (jump, literal, degrees, "step: joint angle [rad]"),
            (easy, smooth.literal, smooth.degrees, "PP-f: tip position [m]"),
        )
        for axes, of_elements, of_degree, title in panels:
            axes.loglog(list(of_elements), list(of_elements.values()), label="paper's element, N", **mark(1))
            axes.loglog(list(of_degree), list(of_degree.values()), label="spectral link, degree", **mark(0))
            axes.set_title(title)
            axes.set_xlabel("elements N, or degree of one element")
            axes.set_ylabel("largest difference to the fine mesh")
        jump.set_ylim(1e-4, 1e-2)
        n = np.array(list(smooth.literal), dtype=float)
        easy.loglog(n, smooth.literal[10] * 0.5 * (n / 10) ** -2, "--", color=FAINT, label="order 2")
        jump.legend()
        easy.legend()
        for axes in (jump, easy):
            axes.set_xlim(1.7, 48)
            axes.set_xticks((2, 4, 6, 10, 20, 40), labels=("2", "4", "6", "10", "20", "40"))
            axes.set_xticks((), minor=True)
    return figure


def convergence_table(steps: Steps, smooth: SmoothErrors) -> Table:
    """The same as numbers, with the peaks at L/4."""
    from pliant.cli.terminal import table
    from pliant.experiments.macchelli2007.run import READ_AT, angle_difference, largest

    times = tuple(f"θ({time:g} s)" for time in READ_AT)
    made = table(
        "mesh convergence of the step response; N: the paper's element, p: one spectral element",
        ("mesh",),
        (*times, "largest |Δθ|", "max |q_θ|", "max |q_y|", "PP-f tip error [m]"),
    )
    rows = [(f"N = {n}", seen, f"{smooth.literal[n]:.1e}") for n, seen in steps.literal.items()]
    rows += [(f"p = {p}", seen, _tip_error(smooth, p)) for p, seen in steps.degrees.items()]
    rows.append(("fine", steps.fine, ""))
    for name, seen, error in rows:
        angles = (f"{np.interp(time, seen.time, seen.angle):.5f}" for time in READ_AT)
        difference = "" if seen is steps.fine else f"{angle_difference(seen, steps.fine):.1e}"
        peaks = (f"{largest(seen.at(2, component)):.4f}" for component in (KAPPA_Z, GAMMA_Y))
        made.add_row(name, *angles, difference, *peaks, error)
    return made


def _tip_error(smooth: SmoothErrors, degree: int) -> str:
    return f"{smooth.degrees[degree]:.1e}" if degree in smooth.degrees else ""
