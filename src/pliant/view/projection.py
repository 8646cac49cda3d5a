"""From which side a motion is best seen."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pliant.model.layout import Array
from pliant.results.observables import AXES, POSITION, Observable

# A motion whose third extent is below this share of its largest is drawn in a plane.
FLAT = 0.02


@dataclass(frozen=True)
class Projection:
    """The world axes to draw: two for a planar motion, all three for a spatial one."""

    axes: tuple[int, ...]

    @property
    def planar(self) -> bool:
        return len(self.axes) == 2

    @property
    def observables(self) -> tuple[Observable, ...]:
        return tuple(POSITION[AXES[axis]] for axis in self.axes)

    def of(self, points: Array) -> Array:
        """The drawn coordinates of world points (..., 3)."""
        return points[..., list(self.axes)]


def choose_projection(points: Array) -> Projection:
    """The world plane of largest motion, or space if the motion leaves every world plane."""
    extent = np.ptp(points.reshape(-1, 3), axis=0)
    flattest = int(np.argmin(extent))
    if extent[flattest] <= FLAT * extent.max():
        # Of equally flat axes (a motion along a line) leave out the last, so that x and y remain.
        flat = np.flatnonzero(extent <= extent[flattest] * (1 + 1e-9))
        left_out = int(flat[-1])
        return Projection(tuple(axis for axis in range(3) if axis != left_out))
    return Projection((0, 1, 2))
