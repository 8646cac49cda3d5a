"""Strains over time at chosen stations."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pliant.errors import InvalidInput
from pliant.results.observables import STATION, STRAIN
from pliant.view.figures.style import color, styled, time_axis

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from pliant.model.state import LinkObservation
    from pliant.results import Trajectory

# A strain that never holds this share of the largest energy per length is left out unless asked for.
WORTH_SHOWING = 1e-3


def draw_strains(
    trajectory: Trajectory,
    stations: tuple[float, ...] = (0.0, 0.5, 1.0),
    links: tuple[str, ...] = (),
    components: tuple[str, ...] = (),
) -> Figure:
    """One column per flexible link, one row per strain, one line per station (as a share of the length).

    Without ``links`` and ``components`` the links that deform and the strains that hold energy are shown.
    """
    _refuse(stations, components)
    shown = [trajectory.link(name) for name in links] or _deforming(trajectory)
    rows = components or _worth_showing(shown)
    with styled(1.5 + 4.2 * len(shown), 1.0 + 1.9 * len(rows)) as figure:
        grid = figure.subplots(len(rows), len(shown), sharex=True, sharey="row", squeeze=False)
        for column, link in enumerate(shown):
            for row, component in enumerate(rows):
                _lines(grid[row, column], trajectory, link, component, stations)
                grid[row, column].label_outer()
            grid[0, column].set_title(link.name)
            grid[0, column].legend(loc="upper right", ncols=len(stations))
    return figure


def _lines(
    axes: Axes, trajectory: Trajectory, link: LinkObservation, component: str, stations: tuple[float, ...]
) -> None:
    index = list(STRAIN).index(component)
    for k, share in enumerate(stations):
        nearest = int(np.argmin(np.abs(link.station - share * link.station[-1])))
        label = f"{STATION.symbol} = {link.station[nearest]:.3g} {STATION.unit}"
        axes.plot(trajectory.time, link.strain[:, nearest, index], color=color(k), label=label)
    axes.set_ylabel(f"{STRAIN[component].meaning}\n{STRAIN[component].label}")
    axes.margins(y=0.18)
    time_axis(axes, trajectory.time)


def _deforming(trajectory: Trajectory) -> list[LinkObservation]:
    return [link for link in trajectory.links if np.any(link.strain)] or list(trajectory.links[:1])


def _worth_showing(links: list[LinkObservation]) -> tuple[str, ...]:
    held = np.max([np.max(np.abs(link.strain * link.wrench), axis=(0, 1)) for link in links], axis=0)
    worth = held >= WORTH_SHOWING * max(float(held.max()), np.finfo(float).tiny)
    return tuple(name for name, show in zip(STRAIN, worth, strict=True) if show) or ("kappa_z",)


def _refuse(stations: tuple[float, ...], components: tuple[str, ...]) -> None:
    for share in stations:
        if not 0.0 <= share <= 1.0:
            raise InvalidInput(f"station {share:g} must lie between 0 (root) and 1 (tip); give a share of the length")
    for component in components:
        if component not in STRAIN:
            raise InvalidInput(f"strain '{component}' is unknown; choose among {', '.join(STRAIN)}")
