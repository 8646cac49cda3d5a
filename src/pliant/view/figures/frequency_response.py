"""Magnitude and phase over frequency."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pliant.view.figures.style import color, styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from pliant.analysis.frequency_response import FrequencyResponse


def draw_frequency_response(response: FrequencyResponse) -> Figure:
    """Magnitude above, phase below, over a logarithmic axis of frequency where all frequencies are positive."""
    with styled(6.6, 5.0) as figure:
        upper, lower = figure.subplots(2, 1, sharex=True, height_ratios=(2, 1))
        upper.semilogy(response.frequency, response.magnitude, color=color(0))
        upper.set_ylabel(response.magnitude_label)
        upper.set_title(f"{response.input} to {response.output}")
        lower.plot(response.frequency, np.degrees(response.phase), color=color(0))
        lower.set_ylabel("phase [deg]")
        lower.set_xlabel("frequency [Hz]")
        if response.frequency[0] > 0.0:
            lower.set_xscale("log")
        lower.set_xlim(float(response.frequency[0]), float(response.frequency[-1]))
    return figure
