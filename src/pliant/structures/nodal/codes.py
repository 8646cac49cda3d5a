"""What the codes of a mechanism mean."""

from __future__ import annotations

# how a node is attached to its parent
GROUND, FREE, ELEMENT, FIXED, REVOLUTE, PRISMATIC = 0, 1, 2, 3, 4, 5

# what an element measures (see `element`)
POSE, COROTATIONAL, COROTATIONAL_MEAN = 0, 1, 2  # the last with mean axes
