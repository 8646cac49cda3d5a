"""Chains of twists and strains, collocated in time."""
