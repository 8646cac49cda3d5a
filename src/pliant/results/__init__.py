"""KEEP: what a run gave, on disk and in tables."""

from pliant.results.trajectory import Trajectory, load_trajectory

__all__ = ["Trajectory", "load_trajectory"]
