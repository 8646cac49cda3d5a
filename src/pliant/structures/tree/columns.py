"""Where the numbers of an arm in minimal coordinates stand in its arrays, and what its codes mean."""

from __future__ import annotations

BASE_PARENT = -1

# what a coordinate does
TURN_X, TURN_Y, TURN_Z, TRANSLATION_X, TRANSLATION_Y, TRANSLATION_Z = range(6)

# columns of Tree.joints
PARENT, KIND, TURNED, BODY = range(4)
JOINT_COLUMNS = 4

# values of the column BODY: what the body weighs decides what is computed for it
NOTHING, POINT, RIGID = range(3)

# columns of Tree.facts, first of each group
ROTATION, POSITION, MASS, CENTER, INERTIA, ROTOR = 0, 9, 12, 13, 16, 22
FACTS_COLUMNS = 23

# places in Tree.base
BASE_ROTATION, BASE_POSITION, GRAVITY = 0, 9, 12

# Columns of the motion of a tree, an array with row 0 for the base and row i + 1 for body i; first of each group:
# pose, Jacobian column, twist, spatial acceleration, wrench, momentum, centre of mass, composite inertia
# (mass, first moment, inertia about the origin) or articulated inertia (21 of the upper triangle), its product with J
POSE_R, POSE_X, AXIS, TWIST, ACCELERATION, WRENCH, MOMENTUM, PLACE = 0, 9, 12, 18, 24, 30, 36, 42
COMPOSITE, ARTICULATED, LEVER, PIVOT = 45, 45, 66, 72
MOTION_COLUMNS = 74

# columns of Servos.law
GAIN, COMMAND_LIMIT, COMMAND_RESOLUTION, RATE_LIMIT, RATE_RESOLUTION, TORQUE_LIMIT = range(6)
SERVO_COLUMNS = 6

# columns of Step.slope
NOW, IN_FACTORS, BESIDE = 0, 1, 2

# places in Step.number: length of the step; kinetic energy, potential of gravity and energy of condensed fields at its
# start and at its end; change of the first potential and the size of what it was computed from; correction; how many
# mean velocities are known; whether the factors are stale; square of the contraction of Newton's method when last seen
# and with fresh factors; kinetic energy that fitting velocities took; multipliers times the size of their constraints;
# energy that rounding leaves open; error of the velocities that ends Newton's method, as a part in the norm of kinetic
# energy
H, T_START, V_START, STRAIN_START, T_END, V_END, STRAIN_END, LIFTED, LIFT_SIZE = range(9)
CORRECTION, KNOWN, STALE, CONTRACTION, FRESH, FITTED, TIED, ROUNDED, SAME_VELOCITY = range(9, 18)
NUMBERS = 18

UNKNOWN = -1.0  # contraction with factors that have not been tried
