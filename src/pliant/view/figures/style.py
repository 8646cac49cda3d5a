"""How all figures look, and from which side a motion is best seen."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from pliant.model.state import Array
from pliant.results.observables import AXES, POSITION, TIME, Observable

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.cm import ScalarMappable
    from matplotlib.figure import Figure, FigureBase

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


SPACE = Projection((0, 1, 2))


def choose_projection(points: Array) -> Projection:
    """The world plane of largest motion, or space if the motion leaves every world plane."""
    extent = np.ptp(points.reshape(-1, 3), axis=0)
    flattest = int(np.argmin(extent))
    if extent[flattest] <= FLAT * extent.max():
        # Of equally flat axes (a motion along a line) leave out the last, so that x and y remain.
        flat = np.flatnonzero(extent <= extent[flattest] * (1 + 1e-9))
        left_out = int(flat[-1])
        return Projection(tuple(axis for axis in range(3) if axis != left_out))
    return SPACE


INK = "#22303c"
FAINT = "#b8c1c9"
# Dark and light by turns, so that two neighbours differ in grey print too; every further two have dashes of their own.
PALETTE = ("#1f6f9f", "#ec8146", "#256b44", "#c9972b", "#7d4a94", "#2bb3b8", "#a8346a", "#9bb02e", "#7d4f2b", "#93a1ad")
DASHES = ("-", "--", "-.", ":", (0, (5.0, 1.2, 1.0, 1.2, 1.0, 1.2)))
MARKS = ("o", "s", "D", "^", "v", "P", "<", ">", "h", "*")
TIME_COLORS, LAST_COLOR = "plasma", 0.7  # the rest of this map would hardly be seen on white
# Inches. All text of a figure that is COLUMN wide is at least 6 points high in a column of 8 cm, and of one that is
# PAGE wide in a page of 16 cm.
COLUMN, PAGE = 4.8, 9.6
PIXELS_PER_INCH = 200  # 300 in print

LOOK = Path(__file__).with_name("look.mplstyle")


SCREEN = 100  # pixels per inch on the page of a notebook
FINER = 2  # times as many are drawn, for screens that show them


@cache
def _shown_figure() -> type[Figure]:
    """Figures that notebooks show by themselves; a class made when it is first used, as matplotlib loads slowly."""
    from matplotlib.figure import Figure

    class ShownFigure(Figure):
        """A matplotlib figure, made without pyplot, that is its own picture as the value of a notebook's cell."""

        def _repr_png_(self) -> tuple[bytes, dict[str, int]]:
            drawn = BytesIO()
            self.savefig(drawn, format="png", dpi=FINER * SCREEN)
            width, height = (round(SCREEN * float(inches)) for inches in self.get_size_inches())
            return drawn.getvalue(), {"width": width, "height": height}

    return ShownFigure


@contextmanager
def styled(width: float, height: float) -> Iterator[Figure]:
    """A new figure of the given size in inches; what is drawn inside the block has the common look."""
    from matplotlib import style

    with style.context(LOOK):
        yield _shown_figure()(figsize=(width, height), layout="constrained", facecolor="white")


def color(index: int) -> str:
    """The palette, again and again."""
    return PALETTE[index % len(PALETTE)]


