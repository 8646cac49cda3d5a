"""Advance models in time and find their equilibria."""
