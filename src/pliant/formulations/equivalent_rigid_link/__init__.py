"""Equivalent rigid links with small deflections by finite elements or component modes [vidoni2018]."""
