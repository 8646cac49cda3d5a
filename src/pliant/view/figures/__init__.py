"""Figures of trajectories, modes and frequency responses: each function gives a matplotlib Figure."""

from pliant.view.figures.files import write_figures as write_figures
from pliant.view.figures.linear import draw_frequency_response as draw_frequency_response
from pliant.view.figures.linear import draw_mode_shapes as draw_mode_shapes
from pliant.view.figures.run import draw_ledger as draw_ledger
from pliant.view.figures.run import draw_loads as draw_loads
from pliant.view.figures.run import draw_motion as draw_motion
from pliant.view.figures.run import draw_shape as draw_shape
from pliant.view.figures.run import draw_strains as draw_strains
