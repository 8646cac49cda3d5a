"""Keep what a run gave, on disk and in tables."""

from pliant.results.netcdf_file import load_trajectory
from pliant.results.trajectory import Trajectory

__all__ = ["Trajectory", "load_trajectory"]
