"""Figures 5 and 6 of the paper, and three of our own: the whole spectrum, convergence, the rig."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pliant.experiments.wang2017 import beam, rig
from pliant.experiments.wang2017.beam import DEGREES, GAUSS, MODES, PRINTED, UNIFORM, Responses, Shapes, Spectra
from pliant.view.figures.style import COLUMN, FAINT, INK, PAGE, color, mark, styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from rich.table import Table

FREQUENCY = "frequency [Hz]"
SMALLEST = {1: 1e-8, 5: 1e-6}  # of a difference: where two functions cross it has no lowest value


def draw(spectra: Spectra, shapes: Shapes, responses: Responses) -> dict[str, Figure]:
    """Every figure by the name of its file."""
    return {
        "figure_5_eigenfunctions": eigenfunctions(shapes),
        "figure_6_frequency_response": frequency_response(responses),
        "spectrum": whole_spectrum(spectra),
        "convergence": convergence(spectra),
        "rig": rig_response(),
    }


def eigenfunctions(shapes: Shapes) -> Figure:
    """Fig. 5: the first and fifth eigenfunction and their polynomials through exact values at the points."""
    panels = {1: ((6, GAUSS), (6, UNIFORM)), 5: ((6, GAUSS), (12, GAUSS), (12, UNIFORM))}
    with styled(PAGE, 5.4) as figure:
        grid = figure.subplots(2, 2, sharex=True, height_ratios=(2.2, 1.0))
        for column, (mode, lines) in enumerate(panels.items()):
            above, below = grid[:, column]
            above.plot(shapes.station, shapes.exact[mode], color=INK, linewidth=1.8, label="exact")
            for k, (degree, name) in enumerate(lines):
                shape, words = shapes.interpolated[mode, degree, name], f"{name}, N = {degree}"
                dashes = ("--", "-.", ":")[k]
                above.plot(shapes.station, shape, dashes, color=color(k), linewidth=1.2, label=words)
                error = np.abs(shape - shapes.exact[mode])
                below.semilogy(shapes.station, np.maximum(error, 1e-12), dashes, color=color(k), linewidth=1.0)
            below.set_ylim(bottom=SMALLEST[mode])
            if mode == 5:
                above.set_ylim(-1.6, 1.6)
            above.set_title(f"eigenfunction {mode}")
            above.legend(loc="upper left" if mode == 1 else "lower left")
            below.set_xlabel("distance from the root [m]")
        grid[0, 0].set_ylabel("deflection")
        grid[1, 0].set_ylabel("difference to exact")
    return figure


def frequency_response(responses: Responses) -> Figure:
    """Fig. 6: rotation of the tip per rotation of the root, and how far the discrete models are off."""
    hertz = responses.hertz
    with styled(COLUMN, 4.4) as figure:
        above, below = figure.subplots(2, 1, sharex=True, height_ratios=(2.0, 1.0))
        above.loglog(hertz, np.abs(responses.exact), color=INK, linewidth=1.8, label="exact")
        for k, (degree, style) in enumerate(zip(DEGREES, ("-.", "--"), strict=True)):
            response = np.abs(responses.discrete[degree])
            above.loglog(hertz, response, style, color=color(1 - k), linewidth=1.1, label=f"N = {degree}")
            deviation = np.maximum(responses.deviation(degree), 1e-12)
            below.loglog(hertz, deviation, style, color=color(1 - k), linewidth=0.9)
        for axes in (above, below):
            for resonance in responses.resonances[responses.resonances < hertz[-1]]:
                axes.axvline(resonance, color=FAINT, linewidth=0.7, linestyle=":", zorder=0)
        above.set_xlim(1.0, 1000.0)
        above.set_ylim(0.5, 500.0)
        above.set_title("rotation rate of the tip per that of the root")
        above.set_ylabel("$|G|$")
        above.legend(loc="upper left")
        below.set_ylim(1e-11, 10.0)
        below.set_ylabel("relative deviation")
        below.set_xlabel(FREQUENCY)
    return figure


def whole_spectrum(spectra: Spectra) -> Figure:
    """All discrete frequencies beside the exact ones: half of them gather at the critical frequency."""
    with styled(COLUMN, 3.4) as figure:
        axes = figure.subplots()
        modes = np.arange(1, len(spectra.exact) + 1)
        axes.semilogy(modes, spectra.exact, "o-", color=INK, markersize=3.5, label="exact")
        for k, degree in enumerate(DEGREES):
            found = spectra.discrete[degree, GAUSS]
            axes.semilogy(
                np.arange(1, len(found) + 1), found, "sv"[k], color=color(1 - k), markersize=4, label=f"N = {degree}"
            )
        axes.axhline(beam.exact_beam().cut_off, color=FAINT, linestyle="--", label="critical frequency")
        axes.set_title("the whole spectrum")
        axes.set_xlabel("mode")
        axes.set_ylabel(FREQUENCY)
        axes.legend(loc="lower right")
    return figure


def convergence(spectra: Spectra) -> Figure:
    """Errors of the first five frequencies fall faster than any power of the degree."""
    with styled(COLUMN, 3.6) as figure:
        axes = figure.subplots()
        degrees = np.array(list(spectra.errors))
        errors = np.array(list(spectra.errors.values()))
        for k in range(5):
            axes.semilogy(degrees, np.maximum(errors[:, k], 1e-16), markersize=3.5, label=f"$f_{k + 1}$", **mark(k))
        axes.set_title("frequencies converge spectrally,\nfor even and odd degree, down to rounding")
        axes.set_xlabel("degree N")
        axes.set_xticks(range(4, 21, 4))
        axes.set_ylabel("relative error")
        axes.set_ylim(1e-15, 10.0)
        axes.legend(loc="upper right")
    return figure


def rig_response() -> Figure:
    """The whole rig with our parameters: rate of the rotor per torque, exact and discrete, both tips."""
    hertz = np.geomspace(1.0, 700.0, 700)
    s = np.asarray(2j * np.pi * hertz, complex)
    with styled(COLUMN, 3.6) as figure:
        axes = figure.subplots()
        for k, (words, mass) in enumerate((("free tip", 0.0), ("tip mass", rig.TIP_MASS))):
            motor = rig.rig(mass).state_space().between(("drive.motor.torque",), ("drive.motor.rate",))
            exact = np.abs(rig.exact_mobility(s, rig.tip_end(mass)))
            axes.loglog(hertz, exact, color=color(k), linewidth=2.6, alpha=0.35, label=f"{words}, exact")
            discrete = np.abs(motor.transfer(s)[:, 0, 0])
            dashes = ("-", "--")[k]
            axes.loglog(hertz, discrete, dashes, color=color(k), linewidth=1.0, label=f"{words}, N = {rig.DEGREE}")
        axes.set_xlim(hertz[0], hertz[-1])
        axes.set_title("rig: rate of the rotor per torque on it,\nboth on the driven side")
        axes.set_xlabel(FREQUENCY)
        axes.set_ylabel("gain [rad/s / (N m)]")
        axes.legend(loc="upper right")
    return figure


def spectrum_table(spectra: Spectra) -> Table:
    """Table 2, continued to f8."""
    from pliant.cli.terminal import table

    columns = tuple((name, degree) for name in PRINTED for degree in DEGREES)
    made = table(
        "Table 2, continued: frequencies [Hz]",
        ("mode",),
        ("exact", *(f"{name}, N = {degree}" for name, degree in columns)),
    )
    for k in range(MODES):
        found = (f"{spectra.discrete[degree, name][k]:.4f}" for name, degree in columns)
        made.add_row(f"f{k + 1}", f"{spectra.exact[k]:.4f}", *found)
    return made


def error_table(spectra: Spectra, shapes: Shapes) -> Table:
    """How frequencies converge, and what is left of the eigenfunctions."""
    from pliant.cli.terminal import table

    made = table(
        "relative errors of frequencies; of eigenfunctions: eigenvectors of the discrete model",
        ("N",),
        (*(f"f{k}" for k in range(1, 6)), "shape 1", "shape 5"),
    )
    for degree in (6, 8, 10, 12, 14, 16):
        of_shapes = (f"{shapes.eigenvector_error(mode, degree):.1e}" if degree in DEGREES else "" for mode in (1, 5))
        made.add_row(str(degree), *(f"{error:.1e}" for error in spectra.errors[degree]), *of_shapes)
    return made
