"""Figures of a run: shapes at several times, joints, tip and strains over time, and where its energy goes."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from pliant.errors import InvalidInput
from pliant.model.state import Array, LinkObservation
from pliant.results import Trajectory
from pliant.results.observables import DEFLECTION, ENERGIES, ENERGY, ENERGY_UNIT, STATION, STRAIN, STRESS
from pliant.results.summary import RESIDUAL_TOLERANCE
from pliant.view.figures import style
from pliant.view.figures.style import color, styled, time_axis, without_noise

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, FigureBase


def draw_shape(trajectory: Trajectory, flashes: int = 14, tip: str | None = None) -> Figure:
    """All links at evenly spaced times, time as colour, over the path of the tip, by default that of the arm."""
    if flashes < 2:
        raise InvalidInput(f"flashes = {flashes} must be at least 2, the first and the last shape; raise it")
    positions = np.concatenate([link.position for link in trajectory.links], axis=1)
    projection = style.choose_projection(positions)
    time = trajectory.time
    wanted = np.linspace(time[0], time[-1], flashes)
    seen = np.unique(np.argmin(np.abs(time[None, :] - wanted[:, None]), axis=1)).tolist()
    colors = style.time_colors(time).to_rgba(time[seen])
    with styled(style.COLUMN, 4.2) as figure:
        axes = style.map_axes(figure, projection, positions, zoom=0.85)
        axes.plot(*projection.of(trajectory.tip_of(tip).position).T, color=style.FAINT, linewidth=0.9, zorder=1)
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


# Steps of colour along the path of the tip, too fine to be seen.
SHADES = 120


def draw_motion(trajectory: Trajectory, tip: str | None = None) -> Figure:
    """Positions and rates of all joints over time, and the path of the tip, by default that of the arm."""
    units = sorted({unit.position for unit in trajectory.joint_units}, reverse=True)
    rows = 2 * len(units)
    if not units:
        with styled(style.COLUMN, 3.8) as figure:
            _tip_path(figure, trajectory, tip)
        return figure
    with styled(style.PAGE, max(4.2, 1.9 * rows)) as figure:
        left, right = np.ravel(np.array(figure.subfigures(1, 2, width_ratios=(1.2, 1.0), wspace=0.03)))
        panels = left.subplots(rows, 1, sharex=True, squeeze=False)
        for row, axes in enumerate(panels[:, 0]):
            _joints(axes, trajectory, units[row // 2], rates=bool(row % 2))
            axes.label_outer()
        _tip_path(right, trajectory, tip)
    return figure


def _of_unit(trajectory: Trajectory, unit: str) -> list[int]:
    """The joints that count in a unit."""
    return [k for k, joint in enumerate(trajectory.joint_units) if joint.position == unit]


def _joints(axes: Axes, trajectory: Trajectory, unit: str, rates: bool) -> None:
    values = without_noise(trajectory.joint_rate if rates else trajectory.joint_position)
    chosen = _of_unit(trajectory, unit)
    for order, k in enumerate(chosen):
        axes.plot(trajectory.time, values[:, k], label=trajectory.joint_names[k], **style.line(order))
    kind = trajectory.joint_units[chosen[0]]
    observable = kind.rate("joint rate") if rates else kind.coordinate("joint position")
    axes.set_ylabel(observable.label)
    time_axis(axes, trajectory.time)
    if not rates:
        axes.set_title("joints")
        style.legend_beside(axes)


def _band(axes: Axes, points: Array, radius: float, label: str) -> None:
    """The strip in which the path lies if it is nowhere further off than its estimated error."""
    along = np.gradient(points, axis=0)
    across = np.stack([-along[:, 1], along[:, 0]], axis=1)
    across *= radius / np.maximum(np.linalg.norm(across, axis=1, keepdims=True), 1e-300)
    around = np.concatenate([points + across, (points - across)[::-1]])
    axes.fill(*around.T, color=style.FAINT, linewidth=0.0, alpha=0.6, zorder=0, label=label)


def _tip_path(figure: FigureBase, trajectory: Trajectory, link: str | None) -> None:
    chosen, time = trajectory.tip_of(link), trajectory.time
    tip = without_noise(chosen.position, float(np.abs(chosen.position).max(initial=0.0)))
    projection = style.choose_projection(tip)
    axes = style.map_axes(figure, projection, tip, zoom=0.8, ticks=3)
    points, colors = projection.of(tip), style.time_colors(time)
    if projection.planar and trajectory.error is not None and np.isfinite(trajectory.error.total):
        known = np.isfinite(trajectory.error.space)
        _band(axes, points, trajectory.error.total, "estimated error" + ("" if known else " of the steps"))
    axes.plot(*points[:1].T, marker="o", markersize=5.5, color=colors.to_rgba(time[0]), zorder=3)
    ends = np.unique(np.linspace(0, len(time) - 1, SHADES + 1).astype(int))
    for first, last in pairwise(ends):
        shade = colors.to_rgba((time[first] + time[last]) / 2)
        axes.plot(*points[first : last + 1].T, color=shade, linewidth=1.6)
    axes.set_title(f"path of the tip of {chosen.link}")
    style.time_bar(figure, axes, time)


MEGA = 1e6


def draw_loads(trajectory: Trajectory, tip: str | None = None) -> Figure:
    """What the motion takes: torques of joints, deflection of the tip, and surface stress over time and along links.

    The tip is by default that of the arm. Links whose sections have no outline have no stress.
    """
    units = sorted({unit.position for unit in trajectory.joint_units}, reverse=True)
    stresses = {name: each for name, each in trajectory.stresses.items() if not each.reason}
    rows = len(units) + 1 + bool(stresses)
    with styled(style.COLUMN, 0.5 + 1.75 * (rows + bool(stresses))) as figure:
        grid = figure.add_gridspec(rows + bool(stresses), 1)
        panels = [figure.add_subplot(grid[0])]
        panels += [figure.add_subplot(grid[row], sharex=panels[0]) for row in range(1, rows)]
        for axes, unit in zip(panels, units):
            _efforts(axes, trajectory, unit)
        _deflection(panels[len(units)], trajectory, tip)
        if stresses:
            _stress(panels[-1], trajectory)
            _stress_along(figure.add_subplot(grid[rows]), trajectory)
        for axes in panels[:-1]:
            axes.tick_params(labelbottom=False)
        time_axis(panels[-1], trajectory.time)
    return figure


def _efforts(axes: Axes, trajectory: Trajectory, unit: str) -> None:
    chosen = [k for k in _of_unit(trajectory, unit) if trajectory.joint_names[k] in trajectory.efforts]
    values = {trajectory.joint_names[k]: trajectory.efforts[trajectory.joint_names[k]][:, 0] for k in chosen}
    scale = max((float(np.nanmax(np.abs(each), initial=0.0)) for each in values.values()), default=0.0)
    for order, (name, effort) in enumerate(values.items()):
        axes.plot(trajectory.time, without_noise(effort, scale), label=name, **style.line(order))
    kind = trajectory.joint_units[_of_unit(trajectory, unit)[0]].effort("joint")
    axes.set_title(f"{kind.symbol} of joints, {'means over steps' if scale > 0.0 else 'zero all the time'}")
    axes.set_ylabel(kind.label)
    style.legend_beside(axes)


def _deflection(axes: Axes, trajectory: Trajectory, link: str | None) -> None:
    chosen = trajectory.tip_of(link)
    scale = float(np.abs(chosen.position).max(initial=0.0))
    for k, observable in enumerate(DEFLECTION.values()):
        deflection = without_noise(chosen.deflection[:, k], scale)
        axes.plot(trajectory.time, deflection, label=observable.symbol, **style.line(k))
    axes.set_title(f"deflection of the tip of {chosen.link}{_doubt(trajectory)}")
    axes.set_ylabel(f"deflection [{DEFLECTION['x'].unit}]")
    style.legend_beside(axes)


def _doubt(trajectory: Trajectory) -> str:
    """Words on deflections that are smaller than the error of the tips, as those of stiff arms at a low accuracy."""
    error = trajectory.error
    largest = float(np.linalg.norm(trajectory.tip_deflection, axis=1).max(initial=0.0))
    if error is None or not np.isfinite(error.total) or not 0.0 < largest < error.total:
        return ""
    by = "" if np.isfinite(error.space) else ", by the steps alone"
    return f"\nnot resolved: tips are off by up to {error.total:.1g} m{by}"


def _stress(axes: Axes, trajectory: Trajectory) -> None:
    for k, (name, stress) in enumerate(trajectory.stresses.items()):
        if not stress.reason:
            axes.plot(trajectory.time, stress.largest.max(axis=1) / MEGA, label=name, **style.line(k))
    axes.set_title(f"{STRESS.symbol} of each link{_doubt(trajectory)}")
    axes.set_ylabel("stress [MPa]")
    style.legend_beside(axes)


def _stress_along(axes: Axes, trajectory: Trajectory) -> None:
    """Where along a link the largest stress of the run is."""
    for k, (name, stress) in enumerate(trajectory.stresses.items()):
        if not stress.reason:
            axes.plot(stress.station, stress.largest.max(axis=0) / MEGA, label=name, **style.line(k))
    axes.set_title("the same along the links, largest of the run")
    axes.set_ylabel("stress [MPa]")
    axes.set_xlabel(f"distance from the root {STATION.label}")
    axes.set_xlim(left=0.0)


_STORED = ("kinetic", "strain")
_LOST = ("material_loss", "viscous_loss", "joint_loss", "projection_loss", "numerical_loss")
# What never reaches this share of the largest energy would only be a line on the axis.
VISIBLE = 1e-4


def draw_ledger(trajectory: Trajectory) -> Figure:
    """Energies held and lost against energy supplied, the works that supplied it, and the residual."""
    with styled(style.COLUMN, 6.2) as figure:
        held, works, residual = figure.subplots(3, 1, sharex=True, height_ratios=(2.2, 1.5, 1.0))
        _held_and_lost(held, trajectory)
        _works(works, trajectory)
        _residual(residual, trajectory)
        for axes in (held, works, residual):
            time_axis(axes, trajectory.time)
            axes.label_outer()
        if trajectory.ledger.empty:
            figure.suptitle("nothing moved and no energy was exchanged")
    return figure


def _held_and_lost(axes: Axes, trajectory: Trajectory) -> None:
    ledger = trajectory.ledger
    supplied = ledger.stored[0] + ledger.gravity + sum(ledger.works.values(), np.zeros_like(ledger.gravity))
    scale = float(np.max(np.abs(supplied), initial=0.0))
    lost = (name for name in _LOST if np.max(np.abs(getattr(ledger, name))) > VISIBLE * scale)
    kept = {ENERGIES[name].symbol: getattr(ledger, name) for name in (*_STORED, *lost)}
    colors = [color(k) for k in range(len(kept))]
    axes.stackplot(trajectory.time, [*kept.values()], labels=[*kept], colors=colors, alpha=0.75, linewidth=0.0)
    axes.plot(trajectory.time, supplied, color=style.INK, linewidth=1.2, linestyle="--", label="supplied")
    axes.set_title("energy held and lost")
    axes.set_ylabel(ENERGY.label)
    style.legend_beside(axes)


def _works(axes: Axes, trajectory: Trajectory) -> None:
    ledger = trajectory.ledger
    works = {ENERGIES["gravity"].symbol: ledger.gravity, **ledger.works}
    scale = max((float(np.max(np.abs(work))) for work in works.values()), default=0.0)
    for k, (name, work) in enumerate(works.items()):
        if np.max(np.abs(work)) > VISIBLE * scale:
            axes.plot(trajectory.time, work, label=name, **style.line(k))
    axes.axhline(0.0, color=style.FAINT, linewidth=0.8, zorder=0)
    axes.set_title("work done on the arm")
    axes.set_ylabel(f"work [{ENERGY_UNIT}]")
    style.legend_beside(axes)


def _residual(axes: Axes, trajectory: Trajectory) -> None:
    ledger = trajectory.ledger
    size = np.abs(ledger.residual)
    axes.semilogy(trajectory.time, np.where(size > 0.0, size, np.nan), color=color(1), label="residual")
    tolerable = RESIDUAL_TOLERANCE * ledger.exchanged
    if ledger.exact and np.any(tolerable > 0.0):
        bound = np.where(tolerable > 0.0, tolerable, np.nan)
        axes.semilogy(trajectory.time, bound, color=style.FAINT, linestyle="--", label="tolerance")
    axes.set_title("residual of the ledger")
    axes.set_ylabel(f"residual [{ENERGY_UNIT}]")
    style.legend_beside(axes)


MOST_COLUMNS = 3  # links beside each other: the text of more would be too small in print
# A strain that never holds this share of the largest energy per length is left out unless asked for.
WORTH_SHOWING = 1e-3


def draw_strains(
    trajectory: Trajectory,
    stations: tuple[float, ...] = (0.0, 0.5, 1.0),
    links: tuple[str, ...] = (),
    components: tuple[str, ...] = (),
) -> Figure:
    """One panel per flexible link and strain, one line per station (as a share of the length).

    Without ``links`` and ``components`` the links that deform and the strains that hold energy are shown. Up to three
    links stand beside each other, further ones below; all panels of a strain have the same scale.
    """
    _refuse(stations, components)
    shown = [trajectory.link(name) for name in links] or [link for link in trajectory.links if np.any(link.strain)]
    shown = shown or list(trajectory.links[:1])
    strains = components or _worth_showing(shown)
    blocks = -(-len(shown) // MOST_COLUMNS)
    columns = -(-len(shown) // blocks)
    width = style.COLUMN if columns == 1 else style.PAGE
    with styled(width, 0.6 + 2.0 * len(strains) * blocks) as figure:
        cells = figure.add_gridspec(len(strains) * blocks, columns)
        scales: dict[str, Axes] = {}  # the first panel of each strain
        for k, link in enumerate(shown):
            block, column = divmod(k, columns)
            for row, strain in enumerate(strains):
                place = cells[block * len(strains) + row, column]
                axes = figure.add_subplot(place, sharey=scales.get(strain))
                scales.setdefault(strain, axes)
                _lines(axes, trajectory, link, strain, stations)
                _outer_labels(axes, lowest=row == len(strains) - 1 and k + columns >= len(shown), first=column == 0)
                if row == 0:
                    axes.set_title(link.name)
                    # beside the name of the link, where it hides no line
                    axes.legend(loc="lower right", bbox_to_anchor=(1.02, 0.98), ncols=len(stations), columnspacing=0.9)
    return figure


def _outer_labels(axes: Axes, lowest: bool, first: bool) -> None:
    """Words and numbers only at the lowest panels and those of the first column."""
    axes.tick_params(labelbottom=lowest, labelleft=first)
    axes.xaxis.label.set_visible(lowest)
    axes.yaxis.label.set_visible(first)
    axes.yaxis.get_offset_text().set_visible(first)


def _lines(
    axes: Axes, trajectory: Trajectory, link: LinkObservation, component: str, stations: tuple[float, ...]
) -> None:
    index = list(STRAIN).index(component)
    for k, share in enumerate(stations):
        nearest = int(np.argmin(np.abs(link.station - share * link.station[-1])))
        # the symbol once and the unit once, so that a row of stations fits above a narrow panel
        label = f"{link.station[nearest]:.3g}"
        label = f"{STATION.symbol} = {label}" if k == 0 else label
        label = f"{label} {STATION.unit}" if k == len(stations) - 1 else label
        values = without_noise(link.strain[:, nearest, index])
        axes.plot(trajectory.time, values, label=label, **style.line(k))
    axes.set_ylabel(f"{STRAIN[component].meaning}\n{STRAIN[component].label}")
    time_axis(axes, trajectory.time)


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
