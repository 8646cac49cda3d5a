"""Minimal coordinates: trees of scalar joints, their equations of motion and their steps."""
