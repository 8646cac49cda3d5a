"""Figures 9 and 10 of the paper, and one of our own about the two readings of tau_D."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pliant.experiments.macchelli2007.mechanism_numbers import drives, far_corner
from pliant.experiments.macchelli2007.mechanisms import CHAIN_TARGET, SERIAL_TARGET, Chain, Serial
from pliant.model.state import Array
from pliant.results import Trajectory
from pliant.results.observables import POSITION
from pliant.view.figures.style import FAINT, INK, PAGE, color, styled, time_axis, time_bar, time_colors

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FLASHES = 13
STROBED = 0.8  # seconds
SHOWN = 5.0 + 1e-9  # seconds, with the last time that steps add up to


def draw_mechanisms(serial: Serial, chain: Chain) -> dict[str, Figure]:
    """All figures by name."""
    return {
        "figure_9_two_links": two_links(serial),
        "figure_10_closed_chain": closed_chain(chain),
        "readings_of_tau_d": readings(serial, chain),
    }


def two_links(serial: Serial) -> Figure:
    """Fig. 9: strobed shapes of the arm, and its joints by both elements."""
    with styled(PAGE, 4.2) as figure:
        shapes, joints = figure.subplots(1, 2)
        strobe(figure, shapes, serial.pose, "two links: the first instants, and the end (dotted)")
        shown = serial.pose.time <= SHOWN
        for k, name in enumerate(serial.pose.joint_names):
            for run, style, shade, words in (
                (serial.spectral, "-", FAINT, "spectral links"),
                (serial.pose, "--", color(k), "pose elements"),
            ):
                joints.plot(
                    run.time[shown],
                    run.joint_position[shown, k],
                    style,
                    color=shade,
                    linewidth=2.4 if style == "-" else 1.2,
                    label=f"{name}, {words}",
                )
            joints.axhline(SERIAL_TARGET[k], color=INK, linewidth=0.6, linestyle=":", zorder=0)
        finish_joints(joints, serial.pose, "joint angles after the step")
    return figure


def closed_chain(chain: Chain) -> Figure:
    """Fig. 10: strobed shapes of the chain, and its driven joints."""
    with styled(PAGE, 4.2) as figure:
        shapes, joints = figure.subplots(1, 2)
        strobe(figure, shapes, chain.driven, "closed chain: the first instants, and the end (dotted)")
        shapes.plot(*far_corner(chain.driven)[: strobed(chain.driven), :2].T, color=FAINT, zorder=0)
        angles, shown = drives(chain.driven), chain.driven.time <= SHOWN
        for k, target in enumerate(CHAIN_TARGET):
            name = ("right_drive", "left_drive")[k]
            joints.plot(chain.driven.time[shown], angles[shown, k], ("-", "--")[k], color=color(k), label=name)
            joints.axhline(target, color=INK, linewidth=0.6, linestyle=":", zorder=0)
        finish_joints(joints, chain.driven, "driven joints after the step")
    return figure


def readings(serial: Serial, chain: Chain) -> Figure:
    """The joint errors if tau_D is a time that multiplies K_P, and if it is the damper itself."""
    with styled(PAGE, 4.2) as figure:
        for axes, time_constant, damper, target, title in zip(
            figure.subplots(1, 2),
            (serial.pose, chain.driven),
            (serial.light, chain.light),
            (SERIAL_TARGET, CHAIN_TARGET),
            ("two links", "closed chain"),
            strict=True,
        ):
            shown = damper.time <= SHOWN
            for run, width, words in ((damper, 0.7, "a damper"), (time_constant, 1.8, "a time")):
                for k, (angle, goal) in enumerate(zip(driven_angles(run).T, target, strict=True)):
                    axes.plot(
                        run.time[shown],
                        goal - angle[shown],
                        ("-", "--")[k],
                        color=color(k + 4 * (width < 1.0)),
                        linewidth=width,
                        label=f"joint {k + 1}, $\\tau_D$ is {words}",
                    )
            axes.axhline(0.0, color=FAINT, linewidth=0.8, zorder=0)
            axes.set_title(f"{title}: joint error")
            axes.set_ylabel("angle [rad]")
            time_axis(axes, damper.time[shown])
            axes.legend()
    return figure


def driven_angles(run: Trajectory) -> Array:
    """Of both joints of the arm, or of the two drives of the chain (n, 2)."""
    return run.joint_position if len(run.joint_names) == 2 else drives(run)


def strobed(run: Trajectory) -> int:
    """How many saved times the strobed part has."""
    return int(np.searchsorted(run.time, STROBED)) + 1


def strobe(figure: Figure, axes: Axes, run: Trajectory, title: str) -> None:
    """Shapes of all links at equal intervals of the first instants, and the last shape."""
    time = run.time[: strobed(run)]
    flashes = np.searchsorted(time, np.linspace(0.0, time[-1], FLASHES) - 1e-9)
    shades = time_colors(time).to_rgba(time[flashes])
    for link in run.links:
        axes.plot(*link.position[-1, :, :2].T, ":", color=INK, linewidth=1.0, zorder=20)
        for n, shade in zip(flashes, shades, strict=True):
            axes.plot(*link.position[n, :, :2].T, color=shade, linewidth=1.8)
            axes.plot(*link.position[n, 0, :2], "o", color=shade, markersize=2.6)
    axes.set_aspect("equal", adjustable="datalim")
    axes.locator_params(nbins=6)
    axes.set_title(title)
    axes.set_xlabel(POSITION["x"].label)
    axes.set_ylabel(POSITION["y"].label)
    time_bar(figure, axes, time)


def finish_joints(axes: Axes, run: Trajectory, title: str) -> None:
    axes.set_title(title)
    axes.set_ylabel("angle [rad]")
    time_axis(axes, run.time[run.time <= SHOWN])
    axes.legend()
