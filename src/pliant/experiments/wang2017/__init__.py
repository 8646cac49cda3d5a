"""Spectrum, eigenfunctions, frequency response and rig of [wang2017], exact and pseudo-spectral."""
