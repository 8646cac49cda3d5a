"""Figures of trajectories, modes and frequency responses: each function gives a matplotlib Figure."""

from pliant.view.figures.files import write_figures
from pliant.view.figures.ledger import draw_ledger
from pliant.view.figures.linear import draw_frequency_response, draw_mode_shapes
from pliant.view.figures.motion import draw_motion, draw_shape
from pliant.view.figures.strains import draw_strains

__all__ = [
    "draw_frequency_response",
    "draw_ledger",
    "draw_mode_shapes",
    "draw_motion",
    "draw_shape",
    "draw_strains",
    "write_figures",
]
