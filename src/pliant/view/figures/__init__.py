"""Figures of one trajectory: each function gives a matplotlib Figure and touches no global state."""

from pliant.view.figures.files import write_figures
from pliant.view.figures.ledger import draw_ledger
from pliant.view.figures.motion import draw_motion
from pliant.view.figures.shape import draw_shape
from pliant.view.figures.strains import draw_strains

__all__ = ["draw_ledger", "draw_motion", "draw_shape", "draw_strains", "write_figures"]
