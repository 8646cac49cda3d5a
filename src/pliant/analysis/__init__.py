"""Explain numbers: modes of small motions."""
