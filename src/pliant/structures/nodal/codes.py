"""What the codes of a mechanism mean."""

from __future__ import annotations

# how a node is attached to its parent
GROUND, FREE, ELEMENT, FIXED, REVOLUTE, PRISMATIC = 0, 1, 2, 3, 4, 5

# what a line measures beside what closes loops; c are points fixed to the frames a and b
DISTANCE = 5  # |(x_b + R_b c_b) - (x_a + R_a c_a)|
BUSHING = 6  # 6 .. 11: component 0 .. 5 of log(g_a^-1 g_b) of frames at c_a, c_b; six in a row

# what a line does with its value phi
CLOSED, SPRING = 0, 1  # phi = 0 | force -k (phi - rest) - c phi'
# the same, but only while phi < rest, and never a pull | while the sum of phi over the group > rest, and never a push
WALL, CABLE = 2, 3

# what an element measures (see `element`)
POSE, COROTATIONAL, COROTATIONAL_MEAN = 0, 1, 2  # the last with mean axes
