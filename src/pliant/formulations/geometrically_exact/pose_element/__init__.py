"""Pose elements: two-node beams whose nodal poses are the state; trees, loops and force elements."""
