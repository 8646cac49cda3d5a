"""Figure 6 of the paper, what suppression does to it, the drift of the integrators, and the numbers not printed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.experiments.konno1996.adam import GEAR_RATIO, PUBLISHED, SERVO_SHARE, SIGNALS, TUBE
from pliant.experiments.konno1996.effects import IN_PLANE, TABLE_ELBOWS, Effects, Table
from pliant.experiments.konno1996.responses import REST, SUPPRESSION, TARGET, Response, Responses
from pliant.experiments.konno1996.sampled_loop import damping_ratio, hertz
from pliant.model.linear.port import Complex
from pliant.view.figures.style import COLUMN, FAINT, INK, PAGE, color, legend_beside, line, mark, styled, time_axis

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from rich.table import Table as Shown

MILLI = 1e3
BAND = (2.0, 3.6)  # Hz, shown of the effects
FREQUENCY = "frequency [Hz]"
GRAVITY_LINE: dict[str, Any] = {"linewidth": 1.0, "markersize": 3.5}


def draw(table: Table, effects: Effects, responses: Responses) -> dict[str, Figure]:
    """Every figure by the name of its file."""
    return {
        "figure_6_step_responses": step_responses(responses.paper),
        "suppression": suppression(responses),
        "energy": energy(responses),
        "effects": effects_of_choices(table, effects),
    }


def step_responses(seen: Response) -> Figure:
    """Joint angles, deflections and tip after the step of yaw and pitch."""
    with styled(COLUMN, 6.2) as figure:
        joints, fields, tip = figure.subplots(3, 1, sharex=True)
        for k in range(4):
            joints.plot(seen.time, seen.angles[:, k], label=f"$\\theta_{k + 1}$", **line(k))
        joints.axhline(TARGET[0] - REST[0], color=INK, linewidth=0.9, linestyle=":", label="reference\nof 1, 2")
        joints.set_title("joint angles, from the posture before")
        joints.set_ylabel("angle [rad]")
        for k, name in enumerate(SIGNALS):
            words = f"$\\delta_{{{name}}}$"
            fields.plot(seen.time, MILLI * seen.deflection[name], label=words, **line(k))
        fields.set_title("deflections of the fields")
        fields.set_ylabel("deflection [mm]")
        moved = seen.run.tip_position - seen.run.tip_position[0]
        for k, word in enumerate("xyz"):
            tip.plot(seen.time, MILLI * moved[:, k], label=word, **line(k))
        tip.set_title("displacement of the wrist")
        tip.set_ylabel("displacement [mm]")
        for axes in (joints, fields, tip):
            legend_beside(axes)
        time_axis(tip, seen.time)
    return figure


def suppression(responses: Responses) -> Figure:
    """With and without feedback of deflections."""
    cases = {"position loop alone": responses.paper, "with feedback of deflections": responses.suppressed}
    with styled(PAGE, 6.4) as figure:
        grid = figure.subplots(2, 2, sharex=True)
        for axes, name in zip(grid.ravel(), ("y5", "z3", "z5")):
            for k, (words, seen) in enumerate(cases.items()):
                axes.plot(seen.time, MILLI * seen.deflection[name], color=color(1 - k), label=words)
            axes.set_title(f"deflection $\\delta_{{{name}}}$")
            axes.set_ylabel("deflection [mm]")
        last = grid[1, 1]
        for k, (words, seen) in enumerate(cases.items()):
            last.semilogy(seen.time, MILLI * seen.swing, color=color(1 - k), label=words)
        last.set_title("wrist, from where it comes to rest")
        last.set_ylabel("distance [mm]")
        grid[0, 0].legend(loc="upper right")
        for axes in grid[1]:
            time_axis(axes, responses.paper.time)
    return figure


def energy(responses: Responses) -> Figure:
    """What the ledgers of both integrators cannot explain."""
    with styled(COLUMN, 3.4) as figure:
        axes = figure.subplots()
        steps = np.array(sorted(responses.drift))
        drift = np.array([responses.drift[step] for step in steps])
        axes.loglog(MILLI * steps, drift, label="Runge-Kutta-Gill", **mark(1))
        guide = drift[-1] * (steps / steps[-1]) ** 5
        axes.loglog(MILLI * steps, guide, ":", color=FAINT, label="fifth power of the step")
        exact = np.maximum([responses.exact_residual[step] for step in steps], 1e-18)
        axes.loglog(MILLI * steps, exact, label="energy-exact rule", **mark(0))
        axes.axhline(np.finfo(float).eps, color=FAINT, linestyle="--", zorder=0, label="rounding of a number")
        _plain_ticks(axes, MILLI * steps)
        axes.set_title("energy that the ledger cannot explain, 1 s")
        axes.set_xlabel("step [ms]")
        axes.set_ylabel("part of the exchanged energy")
        axes.legend(loc="center right")
    return figure


def _plain_ticks(axes: Axes, ticks: Iterable[float]) -> None:
    """Numbers without powers of ten on a logarithmic axis."""
    shown = list(ticks)
    axes.set_xticks(shown, [f"{tick:g}" for tick in shown])
    axes.set_xticks([], minor=True)


def effects_of_choices(table: Table, effects: Effects) -> Figure:
    """First frequencies against every number that the paper does not print."""
    with styled(PAGE, 10.2) as figure:
        (clamped, torsion), (gears, servo), (damping, gravity) = figure.subplots(3, 2)
        _elbow(clamped, table, effects)
        _torsion(torsion, effects)
        _gears(gears, effects)
        _servo(servo, damping, effects)
        _gravity(gravity, effects)
        for axes in (clamped, torsion, gears, servo, gravity):
            _published(axes)
            axes.set_ylim(*BAND)
            axes.set_ylabel(FREQUENCY)
        clamped.set_ylim(BAND[0], BAND[1] + 1.0)  # room for the words
        clamped.legend(loc="upper left")
    return figure


def _published(axes: Axes) -> None:
    """2.865 and 2.866 Hz fall on one line."""
    axes.axhline(PUBLISHED["simulation"][0], color=INK, linewidth=0.9, linestyle="--", zorder=1)
    for value in PUBLISHED["experiment"]:
        axes.axhline(value, color=INK, linewidth=0.8, linestyle=":", zorder=1)


def _elbow(axes: Axes, table: Table, effects: Effects) -> None:
    for k, (name, values) in enumerate(effects.clamped.items()):
        axes.plot(effects.elbow, values, "-" if k < 3 else "-.", color=color(k), label=name)
        if name in table.found:
            axes.plot(TABLE_ELBOWS, table.found[name], "o", color=color(k), markersize=4)
    axes.plot([], [], "--", color=INK, linewidth=0.9, label="published: simulation")
    axes.plot([], [], ":", color=INK, linewidth=0.9, label="published: experiment")
    axes.set_title("posture: joints clamped (dots: stations and fields)")
    axes.set_xlabel("elbow angle $\\theta_4$ [degrees]")


def _torsion(axes: Axes, effects: Effects) -> None:
    in_plane = effects.clamped[IN_PLANE][np.abs(effects.elbow - 90.0).argmin()]
    axes.axhline(in_plane, color=color(0), label="in the plane")
    axes.plot(effects.torsion, effects.twisting, color=color(1), label="across it")
    axes.axvline(TUBE, color=FAINT, linewidth=1.2, label="our choice")
    axes.set_title("torsional stiffness: elbow at 90 degrees, clamped")
    axes.set_xlabel("$GJ / EI$ of the upper arm")
    axes.legend(loc="lower right")


def _gears(axes: Axes, effects: Effects) -> None:
    for k, (elbow, found) in enumerate(effects.free.items()):
        for j in range(2):
            words = f"elbow at {elbow:g} degrees" if j == 0 else None
            axes.semilogx(effects.ratio, found[:, j], "-" if j == 0 else "-.", color=color(k), label=words)
    axes.axvline(GEAR_RATIO, color=FAINT, linewidth=1.2, label="our choice")
    _plain_ticks(axes, (50, 100, 200, 300, 500))
    axes.set_title("gear ratio: rotors free, first and second frequency")
    axes.set_xlabel("turns of the rotors for one of the joint")
    axes.legend(loc="lower left")


def _servo(axes: Axes, below: Axes, effects: Effects) -> None:
    for k, (elbow, found) in enumerate(effects.servoed.items()):
        gain, frequency, ratio = found.T
        words = f"elbow at {elbow:g} degrees"
        axes.semilogx(gain, frequency, linestyle="", markersize=3.5, label=words, **mark(k))
        slow = frequency < BAND[1]
        below.loglog(gain[slow], ratio[slow], linestyle="", markersize=3.5, label=words, **mark(k))
    for each in (axes, below):
        each.axvline(SERVO_SHARE, color=FAINT, linewidth=1.2, label="our choice")
        each.set_xlabel("servo gain times its period over rotor inertia")
        _plain_ticks(each, (0.02, 0.05, 0.1, 0.2, 0.5, 1.0))
        each.legend(loc="upper right" if each is axes else "lower left")
    below.set_yticks([0.01, 0.02, 0.05, 0.1, 0.2, 0.5], ["0.01", "0.02", "0.05", "0.1", "0.2", "0.5"])
    below.set_yticks([], minor=True)
    axes.set_title("servo gain: modes with damping below 0.4")
    below.set_title("servo gain: their damping ratios")
    below.set_ylabel("damping ratio")


def _gravity(axes: Axes, effects: Effects) -> None:
    for k, (name, found) in enumerate(effects.gravity.items()):
        for j in range(2):
            words = name if j == 0 else None
            dashes = "-" if j == 0 else "-."
            axes.plot(effects.gravity_elbow, found[:, j], dashes, label=words, **GRAVITY_LINE, **mark(k))
    axes.set_title("gravity: links sag, two lowest frequencies")
    axes.set_xlabel("elbow angle $\\theta_4$ [degrees]")
    axes.legend(loc="upper left")


def frequency_table(made: Table) -> Shown:
    """The first frequencies with clamped joints."""
    from pliant.cli.terminal import table

    shown = table("first frequencies, joints clamped [Hz]", ("elbow [degrees]",), tuple(made.closed))
    for k, elbow in enumerate(TABLE_ELBOWS):
        shown.add_row(f"{elbow:g}", *(f"{values[k]:.5f}" for values in made.found.values()))
    return shown


def ringing_table(rung: dict[str, tuple[Complex, Complex]]) -> Shown:
    """What rings after the step, and what linear theory says."""
    from pliant.cli.terminal import table

    names = ("linear [Hz]", "simulated [Hz]", "linear damping", "simulated damping")
    shown = table(f"vibrations after the step; suppression {SUPPRESSION:g} rad/s per m", ("run", "mode"), names)
    for run, (linear, found) in rung.items():
        for k in range(len(linear)):
            cells = (hertz(linear)[k], hertz(found)[k], damping_ratio(linear)[k], damping_ratio(found)[k])
            shown.add_row(run, str(k + 1), *(f"{cell:.4f}" for cell in cells))
    return shown


def energy_table(responses: Responses) -> Shown:
    """Residuals of both integrators."""
    from pliant.cli.terminal import table

    shown = table("energy ledgers of the step response, 1 s", ("integrator", "step [ms]"), ("unexplained part",))
    for name, runs in (("Runge-Kutta-Gill", responses.drift), ("energy-exact", responses.exact_residual)):
        for step, value in runs.items():
            shown.add_row(name, f"{MILLI * step:g}", f"{value:.1e}")
    return shown
