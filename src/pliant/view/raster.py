"""Pictures of triangles in perspective: a camera, and a depth buffer in NumPy.

All triangles are filled at once, row by row. Of what falls on a pixel the nearest to the eye is kept, so that parts
may pierce each other, which painting from back to front could not show.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from pliant.model.state import Array

Pixels = NDArray[np.float32]
Places = NDArray[np.int64]
FIELD_OF_VIEW = np.radians(26.0)  # from bottom to top
MARGIN = 0.88  # part of the picture that what moves may fill
SIDES = np.radians(np.arange(-170.0, 190.0, 20.0))
HEIGHTS = np.radians((18.0, 32.0, 50.0))


@dataclass(frozen=True, eq=False)
class Camera:
    """An ``eye`` with axes (right, up, back) as rows, and the size of its picture in pixels."""

    eye: Array
    axes: Array
    width: int
    height: int

    @property
    def focus(self) -> float:
        """Pixels per unit of slope."""
        return float(self.height / (2.0 * np.tan(FIELD_OF_VIEW / 2.0)))

    def seen(self, points: Array) -> Array:
        """Columns and rows of points (..., 3) on the picture, and one over their distance along the view."""
        x, y, back = np.moveaxis((points - self.eye) @ self.axes.T, -1, 0)
        near = 1.0 / np.maximum(-back, 1e-9)
        across = self.width / 2.0 + self.focus * x * near
        return np.stack([across, self.height / 2.0 - self.focus * y * near, near], axis=-1)

    def rays(self) -> Array:
        """(height, width, 3) directions through the middles of all pixels."""
        x = (np.arange(self.width) + 0.5 - self.width / 2.0) / self.focus
        y = (self.height / 2.0 - np.arange(self.height) - 0.5) / self.focus
        right, up, back = self.axes
        return np.asarray(x[None, :, None] * right + y[:, None, None] * up - back)


def camera_for(points: Array, up: Array, width: int, height: int) -> Camera:
    """From the side on which ``points`` (n, 3) lie widest apart, so near that all just fit; ``up`` is a unit vector."""
    middle = (points.min(axis=0) + points.max(axis=0)) / 2.0
    first = np.eye(3)[int(np.argmin(np.abs(up)))]
    across = np.stack([first, np.cross(up, first)])

    def axes_of(side: float, rise: float) -> Array:
        back = np.cos(rise) * (np.cos(side) * across[0] + np.sin(side) * across[1]) + np.sin(rise) * up
        right = np.cross(up, back) / np.cos(rise)
        return np.stack([right, np.cross(back, right), back])

    spread = np.cov(points.T)

    def worth(view: tuple[float, float]) -> float:
        plane = axes_of(*view)[:2]
        narrow, wide = np.sqrt(np.maximum(np.linalg.eigvalsh(plane @ spread @ plane.T), 1e-30))
        # of views as good the lower one, where the ground is a floor and not a map
        return float(round(wide * (narrow + 0.05 * wide) * np.cos(view[1]) ** 0.25 / (wide + narrow) ** 2, 3))

    axes = axes_of(*max(product(SIDES, HEIGHTS), key=worth))
    distance = 3.0 * float(np.linalg.norm(np.ptp(points, axis=0))) or 1.0
    for _ in range(6):
        camera = Camera(middle + distance * axes[2], axes, width, height)
        seen = camera.seen(points)
        low, high = seen[:, :2].min(axis=0), seen[:, :2].max(axis=0)
        off = ((low + high) / 2.0 - (width / 2.0, height / 2.0)) * distance / camera.focus
        middle = middle + off[0] * axes[0] - off[1] * axes[1]
        distance *= max(float(np.max((high - low) / (width * MARGIN, height * MARGIN))), 0.05)
    return Camera(middle + distance * axes[2], axes, width, height)


def draw(picture: Pixels, depth: Pixels, corners: Array, colors: Array) -> None:
    """Triangles (t, 3, 3) as seen by a camera, with a colour (t, 3, c) at each corner, into what was drawn before.

    Where a row of pixels meets a triangle, the pixels between its edges are filled; nearness and colours are linear
    over the picture.
    """
    height, width = depth.shape
    x, y = corners[..., 0], corners[..., 1]
    area = (x[:, 1] - x[:, 0]) * (y[:, 2] - y[:, 0]) - (x[:, 2] - x[:, 0]) * (y[:, 1] - y[:, 0])
    kept = np.flatnonzero(np.abs(area) > 1e-6)
    values = np.concatenate([corners[kept][..., 2:], colors[kept]], axis=2)
    x, y, area = x[kept], y[kept], area[kept, None]
    across, down = (
        (
            (values[:, 1] - values[:, 0]) * (e[:, 2] - e[:, 0])[:, None]
            - (values[:, 2] - values[:, 0]) * (e[:, 1] - e[:, 0])[:, None]
        )
        / area
        for e in (y, -x)
    )
    start = values[:, 0] - across * x[:, :1] - down * y[:, :1]
    low, high = (np.clip(np.ceil(each - 0.5), 0, height).astype(np.int64) for each in (y.min(axis=1), y.max(axis=1)))
    triangle, row = _spread(low, high)
    left, right = _between_edges(x[triangle], y[triangle], np.asarray(row + 0.5, float))
    first, last = (np.clip(np.ceil(each - 0.5), 0, width).astype(np.int64) for each in (left, right))
    span, column = _spread(first, last)
    triangle, at = triangle[span], row[span] * width + column
    here, there = (column + 0.5)[:, None], (row[span] + 0.5)[:, None]
    near = (start[triangle, 0] + across[triangle, 0] * here[:, 0] + down[triangle, 0] * there[:, 0]).astype(np.float32)
    np.maximum.at(depth.reshape(-1), at, near)
    front = np.flatnonzero(near == depth.reshape(-1)[at])
    triangle = triangle[front]
    shade = start[triangle, 1:] + across[triangle, 1:] * here[front] + down[triangle, 1:] * there[front]
    picture.reshape(-1, picture.shape[-1])[at[front]] = shade


def _spread(first: Places, last: Places) -> tuple[Places, Places]:
    """All whole numbers from each ``first`` to before its ``last``, and which of the ranges each belongs to."""
    count = np.maximum(last - first, 0)
    which = np.repeat(np.arange(len(count)), count)
    return which, np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count) + first[which]


def _between_edges(x: Array, y: Array, height: Array) -> tuple[Array, Array]:
    """From where to where triangles (n, 3) reach at their ``height``; nothing, from infinity, where they do not."""
    after_x, after_y = np.roll(x, -1, axis=1), np.roll(y, -1, axis=1)
    below = height[:, None]
    crossed = (y <= below) != (after_y <= below)
    rise = np.where(crossed, after_y - y, 1.0)
    place = x + (below - y) * (after_x - x) / rise
    left = np.where(crossed, place, np.inf).min(axis=1)
    right = np.where(crossed, place, -np.inf).max(axis=1)
    some = np.isfinite(left)
    return np.where(some, left, 0.0), np.where(some, right, 0.0)
