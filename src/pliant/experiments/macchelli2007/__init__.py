"""Simulations of [macchelli2007] section IV: a single link, two links in series, four in a closed chain."""
