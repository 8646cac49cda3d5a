"""Where the energy comes from, where it is, and what the ledger does not explain."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pliant.model.state import Array
from pliant.results.observables import ENERGIES, ENERGY, ENERGY_UNIT
from pliant.results.summary import RESIDUAL_TOLERANCE
from pliant.view.figures.style import FAINT, INK, color, styled, time_axis

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from pliant.model.ledger import Ledger
    from pliant.results import Trajectory

_STORED = ("kinetic", "strain")
_LOST = ("material_loss", "viscous_loss", "joint_loss", "projection_loss")
# What never reaches this share of the largest energy would only be a line on the axis.
VISIBLE = 1e-4


def draw_ledger(trajectory: Trajectory) -> Figure:
    """Energies held and lost against energy supplied, the works that supplied it, and the residual."""
    with styled(7.4, 7.0) as figure:
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
    supplied = _supplied(ledger)
    scale = float(np.max(np.abs(supplied), initial=0.0))
    lost = (name for name in _LOST if np.max(np.abs(getattr(ledger, name))) > VISIBLE * scale)
    kept = {ENERGIES[name].symbol: getattr(ledger, name) for name in (*_STORED, *lost)}
    colors = [color(k) for k in range(len(kept))]
    axes.stackplot(trajectory.time, [*kept.values()], labels=[*kept], colors=colors, alpha=0.75, linewidth=0.0)
    axes.plot(trajectory.time, supplied, color=INK, linewidth=1.2, linestyle="--", label="supplied")
    axes.set_title("energy held and lost")
    axes.set_ylabel(ENERGY.label)
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))


def _works(axes: Axes, trajectory: Trajectory) -> None:
    ledger = trajectory.ledger
    works = {ENERGIES["gravity"].symbol: ledger.gravity, **ledger.works}
    scale = max((float(np.max(np.abs(work))) for work in works.values()), default=0.0)
    for k, (name, work) in enumerate(works.items()):
        if np.max(np.abs(work)) > VISIBLE * scale:
            axes.plot(trajectory.time, work, color=color(k), label=name)
    axes.axhline(0.0, color=FAINT, linewidth=0.8, zorder=0)
    axes.set_title("work done on the arm")
    axes.set_ylabel(f"work [{ENERGY_UNIT}]")
    if axes.get_legend_handles_labels()[0]:
        axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))


def _residual(axes: Axes, trajectory: Trajectory) -> None:
    ledger = trajectory.ledger
    size = np.abs(ledger.residual)
    axes.semilogy(trajectory.time, np.where(size > 0.0, size, np.nan), color=color(1), label="residual")
    tolerable = RESIDUAL_TOLERANCE * ledger.exchanged
    if ledger.exact and np.any(tolerable > 0.0):
        bound = np.where(tolerable > 0.0, tolerable, np.nan)
        axes.semilogy(trajectory.time, bound, color=FAINT, linestyle="--", label="tolerance")
    axes.set_title("residual of the ledger")
    axes.set_ylabel(f"residual [{ENERGY_UNIT}]")
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))


def _supplied(ledger: Ledger) -> Array:
    start = ledger.stored[0]
    total: Array = start + ledger.gravity + sum(ledger.works.values(), np.zeros_like(ledger.gravity))
    return total
