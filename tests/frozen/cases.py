"""All cases: an arm, a formulation, components, a way to step. Public names of the package alone, so that they outlive
moves of its files."""

from __future__ import annotations

from tests.frozen import analysis_cases, linear_cases, minimal_cases, pose_cases, spectral_cases
from tests.frozen.case import BOOK, Case

FAMILIES = (spectral_cases, pose_cases, minimal_cases, linear_cases, analysis_cases)

__all__ = ["BOOK", "FAMILIES", "Case"]