def line(index: int) -> dict[str, Any]:
    """Colour and dashes of one of many lines: no two of the first thirty alike, nor of the first ten in grey."""
    return {"color": color(index), "linestyle": DASHES[(index // 2 + 2 * (index // len(PALETTE))) % len(DASHES)]}


def mark(index: int) -> dict[str, Any]:
    """Colour and shape of the dots of one of many rows."""
    return {"color": color(index), "marker": MARKS[index % len(MARKS)]}


ROUNDING = 1e-13  # part of a scale below which numbers are rounding


def without_noise(values: Array, scale: float = 1.0) -> Array:
    """Values to the digits that count beside ``scale``: what rounding left of a zero is drawn as zero."""
    grain = ROUNDING * scale
    return np.round(values / grain) * grain if grain > 0.0 else values


def legend_beside(axes: Axes) -> None:
    """A legend to the right of the axes, where it hides no line."""
    if axes.get_legend_handles_labels()[0]:
        axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))


def time_axis(axes: Axes, time: Array) -> None:
    """Name the time axis and let the data reach both ends."""
    axes.set_xlabel(TIME.label)
    if time[-1] > time[0]:
        axes.set_xlim(float(time[0]), float(time[-1]))


def time_colors(time: Array) -> ScalarMappable:
    """Time as colour."""
    import matplotlib
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import LinearSegmentedColormap, Normalize

    shades = matplotlib.colormaps[TIME_COLORS](np.linspace(0.0, LAST_COLOR, 256))
    map_of_time = LinearSegmentedColormap.from_list("time", shades.tolist())
    return ScalarMappable(Normalize(float(time[0]), float(time[-1])), map_of_time)


VIEW = (22.0, -58.0)  # degrees: elevation and azimuth of the eye, where nothing speaks for another side
HEIGHTS, SIDES = (22.0, 40.0), (-58.0, -32.0, 32.0, 58.0, 122.0, 148.0, -122.0, -148.0)


def best_view(motion: Array, shape: Array) -> tuple[float, float]:
    """Elevation and azimuth from which the arrows ``motion`` (n, 3) are long and the points ``shape`` (n, 3) far apart.

    The eye never looks along a world axis, where the numbers of the axes would fall on each other.
    """
    from itertools import product

    def seen(arrows: Array, along: Array) -> float:
        return float(np.sqrt(1.0 - np.sum((arrows @ along) ** 2) / max(float(np.sum(arrows**2)), 1e-300)))

    def worth(view: tuple[float, float]) -> float:
        up, side = np.radians(view)
        along = np.array([np.cos(up) * np.cos(side), np.cos(up) * np.sin(side), np.sin(up)])
        return round(float(seen(motion, along) * np.sqrt(seen(shape - shape.mean(axis=0), along))), 2)

    return max(product(HEIGHTS, SIDES), key=worth)


def map_axes(
    figure: FigureBase,
    projection: Projection,
    points: Array,
    zoom: float = 0.9,
    ticks: int = 5,
    view: tuple[float, float] = VIEW,
) -> Axes:
    """Axes that show places in equal scale, in a plane or in space; ``points`` (..., 3) must fit in.

    In space labels stand outside the axes: in a narrow panel they need a smaller ``zoom`` and fewer ``ticks``, or
    none; ``view`` is elevation and azimuth of the eye in degrees.
    """
    if not projection.planar:
        return _space_axes(figure, points, zoom, ticks, view)
    axes = figure.add_subplot()
    axes.set_aspect("equal", adjustable="datalim")
    across, up = projection.observables
    axes.set_xlabel(across.label)
    axes.set_ylabel(up.label)
    return axes


def _space_axes(figure: FigureBase, points: Array, zoom: float, ticks: int, view: tuple[float, float]) -> Axes:
    from matplotlib.ticker import MaxNLocator

    axes: Any = figure.add_subplot(projection="3d")
    lowest, highest = points.reshape(-1, 3).min(axis=0), points.reshape(-1, 3).max(axis=0)
    extent = highest - lowest
    # Equal scale on all axes, but no axis so short that its numbers collide.
    half = 0.54 * np.maximum(extent, 0.4 * (extent.max() or 1.0))
    middle = (lowest + highest) / 2
    for name, centre, reach, observable in zip("xyz", middle, half, SPACE.observables):
        axis = getattr(axes, f"{name}axis")
        axis.set_pane_color((1.0, 1.0, 1.0, 0.0))
        # short axes have fewer numbers, which would fall on each other
        axis.set_major_locator(MaxNLocator(max(2, round((ticks or 4) * reach / half.max()))))
        axis.set_tick_params(pad=8.0 if name == "z" else 1.0)
        if not ticks:
            axis.set_ticklabels([])
        axis.labelpad = (13.0 if name == "z" else 7.0) if ticks else -11.0
        getattr(axes, f"set_{name}lim")(centre - reach, centre + reach)
        getattr(axes, f"set_{name}label")(observable.label)
    axes.set_box_aspect(tuple(half), zoom=zoom)
    axes.view_init(*view)
    return cast("Axes", axes)


def time_bar(figure: FigureBase, axes: Axes, time: Array) -> None:
    """The key from colour to time."""
    width_of_labels = 0.12 if axes.name == "3d" else 0.02
    bar = figure.colorbar(time_colors(time), ax=axes, label=TIME.label, shrink=0.8, pad=width_of_labels, aspect=28)
    bar.outline.set_visible(False)
