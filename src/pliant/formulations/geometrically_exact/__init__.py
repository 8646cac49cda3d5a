"""Geometrically exact port-Hamiltonian links [macchelli2007]."""

from pliant.formulations.geometrically_exact.formulation import GeometricallyExact, MixedElement, PoseElement, WhenBent

__all__ = ["GeometricallyExact", "MixedElement", "PoseElement", "WhenBent"]
