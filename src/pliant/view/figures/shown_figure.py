"""Figures that notebooks show by themselves."""

from __future__ import annotations

from io import BytesIO

from matplotlib.figure import Figure

SCREEN = 100  # pixels per inch on the page of a notebook
FINER = 2  # times as many are drawn, for screens that show them


class ShownFigure(Figure):
    """A matplotlib figure, made without pyplot, that is its own picture where it is the value of a notebook's cell."""

    def _repr_png_(self) -> tuple[bytes, dict[str, int]]:
        drawn = BytesIO()
        self.savefig(drawn, format="png", dpi=FINER * SCREEN)
        width, height = (round(SCREEN * float(inches)) for inches in self.get_size_inches())
        return drawn.getvalue(), {"width": width, "height": height}
